// Audits of several kernels on the same inputs, and their reports together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/session/run_audit.hpp"

namespace attest::audit {

/// Audits each kernel on the same cases, one after the other. options.budget is divided among them equally. Of more
/// than one kernel, each has a folder in options.findings, named kernel-1, kernel-2, ….
/// Requires  at least one kernel; options.kernel is ignored
/// Ensures   reports in the order of `kernels`, fewer only if options.stop was set; or the error of the first kernel
///           that has one
problem::result<std::vector<report>> run_audits(audit_options const& options, std::span<std::string const> kernels);

/// The text of the reports, one after the other; after several, a line with all verdicts.
std::string as_text(std::span<report const> all);

}  // namespace attest::audit
