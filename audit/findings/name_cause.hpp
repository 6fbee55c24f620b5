// Names the cause of the failing inputs of a report, from the answers of the kernel or of a file.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "audit/asking/options.hpp"
#include "audit/asking/plan.hpp"
#include "audit/cases/case.hpp"
#include "audit/cause/cause_search.hpp"
#include "audit/files/case_file.hpp"

namespace attest::audit {

/// The failing and passing cases of a report in the order in which they are tried. They are spread over the checks: the
/// first case of every check comes before the second of any.
std::vector<searched_case> spread_over_checks(std::vector<searched_case> cases);

/// Sets into.cause, if the report has failing cases, and puts the findings that it does not explain first. Cases of
/// forms were made by `limits`. The kernel is asked its failing cases again, and passing ones that a hypothesis would
/// change.
/// Cost      up to `until`
void name_cause(audit_options const& options, audit_plan const& plan, shape_limits const& limits,
                std::chrono::steady_clock::time_point until, report& into);

/// The same for recorded cases. `claim_of` is the contract that judged a case.
/// Cost      up to so many seconds of own_time
void name_recorded_cause(std::vector<recorded_case> const& cases,
                         std::function<contract(audit_case const&)> const& claim_of, double seconds,
                         std::function<bool()> const& stopped, report& into);

/// No finding that one named mistake explains keeps the answer of another mistake in its sentences.
void keep_answers_of_cause(report& of);

}  // namespace attest::audit
