// The curves of the stability sweeps on the page of html/page.hpp.
#pragma once

#include <span>

#include "audit/report/report.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {

/// A figure for each axis, with a curve for each report and a table of the numbers. Writes nothing if no report has a
/// curve.
void write_curves(std::span<report const> all, markup& to);

}  // namespace attest::audit
