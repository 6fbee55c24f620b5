// The softmax of a strip: bias and mask on scores, row maxima, 2^x, the sums l, and the quotients O/l.
#if defined(ATTEST_FAST_SIMD_EXPONENTIAL_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_EXPONENTIAL_INL_HPP
#undef ATTEST_FAST_SIMD_EXPONENTIAL_INL_HPP
#else
#define ATTEST_FAST_SIMD_EXPONENTIAL_INL_HPP
#endif

#include <limits>

#include "fast/algorithm/exp2.hpp"
#include "fast/simd/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
/// The larger of x and y; y if x is NaN, as the maximum instructions of x86 do.
template <class V>
HWY_INLINE V larger(V x, V y) {
  return hn::Max(x, y);
}

template <class D>
HWY_INLINE hn::TFromD<D> largest_lane(D d, hn::Vec<D> x) {
  return hn::GetLane(hn::MaxOfLanes(d, x));
}
#else
template <class V>
HWY_INLINE V larger(V x, V y) {
  return hn::IfThenElse(hn::Gt(x, y), x, y);
}

/// Highway's MaxOfLanes begins with the lowest finite number, which is above −∞.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE T largest_lane(D d, hn::Vec<D> x) {
  T lane[lanes<T>];
  hn::StoreU(x, d, lane);
  T largest = lane[0];
  for (std::int64_t a = 1; a < lanes<T>; ++a) largest = largest < lane[a] ? lane[a] : largest;
  return largest;
}
#endif

/// 2·(c_k + c_{k+1}·r + …). Doubling is exact.
template <class T, std::size_t k, class D>
HWY_INLINE hn::Vec<D> doubled_series(D d, hn::Vec<D> r) {
  constexpr auto& c = exp2_format<T>::coefficients;
  if constexpr (k + 1 == c.size()) return hn::Set(d, 2 * c[k]);
  else return hn::MulAdd(r, doubled_series<T, k + 1>(d, r), hn::Set(d, 2 * c[k]));
}

/// 2^x for x ≤ 0, to exp_error; 0 for x ≤ lowest_exponent + 1/2; 1 for 0; NaN for NaN.
/// Why   2^x = (2·2^r)·2^(n−1): with the factor 2, n = lowest_exponent gives the exponent field 0, and so the number 0
/// Cost  13 instructions with fused multiply-add in f32
template <class T, class D>
HWY_INLINE hn::Vec<D> exp2(D d, hn::Vec<D> x) {
  using format = exp2_format<T>;
  hn::RebindToUnsigned<D> const bits;
  auto const to_low_bits = hn::Set(d, format::integer_at_low_bits + T(format::bias - 1));
  auto const clamped = larger(hn::Set(d, T(lowest_exponent<T>)), x);
  auto const shifted = hn::Add(clamped, to_low_bits);
  auto const r = hn::Sub(clamped, hn::Sub(shifted, to_low_bits));
  auto const power = hn::MulAdd(r, doubled_series<T, 0>(d, r), hn::Set(d, T(2)));
  auto const exponent = hn::ShiftLeft<format::fraction_bits>(hn::BitCast(bits, shifted));
  return hn::Mul(power, hn::BitCast(d, exponent));
}

/// operations::update_max
template <class T>
void update_max(T const* S, std::int64_t rows, interval keys, row_states<T> const& states) noexcept {
  tag<T> const d;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  HWY_ALIGN T maxima[strip_rows + sum_lanes];
  for (std::int64_t i = rows; i < rows + lanes<T>; ++i) maxima[i] = -infinity;
  for (std::int64_t i = 0; i < rows; ++i) {
    T const* const s = S + i * score_stride<T>;
    auto even = hn::Set(d, -infinity), odd = even;
    std::int64_t j = keys.first;
    for (; j + 2 * lanes<T> <= keys.last; j += 2 * lanes<T>) {
      even = larger(hn::LoadU(d, s + j), even);
      odd = larger(hn::LoadU(d, s + j + lanes<T>), odd);
    }
    for (; j < keys.last; j += lanes<T>) even = larger(hn::LoadU(d, s + j), even);
    maxima[i] = largest_lane(d, larger(even, odd));
  }
  for (std::int64_t i = 0; i < rows; i += lanes<T>) {
    auto const old = hn::LoadU(d, states.m + i), m = larger(hn::LoadU(d, maxima + i), old);
    auto const all_hidden = hn::Eq(m, hn::Set(d, -infinity));  // subtract 0 then: −∞ − −∞ would be NaN
    hn::StoreU(exp2<T>(d, hn::Sub(old, hn::IfThenElse(all_hidden, hn::Zero(d), m))), d, states.factor + i);
    hn::StoreU(m, d, states.m + i);
  }
}

/// operations::exponentiate
template <class T>
void exponentiate(T* S, std::int64_t rows, interval keys, row_states<T> const& states) noexcept {
  tag<T> const d;
  constexpr auto vectors = static_cast<int>(sum_lanes / lanes<T>);
  for (std::int64_t i = 0; i < rows; ++i) {
    T* const s = S + i * score_stride<T>;
    bool const all_hidden = states.m[i] == -std::numeric_limits<T>::infinity();
    auto const m = hn::Set(d, all_hidden ? T(0) : states.m[i]), factor = hn::Set(d, states.factor[i]);
    vector<T> sum[vectors];
    HWY_UNROLL(16) for (int v = 0; v < vectors; ++v) sum[v] = hn::Zero(d);
    for (std::int64_t j = keys.first; j < keys.last; j += sum_lanes) {
      HWY_UNROLL(16) for (int v = 0; v < vectors; ++v) {
        auto const p = exp2<T>(d, hn::Sub(hn::LoadU(d, s + j + v * lanes<T>), m));
        sum[v] = hn::Add(sum[v], p);
        hn::StoreU(p, d, s + j + v * lanes<T>);
      }
    }
    T* const l = states.l + i * sum_lanes;
    HWY_UNROLL(16)
    for (int v = 0; v < vectors; ++v)
      hn::StoreU(hn::MulAdd(hn::LoadU(d, l + v * lanes<T>), factor, sum[v]), d, l + v * lanes<T>);
  }
}

/// operations::multiply
template <class T>
void multiply(T* s, T f, std::int64_t count) noexcept {
  for (std::int64_t j = 0; j < count; ++j) s[j] = s[j] * f;
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_bias_lanes(D d, T* s, T const* bias) {
  constexpr T limit = std::numeric_limits<T>::max() / 2;
  auto const b = hn::LoadU(d, bias);
  auto const clamped = hn::Min(hn::Max(b, hn::Set(d, -limit)), hn::Set(d, limit));
  auto const finite = hn::Lt(hn::Abs(b), hn::Set(d, std::numeric_limits<T>::infinity()));
  hn::StoreU(hn::MulAdd(hn::IfThenElse(finite, clamped, b), hn::Set(d, static_cast<T>(log2_e)), hn::LoadU(d, s)), d, s);
}

/// operations::add_bias
template <class T>
void add_bias(T* s, T const* bias, std::int64_t count) noexcept {
  std::int64_t j = 0;
  for (; j + lanes<T> <= count; j += lanes<T>) add_bias_lanes(tag<T>(), s + j, bias + j);
  for (; j < count; ++j) add_bias_lanes(hn::CappedTag<T, 1>(), s + j, bias + j);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void hide_lanes(D d, T* s, std::uint8_t const* mask) {
  hn::Rebind<std::uint8_t, D> const bytes;
  hn::Rebind<std::uint32_t, D> const words;
  hn::RebindToUnsigned<D> const bits;
  auto const narrow = hn::PromoteTo(words, hn::LoadU(bytes, mask));
  auto const hidden = hn::Set(d, -std::numeric_limits<T>::infinity());
  if constexpr (sizeof(T) == 8) {
    auto const shown = hn::Ne(hn::PromoteTo(bits, narrow), hn::Zero(bits));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(d, shown), hn::LoadU(d, s), hidden), d, s);
  } else {
    auto const shown = hn::Ne(narrow, hn::Zero(bits));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(d, shown), hn::LoadU(d, s), hidden), d, s);
  }
}

/// operations::hide_masked
template <class T>
void hide_masked(T* s, std::uint8_t const* mask, std::int64_t count) noexcept {
  std::int64_t j = 0;
  for (; j + lanes<T> <= count; j += lanes<T>) hide_lanes(tag<T>(), s + j, mask + j);
  for (; j < count; ++j) hide_lanes(hn::CappedTag<T, 1>(), s + j, mask + j);
}

/// operations::add_multiple
template <class T>
void add_multiple(T const* from, T f, std::int64_t count, T* to) noexcept {
  tag<T> const d;
  hn::CappedTag<T, 1> const one;
  std::int64_t c = 0;
  for (; c + lanes<T> <= count; c += lanes<T>)
    hn::StoreU(hn::MulAdd(hn::Set(d, f), hn::LoadU(d, from + c), hn::LoadU(d, to + c)), d, to + c);
  for (; c < count; ++c)
    hn::StoreU(hn::MulAdd(hn::Set(one, f), hn::LoadU(one, from + c), hn::LoadU(one, to + c)), one, to + c);
}

/// The sum of a row's lanes: the second half is added to the first until one lane is left, a tree of height 4.
template <class T>
HWY_INLINE T folded(T const* l) {
  T half[sum_lanes / 2];
  for (std::int64_t a = 0; a < sum_lanes / 2; ++a) half[a] = l[a] + l[a + sum_lanes / 2];
  for (std::int64_t rest = sum_lanes / 4; rest > 0; rest /= 2)
    for (std::int64_t a = 0; a < rest; ++a) half[a] = half[a] + half[a + rest];
  return half[0];
}

/// to_c ← O_c/l in whole vectors, with three products by y ≈ 1/l in place of each division. Only if the target has
/// fused multiply-adds, and l and every O_c lie in the range of the proof.
///
/// Returns   false, and writes nothing, otherwise
/// Why       y = fl(1/l). q₀ = fl(x·y) is within 2u(1 + u) of x/l. q₁ = fl(q₀ + fl(x − l·q₀)·y) is within half a place
///           and 8u² of it, so q₁ is faithful. Then x − l·q₁ is a number of T, and fl(q₁ + (x − l·q₁)·y) is x/l rounded
///           to nearest (Markstein 1990; Handbook of Floating-Point Arithmetic, 2nd edition, theorem 4.9).
template <class T>
HWY_INLINE bool divided_by_products([[maybe_unused]] T const* O, [[maybe_unused]] T l, [[maybe_unused]] std::int64_t dv,
                                    [[maybe_unused]] T* to) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  // A remainder is at least x·2^−48 (2^−106 in f64). For x ≥ least that is a normal number, which is not flushed to 0.
  constexpr T least = sizeof(T) == 4 ? T(0x1p-70) : T(0x1p-800), most = sizeof(T) == 4 ? T(0x1p100) : T(0x1p900);
  if (dv % lanes<T> != 0 || !(T(0.5) <= l && l <= T(0x1p20))) return false;
  tag<T> const d;
  auto smallest = hn::Set(d, most), largest = hn::Set(d, least);
  auto test = hn::Zero(d);  // becomes NaN for a NaN, which the comparisons below would miss
  for (std::int64_t c = 0; c < dv; c += lanes<T>) {
    auto const x = hn::LoadU(d, O + c), size = hn::Abs(x);
    smallest = hn::Min(size, smallest), largest = hn::Max(size, largest), test = hn::MulAdd(x, hn::Zero(d), test);
  }
  auto const usual = hn::And(hn::And(hn::Ge(smallest, hn::Set(d, least)), hn::Le(largest, hn::Set(d, most))),
                             hn::Eq(test, hn::Zero(d)));
  if (!hn::AllTrue(d, usual)) return false;
  auto const whole = hn::Set(d, l), y = hn::Set(d, 1 / l);
  for (std::int64_t c = 0; c < dv; c += lanes<T>) {
    auto const x = hn::LoadU(d, O + c), q = hn::Mul(x, y), faithful = hn::MulAdd(hn::NegMulAdd(whole, q, x), y, q);
    hn::StoreU(hn::MulAdd(hn::NegMulAdd(whole, faithful, x), y, faithful), d, to + c);
  }
  return true;
#else
  return false;
#endif
}

/// operations::finish
template <class T>
T finish(T const* O, T const* l, std::int64_t dv, T* to) noexcept {
  T const sum = folded(l);
  if (divided_by_products(O, sum, dv, to)) return sum;
  tag<T> const d;
  auto const nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t c = 0; c < dv; c += lanes<T>) {
    auto const x = hn::Div(hn::Add(hn::LoadU(d, O + c), hn::Zero(d)), hn::Set(d, sum));
    auto const quotient = sum == 0 ? hn::Zero(d) : hn::IfThenElse(hn::Eq(x, x), x, nan);
    if (c + lanes<T> <= dv) {
      hn::StoreU(quotient, d, to + c);
    } else {
      T tail[sum_lanes];
      hn::StoreU(quotient, d, tail);
      for (std::int64_t a = 0; c + a < dv; ++a) to[c + a] = tail[a];
    }
  }
  return sum;
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
