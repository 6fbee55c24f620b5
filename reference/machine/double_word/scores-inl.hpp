// q·k as a double word, and Σ|q_t·k_t|, of a block of query rows and all keys. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_SCORES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_SCORES_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_SCORES_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_SCORES_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "reference/machine/double_word/double_word-inl.hpp"
#include "reference/machine/scores-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// dot (hi, low) and size of Rows rows and the lane_count keys at j of the tile. If Exact, every product is a double.
/// Ensures   |hi + low − q·k| ≤ (d+1)²u²·1.01·S + d·2⁻¹⁰⁷¹ and |size − S| ≤ γ_d·S + d·2⁻¹⁰⁷⁴, S = Σ|q_t·k_t|; hi or low
///           is NaN or an infinity if something overflows
/// Source    Ogita, Rump, Oishi (2005), Dot2, without its last rounding
/// Why       the rounding error of every product and of every sum of `total`, its rest, is kept; the rests are at most
///           u·S and d·u·(1 + γ_d)·S together, and their sum rounds at most d times on any path
template <bool Exact, std::size_t Rows>
HWY_INLINE void multiply_word_tile(double const* q, double const* k_tile, std::size_t d, double* dot, double* dot_low,
                                   double* size, std::size_t stride) {
  lanes total[Rows], rests[Rows], sizes[Rows];
  for (std::size_t r = 0; r < Rows; ++r) total[r] = rests[r] = sizes[r] = lanes(0.0);
  for (std::size_t t = 0; t < d; ++t) {
    lanes const k = load<lanes>(k_tile + t * tile_keys);
    for (std::size_t r = 0; r < Rows; ++r) {
      lanes const x(q[r * d + t]), product = x * k;
      auto const sum = two_sum(total[r], product);
      total[r] = sum.hi;
      if constexpr (Exact) rests[r] = rests[r] + sum.lo;
      else rests[r] = rests[r] + (sum.lo + product_rest(x, k, product));
      sizes[r] = sizes[r] + absolute(product);
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    auto const sum = two_sum(total[r], rests[r]);
    store(sum.hi, dot + r * stride);
    store(sum.lo, dot_low + r * stride);
    store(sizes[r], size + r * stride);
  }
}

/// Fills dot, dot_low, size and key_norm for rows i0 ≤ i < i0 + rows, rows ≤ block_rows.
template <class T>
void block_word_scores(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i0, std::size_t rows,
                       workspace& memory) {
  static_assert(tile_keys % lane_count == 0);
  constexpr bool exact = !std::is_same_v<T, double>;
  problem::sizes const& s = p.size();
  auto const d = static_cast<std::size_t>(s.d);
  std::size_t const stride = static_cast<std::size_t>(s.m) + tile_keys;
  load_queries(p, b, h, i0, rows, memory);
  for (std::int64_t j0 = 0; j0 < p.keys(b); j0 += static_cast<std::int64_t>(tile_keys)) {
    std::size_t const count = std::min(tile_keys, static_cast<std::size_t>(p.keys(b) - j0));
    convert_keys(p, b, key_head(s, h), j0, count, memory);
    for (std::size_t j = 0; j < count; j += lane_count)
      for (std::size_t r = 0; r < rows; r += rows == 1 ? 1 : 4) {
        std::size_t const at = r * stride + static_cast<std::size_t>(j0) + j;
        auto const multiply = rows == 1 ? multiply_word_tile<exact, 1> : multiply_word_tile<exact, 4>;
        multiply(memory.q.data() + r * d, memory.k_tile.data() + j, d, memory.dot.data() + at,
                 memory.dot_low.data() + at, memory.size.data() + at, stride);
      }
  }
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
