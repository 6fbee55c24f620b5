// The coverage of an audit in a JSON report.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "audit/report/json_object.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// Was anything counted?
inline bool has_coverage(report const& kernel_report) {
  return !kernel_report.covered.empty() || kernel_report.draws > 0;
}

/// "coverage" of a report; null where nothing was counted.
nlohmann::ordered_json coverage_json(report const& kernel_report);

/// The triples that were met, as hexadecimal digits of four bits each: what `merge` needs beside "coverage".
std::string triples_text(coverage const& of);

/// Reads "coverage" of `top` and "covered_triples" of `shard`, and the number of draws.
/// Throws    report_fault where a count is negative or above 2^40, a count of some exceeds that of all, or a list has
///           another length or unknown features
void read_coverage(report_object const& top, report_object const& shard, report& into);

}  // namespace attest::audit
