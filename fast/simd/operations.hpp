// The operations that an instruction set implements: everything that loops over numbers. The rest of fast/ only
// decides which rows and keys they see.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fast/algorithm/band.hpp"
#include "fast/algorithm/blocking.hpp"
#include "fast/simd/matrix.hpp"
#include "fast/algorithm/online_softmax.hpp"
#include "fast/algorithm/softcap.hpp"
#include "fast/algorithm/storage.hpp"

namespace attest::fast {

/// Rows of E to numbers and back: exact, and rounded to nearest (storage.hpp).
template <class E>
struct row_conversions {
  void (*widen)(E const* from, std::int64_t count, float* to) noexcept;
  void (*narrow)(float const* from, std::int64_t count, E* to) noexcept;
};

/// The operations of one instruction set on numbers T. Each is a function of its operands alone, the same one on
/// AVX-512 and AVX2, bit for bit; where an instruction set has no fused multiply-add, a product is rounded first.
template <std::floating_point T>
struct operations {
  char const* name = nullptr;
  std::int64_t panel = 0;    ///< keys (columns of V) that lie side by side in packed K (V)
  std::int64_t tile = 0;     ///< queries that lie side by side in packed Q
  std::int64_t granule = 0;  ///< scores are computed for this many keys at a time: a multiple of panel and sum_lanes

  /// to_{t·width + i} ← from_it for i < min(rows, width), 0 for rows ≤ i < width. Fast where `rows` fills vectors.
  /// Requires  `to` has room for a vector beyond depth·width
  void (*transpose)(matrix<T const> from, std::int64_t rows, std::int64_t depth, std::int64_t width, T* to) noexcept;

  /// to_t ← fl(c·from_t), c = high + low: one rounding, and one of |c·from_t|·2^−48 (2^−106 in f64).
  /// Answers whether all of them are finite. `to` may be `from`.
  bool (*scale)(T const* from, T high, T low, std::int64_t count, T* to) noexcept;

  /// std::get<row_conversions<E>>(stored) for each type E of 16 bits.
  problem::tuple_of<row_conversions, narrow_elements> stored;

  /// Rows of V, panel by panel: to_{p·keys·panel + j·panel + a} ← from_jc for c = p·panel + a; the last panel is filled
  /// up with 0. Answers whether all are finite.
  bool (*pack_values)(matrix<T const> from, std::int64_t rows, std::int64_t keys, std::int64_t dv, T* to) noexcept;

  /// S_ij ← Σ_t Q_it·K_jt, from 0, t in order, for the panels that `keys` touches. S is a strip, column 0 is key 0.
  void (*scores)(T const* Q, T const* K, std::int64_t d, std::int64_t rows, interval keys, T* S) noexcept;

  /// s_j ← f·s_j, rounded.
  void (*multiply)(T* s, T f, std::int64_t count) noexcept;
  /// s_j ← cap.to_score·tanh(ln 2 / 2 · cap.to_power·s_j), to softcap_error. NaN stays NaN.
  /// Requires  room for a vector beyond s + count
  void (*softcap)(T* s, score_cap<T> const& cap, std::int64_t count) noexcept;
  /// s_j ← s_j + log₂(e)·b_j. A finite b_j beyond ±2^127 (2^1023) counts as that: its product would be infinite.
  void (*add_bias)(T* s, T const* bias, std::int64_t count) noexcept;
  /// s_j ← −∞ where mask_j = 0.
  void (*hide_masked)(T* s, std::uint8_t const* mask, std::int64_t count) noexcept;

  /// m_i ← max(m_i, max_j s_ij) and factor_i ← 2^(old m_i − m_i). A NaN score is passed over.
  /// May read and write the states of rows up to the next multiple of sum_lanes, and leaves their m as it is.
  void (*raise)(T const* S, std::int64_t rows, interval keys, row_states<T> const& states) noexcept;
  /// s_ij ← 2^(s_ij − m_i), 0 for s_ij = −∞, and l_i ← l_i·factor_i + Σ_j s_ij in lanes. NaN stays NaN.
  void (*weigh)(T* S, std::int64_t rows, interval keys, row_states<T> const& states) noexcept;

  /// O_i ← O_i·factor_i + Σ_j P_ij·V_j, the sum by itself, from 0, j in order. V as pack_values leaves it.
  void (*values)(T const* P, T const* V, std::int64_t rows, interval keys, std::int64_t dv, T const* factor,
                 matrix<T> O) noexcept;
  /// The same with V as it is stored: any row stride, dv a multiple of panel/2.
  void (*values_in_place)(T const* P, matrix<T const> V, std::int64_t rows, interval keys, std::int64_t dv,
                          T const* factor, matrix<T> O) noexcept;
  /// values for one row and the keys that `visible_j` says: the others' values are not looked at.
  void (*visible_values)(T const* P, T const* V, std::uint8_t const* visible, interval keys, std::int64_t dv, T factor,
                         T* O) noexcept;

  /// to_c ← (O_c + 0)/l, or 0 where l = 0; every NaN is the same NaN. l = Σ of its lanes, folded pairwise.
  /// Answers l.
  T (*finish)(T const* O, T const* l, std::int64_t dv, T* to) noexcept;
};

/// The instruction sets that this machine has and this build knows, best first.
std::vector<std::string_view> instruction_sets();

/// The operations of the best instruction set, or of the one that use_only() named.
template <std::floating_point T>
operations<T> const& best_operations() noexcept;
template <>
operations<float> const& best_operations<float>() noexcept;
template <>
operations<double> const& best_operations<double>() noexcept;

/// For tests: all calls from now on use instruction set `name`; "" returns to the best. Answers false for an unknown
/// one. Not to be called beside a running attention().
bool use_only(std::string_view name) noexcept;

}  // namespace attest::fast
