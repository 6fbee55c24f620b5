// docs/bound.md, section 5, Theorem (known weights), over the keys of one row: reference/bound/known_weights.hpp with
// the keys of a block on lanes. Compiled once for every SIMD target, with the formulas.
#if defined(ATTEST_REFERENCE_MACHINE_KNOWN_WEIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_KNOWN_WEIGHTS_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_KNOWN_WEIGHTS_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_KNOWN_WEIGHTS_INL_HPP
#endif

#include <cstddef>

#include "reference/bound/bound.hpp"
#include "reference/machine/exp-inl.hpp"
#include "reference/machine/stages-inl.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
#define ATTEST_FORMULAS_NAMESPACE attest::reference::machine::HWY_NAMESPACE
#include "reference/bound/column_formulas-inl.hpp"

namespace attest::reference::machine::HWY_NAMESPACE {

/// The largest numbers of a block.
struct block_extremes_stage {
  key_columns const& keys;
  accumulator<block_extremes>& found;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    found.of<R>().add(load<R>(&keys.x_lower[j]), load<R>(&keys.x_upper[j]), load<R>(&keys.E[j]));
  }
};

/// π_j(1 + d_j), π_jδ_j; Σ π_j of keys whose P̂_j is not known.
struct known_weight_stage {
  key_columns const& keys;
  known_row const& row;
  weight_block const& block;
  known_weights& known;
  template <class R>
  struct sums {
    R unknown;
    static HWY_INLINE sums none() { return {R(0)}; }
  };
  accumulator<sums>& total;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    auto const my =
        known_weight_of<R>(row, block,
                           {load<R>(&keys.x_lower[j]), load<R>(&keys.x_upper[j]), load<R>(&keys.weight_lower[j]),
                            load<R>(&keys.weight_upper[j]), load<R>(&keys.E[j]), load<R>(&keys.R[j]),
                            load<R>(&keys.P[j]), load<R>(&keys.reference_error[j]), load<R>(&keys.near[j])});
    store(my.center, &known.center[j]);
    store(my.deviation, &known.deviation[j]);
    auto& t = total.of<R>();
    t.unknown = t.unknown + my.unknown;
  }
};

inline void find_known_weights(std::size_t n, key_columns const& keys, known_weights& known, row_terms const& terms) {
  auto const index_of = [&keys](std::size_t j) { return keys.j[j]; };
  auto const find_extremes = [&keys](weight_block& at) {
    auto found = accumulator<block_extremes>::none();
    block_extremes_stage stage{keys, found};
    each_key(at.begin, at.end, stage);
    auto const& [wide, single] = found;
    at.set(larger(largest_of(wide.m_lower), single.m_lower), larger(largest_of(wide.m_upper), single.m_upper),
           larger(largest_of(wide.lowest), single.lowest), larger(largest_of(wide.highest), single.highest));
  };
  auto const find_keys = [&](known_row const& row, weight_block const& at) {
    auto total = accumulator<known_weight_stage::sums>::none();
    known_weight_stage stage{keys, row, at, known, total};
    each_key(at.begin, at.end, stage);
    return sum_of(total.wide.unknown) + total.single.unknown;
  };
  reference::find_known_weights(terms, n, index_of, find_extremes, find_keys, known);
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
