// An audit of one kernel.
#pragma once

#include <vector>

#include "audit/asking/options.hpp"
#include "audit/report/report.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Audits a kernel on the cases that the options choose, inside its domain: finds that, calls the kernel, judges its
/// outputs, shrinks and saves its findings.
/// Ensures   the user can mend every error (a kernel that does not load, an unknown name): exit status 2
problem::result<report> run_audit(audit_options const& options);

}  // namespace attest::audit
