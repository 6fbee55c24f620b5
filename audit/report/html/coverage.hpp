// What an audit covered, on the page of html/page.hpp.
#pragma once

#include <span>

#include "audit/report/report.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {

/// For each report with a coverage: the combinations met, the maps of answered calls by size, and which features the
/// kernel supports. Writes nothing if no report has a coverage.
void write_coverage(std::span<report const> all, markup& to);

}  // namespace attest::audit
