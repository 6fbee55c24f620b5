// How large the calls of production and drawn shapes may be: what the options fix, and what the kernel's speed allows.
#pragma once

#include <optional>

#include "audit/asking/audit_plan.hpp"
#include "audit/asking/options.hpp"
#include "audit/cases/forms/drawn.hpp"
#include "audit/isolation/kernel_session.hpp"

namespace attest::audit {

/// The limits that do not depend on the machine.
shape_limits fixed_limits(audit_options const& options);

/// The limit of a backward pass beside the limit of a call of attention: a quarter of it, at least 2¹⁸ and at most 2²⁸,
/// since the oracle's gradients take seconds beyond.
std::int64_t gradient_products(std::int64_t products) noexcept;

/// Products of a call that takes seconds/200, as a power of two between 2²⁰ and 2³³, or 2²⁵ in an audit of less than a
/// minute; with a backward pass, of four times gradient_products in that time, if these are fewer. Returns nothing if
/// the kernel answers no plain call. One draw in 64 may be ten times larger (seconds/20).
/// Cost      plain calls of growing size, until one takes 10 ms
std::optional<std::int64_t> most_products(kernel_session& kernel, problem::element_type type, double seconds,
                                          drawn_functions const& of, call_domain const& domain,
                                          call_domain const& of_gradients);

}  // namespace attest::audit
