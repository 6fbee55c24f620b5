// Double words: numbers as unevaluated sums hi + lo of two doubles, |lo| ≤ u|hi|, u = 2⁻⁵³, on lanes or of one double.
// Compiled once for every SIMD target.
//
// Every bound here is proven by counting roundings and is larger than necessary; the sharp bounds are in Joldes,
// Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic" (ACM TOMS 44,
// 2017). The caller must exclude overflow. If the last bits of a product fall below 2⁻¹⁰⁷⁴, it is off by at most
// 5·2⁻¹⁰⁷⁴ more (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005); the caller must
// add that.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_DOUBLE_WORD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_DOUBLE_WORD_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_DOUBLE_WORD_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_DOUBLE_WORD_INL_HPP
#endif

#include "reference/machine/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

template <class R>
struct double_word {
  R hi, lo;
};

/// a + b exactly: hi = fl(a + b). Source: Knuth; Møller.
template <class R>
HWY_INLINE double_word<R> two_sum(R a, R b) {
  R const sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
/// a + b exactly, in fewer operations. Requires |a| ≥ |b|, or a = 0. Source: Dekker.
template <class R>
HWY_INLINE double_word<R> ordered_two_sum(R a, R b) {
  R const sum = a + b;
  return {sum, b - (sum - a)};
}

#if HWY_NATIVE_FMA
HWY_INLINE lanes product_rest(lanes a, lanes b, lanes product) { return hn::MulSub(a.raw, b.raw, product.raw); }
HWY_INLINE double product_rest(double a, double b, double product) { return __builtin_fma(a, b, -product); }
#else
/// Veltkamp's halves of 26 bits. Requires |a| < 2^995; NaN above 2^996.
template <class R>
HWY_INLINE double_word<R> halves(R a) {
  R const scaled = a * R(0x1.000002p+27), hi = scaled - (scaled - a);
  return {hi, a - hi};
}
template <class R>
HWY_INLINE R product_rest(R a, R b, R product) {
  auto const x = halves(a), y = halves(b);
  return x.lo * y.lo - (((product - x.hi * y.hi) - x.lo * y.hi) - x.hi * y.lo);
}
#endif
/// a·b exactly: hi = fl(a·b). Source: Dekker; with a fused multiply-add on targets that have one.
template <class R>
HWY_INLINE double_word<R> two_product(R a, R b) {
  R const product = a * b;
  return {product, product_rest(a, b, product)};
}

/// x + y within u(|x.lo| + |hi.lo|) ≤ u²(|x| + |x + y|)(1 + 2u).
/// Why       all but one sum are exact, and that one adds x.lo to the rest of x.hi + y
template <class R>
HWY_INLINE double_word<R> sum_of_word(double_word<R> x, R y) {
  auto const sum = two_sum(x.hi, y);
  return two_sum(sum.hi, sum.lo + x.lo);
}
/// x + y within 4u²|x + y|. Source: Joldes, Muller, Popescu, AccurateDWPlusDW, theorem 3.1: 3u² + 13u³.
template <class R>
HWY_INLINE double_word<R> sum_of_words(double_word<R> x, double_word<R> y) {
  auto const high = two_sum(x.hi, y.hi), low = two_sum(x.lo, y.lo);
  auto const sum = ordered_two_sum(high.hi, high.lo + low.hi);
  return ordered_two_sum(sum.hi, low.lo + sum.lo);
}
/// x + y within 5u²|x|. Requires |y| ≤ 0.45|x|.
/// Why       |x.lo + y.lo| ≤ 1.45u|x| and the rest of x.hi + y.hi is at most 1.45u|x|: their roundings are at most
///           1.45u² + 2.9u²
template <class R>
HWY_INLINE double_word<R> sum_of_smaller(double_word<R> x, double_word<R> y) {
  auto const sum = ordered_two_sum(x.hi, y.hi);
  return ordered_two_sum(sum.hi, sum.lo + (x.lo + y.lo));
}
/// x·y within 9u²|x·y|.
/// Why       in units of u²|x·y|: x.lo·y.lo is left out, 1; x.hi·y.lo rounds by 1, x.lo·y.hi by 1 (by 0 if fused),
///           their sum by 2, and its sum with the rest of x.hi·y.hi by 3; |hi| ≤ (1 + u)|·| takes the ninth
template <class R>
HWY_INLINE double_word<R> product_of_words(double_word<R> x, double_word<R> y) {
  auto const product = two_product(x.hi, y.hi);
  return ordered_two_sum(product.hi, product.lo + mul_add(x.lo, y.hi, x.hi * y.lo));
}
/// x/y within 40u²|x/y|. Requires y ≠ 0.
/// Why       q = fl(x.hi/y.hi), and x.hi − q·y.hi is exact in two parts, |x.hi − p| ≤ 2u|x.hi| by Sterbenz and the rest
///           of the product, at most u|x.hi|. In units of u²|x|: q·y.lo rounds by 1, three sums of at most 3, 4 and 5
///           by 12, the last quotient, of at most 5.1u, by 6; its factor y instead of y.hi leaves out 6; |q| for |x/y|
///           the rest
template <class R>
HWY_INLINE double_word<R> quotient_of_words(double_word<R> x, double_word<R> y) {
  R const q = x.hi / y.hi;
  auto const product = two_product(q, y.hi);
  R const rest = ((x.hi - product.hi) - product.lo) + (x.lo - q * y.lo);
  return ordered_two_sum(q, rest / y.hi);
}

template <class R>
HWY_INLINE double_word<R> word(R x) {
  return {x, R(0)};
}
template <class R>
HWY_INLINE double_word<R> word(double_word<double> x) {
  return {R(x.hi), R(x.lo)};
}
template <class R>
HWY_INLINE double_word<R> negated(double_word<R> x) {
  return {-x.hi, -x.lo};
}
template <class R, class M>
HWY_INLINE double_word<R> select(M mask, double_word<R> a, double_word<R> b) {
  return {select(mask, a.hi, b.hi), select(mask, a.lo, b.lo)};
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
