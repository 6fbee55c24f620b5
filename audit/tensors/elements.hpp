// Conversions between doubles and tensor elements, the same code for every format. Cases and tests use them; the oracle
// does not.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "audit/tensors/owned_tensor.hpp"

namespace attest::audit {

/// The pattern of x in a format that is not wider than a double: rounded to nearest, ties to even; ±∞ beyond the range.
/// A NaN becomes quiet and keeps its sign and the leading bits of its payload.
constexpr std::uint64_t pattern_of(double x, problem::binary_format const& to) noexcept {
  constexpr problem::binary_format from = problem::format_of<double>;
  auto const bits = std::bit_cast<std::uint64_t>(x);
  std::uint64_t const size = bits & (from.sign_bit() - 1), sign = size == bits ? 0 : to.sign_bit();
  int const shorter = from.fraction_bits - to.fraction_bits;
  if (size > from.infinity()) return sign | to.infinity() | to.quiet_bit() | (size & from.fraction_mask()) >> shorter;
  // |x| = significand·2^exponent; the result is a multiple of 2^unit.
  int const biased = static_cast<int>(size >> from.fraction_bits);
  std::uint64_t const significand = (size & from.fraction_mask()) | (biased > 0 ? from.fraction_mask() + 1 : 0);
  int const exponent = from.smallest() + (biased > 0 ? biased - 1 : 0);
  int const unit = exponent + shorter > to.smallest() ? exponent + shorter : to.smallest();
  int const drop = unit - exponent < 60 ? unit - exponent : 60;  // 54 drop all bits and the rounding bit
  std::uint64_t const whole = std::uint64_t{1} << drop, twice_rest = 2 * (significand & (whole - 1));
  std::uint64_t kept = significand >> drop;
  if (twice_rest > whole || (twice_rest == whole && kept % 2 != 0)) ++kept;
  // Patterns of a binade are consecutive: a carry out of the fraction gives the next binade, and from the last
  // infinity.
  std::uint64_t const pattern = (static_cast<std::uint64_t>(unit - to.smallest()) << to.fraction_bits) + kept;
  return sign | (pattern < to.infinity() ? pattern : to.infinity());
}

/// The number that a pattern represents, exactly. A NaN stays NaN, an infinity stays infinite.
constexpr double number_of(std::uint64_t pattern, problem::binary_format const& from) noexcept {
  constexpr problem::binary_format to = problem::format_of<double>;
  std::uint64_t const size = pattern & (from.sign_bit() - 1), sign = size == pattern ? 0 : to.sign_bit();
  int const longer = to.fraction_bits - from.fraction_bits;
  std::uint64_t bits = size << longer;  // right except for the exponent bias if size is normal
  if (size >= from.infinity()) bits |= to.infinity();
  else if (size > from.fraction_mask()) bits += static_cast<std::uint64_t>(to.bias() - from.bias()) << to.fraction_bits;
  else if (from.bias() < to.bias())  // size·2^smallest
    bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(size) *
        std::bit_cast<double>(static_cast<std::uint64_t>(from.smallest() + to.bias()) << to.fraction_bits));
  return std::bit_cast<double>(bits | sign);
}

/// x rounded to a format.
constexpr double rounded_to(double x, problem::binary_format const& format) noexcept {
  return number_of(pattern_of(x, format), format);
}

/// The element nearest to x, and the number that an element represents, exactly.
template <problem::floating_element T>
constexpr T nearest_element(double x) noexcept {
  if constexpr (std::is_same_v<T, float>)
    if (x == x) return static_cast<float>(x);  // the same number, sooner
  if constexpr (sizeof(T) == 2) {
    // The same pattern, sooner, if |x| is at least the smallest normal number and below 2^above_largest: the fraction
    // is rounded to even, and a carry out of it gives the next binade, as in pattern_of.
    constexpr problem::binary_format from = problem::format_of<double>, to = problem::format_of<T>;
    constexpr int shorter = from.fraction_bits - to.fraction_bits;
    auto const bits = std::bit_cast<std::uint64_t>(x);
    std::uint64_t const size = bits & (from.sign_bit() - 1);
    auto const exponent = static_cast<int>(size >> from.fraction_bits) - from.bias();
    if (exponent >= to.smallest_normal() && exponent < to.above_largest()) {
      std::uint64_t const half = std::uint64_t{1} << (shorter - 1);
      std::uint64_t const kept = (size + half - 1 + (size >> shorter & 1)) >> shorter;
      std::uint64_t const pattern = kept - (static_cast<std::uint64_t>(from.bias() - to.bias()) << to.fraction_bits);
      return std::bit_cast<T>(static_cast<problem::bits_of<T>>(pattern | (size == bits ? 0 : to.sign_bit())));
    }
  }
  return std::bit_cast<T>(static_cast<problem::bits_of<T>>(pattern_of(x, problem::format_of<T>)));
}
template <problem::floating_element T>
constexpr double number(T x) noexcept {
  return number_of(std::bit_cast<problem::bits_of<T>>(x), problem::format_of<T>);
}

/// Are `count` elements from `first` on finite?
template <problem::floating_element T>
bool all_finite(T const* first, std::int64_t count) {
  return std::all_of(first, first + count, [](T const& x) {
    return (std::bit_cast<problem::bits_of<T>>(x) & (problem::format_of<T>.sign_bit() - 1)) <
           problem::format_of<T>.infinity();
  });
}

/// Writes x at element `offset` of t: the nearest number; in a mask, 1 if x is not 0. Requires x in the range of i32
/// for such a tensor.
inline void store(owned_tensor& t, std::size_t offset, double x) {
  problem::with_type(t.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (problem::floating_element<T>) t.as<T>()[offset] = nearest_element<T>(x);
    else if constexpr (std::is_same_v<T, std::int32_t>) t.as<T>()[offset] = static_cast<T>(x);
    else t.as<T>()[offset] = x != 0;
  });
}

/// The number at element `offset` of t, exactly. A NaN stays NaN, an infinity stays infinite.
inline double load(owned_tensor const& t, std::size_t offset) {
  return problem::with_type(t.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (problem::floating_element<T>) return number(t.as<T>()[offset]);
    else return static_cast<double>(t.as<T>()[offset]);
  });
}

/// Does `is_so` hold for every number in the memory of a tensor, gaps included?
template <class F>
bool all_of(owned_tensor const& t, F const& is_so) {
  std::size_t const count = t.bytes.size() / problem::size_of(t.type);
  for (std::size_t at = 0; at < count; ++at)
    if (!is_so(load(t, at))) return false;
  return true;
}

/// Writes a signalling NaN at element `offset` of t. Requires a floating type.
inline void store_signalling(owned_tensor& t, std::size_t offset) {
  problem::with_type(t.type, problem::floating_elements{}, [&]<class T>(std::type_identity<T>) {
    problem::bits_of<T> const bits = problem::format_of<T>.infinity() + 1;
    std::memcpy(t.bytes.data() + offset * sizeof bits, &bits, sizeof bits);
  });
}

/// The offset of element (b, h, i, j) of a rank-4 tensor.
inline std::size_t offset_of(owned_tensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  auto const& s = t.layout.stride;
  return static_cast<std::size_t>(b * s[0] + h * s[1] + i * s[2] + j * s[3]);
}

/// Calls f(b, h, i) for every row of a rank-4 tensor.
template <class F>
void each_row(owned_tensor const& t, F&& f) {
  auto const& n = t.layout.shape;
  for (std::int64_t b = 0; b < n[0]; ++b)
    for (std::int64_t h = 0; h < n[1]; ++h)
      for (std::int64_t i = 0; i < n[2]; ++i) f(b, h, i);
}

/// t(b, h, i, j) := f(b, h, i, j) for every element of a rank-4 tensor.
template <class F>
void fill(owned_tensor& t, F&& f) {
  auto const& n = t.layout.shape;
  for (std::int64_t b = 0; b < n[0]; ++b)
    for (std::int64_t h = 0; h < n[1]; ++h)
      for (std::int64_t i = 0; i < n[2]; ++i)
        for (std::int64_t j = 0; j < n[3]; ++j) store(t, offset_of(t, b, h, i, j), f(b, h, i, j));
}

/// The finite numbers of a type. `epsilon` is the distance from 1 to the next number.
struct type_limits {
  double largest = 0, smallest_normal = 0, smallest = 0, epsilon = 0;
};

/// Requires  a floating type
constexpr type_limits limits_of(problem::element_type type) noexcept {
  problem::binary_format const format = problem::row_of(type).format;
  auto const number = [&](std::uint64_t pattern) { return number_of(pattern, format); };
  std::uint64_t const one = pattern_of(1, format);
  return {number(format.largest_finite()), number(format.fraction_mask() + 1), number(1), number(one + 1) - 1};
}

}  // namespace attest::audit
