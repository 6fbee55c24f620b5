// The arithmetic of one kernel: operations in float or double that may flush or truncate, and formats of 16 bits. Its
// exp and log are off by as much as the kernel says, in a direction that an attack chooses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "audit/tensors/elements.hpp"

namespace attest::tests {

/// How a kernel rounds.
struct rounding {
  bool flushes = false;    ///< inputs and results below 2⁻¹²⁶ are 0
  bool truncates = false;  ///< products and sums of q·k and P·V are rounded towards zero (some tensor cores)
  bool fused = true;       ///< products of q·k and P·V are added by fused multiply-adds
  double exp_error = 6.9;  ///< exp is off by so many u and its rounding: within 8u
  double log_error = 2.9;  ///< log likewise: within 4u
  double cutoff = std::numeric_limits<double>::infinity();    ///< exp of less than minus this is 0
  problem::element_type narrow = problem::element_type::f32;  ///< of P, O and returned weights
  bool flushes_narrow = false;                                ///< numbers below its normal ones are 0
  bool stores_wide = false;                                   ///< O and returned weights are not narrowed
  problem::element_type scores = problem::element_type::f32;  ///< in which finished scores are stored
  bool narrow_throughout = false;  ///< inputs, all that is stored between steps, and the LSE are in `narrow`, too
  bool from_f64 = false;           ///< the inputs are float64, and converted
};

/// Which way exp and log err, one bit a call, cyclically. An attack climbs over these too.
using directions = std::vector<std::uint8_t>;

/// F: F or double, in which every operation rounds.
template <class F>
class arithmetic {
 public:
  static constexpr double u = static_cast<double>(std::numeric_limits<F>::epsilon()) / 2;

  arithmetic(rounding const& how, directions const& up) : how_(how), up_(up) {}

  /// A number as the kernel reads it.
  F read(double x) const { return kept(flushed(static_cast<F>(x))); }
  F add(F a, F b) const { return flushed(a + b); }
  F mul(F a, F b) const { return flushed(a * b); }
  F div(F a, F b) const { return flushed(a / b); }
  F fma(F a, F b, F c) const { return flushed(std::fma(a, b, c)); }
  /// a·b + c as the matrix unit forms it. Only float is truncated.
  F accumulate(F a, F b, F c) const {
    if (!how_.fused) return add(c, mul(a, b));
    if (!how_.truncates) return fma(a, b, c);
    F const sum = std::fma(a, b, c);
    // Towards zero: the part that the nearest F lost has the sign of (high − sum) + low, with a·b + c = high + low.
    double const product = static_cast<double>(a) * static_cast<double>(b), high = product + static_cast<double>(c);
    double const part = high - product, low = (product - (high - part)) + (static_cast<double>(c) - part);
    double const rest = (high - static_cast<double>(sum)) + low;
    if (!std::isfinite(sum) || sum == 0 || rest == 0 || (rest > 0) == (sum > 0)) return flushed(sum);
    return flushed(std::nextafter(sum, F(0)));
  }
  F exp(F x) { return cut(static_cast<double>(x), off(std::exp(static_cast<double>(x)), how_.exp_error)); }
  F exp2(F x) {
    return cut(static_cast<double>(x) * 0.69314718055994530942, off(std::exp2(static_cast<double>(x)), how_.exp_error));
  }
  /// exp of a rescale: exp(0) = 1.
  F rescale(F x) { return x == 0 ? F(1) : exp(x); }
  F rescale_2(F x) { return x == 0 ? F(1) : exp2(x); }
  F log(F x) { return off(std::log(static_cast<double>(x)), how_.log_error); }
  F log2(F x) { return off(std::log2(static_cast<double>(x)), how_.log_error); }

  /// A weight in the kernel's narrow format.
  F narrow(F x) const { return rounded(x, how_.narrow); }
  /// An output or a returned weight.
  F stored(F x) const { return how_.stores_wide ? x : narrow(x); }
  /// An input, or what is stored between two steps.
  F kept(F x) const { return how_.narrow_throughout ? narrow(x) : x; }
  /// A score as it is stored.
  F score(F x) const { return rounded(kept(x), how_.scores); }

 private:
  F rounded(F x, problem::element_type to) const {
    if (to == problem::element_type::f32) return x;
    auto const format = problem::row_of(to).format;
    double const value = audit::rounded_to(static_cast<double>(x), format);
    bool const tiny = std::abs(value) < std::ldexp(1.0, format.smallest_normal());
    return how_.flushes_narrow && tiny ? F(0) : static_cast<F>(value);
  }
  F flushed(F x) const {
    return how_.flushes && std::abs(x) < std::numeric_limits<F>::min() ? std::copysign(F(0), x) : x;
  }
  F cut(double x, F weight) const { return x < -how_.cutoff ? F(0) : weight; }
  F off(double exact, double error) {
    bool const rises = up_[calls_++ % up_.size()] != 0;
    return flushed(static_cast<F>(exact * (1 + (rises ? error : -error) * u)));
  }

  rounding how_;
  directions const& up_;
  std::size_t calls_ = 0;
};

}  // namespace attest::tests
