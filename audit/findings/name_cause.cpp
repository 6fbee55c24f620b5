#include "audit/findings/name_cause.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "audit/cases/call_order.hpp"
#include "audit/cases/default_contract.hpp"
#include "audit/cases/domain/keep_form.hpp"
#include "audit/cause/diagnosis.hpp"
#include "audit/cause/gradient_rows.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/findings/calls_like.hpp"
#include "audit/findings/case_answers.hpp"
#include "audit/findings/kernel_again.hpp"
#include "audit/isolation/own_time.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/support/multiplications.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

/// Further cases that pass would cost more than they explain.
constexpr std::size_t most_passing_made = 400;

call_event event_of(promise which) {
  switch (which) {
    case promise::leaves_inputs: return call_event::inputs;
    case promise::writes_every_element: return call_event::unwritten;
    case promise::restores_environment: return call_event::environment;
    default: return call_event::outside;
  }
}

void note_events(call_report const& did, std::set<call_event>& events) {
  for (broken_promise const& broken : did.broken) events.insert(event_of(broken.which));
  switch (did.outcome) {
    case call_outcome::crashed:
      if (did.broken.empty()) events.insert(call_event::crash);
      break;
    case call_outcome::failed:
    case call_outcome::unknown_status: events.insert(call_event::crash); break;
    case call_outcome::hung: events.insert(call_event::hang); break;
    case call_outcome::exceeded: events.insert(call_event::outside); break;
    default: break;
  }
}

/// The moment when this share of the time is over.
clock::time_point part_of(clock::time_point begun, clock::time_point until, double share) {
  return begun + std::chrono::duration_cast<clock::duration>(share * (until - begun));
}

/// Asks cases again, one after the other.
class asking {
 public:
  asking(audit_options const& options, audit_plan const& plan, shape_limits const& limits, clock::time_point until)
      : options_(options), plan_(plan), limits_(limits), until_(until), kernel_(options, until) {}

  bool late(double share = 1) const { return interruption{options_.stop, part_of(begun_, until_, share)}.requested(); }

  double products(searched_case const& which) const {
    auto const made = plan_.make(which.check, which.name, limits_);
    return made ? multiplications(made->problem.size()) : 0;
  }

  std::optional<answered_case> answers(searched_case const& which) {
    return answers(plan_.make(which.check, which.name, limits_));
  }

  /// The first call of a case alone, with other numbers, and in other sizes.
  std::vector<answered_case> others_like(searched_case const& which) {
    std::vector<answered_case> all;
    auto const made = plan_.make(which.check, which.name, limits_);
    if (!made || made->memory != memory_form()) return all;
    auto const& domain = made->problem.draft().d_out ? limits_.gradients.domain : limits_.domain;
    for (owned_problem const& problem : calls_like(made->problem, domain)) {
      audit_case of = *made;
      of.problem = problem, of.further.clear(), of.rows.clear();
      if (auto answered = answers(std::move(of)); answered && !answered->calls.empty())
        all.push_back(*std::move(answered));
    }
    return all;
  }

  std::optional<answered_case> answers(std::optional<audit_case> made) {
    if (!made || !is_tried(made->problem) || !kernel_.session()) return std::nullopt;
    audit_case const as_planned = *made;
    bool const hands = !made->problem.draft().of->handed.empty() && kernel_.session()->reads_forward();
    if (hands) made = with_forward(*std::move(made));
    std::set<call_event> events;
    case_outputs outputs(made->further.size() + 1);
    for (std::size_t const call : order_of_calls(*made)) {
      if (late()) return std::nullopt;
      auto ran = kernel_.session()->run(made->call(call), made->threads_of(call), placement::end, made->asks,
                                        made->memory_of(call));
      if (!ran) return std::nullopt;
      note_events(ran.value().report, events);
      if (ran.value().report.outcome == call_outcome::succeeded) outputs[call] = std::move(ran.value().outputs);
    }
    if (hands && !kernel_.session()->reads_forward()) return answers(as_planned);  // O and LSE are its own
    answered_case answers = answers_of(*made, outputs, contract_under(*options_.claim, made->problem));
    answers.events.merge(events);
    return answers;
  }

  /// What rows of chosen scores show, in small calls of its domain.
  seen_arithmetic arithmetic() {
    std::vector<problem::sizes> shapes;
    for (auto const& [n, m, d] : {std::array<std::int64_t, 3>{32, 64, 64}, {8, 32, 16}, {64, 128, 128}, {1, 64, 64}}) {
      call_form form;
      form.size = {.b = 1, .hq = 1, .hk = 1, .n = n, .m = m, .d = d, .dv = d};
      keep_to(limits_.domain, form);
      shapes.push_back(form.size);
    }
    problem_asker const ask = [&](owned_problem const& problem) -> std::optional<owned_outputs> {
      if (late() || !kernel_.session()) return std::nullopt;
      auto ran = kernel_.session()->run(problem, 0, placement::end);
      if (!ran || ran.value().report.outcome != call_outcome::succeeded) return std::nullopt;
      return std::move(ran.value().outputs);
    };
    seen_arithmetic seen = read_arithmetic(options_.claim->type, shapes, ask);
    seen.merge(of_gradients(ask));
    return seen;
  }

  /// What a backward pass of chosen numbers shows, in a small call of its domain with a scale that is a power of two.
  seen_arithmetic of_gradients(problem_asker const& ask) const {
    std::vector<problem::sizes> shapes;
    for (auto const& [heads, n, m, d] : {std::array<std::int64_t, 4>{4, 16, 32, 16}, {4, 64, 64, 64}}) {
      call_form form;
      form.size = {.b = 1, .hq = heads, .hk = heads, .n = n, .m = m, .d = d, .dv = d};
      keep_to(limits_.domain, form);
      if (form.size.hq == form.size.hk && (form.size.d == 16 || form.size.d == 64)) shapes.push_back(form.size);
    }
    return read_gradient_arithmetic(options_.claim->type, shapes, ask);
  }

  bool concerns(searched_case const& which, hypothesis const& tried) {
    auto const made = plan_.make(which.check, which.name, limits_);
    if (!made || !is_tried(made->problem)) return false;
    // Some hypotheses change outputs.
    contract const claim = contract_under(*options_.claim, made->problem);
    if (!made->problem.draft().d_out)
      return audit::concerns(tried, of_rank_4(made->problem, zero_outputs(made->problem), claim));
    owned_outputs gradients;
    for (output_kind const kind : output_kinds)
      if (problem::is_gradient(kind)) gradients.of(kind) = zero_gradient(made->problem, kind);
    return audit::concerns(tried, of_rank_4(made->problem, gradients, claim));
  }

 private:
  audit_options const& options_;
  audit_plan const& plan_;
  shape_limits const& limits_;
  clock::time_point begun_ = clock::now(), until_;
  kernel_again kernel_;
};

/// The wider presets, with the failing cases that were judged by them again.
std::vector<holding_contract> contracts_of(report const& of) {
  std::map<std::string, std::set<std::int64_t>> cases;
  for (failing_case const& failing : of.failing)
    if (failing.inside)
      for (holding_preset const& inside : *failing.inside) cases[inside.name].insert(failing.number);
  std::vector<holding_contract> contracts;
  for (auto& [name, numbers] : cases)
    if (wider_preset const* const wider = find_wider_preset(name)) {
      contract preset = *find_contract(name);
      if (!of.contracts.empty()) preset.conventions = of.contracts.front().conventions;
      contracts.push_back({name, fmt::format("it would be certified under contract {} ({})", name, wider->allows),
                           std::move(preset), std::move(numbers)});
    }
  return contracts;
}

std::vector<searched_case> failing_of(report const& of) {
  std::vector<searched_case> cases;
  for (failing_case const& failing : of.failing)
    cases.push_back({failing.check, failing.name, failing.number, failing.classes});
  return spread_over_checks(std::move(cases));
}

/// Runs the search, and keeps what it found.
void search(cause_question asked, bool recorded, clock::time_point until, report& into) {
  auto const begun = clock::now();
  asked.failing = failing_of(into), asked.contracts = contracts_of(into);
  std::optional<named_cause> cause;
  auto const late = [over = asked.late] { return over(1); };
  // Judging stops when time is over; a judgement that was stopped is not counted.
  if (asked.failing.empty()) return;
  [[maybe_unused]] bool const cut = interruptible(late, [&] { cause = find_cause(asked); });
  if (!cause && late()) cause.emplace().failed = std::ssize(asked.failing);
  if (!cause) return;
  cause->recorded = recorded;
  cause->seconds = std::chrono::duration<double>(std::min(clock::now(), until) - begun).count();
  into.cause = std::move(cause);
  put_unexplained_first(into);
  keep_answers_of_cause(into);
}

}  // namespace

void keep_answers_of_cause(report& of) {
  if (!of.cause || of.cause->mistakes.size() != 1) return;
  std::string const& mistake = of.cause->mistakes.front().name;
  for (finding& found : of.findings) {
    keep_answer_of(mistake, found.what.sentence);
    if (found.shrunk) keep_answer_of(mistake, found.shrunk->what.sentence);
  }
}

std::vector<searched_case> spread_over_checks(std::vector<searched_case> cases) {
  std::map<std::string, std::int64_t> seen;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> order;
  for (std::size_t at = 0; at < cases.size(); ++at) order.emplace_back(seen[cases[at].check]++, cases[at].number, at);
  std::ranges::sort(order);
  std::vector<searched_case> spread;
  for (auto const& [turn, number, at] : order) spread.push_back(std::move(cases[at]));
  return spread;
}

namespace {

/// The first cases of every check, as many as are asked about.
std::vector<searched_case> first_of_checks(std::vector<searched_case> passing) {
  passing = spread_over_checks(std::move(passing));
  if (passing.size() > most_passing_made) passing.resize(most_passing_made);
  return passing;
}

}  // namespace

void name_cause(audit_options const& options, audit_plan const& plan, shape_limits const& limits,
                clock::time_point until, report& into) {
  asking ask(options, plan, limits, until);
  cause_question asked;
  std::set<std::int64_t> failing;
  for (failing_case const& each : into.failing) failing.insert(each.number);
  for (planned_case const& each : plan.fixed)
    if (!failing.contains(each.number) && each.reported) asked.passing.push_back({each.check, each.name, each.number});
  asked.passing = first_of_checks(std::move(asked.passing));
  asked.answers = [&](searched_case const& which) { return ask.answers(which); };
  asked.telling_apart = [&](searched_case const& which) { return ask.others_like(which); };
  asked.concerns = [&](searched_case const& which, hypothesis const& tried) { return ask.concerns(which, tried); };
  asked.products = [&](searched_case const& which) { return ask.products(which); };
  asked.late = [&](double share) { return ask.late(share); };
  asked.arithmetic = [&] { return ask.arithmetic(); };
  search(std::move(asked), false, until, into);
}

void name_recorded_cause(std::vector<recorded_case> const& cases,
                         std::function<contract(audit_case const&)> const& claim_of, double seconds,
                         std::function<bool()> const& stopped, report& into) {
  std::map<std::pair<std::string, std::string>, recorded_case const*> by_name;
  cause_question asked;
  std::set<std::pair<std::string, std::string>> failing;
  for (failing_case const& each : into.failing) failing.emplace(each.check, each.name);
  for (recorded_case const& each : cases) {
    std::pair const name{each.input.check, each.input.name};
    by_name.emplace(name, &each);
    if (!failing.contains(name)) asked.passing.push_back({name.first, name.second, std::ssize(by_name)});
  }
  asked.passing = first_of_checks(std::move(asked.passing));
  auto const find = [&](searched_case const& which) -> recorded_case const* {
    auto const at = by_name.find({which.check, which.name});
    return at != by_name.end() && is_tried(at->second->input.problem) ? at->second : nullptr;
  };
  asked.answers = [&](searched_case const& which) -> std::optional<answered_case> {
    recorded_case const* const found = find(which);
    if (!found) return std::nullopt;
    answered_case answers = answers_of(found->input, found->outputs, claim_of(found->input));
    if (std::ranges::any_of(found->calls, [](recorded_call const& call) { return !call.unusable.empty(); }))
      answers.events.insert(call_event::unusable);
    return answers;
  };
  asked.concerns = [&](searched_case const& which, hypothesis const&) { return find(which) != nullptr; };
  asked.products = [&](searched_case const& which) {
    auto const at = by_name.find({which.check, which.name});
    return at == by_name.end() ? 0 : multiplications(at->second->input.problem.size());
  };
  asked.late = [&, begun = own_time::now()](double share) {
    return stopped() || own_time::now() - begun >= std::chrono::duration<double>(share * seconds);
  };
  asked.arithmetic = [&] { return bits_of(cases); };
  search(std::move(asked), true, clock::time_point::max(), into);
}

}  // namespace attest::audit
