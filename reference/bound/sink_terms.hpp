// docs/bound.md, section 3, of a sink: how far it may lie above the keys. Part of reference/bound/terms.hpp.
#pragma once

#include "reference/bound/terms.hpp"

namespace attest::reference {

/// Section 3, A sink. A kernel that adds it at the end forms exp(t − M) with the maximum M of the keys: it may exceed M by
/// up to the largest finite exponential, and where it does by more (far + 2) no such kernel has an answer.
template <class Extremes>
constexpr void row_terms::meet_sink(Extremes const& keys, double x_lower, double x_upper, double E) noexcept {
  keys_above = keys.above, keys_below = keys.below;
  if (!(n > 1)) return;  // no key: there is no maximum to subtract
  double const above = rounded_up(rounded_up(x_upper + E) - keys_below);  // ≥ t + E_⊥ − M_K⁻
  // The argument that such a kernel forms is at least t − E_⊥ − M_K⁺, less what rounding its reference moves it by.
  double const reach = max_upper + larger(larger(absolute(keys_above), absolute(keys_below)), -x_lower) + E;
  double const moved = model.c_m > 0 ? gamma(model.c_m, model.format.u) * (1 + gamma(model.k_x, model.format.u)) * reach : 0;
  bool const finite = !(model.format.far + 2 + 2 * moved < rounded_down(rounded_down(x_lower - E) - keys_above));
  sink_above = finite ? larger(0, above) : 0;
  sink_in_range = above <= model.sink_limit;
}

}  // namespace attest::reference
