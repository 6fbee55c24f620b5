// The arithmetic of one kernel: float operations that may flush or truncate, and formats of 16 bits. Its exp and tanh
// are off by as much as the presets allow, in a direction that an attack chooses.
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
  double exp_error = 6.9;  ///< exp is off by so many u and its rounding: within 8u
  double cutoff = std::numeric_limits<double>::infinity();    ///< exp of less than minus this is 0
  problem::element_type narrow = problem::element_type::f32;  ///< of P, O and returned weights
  bool flushes_narrow = false;                                ///< numbers below its normal ones are 0
  problem::element_type scores = problem::element_type::f32;  ///< in which finished scores are stored
  bool narrow_throughout = false;  ///< inputs, all that is stored between steps, and the LSE are in `narrow`, too
  bool from_f64 = false;           ///< the inputs are float64, and converted
};

/// Which way exp and log err, one bit a call, cyclically. An attack climbs over these too.
using directions = std::vector<std::uint8_t>;

class arithmetic {
 public:
  static constexpr double u = 0x1p-24;

  arithmetic(rounding const& how, directions const& up) : how_(how), up_(up) {}

  /// A number as the kernel reads it.
  float read(double x) const { return kept(flushed(static_cast<float>(x))); }
  float add(float a, float b) const { return flushed(a + b); }
  float mul(float a, float b) const { return flushed(a * b); }
  float div(float a, float b) const { return flushed(a / b); }
  float fma(float a, float b, float c) const { return flushed(std::fma(a, b, c)); }
  /// a·b + c as the matrix unit forms it.
  float accumulate(float a, float b, float c) const {
    if (!how_.truncates) return fma(a, b, c);
    float const sum = std::fma(a, b, c);
    // Towards zero: the part that the nearest float lost has the sign of (high − sum) + low, with a·b + c = high + low.
    double const product = static_cast<double>(a) * static_cast<double>(b), high = product + static_cast<double>(c);
    double const part = high - product, low = (product - (high - part)) + (static_cast<double>(c) - part);
    double const rest = (high - static_cast<double>(sum)) + low;
    if (!std::isfinite(sum) || sum == 0 || rest == 0 || (rest > 0) == (sum > 0)) return flushed(sum);
    return flushed(std::nextafter(sum, 0.0f));
  }
  float exp(float x) { return cut(static_cast<double>(x), off(std::exp(static_cast<double>(x)), how_.exp_error)); }
  float exp2(float x) {
    return cut(static_cast<double>(x) * 0.69314718055994530942, off(std::exp2(static_cast<double>(x)), how_.exp_error));
  }
  /// exp of a rescale: exp(0) = 1.
  float rescale(float x) { return x == 0 ? 1.0f : exp(x); }
  float rescale_2(float x) { return x == 0 ? 1.0f : exp2(x); }
  float log(float x) { return off(std::log(static_cast<double>(x)), 2.9); }
  float log2(float x) { return off(std::log2(static_cast<double>(x)), 2.9); }

  /// A weight, an output or a returned weight in the kernel's narrow format.
  float narrow(float x) const { return rounded(x, how_.narrow); }
  /// An input, or what is stored between two steps.
  float kept(float x) const { return how_.narrow_throughout ? narrow(x) : x; }
  /// A score as it is stored.
  float score(float x) const { return rounded(kept(x), how_.scores); }

 private:
  float rounded(float x, problem::element_type to) const {
    if (to == problem::element_type::f32) return x;
    auto const format = problem::row_of(to).format;
    double const value = audit::rounded_to(static_cast<double>(x), format);
    bool const tiny = std::abs(value) < std::ldexp(1.0, format.smallest_normal());
    return how_.flushes_narrow && tiny ? 0.0f : static_cast<float>(value);
  }
  float flushed(float x) const {
    return how_.flushes && std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
  }
  float cut(double x, float weight) const { return x < -how_.cutoff ? 0.0f : weight; }
  float off(double exact, double error) {
    bool const rises = up_[calls_++ % up_.size()] != 0;
    return flushed(static_cast<float>(exact * (1 + (rises ? error : -error) * u)));
  }

  rounding how_;
  directions const& up_;
  std::size_t calls_ = 0;
};

}  // namespace attest::tests
