// bf16 and f16: storage of 16 bits, arithmetic in f32. Conversions number by number; those of whole rows are in
// storage.inc and answer the same.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "problem/element_type.hpp"

namespace attest::fast {

/// What the kernel computes with where E is stored.
template <problem::floating_element E>
using working = std::conditional_t<std::is_same_v<E, double>, double, float>;

/// Whether rows of E are converted before they are used.
template <problem::floating_element E>
inline constexpr bool is_narrow = !std::is_same_v<E, working<E>>;

/// Exact. NaN stays NaN.
constexpr float widened(problem::bf16 x) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

/// Exact, also where x is subnormal: 2^−24 is a normal number of f32.
constexpr float widened(problem::f16 x) noexcept {
  std::uint32_t const sign = static_cast<std::uint32_t>(x.bits & 0x8000) << 16, fraction = x.bits & 0x3ff,
                      exponent = (x.bits >> 10) & 31;
  float const size = exponent == 0    ? static_cast<float>(fraction) * 0x1p-24f
                     : exponent == 31 ? std::bit_cast<float>(0x7f800000u | fraction << 13)
                                      : std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
}

/// To nearest, ties to even, beyond the range ±∞; every NaN is the quiet one of its sign.
template <class E>
constexpr E narrowed(float x) noexcept;

template <>
constexpr problem::bf16 narrowed<problem::bf16>(float x) noexcept {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | 0x7fc0u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

template <>
constexpr problem::f16 narrowed<problem::f16>(float x) noexcept {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  auto const sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  std::uint32_t const size = bits & 0x7fffffffu;
  auto const made = [sign](std::uint32_t rest) { return problem::f16{static_cast<std::uint16_t>(sign | rest)}; };
  if (size > 0x7f800000u) return made(0x7e00u);
  if (size >= 0x477ff000u) return made(0x7c00u);  // 65520, half-way to 65536, which is out of range
  if (size < 0x33000000u) return made(0u);        // below half of 2^−24
  std::uint32_t const exponent = size >> 23;
  // Bits to drop: 13, and more below 2^−14.
  std::uint32_t const drop = exponent >= 113 ? 13 : 126 - exponent;
  std::uint32_t const kept = exponent >= 113 ? size - (112u << 23) : (size & 0x7fffffu) | 0x800000u;
  std::uint32_t const half = (1u << drop) / 2, odd = kept >> drop & 1u;
  return made((kept + half - 1 + odd) >> drop);
}

}  // namespace attest::fast
