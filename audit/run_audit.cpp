#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "audit/audit.hpp"
#include "audit/diagnosis.hpp"
#include "audit/isolated_kernel.hpp"
#include "audit/locate.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// "builtin", or PATH[:SYMBOL] where PATH:SYMBOL is not itself a file.
problem::result<isolated_kernel> open_kernel(std::string const& spec) {
  if (spec == "builtin") {
    auto const path = locate_builtin_kernel();
    if (!path) return path.why();
    return isolated_kernel::open(path.value());
  }
  if (spec.starts_with("builtin:"))
    return problem::error{problem::error_code::unsupported, "--kernel",
                          "there is no built-in variant '" + spec.substr(8) + "'; see `attest list kernels`"};
  auto const colon = spec.rfind(':');
  std::error_code ignored;
  if (colon == spec.npos || colon == 0 || std::filesystem::exists(spec, ignored)) return isolated_kernel::open(spec);
  return isolated_kernel::open(spec.substr(0, colon), spec.substr(colon + 1));
}

/// Which optional outputs the kernel has turned out to give.
struct abilities {
  bool lse = true, weights = true;
};

recorded_answer as_recorded(stored_answer&& answer) {
  return {std::move(answer.o), std::move(answer.lse), std::move(answer.weights)};
}

/// The first difference in bits between two answers, as a violation; nothing where there is none.
std::optional<violation> bits_differ(recorded_answer const& a, recorded_answer const& b, std::string const& says) {
  struct named { char const* name; std::optional<stored_tensor> const& a; std::optional<stored_tensor> const& b; };
  for (auto const& [name, x, y] : {named{"o", a.o, b.o}, named{"lse", a.lse, b.lse}, named{"weights", a.weights, b.weights}}) {
    if (!x || !y || x->bytes == y->bytes) continue;
    std::size_t const size = problem::size_of(x->type);
    auto const at = static_cast<std::size_t>(std::ranges::mismatch(x->bytes, y->bytes).in1 - x->bytes.begin()) / size;
    violation found;
    found.output = name;
    auto rest = static_cast<std::int64_t>(at);
    int const rank = x->where.rank;
    for (int axis = rank - 1; axis >= 0; --axis) {
      auto const n = static_cast<std::size_t>(axis);
      found.index[n] = rest % x->where.shape[n];
      rest /= x->where.shape[n];
    }
    auto const value = [&](stored_tensor const& t) {
      return t.type == problem::element_type::f64 ? t.as<double>()[at]
             : t.type == problem::element_type::f32 ? static_cast<double>(t.as<float>()[at]) : std::nan("");
    };
    found.truth_lower = found.truth_upper = value(*x);
    found.got = value(*y);
    found.error_in_bounds = std::numeric_limits<double>::infinity();
    found.sentence = fmt::format("{}[{}] changed from {} to {}: {}", name, fmt::join(found.index.begin(), found.index.begin() + rank, ", "),
                                 value(*x), value(*y), says);
    return found;
  }
  return std::nullopt;
}

/// The class of a broken promise of attest/kernel.h.
std::string_view class_of(promise which) {
  return which == promise::restores_environment ? "fast-math" : "memory";
}

/// One audit: a kernel, its cases, and what is known so far.
class session {
 public:
  session(audit_options const& options, isolated_kernel kernel, report& into)
      : options_(options), kernel_(std::move(kernel)), report_(into), collect_(into, options.waived) {}

  problem::result<report*> run(std::vector<audit_case>& cases);

 private:
  std::optional<problem::error> ask(audit_case const& each);
  /// Calls the kernel with the outputs it can give. Unsupported with optional outputs is tried again without.
  problem::result<call_report> call(stored_problem const& asked, placement where, recorded_answer& answer);
  /// Adds findings for what the call did besides answering. True where there is an answer to judge.
  bool take_outcome(audit_case const& each, check_result& row, call_report const& did, judgement& judged);
  void judge_answer(audit_case const& each, problem::any_instance const& asked, recorded_answer const& answer,
                    judgement& judged);
  void judge_recording(audit_case const& each, problem::any_instance const& asked);
  std::string reproducer(audit_case const& each) const;

  audit_options const& options_;
  isolated_kernel kernel_;
  report& report_;
  collector collect_;
  abilities able_{};
  bool mandatory_unanswered_ = false;
  int hung_ = 0, calls_ = 0;
};

std::string session::reproducer(audit_case const& each) const {
  return fmt::format("attest audit --kernel {} --contract {} --seed {} --only {}{}", options_.kernel,
                     options_.claim->name, options_.seed, each.full_name(), options_.quick ? " --quick" : "");
}

problem::result<call_report> session::call(stored_problem const& asked, placement where, recorded_answer& answer) {
  struct wish { bool lse, weights; };
  for (auto const& [lse, weights] : {wish{true, true}, wish{true, false}, wish{false, true}, wish{false, false}}) {
    if ((lse && !able_.lse) || (weights && !able_.weights)) continue;
    stored_answer got;
    call_request const request{.want_lse = lse, .want_weights = weights, .threads = 0, .where = where, .output_gap = 0};
    auto did = kernel_.run(asked, request, got);
    if (!did) return did;
    report_.kernel_seconds += did.value().seconds;
    if (did.value().outcome == call_outcome::unsupported && (lse || weights) && did.value().broken.empty()) continue;
    if (did.value().outcome == call_outcome::answered) {
      able_ = {lse, weights};  // what it gave once it is asked for from now on
      answer = as_recorded(std::move(got));
    }
    return did;
  }
  return kernel_.run(asked, {.where = where}, *std::make_unique<stored_answer>());
}

bool session::take_outcome(audit_case const& each, check_result& row, call_report const& did, judgement& judged) {
  for (broken_promise const& broken : did.broken) {
    ++judged.failed;
    judged.add({.output = broken.argument, .error_in_bounds = std::numeric_limits<double>::infinity(),
                .bug_class = std::string(class_of(broken.which)), .sentence = broken.sentence});
  }
  if (did.outcome == call_outcome::answered) return true;
  if (did.outcome == call_outcome::unsupported) {
    ++row.unsupported;
    if (each.mandatory) mandatory_unanswered_ = true;
    return false;
  }
  if (did.outcome == call_outcome::hung) ++hung_;
  if (did.outcome == call_outcome::crashed && !did.broken.empty()) return false;  // the broken promise says it better
  ++judged.failed;
  judged.add({.output = "call", .error_in_bounds = std::numeric_limits<double>::infinity(),
              .bug_class = did.outcome == call_outcome::hung ? "hang" : "crash", .sentence = "the kernel " + did.sentence});
  return false;
}

void session::judge_answer(audit_case const& each, problem::any_instance const& asked, recorded_answer const& answer,
                           judgement& judged) {
  auto const start = clock::now();
  judgement found = judge(asked, answer, *options_.claim);
  if (found.failed > 0 && options_.claim->name == "f32" &&
      judge(asked, answer, *find_contract("f32-any")).failed == 0)
    for (violation& v : found.violations)
      v.sentence += "; it would pass f32-any: either the kernel rescales lazily or merges by LSE (declare it with "
                    "--contract f32-any), or it is wrong";
  for (violation& v : found.violations) {
    diagnosis const d = diagnose(each.asked, v);
    if (d.sentence.empty()) continue;
    v.sentence += "; " + d.sentence;
    if (v.bug_class.empty()) v.bug_class = d.bug_class;
  }
  judged.merge(std::move(found));
  report_.oracle_seconds += seconds_since(start);
}

void session::judge_recording(audit_case const& each, problem::any_instance const& asked) {
  if (each.recorded_by.empty()) return;
  auto const start = clock::now();
  contract const& claim = default_contract(each.asked.q.type);
  judgement const found = judge(asked, each.recorded, claim);
  report_.oracle_seconds += seconds_since(start);
  report_.observations.push_back(
      found.failed > 0
          ? fmt::format("{}: {} of {} elements of the answer by {} are outside the bound of {}", each.full_name(),
                        found.failed, found.judged(), each.recorded_by, claim.name)
          : fmt::format("{}: all {} elements of the answer by {} are within {:.4f} of the bound of {}", each.full_name(),
                        found.judged(), each.recorded_by, found.max_error_in_bounds, claim.name));
}

std::optional<problem::error> session::ask(audit_case const& each) {
  auto asked = problem::make_instance(each.asked.arguments());
  if (!asked) return asked.why();
  problem::sizes const sizes = std::visit([](auto const& p) { return p.size(); }, asked.value());
  check const& about = *find_check(each.check);
  check_result& row = collect_.check_named(each.check);

  judge_recording(each, asked.value());
  // Inaccessible memory lies behind every tensor, and before it in every other case.
  placement const where = calls_++ % 2 == 0 ? placement::end : placement::start;
  judgement judged;
  recorded_answer answer, again;
  auto did = call(each.asked, where, answer);
  if (!did) return did.why();
  if (take_outcome(each, row, did.value(), judged)) {
    judge_answer(each, asked.value(), answer, judged);
    if (each.twin) {
      auto twin_did = call(*each.twin, where, again);
      if (!twin_did) return twin_did.why();
      if (take_outcome(each, row, twin_did.value(), judged))
        if (auto differs = bits_differ(answer, again, each.twin_says)) {
          ++judged.failed;
          judged.add(std::move(*differs));
        }
    }
  }
  collect_.add(row, each.name, about.bug_class, sizes, std::move(judged), reproducer(each));
  return std::nullopt;
}

problem::result<report*> session::run(std::vector<audit_case>& cases) {
  report_.kernel = kernel_.name();
  if (kernel_.loading_changes_environment())
    report_.observations.push_back("loading the kernel changed the rounding mode or FTZ/DAZ of its process (-ffast-math does)");
  auto const all = static_cast<std::int64_t>(cases.size());
  std::int64_t done = 0;
  std::string because = "a mandatory case was not answered";
  for (audit_case const& each : cases) {
    options_.tell(done++, all, each.full_name());
    if (auto why = ask(each)) return *std::move(why);
    bool const failed = std::ranges::any_of(report_.findings, [](finding const& f) { return !f.waived; });
    if ((options_.fail_fast && failed) || hung_ >= 3) {
      report_.observations.push_back(fmt::format("stopped after {} of {} cases{}", done, all,
                                                 hung_ >= 3 ? ": the kernel hung three times" : " (--fail-fast)"));
      mandatory_unanswered_ = true;
      because = "the audit stopped early";
      break;
    }
  }
  options_.tell(all, all, "");
  collect_.finish(!mandatory_unanswered_, because);
  return &report_;
}

}  // namespace

problem::result<report> run_audit(audit_options const& options) {
  std::vector<audit_case> cases =
      generated_cases({.type = options.claim->type, .seed = options.seed, .quick = options.quick});
  if (options.claim->type == problem::element_type::f32) {
    auto real = real_data_cases();
    if (!real) return real.why();
    // Behind the worked examples.
    auto const at = std::ranges::find_if(cases, [](audit_case const& c) { return c.check != "worked-examples"; });
    cases.insert(at, std::make_move_iterator(real.value().begin()), std::make_move_iterator(real.value().end()));
  }
  if (!options.only.empty()) {
    for (std::string const& name : options.only)
      if (!find_check(name) && std::ranges::find(cases, name, &audit_case::full_name) == cases.end())
        return problem::error{problem::error_code::bad_value, "--only",
                              "no check or case is called '" + name + "'; see `attest list checks` and `attest list cases`"};
    std::erase_if(cases, [&](audit_case const& c) {
      return !options.only.contains(c.check) && !options.only.contains(c.full_name()); });
  }
  auto kernel = open_kernel(options.kernel);
  if (!kernel) return kernel.why();
  report made;
  made.contract = options.claim->name;
  made.seed = options.seed;
  session running(options, std::move(kernel).value(), made);
  if (auto ran = running.run(cases); !ran) return ran.why();
  return made;
}

}  // namespace attest::audit
