// e^x and ln x as double words, on lanes or of one number. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_EXP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_EXP_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_EXP_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_EXP_INL_HPP
#endif

#include "reference/machine/double_word/double_word-inl.hpp"
#include "reference/machine/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// 1/k! as a double word: hi rounded, and lo = fl((1 − k!·hi)/k!), off by u²/k! at most.
/// Why       k! ≤ 2²⁹ is split from hi's halves exactly, so 1 − k!·hi is formed without rounding
/// Requires  k ≤ 12
struct inverse_factorial_word {
  double hi = 1, lo = 0;
  explicit constexpr inverse_factorial_word(int k) {
    double factorial = 1;
    for (int factor = 2; factor <= k; ++factor) factorial *= factor;
    hi = 1 / factorial;
    double const scaled = hi * 0x1p22, high = (scaled + hi) - scaled;  // 53 − 22 = 31 bits at most
    double const low = hi - high;
    lo = ((1 - factorial * high) - factorial * low) / factorial;
  }
};

/// ln 2 = ln2_high + ln2_middle + ln2_low within 2⁻¹⁴⁰; the first two have 42 bits each, so that n·part is exact for
/// |n| < 2¹¹.
inline constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_middle = 0x1.ef35793c76p-45, ln2_low = 0x1.cc01f97b57a08p-87;

/// A weight whose exponent is below this is taken as 0, and the radii account for it: e^−600 < 2^−865.
inline constexpr double word_exp_lowest = -600;
inline constexpr double below_word_exp_lowest = 0x1p-865;

/// |exp_near(x) − e^x| ≤ (26 + 2.2|x|)u²·e^x.
template <class R>
HWY_INLINE R word_exp_error(R const& x) {
  return (absolute(x) * 2.2 + 26) * 0x1p-106;
}

/// Σ_{i≥k} r^(i−k)/i! for k ≤ 13 ≤ i ≤ 22 in doubles, for k ≤ 12 in double words.
template <int k, class R>
HWY_INLINE R series_tail(R r) {
  if constexpr (k == 22) return R(inverse_factorial(22));
  else return mul_add(series_tail<k + 1>(r), r, R(inverse_factorial(k)));
}
template <int k, class R>
HWY_INLINE double_word<R> series(double_word<R> r) {
  constexpr inverse_factorial_word c(k);
  double_word<R> const coefficient{R(c.hi), R(c.lo)};
  if constexpr (k == 12) return sum_of_smaller(coefficient, product_of_words(r, word(series_tail<13>(r.hi))));
  else return sum_of_smaller(coefficient, product_of_words(r, series<k + 1>(r)));
}

/// e^x.
///
/// Requires  −708 ≤ x ≤ 708
/// Ensures   |result − e^x| ≤ (26 + 2.2|x|)u²·e^x (for x ≥ −600, where nothing is subnormal), u = 2⁻⁵³; exp_near(0) = 1
/// Why       x = n·ln 2 + r, |r| ≤ 0.3466. x.hi − n·ln2_high is exact: multiples of 2⁻⁵⁴ below 1/2; two_sum keeps all
///           of n·ln2_middle. The roundings: n·ln2_low, 2⁻¹²⁷; its sum with x.lo, u(u|x| + 2⁻⁷⁶); the sum with the rest
///           of two_sum, u(u|x| + 0.36u). With ln 2's own 2⁻¹³⁰: r is off by (2|x| + 0.4)u², and e^r by that factor.
///           e^r = Σ_{k≤22} r^k/k!, by Horner's scheme; in units of u², with Σ|r|^k/k! ≤ 1.415 = e^|r|:
///             each c_k and its sum               1 + 5, times 1.415            8.5
///             each product                       9 times e^|r| − 1 + 0.1       4.7
///             tail from k = 13 in doubles        2.1u, times 0.3466^13/13! ≤ 1.51u    3.3
///             Taylor's remainder                 1.02·0.3466^23/23!            0.1
///           Together 16.6 beside e^r ≥ 0.707: 23.5. Scaling by 2^n is exact. sum_of_smaller's condition:
///           |r·p_(k+1)| ≤ (e^0.3466 − 1)/k! ≤ 0.42/k!
template <class R>
HWY_INLINE double_word<R> exp_near(double_word<R> x) {
  R const shifted = x.hi * R(0x1.71547652b82fep+0) + R(0x1.8p+52);
  R const n = shifted - R(0x1.8p+52);
  auto const high = two_sum(x.hi - n * R(ln2_high), -(n * R(ln2_middle)));
  auto const r = two_sum(high.hi, high.lo + (x.lo - n * R(ln2_low)));
  auto const power = series<0>(r);
  R const scale = two_to(shifted);
  return {power.hi * scale, power.lo * scale};
}

struct enclosed_word {
  double_word<double> value;
  double radius;
};

/// ln x for a double word 1/2 ≤ x ≤ 2⁶⁰; the radius is infinite if the first guess y is too far off.
/// Ensures   |value − ln x| ≤ radius = (44 + 7|y|)u², y the guess
/// Why       ln x = y + ln(1 + t), 1 + t = x·e^(−y). t is off by exp's (26 + 2.2|y|)u², the product's 9u² and the sum's
///           2u², times 1 + 2|t|. ln(1 + t) = t − t²/2 + t³/3 up to t⁴/3; for |t| ≤ 2⁻³¹ that, the last two terms in
///           doubles and t·t.lo are together below 2⁻¹⁰⁹ = 0.13u². The last sum is within 4u²(|y| + |t|). The error of
///           y itself does not matter, since t measures it
inline enclosed_word log_near(double_word<double> x) {
  double const guess = log_upper(x.hi);
  auto const t = sum_of_word(product_of_words(x, exp_near(word(-guess))), -1.0);
  if (!(absolute(t.hi) <= 0x1p-31)) return {{0, 0}, infinity};
  auto const rest = sum_of_word(t, t.hi * t.hi * (t.hi / 3 - 0.5));
  return {sum_of_words(rest, word(guess)), (44 + 7 * absolute(guess)) * 0x1p-106};
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
