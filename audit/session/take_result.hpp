// A judged case into the report: the same for an audit, which asks, and for verify, which reads.
#pragma once

#include <cstdint>
#include <string>

#include "audit/judge/judge_case.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// Adds what became of a case to its check's row, the report's times, its observations, curves and findings.
/// `number` is the case's among all, counted from 1; `reproducer` the command line that shows its findings again.
void take_result(audit_case const& each, std::int64_t number, case_result&& result, std::string const& reproducer,
                 report& into, report_builder& collect);

}  // namespace attest::audit
