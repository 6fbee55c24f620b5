#include "audit/asking/run_case.hpp"

#include <fmt/format.h>

#include "audit/asking/ask_together.hpp"
#include "audit/asking/call_violations.hpp"
#include "audit/asking/repeated_bits.hpp"
#include "audit/cases/default_contract.hpp"
#include "audit/cause/explain.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/cross_call.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/wider_claims.hpp"

namespace attest::audit {
namespace {

/// Notes whether the kernel answered the call, and which of the outputs it gave. A call that failed is no reply.
void note_reply(audit_case const& kernel_case, std::size_t call, kernel_session::run_result const& ran,
                case_result& into) {
  bool const answered = ran.report.outcome == call_outcome::succeeded;
  if (!answered && ran.report.outcome != call_outcome::unsupported) return;
  auto form = call == 0 && kernel_case.form ? kernel_case.form : form_of(kernel_case.call(call).draft());
  if (!form) return;
  form->threads = kernel_case.threads_of(call);
  asked_outputs const asked = kernel_session::requestable(kernel_case.call(call), kernel_case.asks);
  into.replies.push_back(
      {*std::move(form), answered, asked, {ran.outputs.lse.has_value(), ran.outputs.weights.has_value()}});
}

}  // namespace

problem::result<case_result> run_case(audit_case const& asked, kernel_session& kernel, judging_rules const& given,
                                      case_outputs* outputs) {
  bool const hands = !asked.problem.draft().of->handed.empty() && kernel.reads_forward();
  std::optional<audit_case> const handed = hands ? std::optional(with_forward(asked)) : std::nullopt;
  audit_case const& kernel_case = handed ? *handed : asked;
  contract const claim = contract_under(*given.claim, kernel_case.problem);
  judging_rules rules = given;
  rules.claim = &claim;
  case_result found;
  case_outputs outputs_of_calls(kernel_case.further.size() + 1);
  auto const run_call = [&](std::size_t call,
                            audit::placement placement) -> problem::result<std::optional<owned_outputs>> {
    auto ran = kernel.run(kernel_case.call(call), kernel_case.threads_of(call), placement, kernel_case.asks,
                          kernel_case.memory_of(call));
    if (!ran) return ran.why();
    if (call_report const& did = ran.value().report; did.outcome == call_outcome::not_asked)
      found.observations.push_back(fmt::format("{}: {}", kernel_case.full_name(), did.sentence));
    found.kernel_seconds += ran.value().seconds;
    note_reply(kernel_case, call, ran.value(), found);
    take_outcome(ran.value().report, call, found);
    if (ran.value().report.outcome != call_outcome::succeeded) return std::optional<owned_outputs>();
    return std::optional(std::move(ran.value().outputs));
  };
  auto const stop = [&] { return found.hung || found.unanswered || found.cut_short; };
  for (bool const before : {true, false}) {
    if (!before) {
      auto first = run_call(0, placement::end);
      if (!first) return first.why();
      outputs_of_calls[0] = std::move(first).value();
      if (!outputs_of_calls[0] || stop()) break;
      problem::result<std::optional<owned_outputs>> second = std::optional<owned_outputs>();
      if (!kernel_case.once) second = run_call(0, placement::start);
      if (!second) return second.why();
      if (second.value()) {
        further_call again{.problem = kernel_case.problem, .says = "its tensors lie elsewhere in memory"};
        if (auto differs = outputs_differ(kernel_case, *outputs_of_calls[0], again, *second.value())) {
          bit_repeater repeater(kernel_case, kernel, outputs_of_calls);
          auto const same = repeater.repeats({0}, 3);
          if (!same) return same.why();
          found.kernel_seconds += repeater.seconds();
          if (!same.value())
            again.says = bits_vary, differs = outputs_differ(kernel_case, *outputs_of_calls[0], again, *second.value());
          found.observations.push_back(fmt::format("{}: {}", kernel_case.full_name(), differs->sentence));
        }
        if (!leaves_outputs_open(kernel_case.problem, claim)) {
          bool const same = same_bits(*outputs_of_calls[0], *second.value());
          judgement judged =
              same ? judge_beside(kernel_case.problem, *outputs_of_calls[0], *second.value(), claim, kernel_case.rows,
                                  rules.how)
                   : judge_by_law(kernel_case.problem, *second.value(), claim, kernel_case.rows, rules.how);
          if (!same) explain_call(kernel_case.problem, *second.value(), claim, kernel_case.rows, judged);
          found.judged.merge(std::move(judged));
        }
      }
    }
    for (std::size_t n = 0; n < kernel_case.further.size() && !stop(); ++n) {
      if ((kernel_case.further[n].is == relation::warm_up) != before) continue;
      auto outputs_of_call = run_call(n + 1, placement::end);
      if (!outputs_of_call) return outputs_of_call.why();
      outputs_of_calls[n + 1] = std::move(outputs_of_call).value();
    }
    if (stop()) break;
  }
  if (hands && !kernel.reads_forward()) return run_case(asked, kernel, given, outputs);  // O and LSE are its own
  // If the call itself failed (crash, broken promise), a wider precision contract cannot explain it.
  bool const called_well = found.judged.failed == 0;
  if (!found.cut_short) {
    bit_repeater repeater(kernel_case, kernel, outputs_of_calls);
    auto const vary = without_bits_that_vary(repeater, kernel_case, outputs_of_calls);
    if (!vary) return vary.why();
    found.kernel_seconds += repeater.seconds();
    judge_and_explain(vary.value() ? *vary.value() : kernel_case, outputs_of_calls, rules, found);
  }
  if (rules.wider && found.judged.failed > 0)
    found.inside = called_well ? rules.wider->holding(kernel_case, outputs_of_calls, rules.reproducible,
                                                      found.judged.violations.front())
                               : std::vector<holding_preset>();
  if (kernel_case.callers > 0 && !stop() && found.judged.failed == 0)
    if (auto why = ask_together(kernel_case, kernel, rules, outputs_of_calls, found.kernel_seconds, found))
      return *std::move(why);
  if (rules.wider && found.judged.failed > 0 && !found.inside) found.inside.emplace();  // precision does not explain it
  if (outputs) *outputs = std::move(outputs_of_calls);
  check const* const about = find_check(kernel_case.check);
  for (violation& v : found.judged.violations)
    if (auto const memory = kernel_case.memory_of(v.call).text(); !memory.empty())
      v.sentence += "; in this call, " + memory;
  suspect(found.judged.violations, about ? about->bug_class : bug_class::accuracy);
  return found;
}

}  // namespace attest::audit
