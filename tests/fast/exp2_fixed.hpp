// 2^r in integers, for |r| ≤ 1/2: fast enough for every f32 and with an error that is counted, not trusted. It shares
// nothing with the kernel or with a C library; its tables come from the certified reference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"

namespace attest::tests {

/// 2^r in units of 2^−62 for r in the same units, |r| ≤ 2^61.
///
/// Ensures  |result − 2^r| < error_units, r being off by up to one unit
/// Why      2^r = 2^(k/256)·2^t, |t| ≤ 2^−9. The series stops at t^5: (t·ln 2)^6/720 < 2^−66. Each constant is off by
///          less than 1 unit, each shift by less than 1. The last step of the series adds 1, those before it 2.01·2^−9:
///          1.05 with its rest. Times 2^(k/256) < 1.4143, plus the table's own 1.002 and the last shift: 3.5; and r's
///          unit is worth ln 2·1.4143 = 0.99.
/// Cost     6 multiplications of 64 bits
class fixed_exp2 {
 public:
  static constexpr int places = 62;
  static constexpr std::int64_t error_units = 5;

  fixed_exp2() {
    using number = reference::ball<128>;
    number const ln2 = log(number(2));
    for (std::int64_t k = -128; k <= 128; ++k)
      power_[static_cast<std::size_t>(k + 128)] = units(exp((number(k) * ln2).scaled_by_power_of_two(-8)));
    number term(1);
    for (std::size_t j = 0; j < series_.size(); ++j) {
      series_[j] = units(term);
      term = term * ln2 / number(static_cast<std::int64_t>(j) + 1);
    }
  }

  std::int64_t operator()(std::int64_t r) const noexcept {
    std::int64_t const k = (r + (std::int64_t{1} << 53)) >> 54, t = r - k * (std::int64_t{1} << 54);
    std::int64_t y = series_.back();
    for (std::size_t j = series_.size() - 1; j-- > 0;) y = series_[j] + times(y, t);
    return times(y, power_[static_cast<std::size_t>(k + 128)]);
  }

 private:
  __extension__ using wide = __int128;
  static constexpr std::int64_t times(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<wide>(a) * b >> places);
  }
  /// A positive ball whose radius is far below a unit, truncated.
  static std::int64_t units(reference::ball<128> const& x) {
    return static_cast<std::int64_t>(reference::shifted(x.mid, x.exponent + places));
  }

  std::array<std::int64_t, 257> power_{};
  std::array<std::int64_t, 6> series_{};  ///< (ln 2)^j/j!
};

}  // namespace attest::tests
