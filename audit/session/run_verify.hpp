// Recorded outputs, judged: `attest verify`.
#pragma once

#include "audit/report/report.hpp"
#include "audit/session/verify_options.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Judges the outputs that the files hold, and the statuses of calls without outputs. An error is about a file or an
/// option: exit status 2.
problem::result<report> run_verify(verify_options const& options);

}  // namespace attest::audit
