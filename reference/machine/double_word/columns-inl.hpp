// Output columns and weights of one row as double words. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_COLUMNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_COLUMNS_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_COLUMNS_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_COLUMNS_INL_HPP
#endif

#include <cstddef>
#include <type_traits>

#include "reference/machine/columns-inl.hpp"
#include "reference/machine/double_word/weights-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// Values above this are not covered, so that nothing overflows.
inline constexpr double word_value_limit = 0x1p900;

/// Columns c ≤ · < c + At·(lanes of R).
/// Ensures   |o + o_low − o_c| ≤ radius = 1.02·Σŵ_jη_j|v_jc|/Z + ε̄·(|o| + r) + n·2⁻⁸⁶³·(V + |o|) + r, r =
///           ((n+3)²·1.02·ã + 41|o|)u² + 1.01·Z_rounding·|o| + n·2⁻¹⁰⁶⁸, ã = Σŵ_j|v_jc|/Z, V = max_j|v_jc|. Radius 0 if
///           V = 0: then o = 0. Infinite if a value is not finite or above word_value_limit
/// Why       Σŵ_jv_jc as multiply_word_tile's Ensures, with ŵ.lo·v added to the rests: (n+2)u·Σŵ|v| in all, at most n +
///           3 roundings on a path, and products below 2⁻¹⁰⁷⁴; the quotient 40u²; the rest as `enclose`
template <class R, std::size_t At, class T>
HWY_INLINE void enclose_words(column_task<T> const& task, word_row_numbers const& row, std::size_t c) {
  constexpr std::size_t step = std::is_same_v<R, double> ? 1 : lane_count;
  key_columns const& keys = task.keys;
  workspace& memory = task.memory;
  R total[At], rests[At], sizes[At], errors[At], largest[At];
  for (std::size_t a = 0; a < At; ++a) total[a] = rests[a] = sizes[a] = errors[a] = largest[a] = R(0);
  for (std::size_t j = 0; j < task.n; ++j) {
    T const* const v = task.row(j) + c;
    R const weight(keys.weight[j]), low(keys.weight_low[j]), error(keys.weight_error[j]);
    for (std::size_t a = 0; a < At; ++a) {
      R const x = load_as<R>(v + a * step), product = weight * x, size = absolute(product);
      auto const sum = two_sum(total[a], product);
      total[a] = sum.hi;
      rests[a] = rests[a] + (sum.lo + mul_add(low, x, product_rest(weight, x, product)));
      sizes[a] = sizes[a] + size;
      errors[a] = mul_add(error, size, errors[a]);
      largest[a] = larger(largest[a], absolute(x));
    }
  }
  auto const n = static_cast<double>(task.n);
  for (std::size_t a = 0; a < At; ++a) {
    R const Z(row.Z.hi);
    auto const o = quotient_of_words(two_sum(total[a], rests[a]), word<R>(row.Z));
    R const o_size = absolute(o.hi), size = largest[a] + o_size;
    R const r = sizes[a] / Z * ((n + 3) * (n + 3) * 1.02 * 0x1p-106) +
                o_size * (41 * 0x1p-106 + 1.01 * row.Z_rounding) + n * 0x1p-1068;
    R const radius =
        errors[a] / Z * 1.02 + (o_size + r) * row.mean_error + r * 1.01 + size * (n * 4 * below_word_exp_lowest);
    auto const usable = size + sizes[a] + errors[a] + absolute(rests[a]) < R(word_value_limit);
    store(o.hi, &memory.o[c + a * step]);
    store(o.lo, &memory.o_low[c + a * step]);
    store(select(usable, select(R(0) < largest[a], radius * (1 + 0x1p-40), R(0)), R(infinity)),
          &memory.o_radius[c + a * step]);
  }
}
template <class T>
void enclose_word_columns(column_task<T> const& task, word_row_numbers const& row, std::size_t dv) {
  std::size_t c = 0;
  for (; c + 2 * lane_count <= dv; c += 2 * lane_count) enclose_words<lanes, 2>(task, row, c);
  for (; c + lane_count <= dv; c += lane_count) enclose_words<lanes, 1>(task, row, c);
  for (; c < dv; ++c) enclose_words<double, 1>(task, row, c);
}

/// o/(1 − p) as double words, after scale_outputs. Why       1 − p is exact as a double word; the quotient 40u²
template <class T>
void scale_word_outputs(problem::instance<T> const& p, workspace& memory) {
  double const dropped = dropout_of(p);
  if (!(dropped > 0)) return;
  auto const kept = two_sum(1.0, -dropped);
  double const factor = 1 / kept.hi;
  memory.kept_low.resize(memory.o.size());
  for (std::size_t c = 0; c < memory.o.size(); ++c) {
    auto const o = quotient_of_words(double_word<double>{memory.o[c], memory.o_low[c]}, kept);
    double const radius = memory.o_radius[c];
    bool const zero = radius == 0 && o.hi == 0 && o.lo == 0;
    memory.kept_o[c] = o.hi, memory.kept_low[c] = o.lo;
    memory.kept_radius[c] = zero ? 0 : radius * factor * (1 + 0x1p-49) + (absolute(o.hi) * 0x1.5p-101 + 0x1p-1060);
    if (!(radius < infinity)) memory.kept_radius[c] = infinity;
  }
}

/// The weights π_j = ŵ_j/Z as double words.
/// Ensures   |weight + weight_low − π_j| ≤ weight_radius = 1.02·π_j(η_j + ε̄ + Z_rounding + 41u²) + 2⁻⁸⁶³
/// Why       e^(s_j − M) ∈ ŵ_j(1 ± η_j), and the relative error of Z; the weight of a far key is at most 2⁻⁸⁶⁴
struct word_share_stage {
  key_columns& keys;
  word_row_numbers const& row;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    auto const share =
        quotient_of_words(double_word<R>{load<R>(&keys.weight[j]), load<R>(&keys.weight_low[j])}, word<R>(row.Z));
    R const relative = load<R>(&keys.weight_error[j]) + (row.mean_error + row.Z_rounding + 41 * 0x1p-106);
    store(share.hi, &keys.share[j]);
    store(share.lo, &keys.share_low[j]);
    store(share.hi * relative * 1.02 + 0x1p-863, &keys.share_radius[j]);
  }
};

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
