// The coverage of an audit in a JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "audit/report/report.hpp"

namespace attest::audit {

/// Was anything counted?
inline bool has_coverage(report const& kernel_report) {
  return !kernel_report.covered.empty() || kernel_report.draws > 0;
}

/// "coverage" of a report; null if nothing was counted.
nlohmann::ordered_json coverage_json(report const& kernel_report);

}  // namespace attest::audit
