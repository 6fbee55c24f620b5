#include "audit/session/take_result.hpp"

#include <utility>

#include "audit/condition/form.hpp"
#include "audit/report/rows_of_parts.hpp"
#include "audit/support/sizes_words.hpp"

namespace attest::audit {
namespace {

/// Is its first call compact, without masks, grouped heads or other features?
bool is_plain(audit_case const& of) {
  auto const form = form_asked(of, 0);
  return form && form->options.empty() && form->memory == memory_form() && form->size.hq == form->size.hk;
}

}  // namespace

void take_result(audit_case const& kernel_case, bool generated, std::int64_t number, case_result&& result,
                 std::string const& reproducer, report& into, report_builder& collect) {
  collect.set_case(number);
  check_result& row = collect.row_of_check(kernel_case.check);
  row.seconds += result.kernel_seconds + result.oracle_seconds;
  into.kernel_seconds += result.kernel_seconds;
  into.oracle_seconds += result.oracle_seconds;
  if (result.unsupported) ++row.unsupported;
  for (std::string& sentence : result.observations) collect.add_observation(kernel_case.check, std::move(sentence));
  row.conventions.insert(result.conventions.begin(), result.conventions.end());
  if (kernel_case.beyond) result.judged.shares = {}, result.judged.systematic = {};
  judgement const& judged = result.judged;
  if (!kernel_case.axis.empty() && judged.judged() > 0)
    into.curves.push_back({kernel_case.axis, kernel_case.place, judged.max_error_in_bounds, judged.failed > 0, number});
  if (judged.failed > 0 && is_plain(kernel_case)) into.plain_wrong.insert(kernel_case.check);
  check const* const about = generated ? find_check(kernel_case.check) : nullptr;
  std::size_t const failing = into.failing.size(), findings = into.findings.size();
  collect.add_judgement(row, kernel_case.name, about ? about->bug_class : bug_class::accuracy,
                        kernel_case.problem.size(), std::move(result.judged), reproducer);
  if (into.failing.size() > failing) into.failing.back().inside = std::move(result.inside);
  for (std::size_t at = findings; at < into.findings.size(); ++at) {
    finding& found = into.findings[at];
    owned_problem const& problem = kernel_case.call(found.what.call);
    found.sizes = problem.size(), found.merged = rows_of(problem);
    found.parameters = parameters_words(problem.draft());
  }
}

}  // namespace attest::audit
