// docs/bound.md, section 1, of one row: its numbers as a few outward-rounded doubles, from enclosures of any precision
// (E2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

/// One of the n keys: visible, with a finite score. A sink is the last of them: b_j = t, Q_j = 0.
struct key_facts {
  std::int64_t index = 0;                     ///< among all keys of the entry, visible or not; sink_index: the sink
  double x_lower = 0, x_upper = 0;            ///< x_j = s_j − m ≤ 0
  double score_upper = 0;                     ///< ≥ |s_j|
  double product_upper = 0;                   ///< ≥ Q_j = Σ_t |q_t·k_jt|
  double key_norm = 0;                        ///< ≥ ‖k_j‖₁
  double bias = 0;                            ///< b_j
  double weight_lower = 0, weight_upper = 0;  ///< π_j
};

/// What belongs to the row and not to one key.
struct row_scalars {
  std::int64_t d = 0;
  std::int64_t m = 0;           ///< N: all keys of the entry, visible or not (not the m of docs/bound.md)
  std::int64_t nonzero = 0;     ///< elements of q that are not 0
  double scale_upper = 0;       ///< ≥ |σ|
  double softcap = 0;           ///< c; 0 = none
  bool finite_products = true;  ///< H0: no infinite q·k (which a softcap makes a finite score)
  double query_norm = 0;        ///< ≥ ‖q‖₁
  double max_upper = 0;         ///< ≥ |m|, m = max_j s_j
  double normaliser_lower = 1;  ///< ≤ Z
  double lse_upper = 0;         ///< ≥ |LSE|
  double lse_above_max = 0;     ///< ≥ ln Z
  double lost_upper = 0;        ///< H0: ≥ Q_j and S_j = |σ|·Q_j of every key whose weight a bias of −∞ takes
  double lost_norm = 0;         ///< H0: ≥ ‖k_j‖₁ of the same keys
  bool has_sink = false;        ///< the last key is a sink
  bool drops = false;           ///< there is a dropout mask
  double kept_factor = 1;       ///< ≥ κ = 1/(1 − p)
  friend constexpr bool operator==(row_scalars const&, row_scalars const&) noexcept = default;
};

struct row_facts : row_scalars {
  std::vector<key_facts> keys;  ///< in the order of enclosed_row::keys
  /// Beside a sink and keys: the same row without the sink (one element, else none), and t − LSE of that row.
  std::vector<row_facts> keys_alone{};
  double sink_above_lower = 0, sink_above_upper = 0;
};

/// |x| as a double, rounded up. Requires x finite.
constexpr double size_upper(element const& x) noexcept {
  return scaled(static_cast<std::uint64_t>(x.significand < 0 ? -x.significand : x.significand), x.exponent, true);
}

/// ≥ Q_j = Σ_t |q_t·k_jt| over the t where both are finite.
template <class T>
constexpr double product_upper(T const* q, T const* k, std::int64_t d) noexcept {
  double size = 0;
  for (std::int64_t t = 0; t < d; ++t)
    if (element const x = value_of(q[t]), y = value_of(k[t]); x.is_finite() && y.is_finite())
      size += size_upper(x) * size_upper(y);
  return size * (1 + static_cast<double>(d + 1) * 0x1p-52) + static_cast<double>(d) * 0x1p-1074;
}

/// ≥ ‖x‖₁ over the finite ones of d elements.
template <class T>
constexpr double norm_upper(T const* x, std::int64_t d) noexcept {
  double norm = 0;
  for (std::int64_t t = 0; t < d; ++t)
    if (element const at = value_of(x[t]); at.is_finite()) norm += size_upper(at);
  return norm * (1 + static_cast<double>(d + 1) * 0x1p-52);
}

/// What H0 asks beside the keys with a weight: |σ|, c, ‖q‖₁, no infinite q·k, and the largest Q_j, |σ|·Q_j and ‖k_j‖₁
/// of the keys that a bias of −∞ removes. (A kernel forms their q·k before it adds the bias: an overflow there gives ∞
/// − ∞ = NaN. Infinite elements are left out: in such a key they make q·k itself −∞.)
template <unsigned W, class T>
constexpr row_scalars range_of(problem::instance<T> const& p, enclosed_row<W, T> const& row) noexcept {
  problem::sizes const& s = p.size();
  T const* const q = p.q().row(row.b, row.h, row.i);
  row_scalars found;
  found.d = s.d, found.m = p.keys(row.b);
  found.has_sink = row.has_sink(), found.drops = p.keep().present;
  if (dropout_of(p) > 0) found.kept_factor = upper(ball<W>(1) / kept_part<W>(p));
  found.scale_upper = upper_size(row.rule.scale.template enclosure<W>());
  found.softcap = p.softcap();
  found.finite_products = std::ranges::none_of(row.keys, [](auto const& key) { return key.score.saturated != 0; });
  found.query_norm = norm_upper(q, s.d);
  for (std::int64_t t = 0; t < s.d; ++t)
    if (element const x = value_of(q[t]); !x.is_finite() || x.significand != 0) ++found.nonzero;
  for (std::int64_t const j : row.without_weight) {
    T const* const k = p.k().row(row.b, key_head(s, row.h), j);
    double const size = product_upper(q, k, s.d);
    found.lost_upper = larger(found.lost_upper, larger(size, rounded_up(found.scale_upper * size)));
    found.lost_norm = larger(found.lost_norm, norm_upper(k, s.d));
  }
  return found;
}

/// Requires  row made from p by enclose_row, row.kind finite
/// Ensures   every field on its safe side (E2); sums of n terms in doubles are widened by (1 + (n+1)·2⁻⁵²)
/// Cost      O(n·d)
template <unsigned W, class T>
constexpr void collect_facts(problem::instance<T> const& p, enclosed_row<W, T> const& row, row_facts& facts);

/// The row without its sink, for the theorem of sinks behind the keys. Its weights are formed anew: beside a large
/// sink, the weights of the whole row say nothing of them.
template <unsigned W, class T>
constexpr void collect_keys_alone(problem::instance<T> const& p, enclosed_row<W, T> const& row, row_facts& facts) {
  facts.keys_alone.clear();
  if (!row.has_sink() || row.keys.size() == 1) return;
  enclosed_row<W, T> alone = row;
  alone.keys.pop_back();
  enclose_weights(alone);
  facts.keys_alone.resize(1);
  collect_facts(p, alone, facts.keys_alone.front());
  ball<W> const above = ball<W>::from(row.keys.back().score.bias) - (alone.max_score + log(alone.normaliser));
  facts.sink_above_lower = lower(above), facts.sink_above_upper = upper(above);
}

template <unsigned W, class T>
constexpr void collect_facts(problem::instance<T> const& p, enclosed_row<W, T> const& row, row_facts& facts) {
  problem::sizes const& s = p.size();
  std::int64_t const hk = key_head(s, row.h);
  T const* const q = p.q().row(row.b, row.h, row.i);
  static_cast<row_scalars&>(facts) = range_of(p, row);
  facts.max_upper = upper_size(row.max_score);
  facts.normaliser_lower = lower(row.normaliser);
  ball<W> const log_z = log(row.normaliser);
  facts.lse_above_max = larger(0, upper(log_z));
  facts.lse_upper = upper_size(row.max_score + log_z);
  facts.keys.clear();
  for (auto const& key : row.keys) {
    key_facts entry;
    entry.index = key.j;
    entry.x_lower = smaller(0, lower(key.below_max));
    entry.x_upper = smaller(0, upper(key.below_max));
    entry.score_upper = rounded_up(facts.max_upper - entry.x_lower);
    ball<W> const score = row.max_score + key.below_max;
    entry.score_upper = smaller(entry.score_upper, upper_size(score));
    if (key.j != sink_index) {
      T const* const k = p.k().row(row.b, hk, key.j);
      entry.key_norm = norm_upper(k, s.d);
      entry.product_upper = product_upper(q, k, s.d);
    }
    entry.bias = key.score.bias.significand < 0 ? -size_upper(key.score.bias) : size_upper(key.score.bias);
    ball<W> const pi = key.weight / row.normaliser;
    entry.weight_lower = larger(0, lower(pi));
    entry.weight_upper = smaller(1, upper(pi));
    facts.keys.push_back(entry);
  }
  collect_keys_alone(p, row, facts);
}

}  // namespace attest::reference
