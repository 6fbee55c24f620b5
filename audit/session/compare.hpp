// Several kernels, asked the same inputs, side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/session/audit.hpp"

namespace attest::audit {

/// Audits each kernel on the same cases, one after the other. Each has its share of options.budget, and with more than
/// one kernel a folder of its own in options.findings, named kernel-1, kernel-2, ….
/// Requires  at least one kernel; options.kernel is not looked at
/// Ensures   reports in the order of `kernels`, fewer only where options.stop was set; an error is the first one's
problem::result<std::vector<report>> run_audits(audit_options const& options, std::span<std::string const> kernels);

/// Refuted before undecided before certified. Requires at least one report.
verdict worst(std::span<report const> all);

/// One report as report.hpp writes it. Several: each of them in turn, then a line with all verdicts.
std::string as_text(std::span<report const> all);

/// One report as report.hpp writes it. Several: {"attest", "schema", "verdict" (the worst), "reports": [each of them]}.
std::string as_json(std::span<report const> all);

}  // namespace attest::audit
