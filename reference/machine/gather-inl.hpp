// The visible keys of one row before its scores are computed, and its results in the end. Compiled once for every SIMD
// target.
#if defined(ATTEST_REFERENCE_MACHINE_GATHER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_GATHER_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_GATHER_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_GATHER_INL_HPP
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "problem/instance.hpp"
#include "reference/attention/dropout.hpp"
#include "reference/attention/sink.hpp"
#include "reference/attention/visibility.hpp"
#include "reference/machine/lanes-inl.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// memory.finite_values[j] = 1 iff the row of V of key j is finite: kernels may form 0·v at a dropped key.
template <class T>
void find_finite_values(problem::instance<T> const& p, std::int64_t b, std::int64_t hk, workspace& memory) {
  if (memory.finite_b == b && memory.finite_head == hk) return;
  memory.finite_values.assign(static_cast<std::size_t>(p.keys(b)), 1);
  for (std::int64_t j = 0; j < p.keys(b); ++j) {
    T const* const v = p.v().row(b, hk, j);
    for (std::int64_t c = 0; c < p.size().dv; ++c)
      if (!(absolute(load_value(v + c)) < infinity)) memory.finite_values[static_cast<std::size_t>(j)] = 0;
  }
  memory.finite_b = b, memory.finite_head = hk;
}

/// Appends the sink of head h, unless it is −∞, to the n keys in `keys`; its value is a row of zeros. Returns false for
/// a sink of NaN or +∞, which must be left to the ball tier.
template <class T>
bool gather_sink(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::size_t n, workspace& memory,
                 row_scalars& facts) {
  if (!p.has_sink()) return true;
  double const t = p.sink().present ? load_value(p.sink().row(b, h, 0)) : load_value(p.sink_f32().row(b, h, 0));
  if (t == -infinity) return true;
  if (!(absolute(t) < infinity)) return false;
  key_columns& keys = memory.keys;
  keys.j[n] = sink_index;
  keys.value[n] = memory.zeros.data();
  keys.score[n] = keys.product_upper[n] = keys.key_norm[n] = 0;
  if (!keys.score_low.empty()) keys.score_low[n] = 0;
  keys.bias[n] = t;
  facts.has_sink = true;
  return true;
}

/// Collects the keys visible to row i in `keys`: dot (with DoubleWords, a double word), size, norm and bias; behind
/// them the sink, if facts.has_sink (never without with_sink). Returns their number, 0 if no key has weight. Keys with
/// a bias of −∞ have no weight and are left out; facts gets the sizes that H0 asks of them. The value of a dropped key
/// is a row of zeros. Returns nothing if the row must be handed over to the ball tier. That is so for a bias or a sink
/// of +∞ or NaN; for a key with bias −∞ if Σ|q_t·k_t| or its row of V is not finite; and for a dropped key if its row
/// of V is not finite.
template <bool DoubleWords, class T>
std::optional<std::size_t> gather(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                                  std::size_t block_row, workspace& memory, row_scalars& facts, bool with_sink = true) {
  problem::sizes const& s = p.size();
  double const slack = 1 + static_cast<double>(s.d + 2) * 0x1p-52;
  key_columns& keys = memory.keys;
  std::size_t const stride = static_cast<std::size_t>(s.m) + tile_keys;
  double const* const dot = memory.dot.data() + block_row * stride;
  double const* const size = memory.size.data() + block_row * stride;
  bool const masked = p.mask().present || p.band().left >= 0 || p.band().right >= 0 || p.block_mask().present;
  T const* const bias = p.bias().present ? p.bias().row(b, h, i) : nullptr;
  float const* const bias_f32 = p.bias_f32().present ? p.bias_f32().row(b, h, i) : nullptr;
  std::int64_t const hk = key_head(s, h), stride_of_values = p.v().stride[2];
  T const* const values = p.v().has_row_stride() ? p.v().row(b, hk, 0) : nullptr;
  std::uint8_t const* const keep = p.keep().present ? p.keep().row(b, h, i) : nullptr;
  if (keep) find_finite_values(p, b, hk, memory);
  std::size_t n = 0;
  for (std::int64_t j = 0; j < p.keys(b); ++j) {
    if (masked && !visible(p, b, h, i, j)) continue;
    auto const at = static_cast<std::size_t>(j);
    double const added = bias ? load_value(bias + j) : bias_f32 ? load_value(bias_f32 + j) : 0;
    if (!(absolute(added) < infinity)) {
      if (added != -infinity || !(size[at] < infinity)) return std::nullopt;
      T const* const v = p.v().row(b, hk, j);
      for (std::int64_t c = 0; c < s.dv; ++c)
        if (!(absolute(load_value(v + c)) < infinity)) return std::nullopt;
      double const product = size[at] * slack + 0x1p-1050;
      facts.lost_upper = larger(facts.lost_upper, larger(product, rounded_up(facts.scale_upper * product)));
      facts.lost_norm = larger(facts.lost_norm, memory.key_norm[at] * slack);
      continue;
    }
    keys.j[n] = j;
    keys.value[n] = values + j * stride_of_values;
    if (!p.v().has_row_stride()) keys.value[n] = p.v().row(b, hk, j);
    if (keep && keep[j] == 0) {
      if (memory.finite_values[at] == 0) return std::nullopt;
      keys.value[n] = memory.zeros.data();
    }
    keys.score[n] = dot[at];
    if constexpr (DoubleWords) keys.score_low[n] = memory.dot_low[block_row * stride + at];
    keys.product_upper[n] = size[at];
    keys.key_norm[n] = memory.key_norm[at];
    keys.bias[n] = added;
    ++n;
  }
  if (n == 0) return 0;
  if (with_sink && !gather_sink(p, b, h, n, memory, facts)) return std::nullopt;
  return n + (facts.has_sink ? 1 : 0);
}

/// σ as a double, within 2.01u.
template <class T>
double scale_of(problem::instance<T> const& p) {
  auto const given = given_scale(p);
  return given ? *given : 1 / std::sqrt(static_cast<double>(p.size().d));
}

/// The quantities of a row that the bound needs beside its keys, as far as they are known before the scores. q is the
/// row of Q as doubles.
template <class T>
row_scalars scalars_of(problem::instance<T> const& p, std::int64_t b, double const* q) {
  row_scalars facts;
  facts.d = p.size().d, facts.m = p.keys(b);
  facts.softcap = p.softcap();
  facts.drops = p.keep().present;
  if (double const dropped = dropout_of(p); dropped > 0) facts.kept_factor = 1 / (1 - dropped) * (1 + 0x1p-50);
  facts.scale_upper = absolute(scale_of(p)) * (given_scale(p) ? 1 : 1 + 0x1p-51);
  for (std::int64_t t = 0; t < facts.d; ++t) facts.query_norm += absolute(q[t]), facts.nonzero += q[t] != 0 ? 1 : 0;
  facts.query_norm *= 1 + static_cast<double>(facts.d + 1) * 0x1p-52;
  return facts;
}

/// Sets the fields of `certified` to spans of `memory`: results of the first n keys, and bounds if options.bounds. With
/// dropout scale_outputs comes first.
inline void publish(workspace const& memory, std::size_t n, row_options const& options, row_terms const& terms,
                    certified_row& certified) {
  key_columns const& keys = memory.keys;
  certified.handed_over = false;
  bool const scaled = !memory.kept_o.empty();
  certified.o = scaled ? memory.kept_o : memory.o, certified.o_radius = scaled ? memory.kept_radius : memory.o_radius;
  certified.keys = std::span(keys.j).first(n);
  certified.weight_lower = std::span(keys.weight_lower).first(n);
  certified.weight_upper = std::span(keys.weight_upper).first(n);
  if (!options.bounds) return;
  certified.o_bound = memory.o_bound, certified.o_by = memory.o_by, certified.o_dull = memory.o_dull,
  certified.o_warning = memory.o_warning, certified.o_known = memory.o_known,
  certified.o_known_bound = memory.o_known_bound;
  certified.lowest = memory.lowest, certified.highest = memory.highest;
  certified.lse_bound = log_sum_exp_bound(terms);
  certified.terms = &terms;
  if (!options.weights) return;
  certified.weight_bound = std::span(keys.weight_bound).first(n);
  certified.weight_by_theorem = std::span(keys.weight_by_theorem).first(n);
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
