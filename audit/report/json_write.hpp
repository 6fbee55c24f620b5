// A report as JSON.
#pragma once

#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// The report by the schema of docs/audit.md, with a newline at its end. Results of arithmetic are hex floats in
/// strings, so that they are exact and may be infinite or NaN.
std::string as_json(report const& kernel_report);

}  // namespace attest::audit
