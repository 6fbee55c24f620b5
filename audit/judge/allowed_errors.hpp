// How far each element of a row may lie from the exact value, by the bounds with which the judge compares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/outside_hypotheses.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/judge/tiered_judge.hpp"
#include "audit/judge/value_hull.hpp"
#include "reference/attention/infinite_score.hpp"
#include "reference/bound/lse_base.hpp"
#include "reference/machine/rows.hpp"

namespace attest::audit {

/// The largest error |got − truth| that still passes, for O and LSE of one row:
///   0    the judge asks for exactly one answer, by a rule of docs/semantics.md: 0, −∞ or NaN
///   NaN  any non-finite answer is right (for an LSE: NaN or +∞)
///   +∞   the element is not judged, or its value is left open
struct row_allowance {
  std::int64_t b = 0, h = 0, i = 0;
  reference::row_kind kind = reference::row_kind::finite;  ///< finite: the elements have bounds, if they are judged
  std::vector<double> o;
  double lse = 0;
};

/// The largest error that still passes. It is the smallest error that one of these admits: `bound`, the known weights
/// (section 5 of docs/bound.md) and, if the element is judged by dominance, Clause H. If known weights or Clause H
/// admit more on one side of the exact value than on the other, the larger side counts.
/// Requires  lowest ≤ truth ≤ highest; `hull` if Clause H applies
/// Ensures   an answer that is further from the truth is judged wrong; no answer with a larger error is judged right
inline double largest_admitted(reference::error_bound const& bound, double lowest, double highest,
                               std::optional<value_hull> const& hull) noexcept {
  if (bound.by == reference::judged_by::nothing || !(bound.size < reference::infinity)) return reference::infinity;
  constexpr double up = 1 + 0x1p-50;  // two roundings here, and one of the judge's own comparison
  double most = std::min(bound.size, std::max(admitted(bound, lowest), admitted(bound, highest)) * up);
  if (hull && hull->margin < reference::infinity) {
    double const sides = std::max(hull->highest - lowest, highest - hull->lowest);
    most = std::min(most, (sides + hull->margin) * up);
  }
  return most;
}

/// Which tiers give the bounds of a row that the machine tier encloses.
enum class bounds_of : std::uint8_t {
  both_tiers,    ///< the larger one: the judge refutes by the ball tier, and accepts by either
  machine_tier,  ///< the bound of the machine tier alone, proven as well; it costs about a hundredth
};

/// The allowances of the rows of one problem by docs/semantics.md, without the conventions of a contract. Use one
/// object in each thread.
template <class T>
class allowed_errors {
 public:
  allowed_errors(problem::instance<T> const& p, problem::kernel_model const& model, bounds_of tiers)
      : problem_(p), model_(model), tiers_(tiers) {
    if (auto source = reference::machine::row_source<T>::make(p, model)) rows_.emplace(std::move(source).value());
  }

  /// visit(row_allowance const&) for rows i0 ≤ i < i1 of head h of batch b, in order.
  /// Cost      both_tiers: the time of the ball tier, some milliseconds for 512 keys
  template <class Visit>
  void each(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1, Visit&& visit) {
    auto const take = [&](std::int64_t i, reference::machine::certified_row const* machine) {
      at_.b = b, at_.h = h, at_.i = i;
      if (!machine || machine->handed_over) from_balls();
      else if (tiers_ == bounds_of::machine_tier && bounds_every_element(*machine)) from_machine(*machine);
      else from_both(*machine);
      visit(std::as_const(at_));
    };
    if (rows_) return rows_->each(b, h, i0, i1, [&](auto const& row) { take(row.i, &row); });
    for (std::int64_t i = i0; i < i1; ++i) take(i, nullptr);
  }

 private:
  using row_type = reference::machine::certified_row;
  static constexpr unsigned W = first_width;
  static constexpr double open = reference::infinity, not_finite = std::numeric_limits<double>::quiet_NaN();

  static bool bounds_output(row_type const& row, std::size_t c) noexcept {
    return row.o_radius[c] < reference::infinity && row.o_by[c] != reference::judged_by::nothing &&
           row.o_bound[c] < reference::infinity;
  }
  static bool bounds_every_element(row_type const& row) noexcept {
    for (std::size_t c = 0; c < row.o.size(); ++c)
      if (!bounds_output(row, c)) return false;
    return row.lse_bound.by != reference::judged_by::nothing && row.lse_bound.size < reference::infinity;
  }

  static double admitted_by(row_type const& row, std::size_t c) noexcept {
    std::optional<value_hull> hull;
    if (row.o_by[c] == reference::judged_by::dominance) {
      double const lowest = row.lowest[c], highest = row.highest[c];
      hull = {lowest, highest, row.hull_margin(std::max(std::abs(lowest), std::abs(highest)))};
    }
    double const middle = row.o[c], low = row.o_low.empty() ? 0 : row.o_low[c];
    double const reach = (std::abs(low) + row.o_radius[c]) * (1 + 0x1p-50);
    return largest_admitted(bound_of_output(row, c), reference::rounded_down(middle - reach),
                            reference::rounded_up(middle + reach), hull);
  }

  void from_machine(row_type const& row) {
    at_.kind = reference::row_kind::finite;
    at_.o.resize(row.o.size());
    for (std::size_t c = 0; c < row.o.size(); ++c) at_.o[c] = admitted_by(row, c);
    at_.lse = of_lse(row);
  }

  /// An element that the ball tier does not judge stays open.
  void from_both(row_type const& row) {
    from_balls();
    if (at_.kind != reference::row_kind::finite) return;
    for (std::size_t c = 0; c < row.o.size(); ++c)
      if (bounds_output(row, c)) at_.o[c] = std::max(at_.o[c], admitted_by(row, c));
    if (row.lse_bound.by != reference::judged_by::nothing) at_.lse = std::max(at_.lse, of_lse(row));
  }

  void from_balls() {
    auto const columns = static_cast<std::size_t>(problem_.size().dv);
    truth_.evaluate(problem_, model_, at_.b, at_.h, at_.i);
    at_.kind = truth_.row.kind;
    at_.o.resize(columns);
    bool const outside = is_outside_hypotheses(problem_, model_, truth_, at_.b, at_.h, at_.i);
    for (std::size_t c = 0; c < columns; ++c) at_.o[c] = outside ? open : of_output(static_cast<std::int64_t>(c));
    at_.lse = outside ? open : of_lse();
  }

  double of_output(std::int64_t c) {
    using reference::value_kind;
    auto const exact = reference::compiled::output(problem_, truth_.row, c);
    switch (exact.kind) {
      case value_kind::unspecified: return open;
      case value_kind::nan: return 0;
      case value_kind::not_finite: return not_finite;
      case value_kind::finite: break;
    }
    if (truth_.row.kind == reference::row_kind::empty) return 0;
    auto const bound = reference::compiled::output_bound(truth_.bound, problem_, truth_.row, c, exact.value);
    std::optional<value_hull> hull;
    if (bound.by == reference::judged_by::dominance) hull = hull_of(problem_, truth_, at_.b, at_.h, c);
    return largest_admitted(bound, reference::lower(exact.value), reference::upper(exact.value), hull);
  }

  double of_lse(row_type const& row) const noexcept { return reference::in_base(model_.lse_base, row.lse_bound).size; }

  double of_lse() {
    switch (truth_.row.kind) {
      case reference::row_kind::nan: return reference::lse_is_infinite(problem_, at_.b, at_.h, at_.i) ? not_finite : 0;
      case reference::row_kind::empty: return 0;
      case reference::row_kind::finite: break;
    }
    auto const bound = reference::in_base(model_.lse_base, truth_.bound.log_sum_exp());
    return bound.by == reference::judged_by::nothing ? open : bound.size;
  }

  problem::instance<T> const& problem_;
  problem::kernel_model model_;
  bounds_of tiers_;
  std::optional<reference::machine::row_source<T>> rows_;
  row_truth<W, T> truth_;
  row_allowance at_;
};

}  // namespace attest::audit
