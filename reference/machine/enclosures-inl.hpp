// Output columns of one row enclosed, without the bound of any kernel: only the first sweep of columns-inl.hpp.
// Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_ENCLOSURES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_ENCLOSURES_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_ENCLOSURES_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_ENCLOSURES_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "reference/machine/columns-inl.hpp"
#include "reference/machine/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// Columns c ≤ · < c + At·(lanes of R).
/// Ensures   |o − o_c| ≤ radius = 1.01·(Σŵ_jη_j|v_jc| + ε̄Z·(|o| + r))/Z + f·(V + |o|) + r, r = (h + 4)·1.01u·(ã + |o|)
///           + n·2⁻¹⁰⁷³, ã = Σŵ_j|v_jc|/Z, V = max_j|v_jc| over at least the visible keys, f = a bound of the weights
///           of far keys; ε̄ and h as in `sweep`. Radius 0 if V = 0: then o = 0
/// Why       as `sweep`, but each |v_j − õ| ≤ |v_j| + |õ| is weighted instead of replaced by the largest: the radius is
///           about four times smaller on Gaussian V. Z_lower ≥ Z/1.01, since ε̄ ≤ 2⁻⁷ and the sums' roundings are far
///           below
template <bool Measured, class R, std::size_t At, class T>
HWY_INLINE void enclose(column_task<T> const& task, std::size_t c) {
  constexpr std::size_t step = std::is_same_v<R, double> ? 1 : lane_count;
  key_columns const& keys = task.keys;
  workspace& memory = task.memory;
  R total[At], sizes[At], errors[At], largest[At];
  for (std::size_t a = 0; a < At; ++a) {
    total[a] = sizes[a] = errors[a] = largest[a] = R(0);
    if constexpr (Measured) largest[a] = load<R>(&memory.value_largest[c + a * step]);
  }
  for (std::size_t begin = 0; begin < task.n; begin += chunk) {
    std::size_t const end = std::min(task.n, begin + chunk);
    R part[At];
    for (std::size_t a = 0; a < At; ++a) part[a] = R(0);
    for (std::size_t j = begin; j < end; ++j) {
      T const* const v = task.row(j) + c;
      R const weight(keys.weight[j]), error(keys.weight[j] * keys.weight_error[j]);
      for (std::size_t a = 0; a < At; ++a) {
        R const x = load_as<R>(v + a * step);
        part[a] = mul_add(weight, x, part[a]);
        sizes[a] = mul_add(weight, absolute(x), sizes[a]);
        errors[a] = mul_add(error, absolute(x), errors[a]);
        if constexpr (!Measured) largest[a] = larger(largest[a], absolute(x));
      }
    }
    for (std::size_t a = 0; a < At; ++a) total[a] = total[a] + part[a];
  }
  auto const n = static_cast<double>(task.n);
  double const rounding = column_rounding(task.n), epsilon = task.mean_error;
  for (std::size_t a = 0; a < At; ++a) {
    R const Z(task.Z), o = total[a] / Z, size = largest[a] + absolute(o);
    R const r = (sizes[a] / Z + absolute(o)) * (1.01 * rounding) + n * 0x1p-1073;
    R const radius = errors[a] / Z * 1.02 + (absolute(o) + r) * epsilon + r * 1.01 + size * (n * 4 * below_exp_lowest);
    auto const usable =
        size + sizes[a] + errors[a] < R(0x1p1000);  // a NaN or an infinity among the values shows in this sum
    store(o, &memory.o[c + a * step]);
    store(select(usable, select(R(0) < largest[a], radius, R(0)), R(infinity)), &memory.o_radius[c + a * step]);
  }
}

template <bool Measured, class T>
void enclose_measured(column_task<T> const& task, std::size_t dv) {
  std::size_t c = 0;
  for (; c + 4 * lane_count <= dv; c += 4 * lane_count) enclose<Measured, lanes, 4>(task, c);
  for (; c + lane_count <= dv; c += lane_count) enclose<Measured, lanes, 1>(task, c);
  for (; c < dv; ++c) enclose<Measured, double, 1>(task, c);
}
template <class T>
void enclose_columns(column_task<T> const& task, std::size_t dv) {
  task.all_keys ? enclose_measured<true>(task, dv) : enclose_measured<false>(task, dv);
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
