// What a tensor element may be. Storage only: the value is what is stored, exactly. Reading that value is
// arithmetic, so reference/real/element.hpp and fast/algorithm/storage.hpp each do it for themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace attest::problem {

/// bfloat16: 1 sign, 8 exponent, 7 fraction bits (the upper half of an f32).
struct bf16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(bf16, bf16) noexcept = default;
};

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
struct f16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(f16, f16) noexcept = default;
};

enum class element_type : std::uint8_t { f32, f64, bf16, f16, u8 };

constexpr std::string_view name_of(element_type type) noexcept {
  switch (type) {
    case element_type::f32: return "f32";
    case element_type::f64: return "f64";
    case element_type::bf16: return "bf16";
    case element_type::f16: return "f16";
    case element_type::u8: return "u8";
  }
  return "?";
}

constexpr std::size_t size_of(element_type type) noexcept {
  switch (type) {
    case element_type::f32: return 4;
    case element_type::f64: return 8;
    case element_type::bf16:
    case element_type::f16: return 2;
    case element_type::u8: return 1;
  }
  return 0;
}

/// T is one of the four types that Q, K, V and O may have.
template <class T>
concept floating_element = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bf16> ||
                           std::is_same_v<T, f16>;

template <class T>
inline constexpr element_type type_of = [] {
  static_assert(floating_element<T> || std::is_same_v<T, std::uint8_t>, "not a tensor element type");
  if constexpr (std::is_same_v<T, float>) return element_type::f32;
  else if constexpr (std::is_same_v<T, double>) return element_type::f64;
  else if constexpr (std::is_same_v<T, bf16>) return element_type::bf16;
  else if constexpr (std::is_same_v<T, f16>) return element_type::f16;
  else return element_type::u8;
}();

/// The type of LSE beside outputs of type T: f64 for f64, else f32.
template <floating_element T>
using lse_element = std::conditional_t<std::is_same_v<T, double>, double, float>;

}  // namespace attest::problem
