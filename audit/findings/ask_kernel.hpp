// Asks a kernel the questions of find_condition.
#pragma once

#include <chrono>
#include <cstdint>

#include "audit/asking/options.hpp"
#include "audit/cases/domain/call_domain.hpp"
#include "audit/condition/condition.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {

/// Which pass of the calls is asked and judged: attention, or its gradients.
enum class asked_pass : std::uint8_t { forward, backward };

/// Each question runs in a process of its own. It opens the kernel of the options, makes the problem of each form from
/// the seed, calls it, and judges the outputs of the judged calls by the contract. Large outputs are judged by 64 rows,
/// `seen` among them; gradients whole. A crash, a hang or a broken promise is wrong. Outputs that have the bits of an
/// earlier call of the same question are not judged again. Forms beyond 2²⁶ products (gradients 2²³) or 256 MiB or
/// outside the domain count as refused, as do forms whose sizes do not allow their memory form. A form with a mask is
/// drawn three to eight times until it is wrong. Requires  `options` outlives the asker; the thread that asks stays the
/// same Ensures   nothing once `until` has passed, or if the kernel cannot be opened
/// Cost      a process start (some 10 ms) a draw, the calls, and judging
asker ask_kernel(audit_options const& options, std::chrono::steady_clock::time_point until, row_index const& seen = {},
                 call_domain const& domain = {}, asked_pass pass = asked_pass::forward);

}  // namespace attest::audit
