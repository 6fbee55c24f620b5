// ln x for the LSE, by IEEE operations alone: C libraries differ in the last place, and even one library differs from
// processor to processor.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attest::fast {

/// Relative error of natural_log: 4u, u = 2^−53.
///
/// Why       x = 2^e·m, √½ ≤ m < √2, f = m − 1 exactly, s = f/(2 + f), z = s² ≤ 0.0295, and
///             ln m = 2·artanh s = f − s·(f − R),   R = Σ_{k ≥ 1} 2·z^k/(2k + 1).
///           Ten terms of R leave z¹¹/11.1 ≤ 2^−58·|ln m|. Errors relative to their own result:
///             s                2u: an addition, a division
///             z·(series)       6.2u: z 5u, the series 1.2u, since its first term is 2/3 and the others sum to 0.013
///             f − R            1.5u: its rounding, and |R/(f − R)| ≤ 0.074 of R's
///             s·(f − R)        3.5u, and |s·(f − R)| ≤ 0.195·|ln m|
///             ln m             1.7u: its rounding, and 0.195·3.5u
///           e·ln 2 has an exact high part. For e ≠ 0, |ln x| ≥ |ln m|, and ln x ≥ 0.346 in size: the error of ln m,
///           the rounding of ln m + e·(low part) and the last rounding are 1.7u, 1u and 1u.
inline constexpr double log_error = 0x1p-51;

/// ln x. −∞ for 0, NaN for a negative x.
/// Ensures  the same bits on every processor; 0 for 1; relative error at most log_error
inline double natural_log(double x) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(x > 0)) return x == 0 ? -infinity : std::numeric_limits<double>::quiet_NaN();
  if (x == infinity) return x;
  int e = 0;
  double m = x < std::numeric_limits<double>::min() ? x * 0x1p54 : x;
  e = m == x ? 0 : -54;
  // Subtracts the bits of √½, rounded down: the rest has the exponent of x/√½.
  constexpr std::uint64_t half_root = std::bit_cast<std::uint64_t>(0x1.6a09e667f3bccp-1),
                          fraction = (std::uint64_t{1} << 52) - 1;
  auto const above = std::bit_cast<std::uint64_t>(m) - half_root;
  e += static_cast<int>(static_cast<std::int64_t>(above) >> 52);
  m = std::bit_cast<double>((above & fraction) + half_root);

  constexpr std::array<double, 10> terms{2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                         2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  double const f = m - 1, s = f / (2 + f), z = s * s;
  double series = terms.back();
  for (std::size_t k = terms.size() - 1; k-- > 0;) series = std::fma(z, series, terms[k]);
  double const log_m = std::fma(-s, f - z * series, f);
  constexpr double ln_2_high = 0x1.62e42fefap-1, ln_2_low = 0x1.cf79abc9e3b3ap-40;  // the high part has 41 bits
  return e == 0 ? log_m : e * ln_2_high + std::fma(e, ln_2_low, log_m);
}

}  // namespace attest::fast
