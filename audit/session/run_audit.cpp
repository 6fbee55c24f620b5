#include "audit/session/run_audit.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "audit/builtin/kernel_spec.hpp"
#include "audit/cases/default_contract.hpp"
#include "audit/cases/families/merges.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/coverage/refusal_pattern.hpp"
#include "audit/report/coverage/refused_check.hpp"
#include "audit/report/rows_of_parts.hpp"
#include "audit/findings/ask_kernel.hpp"
#include "audit/asking/case_pool.hpp"
#include "audit/condition/form.hpp"
#include "audit/asking/kernel_build.hpp"
#include "audit/findings/name_cause.hpp"
#include "audit/asking/protections.hpp"
#include "audit/findings/save_findings.hpp"
#include "audit/session/take_result.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

clock::duration seconds(double count) {
  return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(count));
}

/// The options that determine the cases and their judgement, except kernel, contract and seed; the same in every shard.
std::string text_of(audit_options const& options) {
  std::string text = fmt::format("--only {}{}{}", fmt::join(options.only, ","), options.quick ? " --quick" : "",
                                 options.words_of_rules());
  if (!options.waived.empty()) text += fmt::format(" --waive {}", fmt::join(options.waived, ","));
  if (!options.required_support.empty())
    text += fmt::format(" --require-support {}", fmt::join(options.required_support, ","));
  if (options.replay) text += fmt::format(" --replay {}", options.replay->native());
  if (options.draws) text += fmt::format(" --draws {}", *options.draws);
  if (options.draw_products) text += fmt::format(" --draw-products {}", *options.draw_products);
  return text;
}

/// The words that distinguish this audit from others that save findings in the same folder.
findings_run run_of(audit_options const& options) {
  findings_run of;
  of.run =
      fmt::format("audit --kernel {} --contract {}", shell_word(options.kernel), shell_word(options.contract_argument));
  if (options.replay) of.single = " --replay " + shell_word(options.replay->native());
  else if (!options.only.empty()) of.single = fmt::format(" --only {}", fmt::join(options.only, ","));
  if (!options.part) return of;
  of.shard = options.part->index;
  of.audit = fmt::format("--seed {} {} of {} shards", options.seed, text_of(options), options.part->of);
  return of;
}

/// One audit: a kernel, its cases, and the report so far.
class session {
 public:
  session(audit_options const& options, audit_plan const& plan, report& into)
      : options_(options),
        plan_(plan),
        report_(into),
        collect_(into, options.waived),
        saved_(options.findings, run_of(options)),
        when_{options.stop,
              options.budget ? std::optional(options.begun + seconds(0.9 * *options.budget)) : std::nullopt},
        pool_(plan, options, when_) {}

  std::optional<problem::error> run();

 private:
  problem::result<std::string> take_all();
  void not_drawn(std::int64_t made);
  void note_replies(std::vector<call_reply> const& replies);
  void note_refused(audit_case const& kernel_case);
  void list_refused_checks();
  void name_conditions();
  void take(audit_case const& kernel_case, bool is_draw, case_result&& result);
  void judge_recording(audit_case const& kernel_case);
  std::string why_stopped() const;
  bool has_enough() const {
    return options_.enough_failing > 0 && std::ssize(report_.failing) >= options_.enough_failing;
  }
  /// Does the clock decide what is asked? Not with a number of draws, and not in a shard.
  bool may_hurry() const { return plan_.draws && !options_.draws && !options_.part; }
  clock::time_point cause_end() const;
  clock::time_point search_end(double most_seconds, double part_of_budget) const;
  std::string reproducer(audit_case const& kernel_case) const;

  audit_options const& options_;
  audit_plan const& plan_;
  report& report_;
  report_builder collect_;
  findings_folder saved_;
  interruption when_;
  case_pool pool_;
  bool mandatory_missing_ = false, hurried_ = false, nothing_to_draw_ = false;
  int hung_ = 0, unanswered_ = 0;  ///< cases
  std::vector<asked_call> asked_;
  std::vector<judged_form> judged_;                          ///< the first calls of the cases
  std::map<std::string, feature_set, std::less<>> refused_;  ///< by check: the features of its cases that were refused
};

std::string session::reproducer(audit_case const& kernel_case) const {
  std::string text = fmt::format("attest audit --kernel {} --contract {}", shell_word(options_.kernel),
                                 shell_word(options_.contract_argument));
  if (options_.replay)
    text += fmt::format(" --replay {} --only {}", shell_word(options_.replay->native()),
                        shell_word(kernel_case.full_name()));
  else
    text += fmt::format(" --seed {} --only {}{}", options_.seed, shell_word(kernel_case.full_name()),
                        options_.quick ? " --quick" : "");
  if (kernel_case.form && kernel_case.check != "support")
    text += fmt::format(" --draws 0 --draw-products {}", pool_.limits().call.products);
  return text + options_.words_of_rules();
}

void session::judge_recording(audit_case const& kernel_case) {
  if (kernel_case.recorded_by.empty()) return;
  contract const& claim = default_contract(kernel_case.problem.type());
  judgement const found = judge(kernel_case.problem.instance(), kernel_case.recorded, claim);
  collect_.add_observation(
      kernel_case.full_name(),
      found.failed > 0
          ? fmt::format("{}: {} of {} elements of the answer by {} are outside the bound of {}",
                        kernel_case.full_name(), found.failed, found.judged(), kernel_case.recorded_by, claim.name)
          : fmt::format("{}: all {} elements of the answer by {} are within {:.4f} of the bound of {}",
                        kernel_case.full_name(), found.judged(), kernel_case.recorded_by, found.max_error_in_bounds,
                        claim.name));
}

void session::take(audit_case const& kernel_case, bool is_draw, case_result&& result) {
  hung_ += result.hung, unanswered_ += result.unanswered;
  if (result.inside) pool_.wider().keep(*result.inside);
  note_replies(result.replies);
  report_.covered.add_elements(result.judged.judged(), result.judged.exist);
  if (!result.unsupported) {
    if (auto form = kernel_case.form ? kernel_case.form : audit::form_of(kernel_case.problem.draft()))
      judged_.push_back({*std::move(form), result.judged.failed > 0});
  } else if (!result.unanswered) {
    note_refused(kernel_case);
  }
  collect_.set_case(kernel_case.number);
  bool const missing = kernel_case.mandatory && (result.unsupported || result.judged.judged() == 0);
  if (missing || (result.unanswered && !is_draw)) {
    mandatory_missing_ = true;
    collect_.add_unanswered(kernel_case.full_name());
  }
  judge_recording(kernel_case);
  take_result(kernel_case, true, kernel_case.number, std::move(result), reproducer(kernel_case), report_, collect_);
}

void session::note_replies(std::vector<call_reply> const& replies) {
  auto const optional = [](bool asked, bool given) {
    return !asked ? reply::not_asked : given ? reply::answered : reply::refused;
  };
  for (call_reply const& of : replies) {
    call_replies said{.call = reply::refused};
    if (of.answered)
      said = {reply::answered, optional(of.asked.lse, of.given.lse), optional(of.asked.weights, of.given.weights)};
    report_.covered.add(of.form, said);
    asked_.push_back({of.form, said});
  }
}

/// Notes which features of a refused case the kernel refuses by themselves, or two at a time.
void session::note_refused(audit_case const& kernel_case) {
  auto const form = kernel_case.form ? kernel_case.form : audit::form_of(kernel_case.problem.draft());
  if (form) refused_[kernel_case.check] = refused_[kernel_case.check] | form->features();
}

/// The end of the work that follows the judgement of a refuted kernel. The rest of the time is for the work under way
/// and for writing the report.
clock::time_point session::search_end(double most_seconds, double part_of_budget) const {
  auto end = clock::now() + seconds(options_.quick ? 2 : most_seconds);
  if (options_.quick && may_hurry()) end = std::min(end, options_.begun + seconds(9));
  if (options_.budget) end = std::min(end, options_.begun + seconds(part_of_budget * *options_.budget));
  return end;
}

/// The end of the search for the cause: after 10 s, sooner if the user has little time.
clock::time_point session::cause_end() const {
  auto end = clock::now() + seconds(10);
  if (options_.quick && may_hurry()) end = std::min(end, std::max(options_.begun + seconds(8), clock::now() + seconds(1)));
  if (options_.budget) end = std::min(end, options_.begun + seconds(0.92 * *options_.budget));
  return end;
}

/// Searches for the conditions under which the kernel is wrong, for the first findings that refute.
void session::name_conditions() {
  // With --replay or --only CHECK/CASE the user is reproducing a known finding: skip the search.
  bool const single = options_.replay ||
                      std::ranges::any_of(options_.only, [](auto const& name) { return name.find('/') != name.npos; });
  if (single) return;
  constexpr int most = 3;
  auto const until = search_end(10, 0.93);
  // Cases that were made from a form can be made from it again: they come first.
  std::vector<finding*> ordered;
  for (bool const of_form : {true, false})
    for (finding& found : report_.findings)
      if ((std::ranges::find(checks_of_forms, found.check) != checks_of_forms.end()) == of_form)
        ordered.push_back(&found);
  int named = 0;
  for (finding* const each : ordered) {
    finding& found = *each;
    if (found.waived || found.what.bug_class == bug_class::hang || named == most || clock::now() >= until) continue;
    if (found.what.callers > 0) {
      if (found.what.callers > 1)
        found.condition = fmt::format("wrong where {} threads call at the same time", found.what.callers);
      continue;
    }
    auto const failing = plan_.make(found.check, found.case_name, pool_.limits());
    if (!failing) continue;
    auto const form = form_asked(*failing, found.what.call);
    if (!form) continue;
    ++named;
    std::vector<judged_form> earlier = judged_;
    for (call_form& before : forms_before(*failing, found.what.call)) earlier.push_back({std::move(before), false});
    row_index const row{found.what.index[0], found.what.index[1], found.what.index[2]};
    auto const where = find_condition(*form, earlier, ask_kernel(options_, until, row),
                                      static_cast<std::int64_t>(problem::size_of(options_.claim->type)));
    if (!where) continue;
    found.condition = where->sentence;
    if (report_.cause && report_.cause->condition.empty()) report_.cause->condition = where->sentence;
  }
}

/// A check proves nothing if the kernel answered none of its cases.
void session::list_refused_checks() {
  for (check_result const& row : report_.checks) {
    if (row.name == check_of_merges && row.unsupported < row.cases)
      report_.observations.insert(report_.observations.begin(),
                                  fmt::format("merges are judged under {}", contract_of_merges(*options_.claim).name));
    if (row.unsupported < row.cases) continue;
    feature_set unsupported;
    refused_[row.name].each([&](feature one) {
      if (!pool_.limits().answers.answers(feature_set{one})) unsupported.add(one);
    });
    report_.not_asked.push_back({refused_check(row.name), words_of_refusal(unsupported)});
  }
}

std::string session::why_stopped() const {
  if (options_.interrupted()) return "interrupted";
  if (hung_ >= 2) return "the kernel hung twice";
  if (hung_ + unanswered_ >= 2) return "calls of two inputs did not return";
  if (options_.fail_fast && collect_.refuted()) return "--fail-fast";
  if (has_enough()) return fmt::format("{} failing inputs are enough", options_.enough_failing);
  if (when_.requested()) return fmt::format("the budget of {:g} s", *options_.budget);
  if (hurried_) return "enough was found";
  return "";
}

/// Takes the cases of the fixed part, then the draws. Returns why it ended before the last case of the fixed part, or
/// nothing.
problem::result<std::string> session::take_all() {
  std::string stopped;
  std::size_t const fixed = plan_.fixed.size();
  std::size_t done = 0;
  for (; stopped.empty(); ++done) {
    auto const all = static_cast<std::int64_t>(std::max(fixed, done + 1));
    bool const is_draw = done >= fixed;
    options_.on_progress(static_cast<std::int64_t>(done), all, is_draw ? "draws" : plan_.fixed[done].full_name());
    auto asked = pool_.wait(done);
    if (!asked) break;
    if (!asked->result) return asked->result.why();
    case_result& result = asked->result.value();
    if (result.cut_short && result.judged.failed == 0) break;
    if (!asked->plan.reported) continue;
    // A draw that --only or a file names is not independent of what it shows.
    report_.draws += is_draw;
    if (is_draw) report_.covered.add_draw(!result.unsupported);
    if (!asked->made) break;
    take(*asked->made, is_draw, std::move(result));
    if (!hurried_ && may_hurry() && collect_.refuted()) {
      // The verdict is known: the rest of the time is for other checks and for the findings.
      hurried_ = true;
      pool_.end_draws();
      pool_.end_by(options_.quick ? options_.begun + seconds(7) : clock::now() + seconds(3));
    }
    if (done + 1 == fixed && may_hurry() && judged_.empty()) {
      nothing_to_draw_ = true;  // draws are calls of attention, and it answers none
      pool_.end_draws();
    }
    if (hung_ + unanswered_ >= 2 || (options_.fail_fast && collect_.refuted()) || has_enough()) stopped = why_stopped();
  }
  pool_.close();
  options_.on_progress(0, 0, "");
  if (plan_.draws || plan_.shapes_from < fixed) report_.draw_products = pool_.limits().call.products;
  report_.all_draws = plan_.draws ? options_.draws.value_or(report_.draws) : 0;
  report_.all_cases = plan_.all_fixed + report_.all_draws;
  if (done >= fixed) {
    not_drawn(static_cast<std::int64_t>(done - fixed));
    return std::string();
  }
  if (stopped.empty()) stopped = why_stopped();
  report_.observations.push_back(fmt::format("stopped after {} of {} cases: {}", done, fixed, stopped));
  report_.not_asked.push_back({fmt::format("{} of {} inputs", fixed - done, fixed), stopped});
  return stopped;
}

/// Says which draws were asked for and not made.
void session::not_drawn(std::int64_t made) {
  if (plan_.draws && options_.part && !options_.draws)
    report_.not_asked.push_back({"draws", "--shard without --draws"});
  if (nothing_to_draw_) report_.not_asked.push_back({"draws", "the kernel answered no call of attention"});
  if (!plan_.draws || !options_.draws) return;
  std::int64_t const first = plan_.draw_number(made);
  if (first > *options_.draws) return;
  report_.not_asked.push_back({fmt::format("draws {} to {}", first, *options_.draws), why_stopped()});
}

std::optional<problem::error> session::run() {
  if (auto why = pool_.start()) return why;
  report_.kernel = pool_.name();
  report_.kernel_builds = {build_of(options_.kernel, options_.channel, options_.claim->type)};
  report_.relaxed = relaxed(options_.claim->conventions);
  report_.missing_protections = pool_.missing_protections();
  report_.protections = protections_of(limits_of(options_), report_.missing_protections,
                                       options_.channel >= 0);
  if (pool_.loading_changes_environment())
    report_.observations.emplace_back(
        "loading the kernel changed the rounding mode or FTZ/DAZ of its process (-ffast-math does)");
  saved_.remove_earlier();
  auto const stopped = take_all();
  if (!stopped) return stopped.why();
  list_refused_checks();
  if (plan_.draws && !options_.draws && !options_.part && !nothing_to_draw_)
    report_.observations.push_back(fmt::format(
        "{} draws, of at most {} multiplications a large call: --draws {} --draw-products {} asks them again",
        report_.draws, report_.draw_products, report_.draws, report_.draw_products));
  // A shard knows its own calls only.
  if (!options_.part)
    for (std::string& sentence : refusal_patterns(asked_)) report_.observations.push_back(std::move(sentence));
  std::string because;  // empty: calls that were not answered
  if (!stopped.value().empty())
    mandatory_missing_ = true,
    because = "the audit stopped early, before the end of its fixed part: " + stopped.value();
  collect_.finish(!mandatory_missing_, because);
  if (collect_.refuted() && !options_.fail_fast && !options_.interrupted()) {
    name_cause(options_, plan_, pool_.limits(), cause_end(), report_);
    if (options_.conditions) name_conditions();
  }
  if (!options_.findings.empty() && collect_.refuted() && !options_.interrupted()) {
    save_findings(
        options_, [&](auto check, auto name) { return plan_.make(check, name, pool_.limits()); }, search_end(15, 0.95),
        saved_, report_);
    if (auto const why = saved_.list())
      report_.observations.push_back("the saved findings are not listed: " + why->message());
  }
  for (finding& found : report_.findings)
    if (!found.pictures && found.no_pictures.empty())
      found.no_pictures = options_.findings.empty() ? "--findings '' asks for none" : "the audit was interrupted";
  return std::nullopt;
}

}  // namespace

problem::result<report> run_audit(audit_options const& options) {
  auto const plan = planned(options);
  if (!plan) return plan.why();
  return run_audit(options, plan.value());
}

problem::result<report> run_audit(audit_options const& options, audit_plan const& plan) {
  report kernel_report;
  kernel_report.contract = options.claim->name;
  kernel_report.contract_revision = revision_of(*options.claim);
  kernel_report.contracts = {*options.claim};
  kernel_report.not_asked = left_out(options, plan);
  if (!options.replay) kernel_report.seed = options.seed;
  kernel_report.replayed = plan.replayed;
  if (options.part) kernel_report.shard = {options.part->index, options.part->of};
  kernel_report.options = text_of(options);
  kernel_report.required_support = options.required_support, kernel_report.outside_limit = options.outside;
  session running(options, plan, kernel_report);
  if (auto why = running.run()) return *std::move(why);
  in_rows_of_parts(kernel_report);
  return kernel_report;
}

}  // namespace attest::audit
