// Doubles into tensor elements: round to nearest, ties to even. For cases and tests, not for truth.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "audit/tensors/owned_tensor.hpp"

namespace attest::audit {

/// x rounded to a format of `fraction` fraction bits whose smallest subnormal is 2^smallest; the sign and NaN stay.
/// Ensures  infinity where the rounded value passes the largest finite one, (2 − 2^−fraction)·2^largest
inline double rounded_to(double x, int fraction, int smallest, int largest) {
  if (!std::isfinite(x) || x == 0) return x;
  int const unit = std::max(std::ilogb(x) - fraction, smallest);
  double const scaled = std::ldexp(x, -unit);
  double const rounded = std::ldexp(std::nearbyint(scaled), unit);
  return std::abs(rounded) >= std::ldexp(1.0, largest + 1) ? std::copysign(HUGE_VAL, x) : rounded;
}

inline problem::bf16 to_bf16(double x) {
  auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(rounded_to(x, 7, -133, 127)));
  return {static_cast<std::uint16_t>(std::isnan(x) ? 0x7fc0 : bits >> 16)};
}

inline problem::f16 to_f16(double x) {
  if (std::isnan(x)) return {0x7e00};
  double const r = rounded_to(x, 10, -24, 15), size = std::abs(r);
  std::uint32_t const sign = std::signbit(x) ? 0x8000u : 0u;
  if (std::isinf(r)) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (size < 0x1p-14) return {static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::ldexp(size, 24)))};
  int const e = std::ilogb(size);
  auto const fraction = static_cast<std::uint32_t>(std::ldexp(size, 10 - e)) - 1024u;
  return {static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(e + 15) << 10 | fraction)};
}

/// The number that x stands for, exactly. NaN and infinities as such.
inline double number(problem::bf16 x) { return static_cast<double>(std::bit_cast<float>(std::uint32_t{x.bits} << 16)); }
inline double number(problem::f16 x) {
  std::uint32_t const h = x.bits, fraction = h & 0x3ffu, exponent = h >> 10 & 31u;
  double const size = exponent == 31 ? (fraction ? std::nan("") : HUGE_VAL)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return h >> 15 ? -size : size;
}

/// Writes x at element `offset` of t.
inline void store(owned_tensor& t, std::size_t offset, double x) {
  using problem::element_type;
  switch (t.type) {
    case element_type::f32: t.as<float>()[offset] = static_cast<float>(x); break;
    case element_type::f64: t.as<double>()[offset] = x; break;
    case element_type::bf16: t.as<problem::bf16>()[offset] = to_bf16(x); break;
    case element_type::f16: t.as<problem::f16>()[offset] = to_f16(x); break;
    case element_type::u8: t.as<std::uint8_t>()[offset] = x != 0; break;
  }
}

/// The number at element `offset` of t, exactly. NaN and infinities as such.
inline double load(owned_tensor const& t, std::size_t offset) {
  using problem::element_type;
  switch (t.type) {
    case element_type::f64: return t.as<double>()[offset];
    case element_type::bf16: return number(t.as<problem::bf16>()[offset]);
    case element_type::f16: return number(t.as<problem::f16>()[offset]);
    case element_type::u8: return t.as<std::uint8_t>()[offset];
    case element_type::f32: break;
  }
  return static_cast<double>(t.as<float>()[offset]);
}

/// Writes a signalling NaN at element `offset` of t. Requires a floating type.
inline void store_signalling(owned_tensor& t, std::size_t offset) {
  using problem::element_type;
  switch (t.type) {
    case element_type::f64: { std::uint64_t const bits = 0x7ff0000000000001; std::memcpy(t.as<double>() + offset, &bits, 8); break; }
    case element_type::bf16: t.as<problem::bf16>()[offset] = {0x7f81}; break;
    case element_type::f16: t.as<problem::f16>()[offset] = {0x7c01}; break;
    case element_type::f32: { std::uint32_t const bits = 0x7f800001; std::memcpy(t.as<float>() + offset, &bits, 4); break; }
    case element_type::u8: break;
  }
}

/// The offset of element (b, h, i, j) of a rank-4 tensor.
inline std::size_t offset_of(owned_tensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  auto const& s = t.where.stride;
  return static_cast<std::size_t>(b * s[0] + h * s[1] + i * s[2] + j * s[3]);
}

/// t(b, h, i, j) := f(b, h, i, j) for every element of a rank-4 tensor.
template <class F>
void fill(owned_tensor& t, F&& f) {
  auto const& n = t.where.shape;
  for (std::int64_t b = 0; b < n[0]; ++b)
    for (std::int64_t h = 0; h < n[1]; ++h)
      for (std::int64_t i = 0; i < n[2]; ++i)
        for (std::int64_t j = 0; j < n[3]; ++j) store(t, offset_of(t, b, h, i, j), f(b, h, i, j));
}

/// What finite numbers a type can hold.
struct type_limits {
  double largest = 0, smallest_normal = 0, smallest = 0, epsilon = 0;
};

inline type_limits limits_of(problem::element_type type) {
  using problem::element_type;
  switch (type) {
    case element_type::f64: return {0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074, 0x1p-52};
    case element_type::bf16: return {0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7};
    case element_type::f16: return {65504, 0x1p-14, 0x1p-24, 0x1p-10};
    default: return {0x1.fffffep127, 0x1p-126, 0x1p-149, 0x1p-23};
  }
}

}  // namespace attest::audit
