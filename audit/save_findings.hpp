// Findings, shrunk and saved as files that show them again.
#pragma once

#include <chrono>
#include <vector>

#include "audit/audit.hpp"

namespace attest::audit {

/// Draws the first finding of every check and class, shrinks it, and writes its problem into options.findings. Its
/// reproducer is then `--replay FILE`. A finding that does not shrink keeps the reproducer that it has.
/// Cost      ends soon after `until`
void save_findings(audit_options const& options, std::vector<audit_case> const& cases,
                   std::chrono::steady_clock::time_point until, report& what);

}  // namespace attest::audit
