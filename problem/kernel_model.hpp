// The kernel model: how a kernel rounds, as plain data. A kernel declares its model (fast/algorithm/model.hpp, a
// contract file) and reference/bound/bound.hpp evaluates the error bound for it. docs/bound.md defines the symbols.
#pragma once

#include <cstdint>
#include <limits>

#include "problem/log_base.hpp"

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

/// In which order a partial result takes its keys.
enum class key_order : std::uint8_t {
  any,
  index,  ///< rising or falling index, in groups of any size or by 2, 4, …, 64 lanes (every 2nd, 4th, … key); or
          ///< least_block keys at a time in any order
};

/// The cost of a rescale by exp(0), if the reference has not changed.
enum class unchanged_rescale : std::uint8_t {
  exact,    ///< none: exp(0) = 1
  rounded,  ///< as much as any other rescale
};

/// The cost of a product q_t·k_t with a factor 0 in the sum of a score.
enum class zero_products : std::uint8_t {
  counted,  ///< as much as any other product
  exact,    ///< none: the product is 0, and adding it changes no sum, as in IEEE arithmetic
};

/// The accumulators of O in a walk over the keys.
enum class accumulator : std::uint8_t {
  any,
  one,  ///< every addition is of keys of one block, or adds such a sum to the sum of all blocks before
};

/// The promise of the kernel for scores so large that rounding its reference point moves arguments of exp by more than
/// 1/2 (c_m ≥ 1 and |s| of 2²⁰ or more in f32).
enum class large_scores : std::uint8_t {
  stable,       ///< no argument exceeds τ + 1/2, and the argument of the key that set the reference is at least −1/2
  unspecified,  ///< none: rows in which a weight could overflow are not judged
};

/// The promise of the kernel if the product of the scale with an element of q or k overflows, but the score does not.
enum class folded_overflow : std::uint8_t {
  survived,     ///< the score is right all the same
  unspecified,  ///< none: such rows are not judged
};

/// Height of the summation trees of l and O.
enum class sum_height : std::uint8_t {
  in_sequence,  ///< n − 1: one chain, or any order
  block_local,  ///< block + blocks − 2: sums inside a block, then across blocks
  declared,     ///< ⌈N/height_divisor⌉ + height_base, N keys
};

/// Whether weights are divided by l before they are rounded for their product with V.
enum class normalised_first : std::uint8_t { no, yes, unknown };

/// The number against which a weight is formed and rounded to nearest before its product with V.
enum class weight_reference : std::uint8_t {
  unknown,
  rising,     ///< the running maximum at the end of the key's block; blocks of `block` keys by rising index
  falling,    ///< the same, blocks by falling index
  whole_row,  ///< the maximum of the row (two passes)
  own_block,  ///< a running maximum that includes at least the `block` keys of the key's own aligned block
};

/// Are returned weights the weights that were rounded for their product with V?
enum class returned_weights : std::uint8_t { unrounded, rounded, unknown };

/// The divisor of O.
enum class normaliser : std::uint8_t {
  sum,         ///< the sum l of the weights that formed it
  lse,         ///< none: a second pass forms weights exp(s − LSE)
  first_pass,  ///< the sum l of a first pass with rescales; a second pass forms the weights of O anew, beside the last
               ///< M
};

/// The place where a sink enters the result.
enum class sink_form : std::uint8_t {
  term,     ///< in l: from the start, as a column, as a member of a part, or at the end
  rescale,  ///< after attention over the keys alone, as the factor 1/(1 + exp(t − LSE)) or exp(LSE − LSE with the sink)
  any,      ///< either of them
};

enum class split_merge : std::uint8_t {
  raw = 0,             ///< partial (m, l, O) are rescaled and added
  lse = 1,             ///< normalised partial outputs are merged by their LSE
  lse_normalised = 2,  ///< as lse, without a final division (the combine kernel of FlashAttention-2)
  sigmoid = 3,     ///< o − σ(L_b − L)(o − o_b), or σ(L − L_b)·o + σ(L_b − L)·o_b; L' = max + log(1 + exp(−|L − L_b|))
  logsigmoid = 4,  ///< as sigmoid, and perhaps L' = L − log σ(L − L_b) (ring attention)
};

/// Are the weights of partial results sigmoids of the difference of two LSEs?
constexpr bool by_sigmoid(split_merge form) noexcept {
  return form == split_merge::sigmoid || form == split_merge::logsigmoid;
}

/// The kernel model of docs/bound.md, whose section 12 lists the field of each symbol. Counts are numbers of roundings.
struct kernel_model {
  working_format format{};

  // scores
  int k_qk_base = 2;  ///< k_qk = k_qk_per_d·d + k_qk_base
  int k_qk_per_d = 1;
  problem::zero_products zero_products = problem::zero_products::counted;  ///< exact: d counts the q_t that are not 0
  double u_qk = 0;                                                         ///< unit roundoff of the products QKᵀ
  int block_fma = 0;       ///< K: products of one step of a matrix unit, of QKᵀ and of PV; 0 = not said
  int alignment_bits = 0;  ///< e: further bits than the format has in what a step aligns
  bool fold_q = false;     ///< the scale is folded into q
  bool fold_k = false;     ///< it is folded into k, or its root into both, or as fold_q says
  problem::folded_overflow folded_overflow = problem::folded_overflow::survived;
  bool bias_first = false;      ///< the bias may be the first value of the accumulator of q·k
  int k_add = 0;                ///< additions after the product (bias, additive mask)
  double g_b = 0;               ///< relative error of the bias itself
  double e_c = 0;               ///< relative error of softcap
  double a_t = 0;               ///< absolute error of tanh inside softcap
  double u_s = 0, omega_s = 0;  ///< the rounding of scores that are stored in a lower precision
  double s_limit = std::numeric_limits<double>::infinity();  ///< the overflow threshold of that format

  // weights
  int k_x = 1;             ///< roundings of one exponent argument
  int c_m = 0;             ///< roundings of the reference point that p and r do not share
  double eps = 0;          ///< relative error of exp
  double eps_rescale = 0;  ///< the same in rescales; 0 = eps
  problem::large_scores large_scores = problem::large_scores::stable;
  double mask_limit = std::numeric_limits<double>::infinity();  ///< finite masks up to this size are survived
  rescale_count rescales = rescale_count::per_block;
  key_order order = key_order::any;
  std::int64_t least_block = 1;  ///< order index: keys taken at a time if they do not follow the index
  int merges = 0;                ///< order index: the most raw merges of partial results, or of lanes, on one path
  problem::unchanged_rescale unchanged_rescale = problem::unchanged_rescale::exact;
  double tau = 0;  ///< lazy rescaling: the final reference point lies at most τ below the row maximum
  double x0 = std::numeric_limits<double>::infinity();       ///< weights below e^(−x0) are replaced by 0
  double u_p = 0, omega_p = 0;                               ///< the rounding of weights before their product with V
  double p_limit = std::numeric_limits<double>::infinity();  ///< the overflow threshold of that format
  double u_v = 0;         ///< the rounding of elements of V to fewer bits before that product; 0 if each has no more
  bool p_shared = false;  ///< l sums the rounded weights too
  normalised_first p_normalised = normalised_first::no;  ///< where they are rounded (u_p or ω_p not 0)
  problem::weight_reference weight_reference = problem::weight_reference::unknown;
  problem::returned_weights returned_weights = problem::returned_weights::unrounded;

  // a sink, dropout
  int k_t = 4;                  ///< roundings of a sink on its way into the unit of the exponent
  double u_t = 0, omega_t = 0;  ///< the rounding of a sink to a narrower format
  double sink_limit = std::numeric_limits<double>::infinity();  ///< a sink up to this far above the keys is survived
  problem::sink_form sink_form = problem::sink_form::term;
  int k_sink = 4;  ///< roundings of the factor of a sink behind the keys, including its product with O
  double u_sink = 0, omega_sink = 0;  ///< the rounding of that factor to a narrower format before its product with O
  int k_drop = 3;                     ///< roundings of the factor of dropout: 1 − p, its reciprocal, the product
  double u_drop = 0, omega_drop = 0;  ///< the rounding of P, V or O to the format of outputs behind that factor
  double u_rate = 0;                  ///< the rounding of p itself, before 1 − p is formed

  // sums
  std::int64_t block = 1;  ///< keys per block (rescales per_block, sum_height block_local, a known weight_reference)
  std::int64_t block_most =
      1;  ///< weight_reference rising, falling: the most, a multiple of `block`, if that is larger
  sum_height height = sum_height::in_sequence;
  std::int64_t height_divisor = 1, height_base = 0;      ///< height declared
  std::int64_t l_height_divisor = 0, l_height_base = 0;  ///< the height of l, declared alike; 0 = the height of O
  int k_pre = 0;  ///< roundings of a weight that is normalised before its product with V
  problem::accumulator accumulator = problem::accumulator::any;  ///< of O, beside weight_reference rising or falling
  double u_pv = 0;           ///< accumulation error of PV beyond IEEE (tensor cores); 0 = format.u
  std::int64_t promote = 0;  ///< keys after which such an accumulator is added to one of the format; 0 = never
  int splits = 1;            ///< S: partial results merged at the end
  split_merge merge = split_merge::raw;
  int merge_levels = 1;                 ///< μ: the most merges by LSE that a key's part goes through
  double u_state = 0, omega_state = 0;  ///< the rounding of O between two merges by LSE to a narrower format
  double state_limit = std::numeric_limits<double>::infinity();  ///< the overflow threshold of that format
  bool parts_are_keys = false;     ///< each visible key is a part of its own, as in a merge: S = n, and at most as many
                                   ///< merges on a way as there are parts
  int k_block = 0;                 ///< roundings of O for each block after the first, if O is divided after every block
  std::int64_t divided_block = 1;  ///< keys of such a block, at least

  // results
  normaliser normalise = normaliser::sum;
  int k_f = 1;                                                 ///< roundings of the final division
  double u_out = 0, omega_out = 0;                             ///< the rounding of O to its output format
  double out_limit = std::numeric_limits<double>::infinity();  ///< the overflow threshold of that format
  bool flushes = false;                                        ///< FTZ/DAZ
  double eps_log = 0;                                          ///< relative error of log
  double omega_log = 0;                                        ///< absolute error of log beside it
  int k_lse = 1;                    ///< roundings of LSE = m + log l (3 in base 2, or unknown)
  log_base lse_base = log_base::e;  ///< of the LSE that is judged

  friend constexpr bool operator==(kernel_model const&, kernel_model const&) noexcept = default;
};

/// The model of the same kernel whose LSE is in `base`: with the roundings of a change of base, if it does not count
/// more.
constexpr kernel_model with_lse_in(log_base base, kernel_model model) noexcept {
  model.lse_base = base;
  if (base == log_base::two && model.k_lse < 3) model.k_lse = 3;
  return model;
}

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
