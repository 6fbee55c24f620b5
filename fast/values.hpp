// P·V of one tile, and the trap in it: a value that one query may see can be NaN for a neighbour that may not, and in
// a matrix product 0·NaN is NaN.
#pragma once

#include <cstdint>

#include "fast/product.hpp"
#include "fast/scores.hpp"
#include "fast/tiles.hpp"

namespace attest::fast {

/// Whether rows `keys` of V hold neither NaN nor infinity: x − x is 0 for finite x only, and a sum of ±0 and NaN is 0
/// only without NaN.
template <class T>
bool all_finite(matrix<T const> V, interval const& keys, std::int64_t dv) noexcept {
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    T const* const v = V.row(j);
    bool finite = true;
    for (std::int64_t c = 0; c < dv; ++c) finite &= v[c] - v[c] == 0;
    if (!finite) return false;
  }
  return true;
}

/// block_O_ic = Σ_j p_ij·v_jc over the keys that query i may see, one row at a time and value by value.
///
/// Ensures  the same bits as product() where all values are finite: what product() adds beside these terms is 0·v = ±0,
///          and a sum that starts from +0 is never −0
template <class T>
void product_of_visible(matrix<T const> P, matrix<T const> V, matrix<T> block_O, query_rules<T> const* rules,
                        std::int64_t queries, interval const& keys, std::int64_t dv) noexcept {
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t c = 0; c < dv; ++c) block_O.row(i)[c] = 0;
    for (std::int64_t j = keys.first; j < keys.last; ++j)
      if (rules[i].shows(j)) add_row(P.row(i)[j - keys.first], V.row(j), block_O.row(i), dv);
  }
}

}  // namespace attest::fast
