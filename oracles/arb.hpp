// Attention in Arb's balls.
#pragma once

#include <span>

#include <arb.h>

#include "oracles/head.hpp"
#include "oracles/real.hpp"

namespace attest::oracles {

/// A ball; 0 at first.
class arb_ball {
 public:
  arb_ball() { arb_init(x_); }
  arb_ball(arb_ball&& other) noexcept : arb_ball() { arb_swap(x_, other.x_); }
  arb_ball& operator=(arb_ball&&) = delete;
  ~arb_ball() { arb_clear(x_); }

  /// For Arb's own functions.
  arb_ptr raw() noexcept { return x_; }
  arb_srcptr raw() const noexcept { return x_; }
  double middle() const { return arf_get_d(arb_midref(x_), ARF_RND_NEAR); }
  /// The ends, rounded outward at real::default_bits bits.
  real low() const;
  real high() const;

 private:
  arb_t x_;
};

/// So many balls in a row, as Arb's dot products want them; 0 at first.
class arb_balls {
 public:
  explicit arb_balls(std::size_t size);
  explicit arb_balls(std::span<double const> from);
  arb_balls(arb_balls const&) = delete;
  arb_balls& operator=(arb_balls const&) = delete;
  ~arb_balls();

  arb_ptr operator[](std::size_t n) const noexcept { return x_ + n; }

 private:
  slong size_;
  arb_ptr x_;
};

/// The rows of one head, one after the other, enclosed at `bits` bits.
class arb_attention {
 public:
  /// Enough that scores of ordinary numbers are exact, except for σ and the softcap.
  static constexpr long exact_scores = 4096;

  arb_attention(head const& head, long bits, long score_bits = exact_scores);

  /// The query of the row that the functions below are about. Shapes  q [d]; bias [keys], or empty for zeros
  void row(std::span<double const> q, std::span<double const> bias = {});
  arb_ball output(std::size_t c) const;
  arb_ball weight(std::size_t j) const;
  arb_ball log_sum_exp() const;
  /// −Σ π ln π of the weights π.
  arb_ball entropy() const;

 private:
  slong keys_, d_, dv_, bits_, score_bits_;
  bool capped_, in_base_2_;
  arb_balls k_, v_, q_, below_, weights_;  ///< s − top; e^(s − top), not yet divided by their sum
  arb_ball scale_, cap_, sum_;
  arb_ball top_;  ///< near the largest score: any number would do, it only keeps exponents small
};

}  // namespace attest::oracles
