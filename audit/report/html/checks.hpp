// The table of checks on the page of html/page.hpp: one report with all its numbers, or several side by side.
#pragma once

#include <span>

#include "audit/report/report.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {

/// A row for each check that a report has. The name of a check opens to what its pass proves.
void write_checks(std::span<report const> all, markup& to);

}  // namespace attest::audit
