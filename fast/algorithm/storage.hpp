// The types of 16 bits are storage formats: arithmetic on them is f32's. Conversions of single numbers;
// fast/simd/storage-inl.hpp converts whole rows to the same bits.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "problem/element_type.hpp"

namespace attest::fast {

/// The type in which the kernel computes with numbers stored as E.
template <problem::floating_element E>
using working = std::conditional_t<std::is_same_v<E, double>, double, float>;

/// Whether rows of E are converted before they are used.
template <problem::floating_element E>
inline constexpr bool is_narrow = !std::is_same_v<E, working<E>>;

namespace detail {
template <class E>
struct is_narrow_type : std::bool_constant<is_narrow<E>> {};
}  // namespace detail
using narrow_elements = problem::filtered_list<detail::is_narrow_type, problem::floating_elements>;

namespace detail {
template <class T>
struct works_in {
  template <class E>
  struct type : std::is_same<working<E>, T> {};
};
}  // namespace detail
/// The types whose working type is T.
template <class T>
using stored_elements = problem::filtered_list<detail::works_in<T>::template type, problem::floating_elements>;

/// A type of 16 bits whose finite numbers are all numbers of f32: normal ones, and also subnormal ones if it has the
/// exponents of f32.
template <class E>
concept narrow_element = problem::floating_element<E> && is_narrow<E> && sizeof(E) == 2 &&
                         problem::format_of<E>.exponent_bits <= problem::format_of<float>.exponent_bits &&
                         problem::format_of<E>.fraction_bits < problem::format_of<float>.fraction_bits;

/// The formats of E and f32, and the constants that convert between their bit patterns.
template <narrow_element E>
struct narrow_format {
  static constexpr problem::binary_format stored = problem::format_of<E>, wide = problem::format_of<float>;
  static constexpr bool cuts_f32 = stored.exponent_bits == wide.exponent_bits;  ///< E is the upper half of an f32
  static constexpr int shift = wide.fraction_bits - stored.fraction_bits;
  static constexpr std::uint32_t sign = stored.sign_bit(), infinity = stored.infinity(), quiet = stored.quiet_bit(),
                                 wide_sign = wide.sign_bit(), wide_infinity = wide.infinity();
  /// Added to an exponent field of E, it gives the exponent field of f32.
  static constexpr std::uint32_t rebias = static_cast<std::uint32_t>(wide.bias() - stored.bias());
  /// The bit pattern of 2^exponent in f32.
  static constexpr std::uint32_t power(int exponent) noexcept {
    return static_cast<std::uint32_t>(exponent + wide.bias()) << wide.fraction_bits;
  }
  static_assert(cuts_f32 || stored.smallest() > wide.smallest_normal(), "a subnormal of E is a normal number of f32");
};

/// Exact, even if x is subnormal. NaN stays NaN.
template <narrow_element E>
constexpr float widened(E x) noexcept {
  using format = narrow_format<E>;
  if constexpr (format::cuts_f32) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << format::shift);
  } else {
    constexpr auto fraction_mask = static_cast<std::uint32_t>(format::stored.fraction_mask());
    constexpr std::uint32_t last = format::infinity >> format::stored.fraction_bits;  // the exponent of ∞ and NaN
    std::uint32_t const sign = static_cast<std::uint32_t>(x.bits & format::sign) << 16,
                        fraction = x.bits & fraction_mask, exponent = (x.bits >> format::stored.fraction_bits) & last;
    float const size =
        exponent == 0 ? static_cast<float>(fraction) * std::bit_cast<float>(format::power(format::stored.smallest()))
        : exponent == last ? std::bit_cast<float>(format::wide_infinity | fraction << format::shift)
                           : std::bit_cast<float>((exponent + format::rebias) << format::wide.fraction_bits |
                                                  fraction << format::shift);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
  }
}

/// Rounds to nearest, ties to even; beyond the range to ±∞. Every NaN becomes the quiet NaN of its sign.
template <narrow_element E>
constexpr E narrowed(float x) noexcept {
  using format = narrow_format<E>;
  auto const bits = std::bit_cast<std::uint32_t>(x);
  if constexpr (format::cuts_f32) {
    constexpr std::uint32_t half = 1u << (format::shift - 1);
    if ((bits & ~format::wide_sign) > format::wide_infinity)
      return {static_cast<std::uint16_t>((bits >> 16 & format::sign) | format::infinity | format::quiet)};
    return {static_cast<std::uint16_t>((bits + half - 1 + (bits >> format::shift & 1u)) >> format::shift)};
  } else {
    auto const sign = static_cast<std::uint16_t>(bits >> 16 & format::sign);
    std::uint32_t const size = bits & ~format::wide_sign;
    auto const signed_bits = [sign](std::uint32_t rest) { return E{static_cast<std::uint16_t>(sign | rest)}; };
    constexpr auto digits = static_cast<std::uint32_t>(format::stored.fraction_mask()) * 2 + 1;
    // Half-way from the largest number to the next power of two, which is out of range (65520 for f16).
    constexpr std::uint32_t overflow = format::power(format::stored.bias()) | digits << (format::shift - 1);
    constexpr std::uint32_t underflow = format::power(format::stored.smallest() - 1);  // half the smallest number
    constexpr auto normal = static_cast<std::uint32_t>(format::stored.smallest_normal() + format::wide.bias());
    constexpr auto hidden = std::uint32_t{1} << format::wide.fraction_bits;
    if (size > format::wide_infinity) return signed_bits(format::infinity | format::quiet);
    if (size >= overflow) return signed_bits(format::infinity);
    if (size < underflow) return signed_bits(0u);
    std::uint32_t const exponent = size >> format::wide.fraction_bits;
    // Bits to drop: shift, and more below the smallest normal number.
    std::uint32_t const drop = exponent >= normal ? format::shift : format::shift + normal - exponent;
    std::uint32_t const kept =
        exponent >= normal ? size - (format::rebias << format::wide.fraction_bits) : (size & (hidden - 1)) | hidden;
    std::uint32_t const half = (1u << drop) / 2, odd = kept >> drop & 1u;
    return signed_bits((kept + half - 1 + odd) >> drop);
  }
}

}  // namespace attest::fast
