// The report as one page that needs nothing else: no network, no script.
#pragma once

#include <span>
#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// The reports of one run, one kernel each, side by side: verdicts first, then checks, findings with their pictures,
/// curves, notes. Light or dark as the reader's screen is, readable from 320 pixels on.
/// Requires  at least one report
/// Ensures   well-formed XML that is HTML, too; all that comes from kernels and files is escaped; the page may load
/// nothing
std::string as_html(std::span<report const> all);

}  // namespace attest::audit
