// The exact value of a stored element, from its bits.
#pragma once

#include <bit>
#include <cstdint>

#include "problem/element_type.hpp"

namespace attest::reference {

enum class number_class : std::uint8_t { finite, plus_infinity, minus_infinity, not_a_number };

/// A finite element is significand·2^exponent exactly.
struct element {
  number_class kind = number_class::finite;
  std::int64_t significand = 0;
  int exponent = 0;

  constexpr bool is_finite() const noexcept { return kind == number_class::finite; }
};

/// A binary interchange format: how many bits its fraction and its exponent have (problem/element_type.hpp).
template <problem::floating_element T>
struct float_format {
  using bits = problem::bits_of<T>;
  static constexpr int fraction = problem::format_of<T>.fraction_bits, exponent = problem::format_of<T>.exponent_bits;
};

/// Exponent of the smallest subnormal 2^e and of the first power of two above every finite value.
template <class T>
inline constexpr int smallest_exponent = 2 - (1 << (float_format<T>::exponent - 1)) - float_format<T>::fraction;
template <class T>
inline constexpr int largest_exponent = 1 << (float_format<T>::exponent - 1);

template <problem::floating_element T>
constexpr element value_of(T stored) noexcept {
  using format = float_format<T>;
  std::uint64_t const bits = std::bit_cast<typename format::bits>(stored);
  std::uint64_t const fraction = bits & ((std::uint64_t{1} << format::fraction) - 1);
  int const biased = static_cast<int>((bits >> format::fraction) & ((1u << format::exponent) - 1));
  bool const negative = (bits >> (format::fraction + format::exponent)) & 1u;
  if (biased == (1 << format::exponent) - 1)
    return {fraction != 0 ? number_class::not_a_number
            : negative    ? number_class::minus_infinity
                          : number_class::plus_infinity};
  auto const hidden = biased != 0 ? std::uint64_t{1} << format::fraction : std::uint64_t{0};
  auto const size = static_cast<std::int64_t>(hidden | fraction);
  return {number_class::finite, negative ? -size : size, smallest_exponent<T> + (biased > 0 ? biased - 1 : 0)};
}

}  // namespace attest::reference
