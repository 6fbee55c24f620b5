// docs/bound.md, section 5, Theorem (known weights): the weights of a kernel that rounds P to few bits beside a
// reference point which the contract declares. P̂_j itself is then known, except where p̂_j may lie on either side of a
// midpoint. One value a key, in plain doubles; the sums over a column are in column_formulas-inl.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "problem/element_type.hpp"
#include "problem/kernel_model.hpp"
#include "reference/bound/declared_weights.hpp"
#include "reference/bound/terms.hpp"

namespace attest::reference {

/// What section 3 says of a key.
struct evaluated_key {
  std::int64_t index = 0;
  double x_lower = 0, x_upper = 0, weight_lower = 0, weight_upper = 0, E = 0, R = 0, P = 0, reference_error = 0;
  bool near = true;  ///< neither far nor flushed
};

/// In units of C·Z·e^m, for each key: `center` = π_j(1 + d_j) as a double; `deviation` ≥ π_jδ_j + |center − π_j(1 +
/// d_j)|; `size` ≥ π_j(1 + d_j + δ_j).
struct known_weights {
  /// The positions [begin, end) of the keys of one group of `block_most`, or of `block`.
  struct group {
    std::size_t begin = 0, end = 0;
  };
  bool hold = false;  ///< false: the theorem is silent, and nothing below is set
  double growth = 0;  ///< ≥ e^{E_end} − 1
  std::vector<double> center, deviation, size;
  std::vector<group> walk;  ///< in the order of the walk; empty unless one accumulator is declared
};

/// x ≥ 0 rounded to nearest among the numbers of unit roundoff u that are multiples of `quantum`; a midpoint goes up or
/// down.
/// Ensures   a result that does not decrease with x
constexpr double rounded_to(double x, double u, double quantum, bool midpoint_up) noexcept {
  if (!(x >= 0x1p-1022)) return 0;
  std::int64_t const exponent = (std::bit_cast<std::int64_t>(x) >> 52) - 1023;  // 2^exponent ≤ x < 2^(exponent + 1)
  double const unit = larger(quantum, 2 * u * power_of_two(exponent));
  double const steps = x / unit;  // exact, below 1/u
  auto const whole = static_cast<double>(static_cast<std::int64_t>(steps));
  double const rest = steps - whole;
  return (rest > 0.5 || (rest == 0.5 && midpoint_up) ? whole + 1 : whole) * unit;
}

/// Is P stored in the format of an element type? Its subnormals are the multiples of 2ω_p.
constexpr bool is_gradual(problem::kernel_model const& model) noexcept {
  return std::ranges::any_of(problem::floating_rows, [&](problem::element_row const& row) {
    return model.u_p == power_of_two(-row.format.fraction_bits - 1) &&
           model.omega_p == power_of_two(row.format.smallest() - 1);
  });
}

/// The keys of one block: m_t − m ∈ [m_lower, m_upper], M_t − m ∈ [lowest, highest], and whether a later block may
/// raise the reference.
struct weight_block {
  std::size_t begin = 0, end = 0;  ///< positions of its keys
  double m_lower = -infinity, m_upper = -infinity, lowest = -infinity, highest = -infinity;
  bool may_rise = true;

  /// E_t ≥ |M_t − m_t|.
  constexpr double error() const noexcept {
    return larger(rounded_up(highest - m_lower), rounded_up(m_upper - lowest));
  }
};

/// The blocks of one row in the order of the index: M_t is the running maximum at the end of block t, and m_t the
/// running maximum of the exact scores. If the contract says of M_t only that it includes the key's own block, m_t is
/// m.
template <class KeyAt>
constexpr std::vector<weight_block> weight_blocks(row_terms const& terms, std::size_t n, KeyAt const& key_at) {
  using problem::weight_reference;
  weight_reference const declared = terms.model.weight_reference;
  std::int64_t const block =
      declared == weight_reference::whole_row ? std::max<std::int64_t>(terms.m, 1) : terms.model.block;
  std::vector<weight_block> blocks;
  std::int64_t last = -1;
  for (std::size_t j = 0; j < n; ++j) {
    evaluated_key const key = key_at(j);
    if (key.index / block != last) blocks.push_back({j, j}), last = key.index / block;
    weight_block& at = blocks.back();
    at.end = j + 1;
    at.m_lower = larger(at.m_lower, key.x_lower);
    at.m_upper = larger(at.m_upper, key.x_upper);
    at.lowest = larger(at.lowest, rounded_down(key.x_lower - key.E));
    at.highest = larger(at.highest, rounded_up(key.x_upper + key.E));
  }
  if (declared == weight_reference::own_block) {
    for (weight_block& at : blocks) at.m_lower = at.m_upper = 0, at.highest = terms.max_above;
    return blocks;
  }
  bool const falling = declared == weight_reference::falling;
  if (falling) std::ranges::reverse(blocks);
  // A block that may be larger, up to an aligned group of block_most keys, may have taken all keys of that group: m_t
  // and the highest M_t are those at the end of the group, the lowest M_t is that at the end of the smaller block.
  std::int64_t const most = std::max(block, terms.model.block_most);
  auto const group_of_block = [&](weight_block const& at) { return key_at(at.begin).index / most; };
  double later = -infinity;                       // max (s − m + E) over the blocks after this one
  std::vector<double> after(blocks.size(), 0.0);  // clang takes libstdc++ 12's vector(n) for no constant expression
  for (std::size_t t = blocks.size(); t-- > 0;) after[t] = later, later = larger(later, blocks[t].highest);
  for (std::size_t t = 0; t < blocks.size(); ++t) {
    weight_block& at = blocks[t];
    if (t > 0) {
      weight_block const& before = blocks[t - 1];
      at.m_lower = larger(at.m_lower, before.m_lower), at.m_upper = larger(at.m_upper, before.m_upper);
      at.lowest = larger(at.lowest, before.lowest), at.highest = larger(at.highest, before.highest);
    }
    at.may_rise = at.lowest < after[t];
  }
  for (std::size_t t = blocks.size(); t-- > 1;) {
    weight_block const& next = blocks[t];
    weight_block& at = blocks[t - 1];
    if (group_of_block(at) != group_of_block(next)) continue;
    at.m_lower = next.m_lower, at.m_upper = next.m_upper, at.highest = next.highest;
  }
  return blocks;
}

/// The groups of keys that one accumulator takes, in the order of the walk.
/// Requires  weight_reference rising or falling
template <class KeyAt>
constexpr void find_walk(problem::kernel_model const& model, std::size_t n, KeyAt const& key_at, known_weights& known) {
  std::int64_t const most = std::max(model.block, model.block_most);
  for (std::size_t j = 0; j < n; ++j) {
    if (j == 0 || key_at(j).index / most != key_at(j - 1).index / most) known.walk.push_back({j, j});
    known.walk.back().end = j + 1;
  }
  if (model.weight_reference == problem::weight_reference::falling) std::ranges::reverse(known.walk);
}

/// Section 5, Theorem (known weights), of every key. key_at(j) is the evaluated_key of position j < n.
/// Requires  keys by rising index
/// Ensures   known.hold only where the theorem applies and keys with at least half of the weight have a known P̂_j
/// Cost      one exponential a key
template <class KeyAt>
constexpr void find_known_weights(row_terms const& terms, std::size_t n, KeyAt const& key_at, known_weights& known) {
  problem::kernel_model const& model = terms.model;
  known.hold = false, known.walk.clear();
  if (!declares_weights(model) || !terms.theorem_holds || !(terms.D_lower > 0)) return;
  if (terms.has_sink || terms.drops) return;  // the reference may be the sink's; P may be rounded behind the factor
  constexpr double up = 1 + 0x1p-48, down = 1 - 0x1p-48, exp_looseness = 0x1p-39;
  known.center.resize(n, 0.0), known.deviation.resize(n, 0.0), known.size.resize(n, 0.0);
  double const end_error = larger(terms.max_above, -terms.max_below);  // E_end
  if (!(end_error < 0.0625)) return;
  known.growth = end_error * (1 + end_error) * up;
  double const quantum = is_gradual(model) ? 2 * model.omega_p : 0, coarse = model.omega_p / model.u_p;
  double unknown_weight = 0;
  for (weight_block const& at : weight_blocks(terms, n, key_at)) {
    double const E_t = at.error();
    for (std::size_t j = at.begin; j < at.end; ++j) {
      evaluated_key const key = key_at(j);
      // e^{s_j − m_t} ∈ [q_lower, q_upper].
      double const above = rounded_up(key.x_upper - at.m_lower), below = rounded_down(key.x_lower - at.m_upper);
      double const q_upper = exp_upper(above);
      double const q_lower = larger(0, q_upper * (1 - exp_looseness) * (1 - rounded_up(above - below)) * down);
      // z⁰_j = E_j + E_t + γ_{k_x}(m_t − s_j + E_j + E_t) + κ_j + ε̂ + [flushes or k_x > 1]·(R + 1)k_x·ω.
      double const off = key.E + E_t;
      double const z = (off + terms.gamma_x * (off - below) + key.reference_error + terms.eps_hat + terms.z_extra) * up;
      // r_j = E_t + E_end + γ_{k_x}(M⁺ − m_t + E_t) + 2κ_j + R_j·ε̂_r + […], 0 where no rescale follows.
      bool const rescaled = at.may_rise || terms.always_rescales();
      double const r = rescaled ? (E_t + end_error + terms.gamma_x * (terms.max_above - at.m_lower + E_t) +
                                   2 * key.reference_error + key.R * terms.rescale_eps_hat + terms.z_extra) *
                                      up
                                : 0;
      double const p_lower = q_lower * (1 - z) * down;
      bool const grid = quantum > 0 || p_lower >= coarse;
      if (key.near && z < 0.0625 && r < 0.0625 && grid && q_lower > 0) {
        double const a = rounded_to(p_lower, model.u_p, quantum, false);
        double const b = rounded_to(q_upper * (1 + z * (1 + z)) * up, model.u_p, quantum, true);
        double const middle = 0.5 * (a + b);  // ½(a_j + b_j) = (1 + d_j)·e^{s_j − m_t}
        double const least = key.weight_lower / q_upper * middle * down;
        double const most = key.weight_upper / q_lower * middle * up;
        double const half = key.weight_upper / q_lower * (0.5 * (b - a)) * up;  // π_jw_j
        double const growth = r * (1 + r);                                      // ≥ e^{r_j} − 1
        known.center[j] = 0.5 * (least + most);
        known.deviation[j] = (most * growth + half * (1 + growth) + (most - least)) * up;
      } else {
        // d_j = 0: W_j(1 + θ·u_p) + ω_p beside π_j.
        if (!(key.P < 1)) return;
        double const growth = end_error * (1 + end_error) * (1 + model.u_p) + model.u_p;
        known.center[j] = 0.5 * (key.weight_lower + key.weight_upper);
        known.deviation[j] = (key.weight_upper * growth + key.P * (1 + growth) + (key.weight_upper - key.weight_lower) +
                              terms.lost_when_divided) *
                             up;
        unknown_weight += key.weight_upper;
      }
      known.size[j] = (known.center[j] + known.deviation[j]) * up;
    }
  }
  known.hold = unknown_weight <= 0.5;
  if (has_one_accumulator(model)) find_walk(model, n, key_at, known);
}

}  // namespace attest::reference
