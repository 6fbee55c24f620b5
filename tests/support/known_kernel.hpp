// How a kernel computes one row: the forms of its scores, its softmax, its sink and its dropout, as plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "problem/kernel_model.hpp"
#include "tests/support/kernel_arithmetic.hpp"

namespace attest::tests {

/// How scores are formed.
enum class score_form : std::uint8_t {
  plain,       ///< (q·k)·σ, softcap, + b
  folded,      ///< (q·σ)·k
  root,        ///< (q·√σ)·(k·√σ)
  bias_first,  ///< the accumulator starts from b
  base_2,      ///< (q·k)·(σ·log₂ e), exp2 everywhere: no bias and no softcap
};

/// tanh(y) of a softcap, y ≥ 0: the three usual forms by an exp, and the function of the library.
enum class tanh_form : std::uint8_t {
  from_below,  ///< 1 − 2/(e^{2y} + 1)
  from_above,  ///< 2/(1 + e^{−2y}) − 1
  quotient,    ///< (e^{2y} − 1)/(e^{2y} + 1)
  library,
};

/// How weights and scores become an output.
enum class softmax_form : std::uint8_t {
  two_passes,         ///< Σ p v / Σ p
  normalised,         ///< Σ (p/l) v
  by_lse,             ///< Σ exp(s − LSE) v: no division
  flash_attention_1,  ///< O divided by l after every block
  flash_attention_2,  ///< exp2(fma(s, c, −fl(M·c))), c = σ·log₂ e; O·(1/l) at the end
  online,             ///< O and l rescaled, divided at the end
  split,              ///< parts weighed by exp(L_i − L): no division (FlashAttention-2's combine of split keys)
  one_level,          ///< parts weighed by exp(L_i − max L), divided by the sum of these
  ring,               ///< parts merged one after the other, O = (w_a·O_a + w_b·O_b)/(w_a + w_b)
  tree,               ///< parts merged in pairs, O = (w_a/w)·O_a + (w_b/w)·O_b
  ring_sigmoid,       ///< parts merged one after the other, O = O − σ(L_b − L)(O − O_b), L = L − log σ(L − L_b) (ring
                      ///< attention)
  tree_sigmoids,      ///< parts merged in pairs, O = σ(L_a − L_b)·O_a + σ(L_b − L_a)·O_b, L = max + log(1 + exp(−|L_a −
                      ///< L_b|))
};

/// Where a sink enters.
enum class sink_place : std::uint8_t {
  none,
  first,    ///< from the start: M = t, l = 1; of parts, in the first
  column,   ///< a score of its own behind the keys' scores, with a value of 0
  last,     ///< behind the keys, with the maximum of both
  end,      ///< l + exp(t − M) with the maximum M of the keys
  sigmoid,  ///< behind the keys: O·1/(1 + exp(t − LSE))
  by_lse,   ///< behind the keys: O·exp(LSE − log-add-exp(LSE, t))
};

/// The place of the factor 1/(1 − p) of dropout.
enum class drop_place : std::uint8_t { none, on_p, on_p_twice, divided, on_v, on_o };

struct known_kernel {
  std::string name, contract;  ///< contract `tight`: a model of this kernel alone, where presets have room
  score_form scores = score_form::plain;
  softmax_form softmax = softmax_form::two_passes;
  tanh_form tanh = tanh_form::from_below;
  bool capped = false;  ///< attacked with a softcap
  bool biased = false;  ///< attacked with a bias
  bool masked = false;  ///< attacked with finite additive masks
  sink_place sink = sink_place::none;
  bool narrow_factor = false;  ///< a sink behind the keys: its factor is rounded to `how.narrow`
  drop_place drops = drop_place::none;
  bool returns_weights = false;   ///< the weights of a one-pass kernel
  bool returns_narrow_p = false;  ///< weights from the rounded P
  bool weights_by_lse = false;    ///< exp(s − LSE)
  bool reversed = false;          ///< the last key comes first
  bool reciprocal = false;        ///< x·(1/l) for x/l
  bool sums_blocks = false;       ///< sums inside a block, added to O and l behind it
  double tau = 0;                 ///< the reference stays while no score is more than this above it
  std::int64_t block = 0;         ///< keys of a block, where it is not the call's
  rounding how{};
  double skips =
      std::numeric_limits<double>::infinity();  ///< blocks whose largest score lies further below the running maximum
  std::int64_t most_keys = 16;
  problem::weight_reference declared = problem::weight_reference::unknown;  ///< with blocks of the call's size

  /// e^−x0 is the largest weight that may be missing.
  double x0() const { return std::min(skips, how.cutoff); }
  bool sink_is_behind() const { return sink == sink_place::sigmoid || sink == sink_place::by_lse; }
};

}  // namespace attest::tests
