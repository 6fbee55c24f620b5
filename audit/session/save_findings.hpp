// Findings, shrunk and saved as files that show them again.
#pragma once

#include <chrono>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/report/report.hpp"
#include "audit/session/options.hpp"

namespace attest::audit {

/// Draws the first finding of every check and class, shrinks it, and writes its problem and the kernel's answer into
/// options.findings. Its reproducer is then `--replay FILE`. A finding that does not shrink (a hang, a race, a memory
/// layout) is written as it is and keeps the reproducer that it has. Every other one gets a reason for no pictures.
/// Cost      ends soon after `until`
void save_findings(audit_options const& options, std::vector<audit_case> const& cases,
                   std::chrono::steady_clock::time_point until, report& what);

}  // namespace attest::audit
