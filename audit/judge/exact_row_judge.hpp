// One row of one answer against the truth. Used by audit/judge/judge_outputs.cpp, once a thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "audit/judge/judge_outputs.hpp"
#include "reference/compiled/row.hpp"

namespace attest::audit {

/// Typed views of the outputs that an answer has.
template <class T>
struct answer_views {
  problem::view<T const> o{};
  problem::view<problem::lse_element<T> const> lse{};
  problem::view<T const> weights{};
};

/// A recorded output as a view of rank 4; an LSE [b, h, n] is one of [b, h, n, 1].
template <class T>
problem::view<T const> view_of(std::optional<owned_tensor> const& stored, bool lse) {
  if (!stored) return {};
  problem::layout const& where = stored->where;
  return problem::lifted(problem::tensor<T const>{stored->as<T>(), lse ? problem::with_last_axis(where) : where});
}

template <class T>
answer_views<T> views_of(owned_outputs const& answer) {
  return {view_of<T>(answer.o, false), view_of<problem::lse_element<T>>(answer.lse, true),
          view_of<T>(answer.weights, false)};
}

/// The truth about one row at W bits, and the bound that judges it.
template <unsigned W, class T>
struct row_truth {
  reference::enclosed_row<W, T> row;
  reference::row_facts facts;
  reference::row_bound bound;

  void evaluate(problem::instance<T> const& p, problem::kernel_model const& model, std::int64_t b, std::int64_t h,
                std::int64_t i) {
    reference::compiled::enclose_row(p, b, h, i, row);
    if (row.kind != reference::row_kind::finite) return;
    reference::compiled::collect_facts(p, row, facts);
    reference::compiled::evaluate(bound, model, facts);
  }
};

/// Judges rows of one problem; its memory is reused from row to row.
template <class T>
class row_judge {
 public:
  row_judge(problem::instance<T> const& asked, answer_views<T> const& answer, problem::kernel_model const& model)
      : asked_(asked), answer_(answer), model_(model) {}

  void judge(std::int64_t b, std::int64_t h, std::int64_t i, judgement& into);

 private:
  /// Widths of the refinement: an element that one leaves open is asked again at the next. At the last every score is
  /// known to 2⁻¹¹⁰, however large scores, biases and softcap are (docs/rounding.md, "Where the judge's widths end").
  static constexpr unsigned first = 128, second = 256, last = 1152;

  /// Does a number that the kernel may read as 0 (below ω, alone or with σ·log₂ e folded in) meet an infinity in some
  /// visible q·k? The kernel's score is then NaN, whatever the exact one is.
  bool flushed_meets_infinity() const;
  void judge_o(judgement& into);
  void judge_lse(judgement& into);
  void judge_weights(judgement& into);
  /// got must be exactly `expected` (as a value: ±0 are equal; NaN means NaN).
  template <class E>
  void by_rule(judgement& into, char const* output, std::int64_t at, E got, double expected,
               std::optional<bug_class> kind, std::string const& why);
  /// |got − truth| ≤ bound? `truth_at(width)` encloses the truth and its bound at that width. Answers whether the
  /// element passed by the dominance clause alone.
  template <class E, class Truth>
  bool by_bound(judgement& into, char const* output, std::int64_t at, E got, Truth&& truth_at);
  /// The hull clause: a stable kernel answers inside the values it averages, whatever the scores.
  void by_hull(judgement& into, std::int64_t c, T got);
  void violate(judgement& into, char const* output, std::int64_t at, double got, double truth_lower, double truth_upper,
               double bound, double error_in_bounds, std::optional<bug_class> kind, std::string sentence);
  template <unsigned W>
  row_truth<W, T>& truth();

  problem::instance<T> const& asked_;
  answer_views<T> answer_;
  problem::kernel_model model_;
  std::int64_t b_ = 0, h_ = 0, i_ = 0;
  row_truth<first, T> first_;
  std::optional<row_truth<second, T>> second_;
  std::optional<row_truth<last, T>> last_;
};

/// The value of a stored element as a double (exact), infinities and NaN included.
template <class T>
double as_double(T stored) noexcept {
  reference::element const x = reference::value_of(stored);
  switch (x.kind) {
    case reference::number_class::not_a_number: return std::nan("");
    case reference::number_class::plus_infinity: return reference::infinity;
    case reference::number_class::minus_infinity: return -reference::infinity;
    case reference::number_class::finite: break;
  }
  return std::ldexp(static_cast<double>(x.significand), x.exponent);
}

/// One unit in the last place of T at the size of x.
template <class T>
double ulp_at(double x) noexcept {
  int exponent = reference::smallest_exponent<T>;
  if (x != 0 && std::isfinite(x)) exponent = std::max(exponent, std::ilogb(x) - reference::float_format<T>::fraction);
  return std::ldexp(1.0, exponent);
}

}  // namespace attest::audit
