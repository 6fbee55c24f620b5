// The operations that are compiled for each SIMD target: everything that loops over numbers. The rest of fast/ only
// decides which rows and keys they are given.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fast/algorithm/band.hpp"
#include "fast/algorithm/blocking.hpp"
#include "fast/algorithm/online_softmax.hpp"
#include "fast/algorithm/softcap.hpp"
#include "fast/algorithm/storage.hpp"
#include "fast/simd/matrix.hpp"

namespace attest::fast {

/// Rows of E to numbers and back: exact, and rounded to nearest (storage.hpp).
template <class E>
struct row_conversions {
  void (*widen)(E const* from, std::int64_t count, float* to) noexcept;
  void (*narrow)(float const* from, std::int64_t count, E* to) noexcept;
};

/// Products of at most few_rows queries with rows of K and V where the caller stores them, which must all be visible to
/// all queries. The bits are the same as with packed copies. `next` is the first of the rows that a later call reads,
/// which are prefetched; null if there are none. Q, S, P, factor and O have memory for few_rows rows: contents behind
/// `rows` are lost.
template <class E>
struct row_products {
  using T = working<E>;
  /// operations::scores with `keys` keys, a multiple of sum_lanes, from K's first row and S's first column on. next: as
  /// many rows, at K's stride. from_memory: no cache holds K and V; no result depends on it.
  void (*scores)(T const* Q, matrix<E const> K, E const* next, std::int64_t d, std::int64_t rows, std::int64_t keys,
                 bool from_memory, T* S) noexcept;
  /// The same with a list of rows: K_j begins at K[j]. next: as many.
  void (*listed_scores)(T const* Q, E const* const* K, E const* const* next, std::int64_t d, std::int64_t rows,
                        std::int64_t keys, bool from_memory, T* S) noexcept;
  /// operations::values with `keys` keys, from V's first row and P's first column on. dv is a multiple of panel/2.
  /// next: as many rows, at V's stride.
  void (*values)(T const* P, matrix<E const> V, E const* next, std::int64_t rows, std::int64_t keys, std::int64_t dv,
                 T const* factor, matrix<T> O, bool from_memory) noexcept;
  /// The same with lists of rows: V_j begins at V[j].
  void (*listed_values)(T const* P, E const* const* V, E const* const* next, std::int64_t rows, std::int64_t keys,
                        std::int64_t dv, T const* factor, matrix<T> O, bool from_memory) noexcept;
};

/// The operations of one SIMD target on numbers T. Each is a function of its operands alone, and the same function on
/// AVX-512 and AVX2, bit for bit. On a target without fused multiply-adds a product is rounded before it is added.
template <std::floating_point T>
struct operations {
  char const* name = nullptr;
  std::int64_t panel = 0;     ///< keys (columns of V) that lie side by side in packed K (V)
  std::int64_t few_rows = 0;  ///< most queries of row_products

  /// to.row(t)_i ← from_it for i < min(rows, width), 0 for rows ≤ i < width. Fastest if `rows` fills whole vectors.
  /// Requires  memory for one vector beyond the last row of `to`. If width is not a multiple of sum_lanes, the contents
  ///           behind it in `to` are lost, up to the next multiple
  void (*transpose)(matrix<T const> from, std::int64_t rows, std::int64_t depth, std::int64_t width,
                    matrix<T> to) noexcept;

  /// to_t ← fl(c·from_t), c = high + low: one rounding, and a relative error of 2^−48 (2^−106 in f64) before it. `to`
  /// may be `from`.
  /// Returns  whether every to_t is finite
  bool (*scale)(T const* from, T high, T low, std::int64_t count, T* to) noexcept;

  /// std::get<row_conversions<E>>(stored) for each type E of 16 bits.
  problem::tuple_of<row_conversions, narrow_elements> stored;

  /// Packs rows of V into panels: to_{p·keys·panel + j·panel + a} ← from_jc for c = p·panel + a. The last panel is
  /// filled up with 0.
  /// Returns  whether all numbers are finite
  bool (*pack_values)(matrix<T const> from, std::int64_t rows, std::int64_t keys, std::int64_t dv, T* to) noexcept;

  /// S_ij ← Σ_t Q_it·K_jt, from 0, t in order, for the panels that `keys` touches. S is a strip's, column 0 is key 0.
  /// Shapes  Q [rows, d], K [keys/panel, d, panel]
  void (*scores)(T const* Q, T const* K, std::int64_t d, std::int64_t rows, interval keys, T* S) noexcept;

  /// s_j ← f·s_j, rounded.
  void (*multiply)(T* s, T f, std::int64_t count) noexcept;
  /// s_j ← cap.to_score·tanh(ln 2 / 2 · cap.to_power·s_j), to softcap_error. NaN stays NaN.
  /// Requires  memory for one vector beyond s + count
  void (*softcap)(T* s, score_cap<T> const& cap, std::int64_t count) noexcept;
  /// s_j ← s_j + log₂(e)·b_j. A finite b_j is clamped to ±2^127 (2^1023), beyond which the product would be infinite.
  void (*add_bias)(T* s, T const* bias, std::int64_t count) noexcept;
  /// s_j ← −∞ where mask_j = 0.
  void (*hide_masked)(T* s, std::uint8_t const* mask, std::int64_t count) noexcept;

  /// m_i ← max(m_i, max_j s_ij) and factor_i ← 2^(old m_i − m_i). NaN scores are ignored.
  /// May read and write the states of rows up to the next multiple of sum_lanes, but does not change their m.
  void (*update_max)(T const* S, std::int64_t rows, interval keys, row_states<T> const& states) noexcept;
  /// s_ij ← 2^(s_ij − m_i), 0 for s_ij = −∞, and l_i ← l_i·factor_i + Σ_j s_ij in lanes. NaN stays NaN.
  void (*exponentiate)(T* S, std::int64_t rows, interval keys, row_states<T> const& states) noexcept;

  /// O_i ← O_i·factor_i + Σ_j P_ij·V_j: the sum is formed first, from 0, j in order. pack_values made V.
  void (*values)(T const* P, T const* V, std::int64_t rows, interval keys, std::int64_t dv, T const* factor,
                 matrix<T> O) noexcept;
  /// The same with V as the caller stores it: any row stride; dv a multiple of panel/2.
  void (*values_in_place)(T const* P, matrix<T const> V, std::int64_t rows, interval keys, std::int64_t dv,
                          T const* factor, matrix<T> O) noexcept;
  /// The same with V as a list of its rows: V_j begins at V[j].
  void (*listed_values)(T const* P, T const* const* V, std::int64_t rows, interval keys, std::int64_t dv,
                        T const* factor, matrix<T> O) noexcept;
  /// std::get<row_products<E>>(few) for each type E whose working type is T.
  problem::tuple_of<row_products, stored_elements<T>> few;
  /// values() for one row and only the keys j with visible_j ≠ 0: the values of other keys are not read.
  void (*visible_values)(T const* P, T const* V, std::uint8_t const* visible, interval keys, std::int64_t dv, T factor,
                         T* O) noexcept;

  /// to_c ← to_c + f·from_c.
  void (*add_multiple)(T const* from, T f, std::int64_t count, T* to) noexcept;

  /// to_c ← (O_c + 0)/l, or 0 where l = 0. l is the sum of its lanes, folded pairwise. Every NaN becomes the same NaN.
  /// Returns  l
  T (*finish)(T const* O, T const* l, std::int64_t dv, T* to) noexcept;
};

/// Highway's names of the SIMD targets that this machine supports and this build has, best first.
std::vector<std::string_view> simd_targets();

/// The operations of the best SIMD target, or of the target that use_simd_target() chose.
template <std::floating_point T>
operations<T> const& best_operations() noexcept;
template <>
operations<float> const& best_operations<float>() noexcept;
template <>
operations<double> const& best_operations<double>() noexcept;

/// All later calls use the SIMD target `name`; "" goes back to the best.
/// Requires  no attention() is running
/// Returns   false, without an effect, if simd_targets() has no such name
bool use_simd_target(std::string_view name) noexcept;

}  // namespace attest::fast
