// Attention in MPFI's intervals.
#pragma once

#include <span>
#include <vector>

#include <mpfi.h>

#include "oracles/head.hpp"
#include "oracles/real.hpp"

namespace attest::oracles {

/// An interval, its ends of so many bits.
class mpfi_interval {
 public:
  explicit mpfi_interval(long bits, double value = 0);
  mpfi_interval(mpfi_interval const& other);
  mpfi_interval& operator=(mpfi_interval const& other) = delete;
  ~mpfi_interval();

  /// For MPFI's own functions.
  mpfi_ptr raw() noexcept { return x_; }
  mpfi_srcptr raw() const noexcept { return x_; }
  real low() const;
  real high() const;

 private:
  mpfi_t x_;
};

/// The rows of one head, one after the other, enclosed in intervals of `bits` bits.
class mpfi_attention {
 public:
  mpfi_attention(head const& head, long bits);

  /// The query of the row that the functions below are about. Shapes  q [d]; bias [keys], or empty for zeros
  void row(std::span<double const> q, std::span<double const> bias = {});
  mpfi_interval output(std::size_t c) const;
  mpfi_interval weight(std::size_t j) const;
  mpfi_interval log_sum_exp() const;
  /// −Σ π ln π of the weights π.
  mpfi_interval entropy() const;

 private:
  head head_;
  long bits_;
  std::vector<mpfi_interval> below_, weights_;  ///< s − top; e^(s − top), not yet divided by their sum
  mpfi_interval scale_, sum_;
  real top_;  ///< near the largest score: any number would do, it only keeps exponents small
};

}  // namespace attest::oracles
