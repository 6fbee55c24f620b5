// A report as JSON.
#pragma once

#include <span>
#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// The reports by the schema of docs/files.md, with a newline at the end. Several kernels give {"attest", "schema",
/// "verdict" (the worst), "reports": [each of them]}. Results of arithmetic are hex floats in strings, so that they are
/// exact and may be infinite or NaN. Reports of a shard also have the facts for `merge` (shard_file.hpp).
/// Requires  at least one report
std::string as_json(std::span<report const> all);

std::string as_json(report const& kernel_report);

}  // namespace attest::audit
