// How large the calls of production and drawn shapes may be: what the options fix, and what the kernel's speed allows.
#pragma once

#include <optional>

#include "audit/asking/options.hpp"
#include "audit/cases/forms/drawn.hpp"
#include "audit/isolation/kernel_session.hpp"

namespace attest::audit {

/// The limits that do not depend on the machine.
shape_limits fixed_limits(audit_options const& options);

/// Products of a call that takes seconds/200, as a power of two between 2²⁰ and 2³³. Returns nothing if the kernel
/// answers no plain call of the domain. One draw in 64 may be ten times larger (seconds/20).
/// Cost      plain calls of growing size, until one takes 10 ms
std::optional<std::int64_t> most_products(kernel_session& kernel, problem::element_type type, double seconds,
                                          call_domain const& domain = {});

/// The same of backward passes, of at most 512 queries. Returns nothing if the kernel answers no plain one.
std::optional<std::int64_t> most_gradient_products(kernel_session& kernel, problem::element_type type, double seconds,
                                                   call_domain const& domain = {});

}  // namespace attest::audit
