// docs/bound.md, section 5, Theorem (known weights): the weights of a kernel that rounds P to few bits beside a
// reference point which the contract declares. P̂_j itself is then known, except where p̂_j may lie on either side of a
// midpoint. The numbers of a row and of its blocks, in plain doubles; known_formulas-inl.hpp has the numbers of a key
// and the sums over a column.
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

/// In units of C·Z·e^m, for each key: `center` = π_j(1 + d_j) as a double; `deviation` ≥ π_jδ_j + |center − π_j(1 +
/// d_j)|.
struct known_weights {
  /// The positions [begin, end) of the keys of one group of `block_most`, or of `block`; or of all keys.
  struct group {
    std::size_t begin = 0, end = 0;
  };
  bool hold = false;  ///< false: the theorem is silent, and nothing below is set
  double growth = 0;  ///< ≥ e^{E_end} − 1
  std::vector<double> center, deviation;
  bool one_accumulator = false;
  std::vector<group> walk;  ///< in its order where one accumulator is declared, else one group
};

/// Is P stored in the format of an element type? Its subnormals are the multiples of 2ω_p.
constexpr bool is_gradual(problem::kernel_model const& model) noexcept {
  return std::ranges::any_of(problem::floating_rows, [&](problem::element_row const& row) {
    return model.u_p == power_of_two(-row.format.fraction_bits - 1) &&
           model.omega_p == power_of_two(row.format.smallest() - 1);
  });
}

/// Calls visit(begin, end) for the positions of each aligned group of `size` absolute indices.
template <class IndexOf, class Visit>
constexpr void each_group(std::int64_t size, std::size_t n, IndexOf const& index_of, Visit const& visit) {
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    std::int64_t const first = index_of(begin) / size * size;
    while (end < n && index_of(end) - first < size) ++end;
    visit(begin, end);
  }
}

/// The keys of one block: m_t − m ∈ [m_lower, m_upper], M_t − m ∈ [lowest, highest], and whether a later block may
/// raise the reference.
struct weight_block {
  std::size_t begin = 0, end = 0;  ///< positions of its keys
  double m_lower = -infinity, m_upper = -infinity, lowest = -infinity, highest = -infinity;
  bool may_rise = true;

  /// From the largest s − m of its keys, below and above, s − m − E and s − m + E, rounded to nearest.
  constexpr void set(double largest_lower, double largest_upper, double below, double above) noexcept {
    m_lower = largest_lower, m_upper = largest_upper, lowest = rounded_down(below), highest = rounded_up(above);
  }
  /// E_t ≥ |M_t − m_t|.
  constexpr double error() const noexcept {
    return larger(rounded_up(highest - m_lower), rounded_up(m_upper - lowest));
  }
};

/// What the known weights of all keys of a row share.
struct known_row {
  row_terms const& terms;
  double end_error = 0, growth = 0;  ///< E_end, ≥ e^{E_end} − 1
  double quantum = 0, coarse = 0;    ///< the smallest step of P's format, 0 of an unknown format; ω_p/u_p

  constexpr explicit known_row(row_terms const& from) noexcept
      : terms(from),
        end_error(larger(terms.max_above, -terms.max_below)),  // E_end
        quantum(is_gradual(terms.model) ? 2 * terms.model.omega_p : 0),
        coarse(terms.model.omega_p / terms.model.u_p) {
    growth = end_error * (1 + end_error) * (1 + 0x1p-48);
  }
};

/// The blocks of one row in the order of the index: M_t is the running maximum at the end of block t, and m_t the
/// running maximum of the exact scores. If the contract says of M_t only that it includes the key's own block, m_t is
/// m. index_of(j) is the absolute index of position j < n; find_extremes(at) sets the four numbers of a block to the
/// largest of its keys.
template <class IndexOf, class FindExtremes>
constexpr std::vector<weight_block> weight_blocks(row_terms const& terms, std::size_t n, IndexOf const& index_of,
                                                  FindExtremes const& find_extremes) {
  using problem::weight_reference;
  weight_reference const declared = terms.model.weight_reference;
  std::int64_t const block =
      declared == weight_reference::whole_row ? std::max<std::int64_t>(terms.m, 1) : terms.model.block;
  std::vector<weight_block> blocks;
  each_group(block, n, index_of, [&](std::size_t begin, std::size_t end) {
    blocks.push_back({begin, end});
    find_extremes(blocks.back());
  });
  if (declared == weight_reference::own_block) {
    for (weight_block& at : blocks) at.m_lower = at.m_upper = 0, at.highest = terms.max_above;
    return blocks;
  }
  bool const falling = declared == weight_reference::falling;
  if (falling) std::ranges::reverse(blocks);
  // A block that may be larger, up to an aligned group of block_most keys, may have taken all keys of that group: m_t
  // and the highest M_t are those at the end of the group, the lowest M_t is that at the end of the smaller block.
  std::int64_t const most = std::max(block, terms.model.block_most);
  auto const group_of_block = [&](weight_block const& at) { return index_of(at.begin) / most; };
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

/// The groups of keys that one accumulator takes, in the order of the walk; all keys where none is declared.
template <class IndexOf>
constexpr void find_walk(problem::kernel_model const& model, std::size_t n, IndexOf const& index_of,
                         known_weights& known) {
  if (!known.one_accumulator) return known.walk.push_back({0, n});
  each_group(std::max(model.block, model.block_most), n, index_of,
             [&](std::size_t begin, std::size_t end) { known.walk.push_back({begin, end}); });
  if (model.weight_reference == problem::weight_reference::falling) std::ranges::reverse(known.walk);
}

/// Section 5, Theorem (known weights), of every key. index_of and find_extremes are as for weight_blocks;
/// find_keys(row, at) writes known.center and deviation of the keys of a block, and returns their `unknown` weight.
/// Requires  keys by rising index
/// Ensures   known.hold only where the theorem applies and keys with at least half of the weight have a known P̂_j
/// Cost      one exponential a key
template <class IndexOf, class FindExtremes, class FindKeys>
constexpr void find_known_weights(row_terms const& terms, std::size_t n, IndexOf const& index_of,
                                  FindExtremes const& find_extremes, FindKeys const& find_keys, known_weights& known) {
  problem::kernel_model const& model = terms.model;
  known.hold = false, known.walk.clear();
  if (!declares_weights(model) || !terms.theorem_holds || !(terms.D_lower > 0)) return;
  if (terms.has_sink || terms.drops) return;  // the reference may be the sink's; P may be rounded behind the factor
  known.center.resize(n, 0.0), known.deviation.resize(n, 0.0);
  known_row const row(terms);
  if (!(row.end_error < 0.0625)) return;
  known.growth = row.growth;
  double unknown = 0;
  for (weight_block const& at : weight_blocks(terms, n, index_of, find_extremes)) unknown += find_keys(row, at);
  known.hold = unknown <= 0.5;
  known.one_accumulator = has_one_accumulator(model);
  find_walk(model, n, index_of, known);
}

}  // namespace attest::reference
