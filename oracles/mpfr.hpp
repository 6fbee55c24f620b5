// Attention in MPFR's numbers, which are rounded at every step and enclose nothing.
#pragma once

#include <span>
#include <vector>

#include "oracles/head.hpp"
#include "oracles/real.hpp"

namespace attest::oracles {

/// The rows of one head, one after the other, in numbers of `bits` bits.
class mpfr_attention {
 public:
  mpfr_attention(head const& head, long bits);

  /// The query of the row that the functions below are about. Shapes  q [d]; bias [keys], or empty for zeros
  void row(std::span<double const> q, std::span<double const> bias = {});
  real output(std::size_t c) const;
  real weight(std::size_t j) const;
  real log_sum_exp() const;

 private:
  head head_;
  long bits_;
  std::vector<real> k_, v_, weights_;  ///< e^(s − top), not yet divided by their sum
  real scale_, cap_, top_, sum_;
};

}  // namespace attest::oracles
