// A finding as a JSON report has it, read back.
#pragma once

#include "audit/report/json_object.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// The finding that as_json wrote, with its pictures and the small problem's inputs; the number of its case is 0.
/// Requires  nothing: the report is anybody's
/// Throws    report_fault, where a key is missing, of another type, or does not fit the others
finding read_finding(report_object const& from);

}  // namespace attest::audit
