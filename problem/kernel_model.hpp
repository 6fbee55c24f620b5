// The kernel model: how a kernel rounds, as plain data. A kernel declares its model (fast/algorithm/model.hpp, a
// contract file) and reference/bound/bound.hpp evaluates the error bound for it. The symbols are those of
// docs/bound.md.
#pragma once

#include <cstdint>
#include <limits>

namespace attest::problem {

/// The floating-point format in which a kernel computes.
struct working_format {
  double u = 0;           ///< unit roundoff
  double omega = 0;       ///< absolute error of one rounding in the underflow range (gradual, or flush to zero)
  double far = 0;         ///< exponents below −far may underflow
  double largest_x0 = 0;  ///< the largest cutoff a kernel may declare
  double omega_w = 0;     ///< ω_W / e^τ: the largest value of a weight that underflows
  double h0_limit = 0;    ///< magnitudes above this are outside hypothesis H0
  friend constexpr bool operator==(working_format const&, working_format const&) noexcept = default;
};

/// How often the contribution of one key is rescaled.
enum class rescale_count : std::uint8_t {
  none,           ///< two passes: R = 0
  per_block,      ///< R = (number of blocks) − 1
  rank_of_score,  ///< any order and blocking: R_j = #{i : s_i may exceed s_j}
};

/// Height of the summation trees of l and O.
enum class sum_height : std::uint8_t {
  in_sequence,  ///< n − 1: one chain, or any order
  block_local,  ///< block + blocks − 2: sums inside a block, then across blocks
};

enum class split_merge : std::uint8_t {
  raw = 0,            ///< partial (m, l, O) are rescaled and added
  lse = 1,            ///< normalised partial outputs are merged by their LSE
  lse_normalised = 2  ///< as lse, without a final division (the combine kernel of FlashAttention-2)
};

/// The kernel model of docs/bound.md, whose section 12 lists the field of each symbol. Counts are numbers of roundings.
struct kernel_model {
  working_format format{};

  // scores
  int k_qk_base = 2;  ///< k_qk = k_qk_per_d·d + k_qk_base
  int k_qk_per_d = 1;
  double u_qk = 0;              ///< unit roundoff of the products QKᵀ
  bool fold_q = false;          ///< the scale is folded into q before the product
  int k_add = 0;                ///< additions after the product (bias, additive mask)
  double g_b = 0;               ///< relative error of the bias itself
  double e_c = 0;               ///< relative error of softcap
  double a_t = 0;               ///< absolute error of tanh inside softcap
  double u_s = 0, omega_s = 0;  ///< the rounding of scores that are stored in a lower precision

  // weights
  int k_x = 1;     ///< roundings of one exponent argument
  int c_m = 0;     ///< roundings of the reference point that p and r do not share
  double eps = 0;  ///< relative error of exp
  rescale_count rescales = rescale_count::per_block;
  double tau = 0;  ///< lazy rescaling: the final reference point lies at most τ below the row maximum
  double x0 = std::numeric_limits<double>::infinity();  ///< weights below e^(−x0) are replaced by 0
  double u_p = 0, omega_p = 0;                          ///< the rounding of weights before their product with V
  bool p_shared = false;                                ///< l sums the rounded weights too

  // sums
  std::int64_t block = 1;  ///< keys per block (rescales per_block, sum_height block_local)
  sum_height height = sum_height::in_sequence;
  int k_pre = 0;    ///< roundings of a weight that is normalised before its product with V
  double u_pv = 0;  ///< accumulation error of PV beyond IEEE (tensor cores); 0 = format.u
  int splits = 1;   ///< S: partial results merged at the end
  split_merge merge = split_merge::raw;

  // results
  int k_f = 1;                      ///< roundings of the final division
  double u_out = 0, omega_out = 0;  ///< the rounding of O to its output format
  bool flushes = false;             ///< FTZ/DAZ
  double eps_log = 0;               ///< relative error of log
  int k_lse = 1;                    ///< roundings of LSE = m + log l (3 in base 2, or unknown)

  friend constexpr bool operator==(kernel_model const&, kernel_model const&) noexcept = default;
};

namespace formats {

constexpr double power_of_two(int exponent) noexcept {
  double value = 1;
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

/// docs/bound.md, "Working formats": gradual underflow, and flush to zero.
inline constexpr working_format f32{power_of_two(-24),  power_of_two(-150), 87, 87.3,
                                    power_of_two(-125), power_of_two(126)};
inline constexpr working_format f32_flushed{f32.u,          power_of_two(-126), f32.far,
                                            f32.largest_x0, f32.omega_w,        f32.h0_limit};
/// 2⁻¹⁰⁷⁵ is not a double; 2⁻¹⁰⁷⁴ is the next above.
inline constexpr working_format f64{power_of_two(-53),   power_of_two(-1074), 708, 708.3,
                                    power_of_two(-1021), power_of_two(1022)};
inline constexpr working_format f64_flushed{f64.u,          power_of_two(-1022), f64.far,
                                            f64.largest_x0, f64.omega_w,         f64.h0_limit};

}  // namespace formats
}  // namespace attest::problem
