#include "audit/session/session.hpp"

#include "audit/condition/form.hpp"
#include "audit/report/name_classes.hpp"
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

void session::take(judged_case&& taken) {
  audit_case const& kernel_case = *taken.input;
  case_result& result = taken.result;
  collect_.set_case(taken.number);
  check_result& row = collect_.row_of_check(kernel_case.check);
  row.seconds += result.kernel_seconds + result.oracle_seconds;
  report_.kernel_seconds += result.kernel_seconds;
  report_.oracle_seconds += result.oracle_seconds;
  if (result.unsupported) ++row.unsupported;
  for (std::string& sentence : result.observations) collect_.add_observation(kernel_case.check, std::move(sentence));
  row.conventions.insert(result.conventions.begin(), result.conventions.end());
  if (kernel_case.beyond) result.judged.shares = {}, result.judged.systematic = {};
  judgement const& judged = result.judged;
  if (!kernel_case.axis.empty() && judged.judged() > 0)
    report_.curves.push_back(
        {kernel_case.axis, kernel_case.place, judged.max_error_in_bounds, judged.failed > 0, taken.number});
  if (judged.failed > 0 && is_plain(kernel_case)) report_.plain_wrong.insert(kernel_case.check);
  check const* const about = taken.generated ? find_check(kernel_case.check) : nullptr;
  std::size_t const failing = report_.failing.size(), findings = report_.findings.size();
  collect_.add_judgement(row, kernel_case.name, about ? about->bug_class : bug_class::accuracy,
                         kernel_case.problem.size(), std::move(result.judged), taken.reproducer);
  if (report_.failing.size() > failing) report_.failing.back().inside = std::move(result.inside);
  for (std::size_t at = findings; at < report_.findings.size(); ++at) {
    finding& found = report_.findings[at];
    owned_problem const& problem = kernel_case.call(found.what.call);
    found.sizes = problem.size(), found.merged = rows_of(problem);
    found.parameters = parameters_words(problem.draft());
  }
}

std::optional<problem::error> session::run() {
  if (auto why = begin()) return why;
  saved_.remove_earlier();
  for (;;) {
    auto taken = next();
    if (!taken) return taken.why();
    if (!taken.value()) break;
    take(*std::move(taken).value());
  }
  close();
  if (collect_.refuted() && explains()) {
    name_cause();
    name_classes(report_);
    name_conditions();
  }
  save_findings();
  if (auto const why = saved_.list())
    report_.observations.push_back({"the saved findings are not listed: " + why->message(), kind_not_saved});
  return std::nullopt;
}

}  // namespace attest::audit
