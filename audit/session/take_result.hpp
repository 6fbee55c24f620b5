// Adds a judged case to the report: used by an audit, which calls a kernel, and by verify, which reads recorded
// outputs.
#pragma once

#include <cstdint>
#include <string>

#include "audit/judge/case_result.hpp"
#include "audit/report/builder.hpp"

namespace attest::audit {

/// Adds the result of a case to the row of its check and to the report's times, observations, curves and findings.
/// `number` is the number of the case among all, from 1; `reproducer` is the command line that shows its findings
/// again. `generated`: attest made the case, so that its faults are of the class of its check. A problem of another
/// author only happens to have such a name.
void take_result(audit_case const& kernel_case, bool generated, std::int64_t number, case_result&& result,
                 std::string const& reproducer, report& into, report_builder& collect);

}  // namespace attest::audit
