// Integers without a fixed width: sign and limbs. Boost's are not constexpr where they allocate (integer.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/real/ball.hpp"
#include "reference/real/integer.hpp"

namespace attest::reference {

/// ±Σ limb_k·2^(64k), the limbs in rising order, the last of them not 0. 0 has no limbs and is not negative.
/// Cost      a product is by the schoolbook: limbs × limbs
class big_integer {
 public:
  constexpr big_integer() = default;
  constexpr big_integer(std::int64_t value) : negative_(value < 0) {
    if (value != 0)
      limbs_.push_back(value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  }
  template <std::size_t Bits>
  static constexpr big_integer from(integer<Bits> const& x) {
    big_integer result;
    auto const& backend = x.backend();
    for (std::size_t limb = 0; limb < backend.size(); ++limb) result.limbs_.push_back(backend.limbs()[limb]);
    result.negative_ = x.sign() < 0;
    result.trim();
    return result;
  }

  constexpr int sign() const noexcept { return limbs_.empty() ? 0 : negative_ ? -1 : 1; }
  /// Number of bits of |x|; 0 for 0.
  constexpr std::int64_t bit_length() const noexcept {
    if (limbs_.empty()) return 0;
    return static_cast<std::int64_t>(limbs_.size()) * 64 - std::countl_zero(limbs_.back());
  }
  /// Number of zero bits below the lowest set bit of |x|; 0 for 0.
  constexpr std::int64_t trailing_zeros() const noexcept {
    for (std::size_t limb = 0; limb < limbs_.size(); ++limb)
      if (limbs_[limb] != 0) return static_cast<std::int64_t>(limb) * 64 + std::countr_zero(limbs_[limb]);
    return 0;
  }

  /// x. Requires  |x| < 2^63
  constexpr std::int64_t as_int64() const noexcept {
    auto const size = limbs_.empty() ? 0 : static_cast<std::int64_t>(limbs_.front());
    return negative_ ? -size : size;
  }

  /// x·2^by. Requires  by ≥ 0
  constexpr big_integer shifted_up(std::int64_t by) const {
    big_integer result;
    if (limbs_.empty()) return result;
    auto const whole = static_cast<std::size_t>(by / 64);
    auto const part = static_cast<unsigned>(by % 64);
    result.negative_ = negative_;
    result.limbs_.assign(whole + limbs_.size() + 1, 0);
    for (std::size_t limb = 0; limb < limbs_.size(); ++limb) {
      result.limbs_[whole + limb] |= limbs_[limb] << part;
      if (part != 0) result.limbs_[whole + limb + 1] = limbs_[limb] >> (64 - part);
    }
    result.trim();
    return result;
  }
  /// x/2^by, truncated toward zero. Requires  by ≥ 0
  constexpr big_integer shifted_down(std::int64_t by) const {
    big_integer result;
    auto const whole = static_cast<std::size_t>(by / 64);
    auto const part = static_cast<unsigned>(by % 64);
    for (std::size_t limb = whole; limb < limbs_.size(); ++limb) {
      std::uint64_t const above = part != 0 && limb + 1 < limbs_.size() ? limbs_[limb + 1] << (64 - part) : 0;
      result.limbs_.push_back((limbs_[limb] >> part) | above);
    }
    result.negative_ = negative_;
    result.trim();
    return result;
  }

  constexpr big_integer operator-() const {
    big_integer result = *this;
    result.negative_ = !negative_ && !limbs_.empty();
    return result;
  }
  constexpr big_integer& operator+=(big_integer const& other) {
    if (negative_ == other.negative_) {
      add_size(other.limbs_);
    } else if (size_is_less(limbs_, other.limbs_)) {
      std::vector<std::uint64_t> larger = other.limbs_;
      subtract_size(larger, limbs_);
      limbs_ = std::move(larger);
      negative_ = other.negative_;
    } else {
      subtract_size(limbs_, other.limbs_);
    }
    trim();
    return *this;
  }
  friend constexpr big_integer operator+(big_integer a, big_integer const& b) { return a += b; }
  friend constexpr big_integer operator-(big_integer a, big_integer const& b) { return a += -b; }
  friend constexpr big_integer operator*(big_integer const& a, big_integer const& b) {
    big_integer result;
    if (a.limbs_.empty() || b.limbs_.empty()) return result;
    result.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
    for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
        // (2⁶⁴ − 1)² + 2·(2⁶⁴ − 1) < 2¹²⁸
        wide const sum = static_cast<wide>(a.limbs_[i]) * b.limbs_[j] + result.limbs_[i + j] + carry;
        result.limbs_[i + j] = static_cast<std::uint64_t>(sum);
        carry = static_cast<std::uint64_t>(sum >> 64);
      }
      result.limbs_[i + b.limbs_.size()] = carry;
    }
    result.negative_ = a.negative_ != b.negative_;
    result.trim();
    return result;
  }
  constexpr bool operator==(big_integer const&) const = default;

  /// x·2^exponent. Ensures   a relative radius of at most 2^(−W+1)
  template <unsigned W>
  constexpr ball<W> enclosure(std::int64_t exponent) const {
    std::int64_t const excess = std::max<std::int64_t>(0, bit_length() - static_cast<std::int64_t>(W));
    big_integer leading = *this;
    if (excess > 0) leading = shifted_down(excess);
    typename ball<W>::wide mid = 0;
    for (std::size_t limb = leading.limbs_.size(); limb-- > 0;) {
      mid <<= 64;
      std::uint64_t const lowest = leading.limbs_[limb];
      mid += lowest;
    }
    if (negative_) mid.backend().negate();
    bool const exact = excess == 0 || trailing_zeros() >= excess;
    return ball<W>::rounded(mid, exponent + excess, exact ? magnitude{} : magnitude::power_of_two(exponent + excess));
  }

 private:
  __extension__ using wide = unsigned __int128;

  constexpr void trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
    if (limbs_.empty()) negative_ = false;
  }
  static constexpr bool size_is_less(std::vector<std::uint64_t> const& a, std::vector<std::uint64_t> const& b) {
    if (a.size() != b.size()) return a.size() < b.size();
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  }
  constexpr void add_size(std::vector<std::uint64_t> const& other) {
    if (limbs_.size() < other.size()) limbs_.resize(other.size(), 0);
    std::uint64_t carry = 0;
    for (std::size_t limb = 0; limb < limbs_.size() && (limb < other.size() || carry != 0); ++limb) {
      wide const sum = static_cast<wide>(limbs_[limb]) + (limb < other.size() ? other[limb] : 0) + carry;
      limbs_[limb] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    if (carry != 0) limbs_.push_back(carry);
  }
  /// Requires  larger ≥ smaller
  static constexpr void subtract_size(std::vector<std::uint64_t>& larger, std::vector<std::uint64_t> const& smaller) {
    std::uint64_t borrow = 0;
    for (std::size_t limb = 0; limb < larger.size() && (limb < smaller.size() || borrow != 0); ++limb) {
      std::uint64_t const less = limb < smaller.size() ? smaller[limb] : 0, before = larger[limb];
      larger[limb] = before - less - borrow;
      borrow = before < less || (before == less && borrow != 0) ? 1 : 0;
    }
  }

  bool negative_ = false;
  std::vector<std::uint64_t> limbs_;
};

}  // namespace attest::reference
