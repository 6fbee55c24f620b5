// e^x in doubles, on lanes or of one double. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_EXP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_EXP_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_EXP_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_EXP_INL_HPP
#endif

#include <bit>
#include <cstdint>

#include "reference/machine/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// 1/k!, rounded.
constexpr double inverse_factorial(int k) {
  double product = 1;
  for (int factor = 2; factor <= k; ++factor) product *= factor;
  return 1 / product;
}

/// Relative error of exp_near: 2u.
inline constexpr double exp_error = 0x1p-52;
/// A weight whose exponent is below this is taken as 0, and the radii account for it: e^−700 < 2^−1009.
inline constexpr double exp_lowest = -700;
inline constexpr double below_exp_lowest = 0x1p-1009;

template <int k, class R>
HWY_INLINE R exp_series(R r) {
  if constexpr (k == 13) return R(inverse_factorial(13));
  else return mul_add(exp_series<k + 1>(r), r, R(inverse_factorial(k)));
}

HWY_INLINE lanes two_to(lanes shifted) {
  hn::RebindToUnsigned<double_tag> const bits;
  auto const n = hn::BitCast(bits, shifted.raw);
  return hn::BitCast(tag, hn::ShiftLeft<52>(hn::Add(n, hn::Set(bits, std::uint64_t{1023}))));
}
HWY_INLINE double two_to(double shifted) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
}

/// e^x.
///
/// Requires  −708 ≤ x ≤ 709
/// Ensures   |result − e^x| ≤ 2u·e^x, u = 2⁻⁵³; exp_near(0) = 1
/// Why       x = n·ln 2 + r with |r| ≤ 0.34660, e^r = 1 + (r + r²·q(r)), q by Horner from 1/2! to 1/13!. n·high is
///           exact (33 + 11 bits), and so is x − n·high: a multiple of ulp(x) or of 2⁻³³ that is at most 1/2. Absolute
///           errors in units of u for r > 0, where they are largest beside e^r ≥ 1, with every product and sum rounded:
///             r: n·low and the difference    0.25 + 0.01, and e^r·that in the result   0.37
///             Taylor's remainder             |r|^14/14!                                0.04
///             q < 0.57: its last sum 0.5, the product and what comes before 0.25       times r² < 0.1202: 0.09
///             r², r²·q                       below 0.068 each                          0.14
///             r + r²·q                       below 1/2                                 0.25
///             1 + …                          below 2                                   1.00
///           Together 1.89. For r < 0 the last line is 0.50 and e^r ≥ 0.707: (0.26 + 0.04 + 0.09 + 0.14 + 0.25 +
///           0.50)/0.707 = 1.82. Scaling by 2^n is exact: no result is subnormal.
template <class R>
HWY_INLINE R exp_near(R x) {
  R const shifted = x * R(0x1.71547652b82fep+0) + R(0x1.8p+52);
  R const n = shifted - R(0x1.8p+52);
  R const r = (x - n * R(0x1.62e42feep-1)) - n * R(0x1.a39ef35793c76p-33);
  R const power = R(1) + mul_add(r * r, exp_series<2>(r), r);
  return power * two_to(shifted);
}

/// e^x ≤ result ≤ e^x·(1 + 2⁻⁴⁹) + 2⁻¹⁰⁰⁹; infinity above 709.
HWY_INLINE lanes exp_upper(lanes x) {
  lanes const near = exp_near(smaller(larger(x, lanes(exp_lowest)), lanes(708.0))) * lanes(1 + 0x1p-50);
  return select(lanes(708.0) < x, lanes(infinity), near);
}

/// At most e^x, from exp_upper(x): 0 where that says nothing.
HWY_INLINE lanes exp_lower(lanes x, lanes upper) {
  return select(x < lanes(exp_lowest), lanes(0.0), upper * lanes(1 - 0x1p-39));
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
