// Fixed-width integers: Boost.Multiprecision's cpp_int, the only part of it that is constexpr in Boost 1.81.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <boost/multiprecision/cpp_int.hpp>

namespace attest::reference {

/// Signed integers of at least `Bits` bits of magnitude. Requires Bits > 128 (Boost represents narrower ones
/// differently). A result that does not fit loses its upper bits, so every use states why its results fit.
template <std::size_t Bits>
using integer = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<Bits, Bits, boost::multiprecision::signed_magnitude,
                                           boost::multiprecision::unchecked, void>,
    boost::multiprecision::et_off>;

/// Number of bits of |x|; 0 for 0.
template <std::size_t Bits>
constexpr int bit_length(integer<Bits> const& x) noexcept {
  static_assert(Bits > 128);
  auto const& backend = x.backend();
  std::size_t const top = backend.size() - 1;
  return static_cast<int>(top * 64) +
         static_cast<int>(std::bit_width(static_cast<std::uint64_t>(backend.limbs()[top])));
}

/// Number of zero bits below the lowest set bit of |x|; 0 for 0.
template <std::size_t Bits>
constexpr int trailing_zeros(integer<Bits> const& x) noexcept {
  auto const& backend = x.backend();
  for (std::size_t limb = 0; limb < backend.size(); ++limb)
    if (backend.limbs()[limb] != 0)
      return static_cast<int>(limb * 64) + std::countr_zero(static_cast<std::uint64_t>(backend.limbs()[limb]));
  return 0;
}

/// x·2^shift, truncated toward zero where shift < 0.
template <std::size_t Bits>
constexpr integer<Bits> shifted(integer<Bits> x, std::int64_t shift) noexcept {
  if (shift >= 0) return x <<= static_cast<unsigned>(shift);
  if (-shift > static_cast<std::int64_t>(Bits)) return 0;
  bool const negative = x.sign() < 0;
  if (negative) x.backend().negate();
  x >>= static_cast<unsigned>(-shift);
  if (negative) x.backend().negate();
  return x;
}

/// ⌊√x⌋ by Newton's iteration from above. Requires x ≥ 0.
template <std::size_t Bits>
constexpr integer<Bits> floor_sqrt(integer<Bits> const& x) noexcept {
  if (x.sign() == 0) return 0;
  integer<Bits> root = 1;
  root <<= static_cast<unsigned>((bit_length(x) + 1) / 2);
  for (;;) {
    integer<Bits> next = x / root;
    next += root;
    next >>= 1;
    if (next >= root) return root;
    root = next;
  }
}

}  // namespace attest::reference
