// Attention problems that models run: shapes and features with the place where the model states them.
//
// A row says what a layer of a model asks of attention, and no more: the values are drawn by whoever asks it. Numbers
// come from the published configuration of the model or of the program that serves it. Where a configuration leaves a
// number open (how many keys are in the cache, how long a prompt is), the row takes a value inside what it allows.
//
// A row that is too large for a budget is asked in a scaled form, and the report says what was cut. scaled() gives up
// first what a kernel repeats: batch entries, then heads in whole groups, then queries; and keys only where one query
// of one group is still too large. It keeps d, dv, the group ratio, the features, the element type and the positions:
// the queries that are left are the last ones, so a causal row sees as many keys as the last rows of the whole problem
// do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "audit/cases/domain/call_domain.hpp"
#include "problem/checks.hpp"
#include "problem/element_type.hpp"

namespace attest::audit {

/// What the layer does when it asks.
enum class phase : std::uint8_t {
  prefill,          ///< a whole prompt, or a training step
  decode,           ///< one new token a sequence, after m − 1 cached ones
  chunked_prefill,  ///< the next n tokens of a prompt, with m − n tokens cached
  speculative,      ///< the last token and n − 1 drafted ones, which are verified at once
  encoder,          ///< a whole sequence, seen in both directions
  cross,            ///< queries of one sequence, keys of another
};

/// Which keys query i sees. Positions are aligned at the end: query i stands at key m − n + i. Under the paddings each
/// batch entry has a number of keys of its own, L, drawn from [length, m].
enum class masking_kind : std::uint8_t {
  none,            ///< all
  causal,          ///< those up to its own position
  causal_window,   ///< the last `length` of them, its own included
  window,          ///< those at most `length` positions before or after its own
  padding,         ///< the first L: sequences padded on the right, or caches of different lengths
  causal_padding,  ///< of the last L, those up to its own position: prompts padded on the left
  prefix,          ///< the first `length` keys, and those up to its own position
};

struct masking {
  masking_kind kind = masking_kind::none;
  std::int64_t length = 0;  ///< what the kind says, 1 … m; 0 where the kind has none
  friend constexpr bool operator==(masking const&, masking const&) noexcept = default;
};

/// What is added to the scores.
enum class bias_kind : std::uint8_t {
  none,
  alibi,     ///< slope of the head · key position: [1, hq, 1, m]. Source: Press et al. 2021, arXiv:2108.12409
  relative,  ///< a learned number for each head and distance: [1, hq, n, m]
};

/// What the operator must have, beside masks, bias and softcap, before the row can be asked as the model does.
struct operator_needs {
  bool sinks = false;   ///< a logit of its own for each head in the denominator
  bool packed = false;  ///< sequences of different lengths one after another; n and m are the longest
  bool paged = false;   ///< keys and values in blocks that a table lists
  constexpr bool any() const noexcept { return sinks || packed || paged; }
  friend constexpr bool operator==(operator_needs const&, operator_needs const&) noexcept = default;
};

/// What few layers have.
struct layer_features {
  std::optional<double> scale{};  ///< none = 1/√d
  double softcap = 0;             ///< 0 = off
  bias_kind bias = bias_kind::none;
  bool v_in_k = false;  ///< V is the first dv columns of K, in the same memory
  operator_needs needs{};
};

/// One row.
struct production_shape {
  std::string_view name{};    ///< unique: the model, and what it does
  std::string_view family{};  ///< the models that share the form
  phase during = phase::prefill;
  problem::sizes size{};
  problem::element_type type = problem::element_type::bf16;  ///< in which it is usually run
  masking mask{};
  std::string_view source{};  ///< "owner/repository:file, fields" (Hugging Face's where it names a model), or a paper
  layer_features features{};
};

/// All rows.
std::span<production_shape const> production_shapes() noexcept;

/// What one call costs.
struct shape_cost {
  std::int64_t bytes = 0;     ///< Q, K, V, O, and the mask and the bias in the shapes in which they broadcast
  std::int64_t products = 0;  ///< multiplications: b·hq·n·m·(d + dv), hidden pairs counted
};
shape_cost cost_of(production_shape const& shape) noexcept;

/// The most that one call may cost.
struct shape_limit {
  std::int64_t bytes = 0, products = 0;
  constexpr bool admits(shape_cost const& cost) const noexcept {
    return cost.bytes <= bytes && cost.products <= products;
  }
};

/// A row as it can be asked.
struct scaled_shape {
  production_shape shape;
  problem::sizes whole;  ///< the sizes of the row itself
  bool fits = false;     ///< false: even one query and one key of one group of one batch entry cost more than the limit

  /// What was changed, for the report: "batch 256 → 4, queries 8192 → 301"; empty where the row is asked as it stands.
  std::string cut() const;
};

/// The row, cut until the limit admits it.
///
/// Requires  sizes ≥ 1, hq a multiple of hk; sizes in the domain
/// Ensures   limit.admits(cost_of(result.shape)) == result.fits; nothing is cut from a row that the limit admits. Only
///           b, hq and hk together, n, m, and a mask's length where it was more than m, change, and none grows. A size
///           is below its whole only where those before it (b, heads, n) are 1, and is then the largest that fits.
///           hq/hk, n ≤ m where it held, and every other field stay. In a domain each size is the largest member below;
///           the sizes stay in it.
/// Cost      logarithmic in the sizes
scaled_shape scaled(production_shape const& shape, shape_limit const& limit, call_domain const& domain = {});

}  // namespace attest::audit
