// The arithmetic of a drawn kernel (drawn_kernel.hpp): exp, ln and sums in float, with the errors that the kernel has.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "audit/tensors/elements.hpp"
#include "problem/element_type.hpp"
#include "tests/support/drawn_kernel.hpp"
#include "tests/support/kernel_arithmetic.hpp"

namespace attest::tests {

/// `up` says which way exp errs, by its argument, and log.
/// Requires  `kernel` and `up` live as long
class drawn_arithmetic {
 public:
  drawn_arithmetic(drawn_kernel const& kernel, directions const& up) : w_(kernel), up_(up) {}

 protected:
  using type = problem::element_type;

  static float narrowed(float x, type to) {
    return to == type::f32 ? x
                           : static_cast<float>(audit::rounded_to(static_cast<double>(x), problem::row_of(to).format));
  }
  float off(double exact, float argument, double most) const {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(argument);
    bits = (bits ^ (bits >> 15)) * 2654435761U;
    double const error = up_[(bits >> 20) % up_.size()] != 0 ? most : -most;
    return static_cast<float>(exact * (1 + error * 0x1p-24));
  }
  float exp(float x) const {
    return w_.cuts && x < static_cast<float>(-w_.x0) ? 0 : off(std::exp(static_cast<double>(x)), x, w_.exp_error);
  }
  float exp2(float x) const {
    bool const cut = w_.cuts && static_cast<double>(x) < -w_.x0 * 1.4426950408889634;
    return cut ? 0 : off(std::exp2(static_cast<double>(x)), x, w_.exp_error);
  }
  float weight(float s, float M) const {
    return w_.fma_exponent ? exp2(std::fma(s, log2_e, -(M * log2_e))) : exp(s - M);
  }
  float rescale(float from, float to) const {
    float const x = w_.fma_exponent ? (from - to) * log2_e : from - to;
    if (x == 0 && !w_.rounds_rescales) return 1;
    double const unit = w_.fma_exponent ? 1 : 1.4426950408889634, exact = static_cast<double>(x) * unit;
    return w_.cuts && exact < -w_.x0 * 1.4426950408889634 ? 0 : off(std::exp2(exact), x, w_.rescale_error);
  }
  float log(float x) {
    double const sign = up_[calls_++ % up_.size()] != 0 ? 1 : -1, exact = std::log(static_cast<double>(x));
    return static_cast<float>(exact * (1 + sign * 2.9 * 0x1p-24) + sign * w_.log_loss * 0x1p-24);
  }
  float share(float x, float l) const { return w_.reciprocal ? x * (1 / l) : x / l; }
  float sum(float a, float b, float c) const {
    if (!w_.truncates) return std::fma(a, b, c);
    double const exact = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
    auto const near = static_cast<float>(exact);
    return std::abs(static_cast<double>(near)) > std::abs(exact) ? std::nextafter(near, 0.0F) : near;
  }

  drawn_kernel const& w_;  ///< the kernel, as it was drawn

 private:
  static constexpr float log2_e = 1.44269504F;
  directions const& up_;
  std::size_t calls_ = 0;
};

}  // namespace attest::tests
