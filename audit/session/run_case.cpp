#include "audit/session/run_case.hpp"

#include <fmt/format.h>

#include "audit/judge/cross_call.hpp"

namespace attest::audit {
namespace {

/// The class of a broken promise of attest/kernel.h.
bug_class class_of(promise which) {
  return which == promise::restores_environment ? bug_class::fast_math : bug_class::memory;
}

bug_class class_of(call_outcome outcome) {
  return outcome == call_outcome::hung       ? bug_class::hang
         : outcome == call_outcome::exceeded ? bug_class::memory
                                             : bug_class::crash;
}

/// Adds violations for what the call did besides answering.
void take_outcome(call_report const& did, std::size_t call, case_result& into) {
  auto const add = [&](std::string output, bug_class kind, std::string sentence) {
    ++into.judged.failed;
    violation found;
    found.output = std::move(output), found.bug_class = kind, found.sentence = std::move(sentence), found.call = call;
    found.error_in_bounds = std::numeric_limits<double>::infinity();
    into.judged.add(std::move(found));
  };
  for (broken_promise const& broken : did.broken) add(broken.argument, class_of(broken.which), broken.sentence);
  switch (did.outcome) {
    case call_outcome::succeeded: return;
    case call_outcome::unsupported: into.unsupported = true; return;
    case call_outcome::cut_short: into.cut_short = true; return;
    case call_outcome::hung: into.hung = true; break;
    case call_outcome::crashed:
      if (!did.broken.empty()) return;  // the broken promise says it better
      break;
    default: break;
  }
  add("call", class_of(did.outcome), "the kernel " + did.sentence);
}

}  // namespace

problem::result<case_result> run_case(audit_case const& each, kernel_session& kernel, judging_rules const& rules,
                                      case_outputs* answered) {
  case_result made;
  case_outputs given(each.further.size() + 1);
  auto const ask = [&](std::size_t call, placement where) -> problem::result<std::optional<owned_outputs>> {
    auto reply = kernel.run(each.call(call), call == 0 ? 0 : each.further[call - 1].threads, where);
    if (!reply) return reply.why();
    made.kernel_seconds += reply.value().seconds;
    take_outcome(reply.value().report, call, made);
    if (reply.value().report.outcome != call_outcome::succeeded) return std::optional<owned_outputs>();
    return std::optional(std::move(reply.value().outputs));
  };
  auto const stop = [&] { return made.hung || made.cut_short; };
  for (bool const before : {true, false}) {
    if (!before) {
      auto first = ask(0, placement::end);
      if (!first) return first.why();
      given[0] = std::move(first).value();
      if (!given[0] || stop()) break;
      auto second = ask(0, placement::start);
      if (!second) return second.why();
      if (second.value()) {
        further_call const again{.problem = each.problem, .says = "its tensors lie elsewhere in memory"};
        if (auto differs = outputs_differ(each, *given[0], again, *second.value())) {
          made.observations.push_back(fmt::format("{}: {}", each.full_name(), differs->sentence));
          made.judged.merge(judge_call(each.problem, *second.value(), *rules.claim));
        }
      }
    }
    for (std::size_t n = 0; n < each.further.size() && !stop(); ++n) {
      if ((each.further[n].is == relation::warm_up) != before) continue;
      auto answer = ask(n + 1, placement::end);
      if (!answer) return answer.why();
      given[n + 1] = std::move(answer).value();
    }
    if (stop()) break;
  }
  if (!made.cut_short) judge_case(each, given, rules, made);
  if (answered) *answered = std::move(given);
  check const* const about = find_check(each.check);
  for (violation& v : made.judged.violations)
    if (!v.bug_class) v.bug_class = v.output == "lse" ? bug_class::lse : about ? about->bug_class : bug_class::accuracy;
  return made;
}

}  // namespace attest::audit
