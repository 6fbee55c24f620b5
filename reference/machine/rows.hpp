// The machine tier of the reference: rows of attention enclosed in double arithmetic, with the bound of every element.
//
// Each number comes with a radius from an a-priori error analysis (stated at each step; docs/machine_tier.md). What
// that analysis does not cover (NaN, infinities, empty rows, huge scores) is handed over to the ball tier,
// reference/attention/attention.hpp. There are two precisions: doubles, and double words (double_word/), in which a
// number is an unevaluated sum of two doubles. Double words serve f64, and the elements that doubles do not decide.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"
#include "reference/bound/bound.hpp"
#include "reference/machine/further_rows.hpp"

namespace attest::reference::machine {

struct workspace;  // workspace.hpp

/// One row. Its spans are valid until the next row is computed.
struct certified_row {
  std::int64_t b = 0, h = 0, i = 0;
  std::size_t model = 0;    ///< whose bounds: 0 the kernel model of the source, n > 0 row_options::further[n − 1]
  bool handed_over = true;  ///< to the ball tier; then nothing below is set

  /// O_c = o[c] + o_low[c] ± o_radius[c], with o_low empty in doubles; |ô_c − O_c| ≤ o_bound[c] by clause o_by[c]. A
  /// column with an infinite radius is handed over to the ball tier.
  std::span<double const> o, o_low, o_radius, o_bound, o_warning;
  /// |ô_c − o_known[c]| ≤ o_known_bound[c] where weights are known (docs/bound.md, section 5), else that is infinite.
  std::span<double const> o_known, o_known_bound;
  std::span<judged_by const> o_by;
  std::span<std::uint8_t const> o_dull;  ///< section 8 of docs/bound.md: 1 where the bound says little
  /// min_j v_jc and max_j v_jc of the columns whose o_by is dominance; with a sink or dropout the extremes of 0 and all
  /// v_jc/(1 − p). hull_margin() is H_c of Clause H (docs/bound.md).
  std::span<double const> lowest, highest;
  double hull_margin(double largest_value) const noexcept { return reference::hull_margin(*terms, largest_value); }

  double lse = 0, lse_low = 0, lse_radius = 0;  ///< LSE = lse + lse_low ± lse_radius
  error_bound lse_bound{};

  /// The visible keys with finite scores (without a sink), their weights, and with row_options::weights the bounds of
  /// the weights.
  std::span<std::int64_t const> keys;
  std::span<double const> weight_lower, weight_upper, weight_bound, weight_by_theorem;
  double sink_lower = 0, sink_upper = 0;  ///< π_⊥, 0 without a sink: the weights of the keys sum to 1 − π_⊥
  /// In double words, with row_options::weights: π = weight + weight_low ± weight_radius.
  std::span<double const> weight, weight_low, weight_radius;

  row_terms const* terms = nullptr;
  workspace const* memory = nullptr;
};

struct row_options {
  bool weights = false;       ///< also bounds of the weights, and the weights as double words
  bool bounds = true;         ///< false: only the enclosures of o, LSE and weights; the kernel model is not read
  bool double_words = false;  ///< compute in double words; f64 always is
  /// Models by which some rows are bounded again, from the same facts. They must outlive the source.
  std::span<problem::kernel_model const> further = {};
};

/// Rows of one problem under one kernel model. Each thread needs its own: it owns the memory of a block of rows.
template <class T>
class row_source {
 public:
  /// An error says why only the ball tier can enclose this problem: d above 2²⁰, m of 2³¹ or more, or a floating-point
  /// environment in which double arithmetic proves nothing.
  static problem::result<row_source> make(problem::instance<T> const& p, problem::kernel_model const& model,
                                          row_options const& options = {});
  /// Enclosures without bounds.
  static problem::result<row_source> make(problem::instance<T> const& p) { return make(p, {}, {.bounds = false}); }

  row_source(row_source&&) noexcept;
  row_source& operator=(row_source&&) noexcept;
  ~row_source();

  /// visit(certified_row const&) for rows i0 ≤ i < i1 of head h of batch b, in order. A row that is bounded by further
  /// models is visited once for each that bounds it, after the visit with the bounds of its own.
  /// Requires  indices inside the problem; the instance outlives this object
  /// Ensures   results that do not depend on the block: a row depends only on its own inputs and on the SIMD target.
  ///           Rows are handed over if the floating-point environment has become unsafe
  /// Cost      for each visible key 2d fused operations, one exp, and about 30 operations a column (without bounds:
  ///           one); memory O(m + d + dv)
  template <class Visit>
  void each(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1, Visit&& visit) {
    auto const call = [](void* to, certified_row const& row) {
      (*static_cast<std::remove_reference_t<Visit>*>(to))(row);
    };
    run(b, h, i0, i1, call, const_cast<void*>(static_cast<void const*>(std::addressof(visit))));
  }

 private:
  row_source(problem::instance<T> const& p, problem::kernel_model const& model, row_options const& options);
  void run(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1, void (*visit)(void*, certified_row const&),
           void* to);

  problem::instance<T> const* problem_;
  problem::kernel_model model_;
  row_options options_;
  std::unique_ptr<workspace> memory_;
};

}  // namespace attest::reference::machine
