// A vector of doubles with the operations that reference/bound/formulas-inl.hpp needs. Compiled once for every SIMD
// target.
//
// + − × ÷ √ are IEEE operations rounded to nearest on every target. mul_add is fused on targets that have a fused
// multiply-add, and a product and a sum on others, so every analysis counts two roundings.
//
// There are at most four lanes, also where a vector could have eight: the number of lanes is the order of sums, and so
// targets with a fused multiply-add give the same bits. Reports then do not depend on the processor. AVX-512 loses some
// 2 % by it (docs/machine_tier.md).
#if defined(ATTEST_REFERENCE_MACHINE_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_LANES_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_LANES_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_LANES_INL_HPP
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <hwy/highway.h>

#include "problem/element_type.hpp"
#include "problem/kernel_model.hpp"
#include "reference/bound/scalar.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

using reference::absolute, reference::exp_upper, reference::larger, reference::mul_add, reference::root,
    reference::rounded_down, reference::rounded_up, reference::smaller;
using reference::all, reference::both, reference::either, reference::logical_not, reference::select;
using reference::exp_lower, reference::leading_power, reference::whole_part;

namespace hn = hwy::HWY_NAMESPACE;
using double_tag = hn::CappedTag<double, 4>;
inline constexpr double_tag tag{};
inline constexpr std::size_t lane_count = hn::MaxLanes(double_tag{});

struct lane_mask {
  hn::Mask<double_tag> raw;
};

struct lanes {
  hn::Vec<double_tag> raw;

  // Sums begin at lanes{}, and a vector of Highway's for NEON does not become 0 by {}, as the others do.
#if HWY_ARCH_ARM
  HWY_INLINE lanes() : raw(hn::Zero(tag)) {}
#else
  lanes() = default;
#endif
  HWY_INLINE lanes(double x) : raw(hn::Set(tag, x)) {}
  HWY_INLINE lanes(hn::Vec<double_tag> x) : raw(x) {}

  friend HWY_INLINE lanes operator+(lanes a, lanes b) { return hn::Add(a.raw, b.raw); }
  friend HWY_INLINE lanes operator-(lanes a, lanes b) { return hn::Sub(a.raw, b.raw); }
  friend HWY_INLINE lanes operator*(lanes a, lanes b) { return hn::Mul(a.raw, b.raw); }
  friend HWY_INLINE lanes operator/(lanes a, lanes b) { return hn::Div(a.raw, b.raw); }
  friend HWY_INLINE lanes operator-(lanes a) { return hn::Neg(a.raw); }
  friend HWY_INLINE lane_mask operator<(lanes a, lanes b) { return {hn::Lt(a.raw, b.raw)}; }
};

HWY_INLINE lanes mul_add(lanes a, lanes b, lanes c) { return hn::MulAdd(a.raw, b.raw, c.raw); }
HWY_INLINE lanes select(lane_mask mask, lanes a, lanes b) { return hn::IfThenElse(mask.raw, a.raw, b.raw); }
HWY_INLINE lane_mask both(lane_mask a, lane_mask b) { return {hn::And(a.raw, b.raw)}; }
HWY_INLINE lane_mask either(lane_mask a, lane_mask b) { return {hn::Or(a.raw, b.raw)}; }
HWY_INLINE lane_mask logical_not(lane_mask a) { return {hn::Not(a.raw)}; }
HWY_INLINE bool all(lane_mask a) { return hn::AllTrue(tag, a.raw); }
HWY_INLINE lanes larger(lanes a, lanes b) { return hn::Max(a.raw, b.raw); }
HWY_INLINE lanes smaller(lanes a, lanes b) { return hn::Min(a.raw, b.raw); }
HWY_INLINE lanes absolute(lanes a) { return hn::Abs(a.raw); }
HWY_INLINE lanes root(lanes a) { return hn::Sqrt(a.raw); }

/// At least (at most) the double next to x: |x|·2⁻⁵² is at least one unit in the last place.
HWY_INLINE lanes rounded_up(lanes x) { return x + (absolute(x) * 0x1p-52 + 0x1p-1022); }
HWY_INLINE lanes rounded_down(lanes x) { return x - (absolute(x) * 0x1p-52 + 0x1p-1022); }

template <class R>
HWY_INLINE R load(double const* from) {
  if constexpr (std::is_same_v<R, double>) return *from;
  else return hn::LoadU(tag, from);
}
HWY_INLINE void store(double x, double* to) { *to = x; }
HWY_INLINE void store(lanes x, double* to) { hn::StoreU(x.raw, tag, to); }

/// 2^e, 2^e ≤ x < 2^(e + 1), of a normal x > 0.
HWY_INLINE lanes leading_power(lanes x) { return hn::And(x.raw, hn::Set(tag, infinity)); }
HWY_INLINE lanes whole_part(lanes x) { return hn::Floor(x.raw); }

/// The sum of the lanes as a tree: log2(lane_count) roundings.
HWY_INLINE double sum_of(lanes x) { return hn::GetLane(hn::SumOfLanes(tag, x.raw)); }
HWY_INLINE double largest_of(lanes x) { return hn::GetLane(hn::MaxOfLanes(tag, x.raw)); }

/// What takes a pattern of the 16-bit type E, without its sign, to f32: `shift` bits to the left, and where E has fewer
/// exponents the number is then 2^-(difference of the biases) too small, exactly, subnormals included.
template <class E>
struct widening {
  static_assert(sizeof(E) == 2 && problem::format_of<E>.exponent_bits <= problem::format_of<float>.exponent_bits);
  static constexpr problem::binary_format from = problem::format_of<E>, to = problem::format_of<float>;
  static constexpr int shift = to.fraction_bits - from.fraction_bits;
  static constexpr bool cuts_f32 = from.exponent_bits == to.exponent_bits;
  static constexpr std::uint32_t sign = from.sign_bit(), size = from.sign_bit() - 1, infinity = from.infinity();
  static constexpr double factor = problem::formats::power_of_two(to.bias() - from.bias()),
                          above_largest = problem::formats::power_of_two(cuts_f32 ? 0 : from.above_largest());
};

/// `lane_count` stored elements as doubles, exactly; an infinity of a type with fewer exponents than f32 becomes NaN.
HWY_INLINE lanes load_values(double const* from) { return hn::LoadU(tag, from); }
HWY_INLINE lanes load_values(float const* from) {
  return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<float, double_tag>(), from));
}
template <class E>
HWY_INLINE lanes load_values(E const* from) {
  using wide = widening<E>;
  hn::Rebind<std::uint16_t, double_tag> const d16;
  hn::Rebind<std::uint32_t, double_tag> const d32;
  hn::Rebind<float, double_tag> const df;
  auto const bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<std::uint16_t const*>(from)));
  if constexpr (wide::cuts_f32) {
    return hn::PromoteTo(tag, hn::BitCast(df, hn::ShiftLeft<wide::shift>(bits)));
  } else {
    auto const size = hn::ShiftLeft<wide::shift>(hn::And(bits, hn::Set(d32, wide::size)));
    auto const sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, wide::sign)));
    lanes const x = hn::Mul(hn::PromoteTo(tag, hn::BitCast(df, hn::Or(size, sign))), hn::Set(tag, wide::factor));
    return select(absolute(x) < lanes(wide::above_largest), x, lanes(std::numeric_limits<double>::quiet_NaN()));
  }
}
HWY_INLINE double load_value(double const* from) { return *from; }
HWY_INLINE double load_value(float const* from) { return static_cast<double>(*from); }
template <class E>
HWY_INLINE double load_value(E const* from) {
  using wide = widening<E>;
  std::uint32_t const bits = from->bits, size = bits & wide::size;
  double const x =
      static_cast<double>(std::bit_cast<float>((bits & wide::sign) << 16 | size << wide::shift)) * wide::factor;
  if (wide::cuts_f32 || size < wide::infinity) return x;
  return size != wide::infinity ? std::numeric_limits<double>::quiet_NaN() : x < 0 ? -infinity : infinity;
}
template <class R, class T>
HWY_INLINE R load_as(T const* from) {
  if constexpr (std::is_same_v<R, double>) return load_value(from);
  else return load_values(from);
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
