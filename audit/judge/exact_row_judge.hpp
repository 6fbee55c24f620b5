// The ball tier: one row of outputs against the truth, at widths that grow until every element is decided.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "audit/judge/judge_outputs.hpp"
#include "audit/judge/row_law.hpp"
#include "audit/judge/row_truth.hpp"
#include "reference/compiled/row.hpp"

namespace attest::audit {

/// Typed views of the outputs that are present.
template <class T>
struct output_views {
  problem::view<T const> o{};
  problem::view<problem::lse_element<T> const> lse{};
  problem::view<T const> weights{};
};

/// An output as a view of shape [b, hq, n, ·]; an LSE of shape [b, h, n] has the shape [b, h, n, 1].
template <class E, class T>
problem::view<E const> view_of(problem::instance<T> const& p, std::optional<owned_tensor> const& output, bool lse) {
  if (!output) return {};
  problem::layout const& layout = output->layout;
  auto view =
      problem::lifted(problem::tensor<E const>{output->as<E>(), lse ? problem::with_last_axis(layout) : layout});
  view.map = p.entries().queries.map;
  return view;
}

template <class T>
output_views<T> views_of(problem::instance<T> const& p, owned_outputs const& outputs) {
  return {view_of<T>(p, outputs.o, false), view_of<problem::lse_element<T>>(p, outputs.lse, true),
          view_of<T>(p, outputs.weights, false)};
}

/// The largest error that still passes: the smaller of the bound and the bound by known weights.
inline double admitted(reference::error_bound const& bound, double exact) noexcept {
  return std::min(bound.size, std::abs(bound.known_center - exact) + bound.known_size);
}

/// Adds an answer to a comparison: its error lies in [lower, upper], and `bound` is the bound of the sharper preset.
/// Adds nothing if that bound says nothing.
void compare(preset_comparison& with, double got, double lower, double upper, reference::error_bound const& bound);

/// A preset that is sharper than the contract.
struct named_model {
  std::string preset;
  problem::kernel_model model;
};

/// The exact values that a contract prescribes, and its name for sentences.
struct said_by_contract {
  conventions how{};
  std::string name{};
};

/// Judges the rows of one problem, one after the other; its memory is reused. Use one object in each thread.
template <class T>
class exact_row_judge {
 public:
  exact_row_judge(problem::instance<T> const& problem, output_views<T> const& outputs,
                  problem::kernel_model const& model, std::span<named_model const> sharper = {},
                  thoroughness how = thoroughness::report, said_by_contract says = {})
      : problem_(problem), outputs_(outputs), model_(model), sharper_(sharper), how_(how), says_(std::move(says)) {}

  /// Judges one row; under thoroughness::verdict, it stops at the first fault. Compares the row with the bounds of
  /// `sharper` if reference::machine::bounded_again says so.
  void judge(std::int64_t b, std::int64_t h, std::int64_t i, judgement& into);

 private:
  /// Widths in bits: an element that one width does not decide is judged again at the next. At the last, every score is
  /// known to 2⁻¹¹⁰, however large scores, biases and softcap are (docs/rounding.md, "Where the judge's widths end").
  static constexpr unsigned first = first_width, second = 256, last = 1152;

  void judge_o(judgement& into);
  void judge_lse(judgement& into);
  void judge_weights(judgement& into);
  /// Counts a violation unless got is exactly `expected`: 0 and −0 are equal, and any NaN is equal to NaN.
  template <class E>
  void by_rule(judgement& into, output_kind output, std::int64_t at, E got, double expected,
               std::optional<bug_class> kind, std::string const& why);
  /// The same for an exact value that is NaN or infinite: any `got` is right if the contract leaves it open.
  template <class E>
  void by_rule_unless_open(judgement& into, output_kind output, std::int64_t at, E got, double expected,
                           std::string const& why);
  /// An element of a row without keys and sink, whose value by docs/semantics.md is `usual`.
  template <class E>
  void by_rule_of_empty(judgement& into, output_kind output, std::int64_t at, E got, double expected, double usual);
  /// Is enough known of the row to stop?
  bool enough(judgement const& into) const noexcept { return how_ == thoroughness::verdict && into.failed > before_; }
  /// Judges |got − truth| ≤ bound. `truth_at(width)` gives the enclosure of the truth at that width, and
  /// `bound_at(bounds of the row, truths of the row, enclosure)` the bound.
  /// Ensures   true if the element passed by Clause D, not by the theorem
  template <class E, class Truth, class Bound>
  bool by_bound(judgement& into, output_kind kind, std::int64_t at, E got, Truth&& truth_at, Bound&& bound_at);
  /// Evaluates the bounds of `sharper` for the row if this row is compared.
  void bound_again();
  /// The kind of an output that is not finite, as a kernel that leaves out keys (x0) may answer it: what V holds at
  /// such keys says nothing.
  reference::value_kind kind_beside_cutoff(std::int64_t c, reference::value_kind exact) const;
  /// Clause H, whatever the scores are.
  void by_hull(judgement& into, std::int64_t c, T got);
  void violate(judgement& into, char const* output, std::int64_t at, double got, double truth_lower, double truth_upper,
               double bound, double error_in_bounds, std::optional<bug_class> kind, std::string sentence);
  template <unsigned W>
  row_truth<W, T>& truth();

  problem::instance<T> const& problem_;
  output_views<T> outputs_;
  problem::kernel_model model_;
  std::span<named_model const> sharper_;
  thoroughness how_;
  said_by_contract says_;
  exact_values exact_{};                              ///< of the entry of the row
  std::vector<reference::row_bound> sharper_bounds_;  ///< of the row; empty where it is not compared
  std::size_t size_class_ = size_class_of(problem_.size().m);
  std::int64_t b_ = 0, h_ = 0, i_ = 0;
  std::int64_t before_ = 0;  ///< faults of the rows before
  row_truth<first, T> first_;
  std::optional<row_truth<second, T>> second_;
  std::optional<row_truth<last, T>> last_;
};

}  // namespace attest::audit
