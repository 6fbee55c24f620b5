// Rows judged by two tiers: the machine tier comes first, and it may only certify. A row with an element that it does
// not certify is judged by the ball tier from the start, so that no violation rests on double arithmetic.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "reference/bound/lse_base.hpp"
#include "reference/machine/rows.hpp"

namespace attest::audit {

/// The bound of output c of a row that the machine tier has enclosed. Its `unrounded` and `warning` are not set.
inline reference::error_bound bound_of_output(reference::machine::certified_row const& row, std::size_t c) noexcept {
  reference::error_bound bound{row.o_bound[c], row.o_by[c]};
  bound.dull = row.o_dull[c] != 0;
  bound.known_center = row.o_known[c], bound.known_size = row.o_known_bound[c];
  return bound;
}

/// Judges the rows of one problem. Use one object in each thread.
/// Ensures   the counts of exact_row_judge; the error sizes are upper bounds, which may differ from exact_row_judge's
///           in the last places
template <class T>
class tiered_judge {
 public:
  /// Some rows are compared with the bounds of `sharper`, which must outlive this object.
  tiered_judge(problem::instance<T> const& problem, output_views<T> const& outputs, problem::kernel_model const& model,
               std::span<named_model const> sharper = {}, thoroughness how = thoroughness::report,
               said_by_contract says = {})
      : problem_(problem),
        outputs_(outputs),
        exact_(problem, outputs, model, sharper, how, std::move(says)),
        lse_base_(model.lse_base),
        sharper_(sharper) {
    for (named_model const& preset : sharper) models_.push_back(preset.model);
    auto source = reference::machine::row_source<T>::make(problem, model,
                                                          {.weights = outputs.weights.present, .further = models_});
    if (source) rows_.emplace(std::move(source).value());
  }

  /// Judges rows i0 ≤ i < i1 of head h of batch b by the machine tier. hand_over(i, enclosed) takes each row that it
  /// does not certify. If `enclosed`, the tier knows the row, and most likely an element is wrong; else it says nothing
  /// about the row. Blocks of 16 rows and more share the conversion of K.
  template <class HandOver>
  void certify(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1, judgement& into,
               HandOver&& hand_over) {
    if (!rows_) {
      for (std::int64_t i = i0; i < i1; ++i) hand_over(i, false);
      return;
    }
    bool row_certified = false;
    rows_->each(b, h, i0, i1, [&](reference::machine::certified_row const& row) {
      if (row.model > 0) {
        if (row_certified) compare(row, into);
        return;
      }
      tally found;
      for (sharpness& of : row_sharpness_)
        if (of.judged > 0) of = {};
      row_errors_ = {};
      row_certified = !row.handed_over && certifies(row, found);
      if (!row_certified) return hand_over(row.i, !row.handed_over);
      into.add(found);
      for (std::size_t output = 0; output < row_sharpness_.size(); ++output)
        into.sharpness[output][size_class_].merge(row_sharpness_[output]);
      for (std::size_t output = 0; output < row_errors_.size(); ++output) call_errors_[output].add(row_errors_[output]);
    });
  }

  /// One row by the ball tier.
  void judge_exactly(row_index const& row, judgement& into) { exact_.judge(row.b, row.h, row.i, into); }

  /// Of each output, the signed errors in the rows that certify() has certified.
  std::array<call_errors, output_names.size()> const& signed_errors() const noexcept { return call_errors_; }

 private:
  using row_type = reference::machine::certified_row;

  bool certifies(row_type const& row, tally& found) {
    return (!outputs_.o.present || certifies_o(row, found)) && (!outputs_.lse.present || certifies_lse(row, found)) &&
           (!outputs_.weights.present || certifies_weights(row, found));
  }

  /// An upper bound of |got − middle − low|.
  /// Why       |low| ≤ 2⁻⁵³|middle|. got − middle is exact if got is within a factor 2 of middle. Else it is at least
  ///           |middle|/2, so that its rounding is within 2⁻⁵² of the result. The second difference rounds once
  static double distance_upper(double got, double middle, double low) noexcept {
    return std::abs((got - middle) - low) * (1 + 0x1p-50);
  }

  /// Is |got − truth| ≤ bound for every truth within radius of middle + low? False if anything is NaN. `counts` says
  /// whether its signed error is an observation (systematic_error.hpp).
  template <class E>
  bool within(output_kind kind, double got, double middle, double low, double radius,
              reference::error_bound const& judged, tally& found, bool counts = true) {
    double const bound = judged.size;
    reference::judged_by const by = judged.by;
    if (by == reference::judged_by::nothing || !std::isfinite(got) || !std::isfinite(bound)) return false;
    double const error = (distance_upper(got, middle, low) + radius) * (1 + 0x1p-51);
    if (!(error <= bound)) return false;
    found.count_by_bound(kind, by == reference::judged_by::theorem);
    row_sharpness_[static_cast<std::size_t>(kind)].add(admitted(judged, middle), middle, judged.dull);
    found.max_error_in_bounds = std::max(found.max_error_in_bounds, error / bound);
    double const ulp = ulp_at<E>(middle);
    found.max_ulp = std::max(found.max_ulp, error / ulp);
    found.max_error = std::max(found.max_error, error);
    // Exact powers of two are frequent. An enclosure of one lies on both sides, which have different units; its unit is
    // the larger.
    double const beside = middle * (1 + 0x1p-40);
    if (counts && radius <= truth_ulp * ulp && std::abs(middle) >= smallest_normal<E> && std::isfinite(beside))
      row_errors_[static_cast<std::size_t>(kind)].add(((got - middle) - low) / ulp_at<E>(beside), middle < 0);
    return true;
  }
  template <class E>
  static constexpr double smallest_normal =
      reference::power_of_two(reference::smallest_exponent<E> + reference::float_format<E>::fraction);

  /// Which columns of V hold one number at all keys of entry b and kv head h: 1 or 0 for each.
  /// Cost  most columns need two keys
  std::vector<char> const& columns_of_one_number(std::int64_t b, std::int64_t h) {
    if (columns_b_ == b && columns_h_ == h) return one_number_;
    columns_b_ = b, columns_h_ = h;
    auto const dv = static_cast<std::size_t>(problem_.size().dv);
    one_number_.assign(dv, 1);
    for (std::size_t c = 0; c < dv; ++c)
      for (std::int64_t j = 1; j < problem_.keys(b) && one_number_[c] != 0; ++j)
        one_number_[c] = as_double(problem_.v().row(b, h, j)[c]) == as_double(problem_.v().row(b, h, 0)[c]);
    return one_number_;
  }

  bool certifies_o(row_type const& row, tally& found) {
    auto const& one_number = columns_of_one_number(row.b, row.h / (problem_.size().hq / problem_.size().hk));
    for (std::size_t c = 0; c < row.o.size(); ++c) {
      double const got = as_double(outputs_.o(row.b, row.h, row.i, static_cast<std::int64_t>(c)));
      double const low = row.o_low.empty() ? 0 : row.o_low[c];
      reference::error_bound const bound = bound_of_output(row, c);
      if (!within<T>(output_kind::o, got, row.o[c], low, row.o_radius[c], bound, found, one_number[c] == 0))
        return false;
      if (double const beside = std::abs(got - bound.known_center) * (1 + 0x1p-52);
          bound.known_size < reference::infinity) {
        if (!(beside <= bound.known_size)) return false;
        found.max_error_in_bounds = std::max(found.max_error_in_bounds, beside / bound.known_size);
      }
      if (distance_upper(got, row.o[c], low) * (1 - 0x1p-49) - row.o_radius[c] > row.o_warning[c]) ++found.suspicious;
      if (row.o_by[c] != reference::judged_by::dominance) continue;
      double const largest = std::max(std::abs(row.lowest[c]), std::abs(row.highest[c]));
      if (!(std::max(row.lowest[c] - got, got - row.highest[c]) <= row.hull_margin(largest))) return false;
    }
    return true;
  }

  reference::lse_in_words lse_of(row_type const& row) const noexcept {
    return reference::in_base(lse_base_, reference::lse_in_words{row.lse, row.lse_low, row.lse_radius});
  }

  bool certifies_lse(row_type const& row, tally& found) {
    double const got = as_double(outputs_.lse(row.b, row.h, row.i, 0));
    auto const [middle, low, radius] = lse_of(row);
    return within<problem::lse_element<T>>(output_kind::lse, got, middle, low, radius,
                                           reference::in_base(lse_base_, row.lse_bound), found);
  }

  bool certifies_weights(row_type const& row, tally& found) {
    using reference::judged_by;
    if (!row.terms->judges()) return false;
    double sum = 0, bounds = 0;
    std::size_t at = 0;
    for (std::int64_t j = 0; j < problem_.size().m; ++j) {
      double const got = as_double(outputs_.weights(row.b, row.h, row.i, j));
      if (at == row.keys.size() || row.keys[at] != j) {  // masked, or a score of −∞
        if (got != 0) return false;
        found.count_by_rule(output_kind::weights);
        continue;
      }
      auto const by = row.weight_by_theorem[at] > 0 ? judged_by::theorem : judged_by::dominance;
      reference::error_bound bound{row.weight_bound[at], by};
      bound.dull = reference::is_dull_weight(row.terms->n, row.weight_bound[at], row.weight_upper[at]);
      if (got < 0) return false;
      auto const [middle, low, radius] = weight_of(row, at);
      if (!within<T>(output_kind::weights, got, middle, low, radius, bound, found)) return false;
      sum += got;
      bounds += row.weight_bound[at];
      ++at;
    }
    // The roundings of two sums of at most m numbers in [0, 2]. The weights sum to 1 minus the sink's weight.
    double const slack = static_cast<double>(problem_.size().m) * 0x1p-52, most = bounds * (1 - slack) + slack;
    return sum - (1 - row.sink_lower) <= most && (1 - row.sink_upper) - sum <= most;
  }

  /// Adds the elements of a certified row, compared with the bounds of one of `sharper`.
  void compare(row_type const& row, judgement& into) const {
    preset_comparison found{sharper_[row.model - 1].preset};
    auto const add = [&](double got, double middle, double low, double radius, reference::error_bound const& bound) {
      double const distance = distance_upper(got, middle, low);
      audit::compare(found, got, distance * (1 - 0x1p-49) - radius, (distance + radius) * (1 + 0x1p-51), bound);
    };
    for (std::size_t c = 0; outputs_.o.present && c < row.o.size(); ++c)
      add(as_double(outputs_.o(row.b, row.h, row.i, static_cast<std::int64_t>(c))), row.o[c],
          row.o_low.empty() ? 0 : row.o_low[c], row.o_radius[c], bound_of_output(row, c));
    if (outputs_.lse.present) {
      auto const [middle, low, radius] = lse_of(row);
      add(as_double(outputs_.lse(row.b, row.h, row.i, 0)), middle, low, radius,
          reference::in_base(lse_base_, row.lse_bound));
    }
    if (outputs_.weights.present && row.terms->judges())
      for (std::size_t at = 0; at < row.keys.size(); ++at) {
        if (row.keys[at] == reference::sink_index) continue;
        auto const [middle, low, radius] = weight_of(row, at);
        add(as_double(outputs_.weights(row.b, row.h, row.i, row.keys[at])), middle, low, radius,
            {row.weight_bound[at], reference::judged_by::theorem});
      }
    merge(into.beside, found);
  }

  /// π = middle + low ± radius.
  struct enclosed_weight {
    double middle, low, radius;
  };
  static enclosed_weight weight_of(row_type const& row, std::size_t at) noexcept {
    if (!row.weight.empty()) return {row.weight[at], row.weight_low[at], row.weight_radius[at]};
    double const low = row.weight_lower[at], high = row.weight_upper[at], middle = (low + high) / 2;
    return {middle, 0, (high - low) * (0.5 + 0x1p-40) + 0x1p-1022 + middle * 0x1p-52};
  }

  problem::instance<T> const& problem_;
  output_views<T> outputs_;
  exact_row_judge<T> exact_;
  problem::log_base lse_base_;
  std::span<named_model const> sharper_;
  std::vector<problem::kernel_model> models_;
  std::array<sharpness, output_names.size()> row_sharpness_{};  ///< of the row at hand
  std::array<row_errors, output_names.size()> row_errors_{};    ///< likewise
  std::array<call_errors, output_names.size()> call_errors_{};  ///< of the rows so far
  std::vector<char> one_number_;                                ///< of columns_of_one_number(), for the last b and h
  std::int64_t columns_b_ = -1, columns_h_ = -1;
  std::size_t size_class_ = size_class_of(problem_.size().m);
  std::optional<reference::machine::row_source<T>> rows_;
};

}  // namespace attest::audit
