// The machine tier of the reference: rows of attention enclosed in double arithmetic, with the bound of every element.
//
// It answers only what it can prove: each number comes with a radius from an a-priori error analysis (docs at each
// step), and whatever is outside that analysis (NaN, infinities, empty rows, huge scores) is handed over to the integer
// balls of reference/attention/attention.hpp, which decide it. It has two precisions: doubles, and double words (double_word/), each
// number an unevaluated sum of two doubles, for f64 and for what doubles leave open.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"
#include "reference/bound/bound.hpp"

namespace attest::reference::machine {

struct workspace;  // workspace.hpp

/// One row. Spans live until the next row.
struct certified_row {
  std::int64_t b = 0, h = 0, i = 0;
  bool handed_over = true;  ///< to the ball tier: nothing below is set

  /// O_c = o[c] + o_low[c] ± o_radius[c], o_low empty in the tier of doubles; |ô_c − O_c| ≤ o_bound[c] by clause o_by[c]. An infinite radius hands the column over.
  std::span<double const> o, o_low, o_radius, o_bound, o_warning;
  std::span<judged_by const> o_by;
  /// min_j v_jc, max_j v_jc, where o_by is dominance; hull_margin() of docs/bound.md's hull clause.
  std::span<double const> lowest, highest;
  double hull_margin(double largest_value) const noexcept { return reference::hull_margin(*terms, largest_value); }

  double lse = 0, lse_low = 0, lse_radius = 0;  ///< LSE = lse + lse_low ± lse_radius
  error_bound lse_bound{};

  /// The visible keys with finite scores, their weights, and (where asked for) the bounds of those.
  std::span<std::int64_t const> keys;
  std::span<double const> weight_lower, weight_upper, weight_bound, weight_by_theorem;
  /// In double words, and where weights were asked for: π = weight + weight_low ± weight_radius.
  std::span<double const> weight, weight_low, weight_radius;

  row_terms const* terms = nullptr;
  workspace const* memory = nullptr;
};

struct row_options {
  bool weights = false;  ///< bounds of weights too, and weights as double words
  bool bounds = true;    ///< else only enclosures: o, lse, weights and their radii; no kernel model is read
  bool double_words = false;  ///< double words; f64 always has them
};

/// Rows of one problem under one kernel model. One object a thread: it owns the memory of a block of rows.
template <class T>
class row_source {
 public:
  /// The error says why this problem is for the ball tier alone: d beyond 2²⁰, m beyond 2³¹, or a
  /// floating-point environment in which double arithmetic proves nothing.
  static problem::result<row_source> make(problem::instance<T> const& p, problem::kernel_model const& model,
                                          row_options const& options = {});
  /// Enclosures alone.
  static problem::result<row_source> make(problem::instance<T> const& p) { return make(p, {}, {.bounds = false}); }

  row_source(row_source&&) noexcept;
  row_source& operator=(row_source&&) noexcept;
  ~row_source();

  /// visit(certified_row const&) for rows i0 ≤ i < i1 of head h of batch b, in order.
  /// Requires  indices inside the problem; the instance outlives this object
  /// Ensures   the same answers whatever the block: a row depends on its own inputs and the SIMD target alone. Rows are
  ///           handed over where the environment has become unsafe
  /// Cost      per visible key 2d fused operations, one exp, about 30 operations a column (without bounds: one); memory
  ///           O(m + d + dv)
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
