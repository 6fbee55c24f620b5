// Theorem T2 of docs/bound.md on lanes: a row with a sink is bounded twice, first without it. Compiled once for every
// SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_KEYS_ALONE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_KEYS_ALONE_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_KEYS_ALONE_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_KEYS_ALONE_INL_HPP
#endif

#include <algorithm>
#include <cstddef>

#include "reference/machine/columns-inl.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

inline bool bounds_keys_alone(row_scalars const& facts, problem::kernel_model const& model) {
  return facts.has_sink && model.sink_form != problem::sink_form::term;
}

inline void keep_facts(std::size_t n, row_scalars const& facts, key_columns const& k, row_facts& to) {
  static_cast<row_scalars&>(to) = facts;
  to.keys.clear();
  for (std::size_t j = 0; j < n; ++j)
    to.keys.push_back({k.j[j], k.x_lower[j], k.x_upper[j], k.score_upper[j], k.product_upper[j], k.key_norm[j],
                       k.bias[j], k.weight_lower[j], k.weight_upper[j]});
}

/// Keeps in memory.alone what the sweep of n keys without their sink has left in memory.
inline void keep_alone(std::size_t n, std::size_t dv, bool weights, row_scalars const& facts,
                       certified_row const& certified, workspace& memory) {
  row_alone& alone = memory.alone;
  key_columns const& keys = memory.keys;
  keep_facts(n, facts, keys, alone.facts);
  alone.lse = certified.lse, alone.lse_low = certified.lse_low, alone.lse_radius = certified.lse_radius;
  for (auto* array : {&alone.bound, &alone.warning, &alone.o_size, &alone.judged, &alone.by_theorem}) array->resize(dv);
  for (std::size_t c = 0; c < dv; ++c) {
    double const low = memory.o_low.empty() ? 0 : absolute(memory.o_low[c]);
    double const size = rounded_up(absolute(memory.o[c]) + low) + memory.o_radius[c];
    alone.o_size[c] = size * (1 + 0x1p-50) * alone.terms.kept_factor * (1 + 0x1p-50);
    alone.bound[c] = memory.o_bound[c], alone.warning[c] = memory.o_warning[c];
    alone.judged[c] = memory.o_by[c] != judged_by::nothing && size < infinity ? 1 : 0;
    alone.by_theorem[c] = memory.o_by[c] == judged_by::theorem ? 1 : 0;
  }
  auto const keep = [n](std::vector<double> const& from, std::vector<double>& to) {
    to.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(n));
  };
  keep(keys.weight_upper, alone.weight_upper);
  if (!weights) return;
  keep(keys.weight_bound, alone.weight_bound), keep(keys.weight_by_theorem, alone.weight_by_theorem);
}

/// The factor of the sink, the last of n keys that bound_row has bounded, and the bounds of the weights. f is summed
/// over the keys: 1 − π_⊥ would cancel.
inline void rescale_row(std::size_t n, bool weights, row_terms& terms, workspace& memory) {
  key_columns& keys = memory.keys;
  row_alone const& alone = memory.alone;
  std::size_t const real = n - 1;
  double left = 0;
  for (std::size_t j = 0; j < real; ++j) left += keys.weight_upper[j];
  double const t = keys.bias[real];
  double const over = rounded_up(absolute(alone.lse_low) + alone.lse_radius) * (1 + 0x1p-50);
  double const lse_upper = rounded_up(alone.lse + over), lse_lower = rounded_down(alone.lse - over);
  memory.alone.above_lower = rounded_down(t - lse_upper), memory.alone.above_upper = rounded_up(t - lse_lower);
  sink_numbers const sink{keys.E[real],      absolute(t),      keys.weight_upper[real], smaller(1, left * terms.slack),
                          alone.above_lower, alone.above_upper};
  bound_by_keys_alone(terms, alone.terms, sink);
  if (!weights) return;
  for (std::size_t j = 0; j < real; ++j) {
    weight_bound<double> const by_term{keys.weight_bound[j], keys.weight_by_theorem[j] > 0};
    auto const found = with_rescaled_weight(terms, by_term, alone.weight_bound[j], alone.weight_by_theorem[j] > 0,
                                            alone.weight_upper[j], keys.weight_upper[j]);
    keys.weight_bound[j] = found.size < infinity ? found.size : infinity;
    keys.weight_by_theorem[j] = as_number(found.by_theorem);
  }
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
