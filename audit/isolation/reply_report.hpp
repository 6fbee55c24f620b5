// The report of a call, from the reply of the runner.
#pragma once

#include "audit/isolation/call_report.hpp"
#include "audit/isolation/runner/protocol.hpp"

namespace attest::audit {

/// The report of a call that returned. `waited` seconds passed meanwhile; the kernel's own time is at most that.
call_report report_of(runner::reply_message const& reply, double waited);

/// Does the report say that the library has no function for such a call?
bool has_no_function(call_report const& report);

}  // namespace attest::audit
