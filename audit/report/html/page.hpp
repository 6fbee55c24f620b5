// The reports as one HTML page without scripts that needs no other file and no network.
#pragma once

#include <span>
#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// The reports of one run, one for each kernel, side by side: the verdicts, the checks, the findings with their
/// pictures, the curves, the notes. The page is light or dark as the browser prefers, and fits screens from 320 pixels
/// on.
/// Requires  at least one report
/// Ensures   well-formed XML that is also HTML; all text from kernels and files is escaped; its security policy forbids
///           the page to load anything
std::string as_html(std::span<report const> all);

}  // namespace attest::audit
