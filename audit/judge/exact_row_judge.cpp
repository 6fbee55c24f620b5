#include "audit/judge/exact_row_judge.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "audit/judge/element_value.hpp"
#include "audit/judge/one_element.hpp"
#include "audit/judge/outside_hypotheses.hpp"
#include "audit/judge/value_hull.hpp"
#include "reference/attention/infinite_score.hpp"
#include "reference/bound/lse_base.hpp"
#include "reference/machine/rows.hpp"

namespace attest::audit {

template <class T>
void exact_row_judge<T>::judge(std::int64_t b, std::int64_t h, std::int64_t i, judgement& into) {
  b_ = b, h_ = h, i_ = i, before_ = into.failed;
  exact_ = exact_values_of(says_.how, problem_.keys(b));
  second_.reset();
  last_.reset();
  first_.evaluate(problem_, model_, b, h, i);
  if (is_outside_hypotheses(problem_, model_, first_, b, h, i)) {
    problem::sizes const& s = problem_.size();
    constexpr auto why = not_judged_because::outside_hypotheses;
    if (outputs_.o.present) into.leave_out(output_kind::o, s.dv, why);
    if (outputs_.lse.present) into.leave_out(output_kind::lse, 1, why);
    if (outputs_.weights.present) into.leave_out(output_kind::weights, s.m, why);
    return;
  }
  bound_again();
  if (outputs_.o.present) judge_o(into);
  if (outputs_.lse.present && !enough(into)) judge_lse(into);
  if (outputs_.weights.present && !enough(into)) judge_weights(into);
}

template <class T>
void exact_row_judge<T>::bound_again() {
  sharper_bounds_.clear();
  if (first_.row.kind != reference::row_kind::finite || !reference::machine::bounded_again(problem_.size(), b_, h_, i_))
    return;
  sharper_bounds_.resize(sharper_.size());
  for (std::size_t n = 0; n < sharper_.size(); ++n)
    reference::compiled::evaluate(sharper_bounds_[n], sharper_[n].model, first_.facts);
}

template <class T>
void exact_row_judge<T>::violate(judgement& into, char const* output, std::int64_t at, double got, double truth_lower,
                                 double truth_upper, double bound, double error_in_bounds,
                                 std::optional<bug_class> kind, std::string sentence) {
  ++into.failed;
  violation found{output, {b_, h_, i_, at}, got, truth_lower, truth_upper, bound, error_in_bounds, kind, {}};
  found.sentence = output == std::string_view("lse")
                       ? fmt::format("lse[{}, {}, {}] is {}{}", b_, h_, i_, got,
                                     model_.lse_base == problem::log_base::two ? " in base 2" : "")
                       : fmt::format("{}[{}, {}, {}, {}] is {}", output, b_, h_, i_, at, got);
  found.sentence += ", " + sentence;
  into.add(std::move(found));
}

void compare(preset_comparison& with, double got, double lower, double upper, reference::error_bound const& bound) {
  if (bound.by == reference::judged_by::nothing || !(bound.size < reference::infinity)) return;
  if (!std::isfinite(got)) return with.add(reference::infinity, reference::infinity);
  // Each quotient, and the difference, rounds once.
  constexpr double up = 1 + 0x1p-51, down = 1 - 0x1p-51;
  auto const in_units = [](double error, double of) { return error == 0 ? 0 : error / of; };
  double least = in_units(lower, bound.size) * down, most = in_units(upper, bound.size) * up;
  if (bound.known_size < reference::infinity) {
    double const beside = in_units(std::abs(got - bound.known_center), bound.known_size);
    least = std::max(least, beside * down), most = std::max(most, beside * up);
  }
  with.add(least, most);
}

template <class T>
reference::value_kind exact_row_judge<T>::kind_beside_cutoff(std::int64_t c, reference::value_kind exact) const {
  using reference::value_kind;
  bool const of_values = exact == value_kind::nan || exact == value_kind::not_finite;
  if (!of_values || !(model_.x0 < reference::infinity) || first_.row.kind != reference::row_kind::finite) return exact;
  auto const keys = first_.row.real_keys();
  bool some_left_out = false, others = false, some_finite = false;
  for (std::size_t at = 0; at < keys.size(); ++at) {
    if (std::isfinite(as_double(problem_.v().row(b_, reference::key_head(problem_.size(), h_), keys[at].j)[c]))) {
      some_finite = true;
      continue;
    }
    bool const left_out = first_.bound.may_leave_out(at);
    some_left_out |= left_out, others |= !left_out;
  }
  // No kernel leaves out all keys: the key with the largest score of its own arithmetic stays.
  return !some_left_out ? exact : others || !some_finite ? value_kind::not_finite : value_kind::unspecified;
}

template <class T>
void exact_row_judge<T>::judge_o(judgement& into) {
  using reference::row_kind;
  using reference::value_kind;
  problem::sizes const& s = problem_.size();
  for (std::int64_t c = 0; c < s.dv && !enough(into); ++c) {
    T const got = outputs_.o(b_, h_, i_, c);
    auto const exact = reference::compiled::output(problem_, first_.row, c);
    switch (kind_beside_cutoff(c, exact.kind)) {
      case value_kind::unspecified: into.leave_out(output_kind::o, 1, not_judged_because::value_left_open); continue;
      case value_kind::nan:
        by_rule_unless_open(into, output_kind::o, c, got, std::nan(""),
                            "a visible NaN or +inf score reaches every output of its row");
        continue;
      case value_kind::not_finite:
        into.count_by_rule(output_kind::o);
        if (std::isfinite(as_double(got)) && !exact_.any_for_nan)
          violate(into, "o", c, as_double(got), -reference::infinity, reference::infinity, 0, reference::infinity,
                  bug_class::nan_swallowed, "but a visible key has an infinite value in this column");
        continue;
      case value_kind::finite: break;
    }
    if (first_.row.kind == row_kind::empty) {
      bool const has_sink = first_.row.empty_lse != reference::number_class::minus_infinity;
      by_rule_of_empty(into, output_kind::o, c, got, has_sink ? 0 : exact_.empty_o, 0);
      continue;
    }
    bool const by_dominance = by_bound(
        into, output_kind::o, c, got,
        [&]<unsigned W>(std::integral_constant<unsigned, W>) {
          return reference::compiled::output(problem_, truth<W>().row, c).value;
        },
        [&](reference::row_bound const& bound, auto const& at, auto const& o) {
          return reference::compiled::output_bound(bound, problem_, at.row, c, o);
        });
    if (by_dominance) by_hull(into, c, got);
  }
}

template <class T>
void exact_row_judge<T>::by_hull(judgement& into, std::int64_t c, T got) {
  value_hull const hull = hull_of(problem_, first_, b_, h_, c);
  double const value = as_double(got), beyond = hull.beyond(value);
  if (beyond > hull.margin)
    violate(into, "o", c, value, hull.lowest, hull.highest, hull.margin, beyond / hull.margin, bug_class::large_scores,
            fmt::format("outside the visible values [{}, {}] that it averages", hull.lowest, hull.highest));
}

template <class T>
void exact_row_judge<T>::judge_lse(judgement& into) {
  using reference::row_kind;
  auto const got = outputs_.lse(b_, h_, i_, 0);
  switch (first_.row.kind) {
    case row_kind::nan: {
      if (!reference::lse_is_infinite(problem_, b_, h_, i_))
        return by_rule_unless_open(into, output_kind::lse, 0, got, std::nan(""), "a visible score is NaN");
      double const expected = std::isnan(as_double(got)) ? as_double(got) : reference::infinity;
      return by_rule_unless_open(into, output_kind::lse, 0, got, expected,
                                 "a visible score is +inf and none is NaN (NaN is accepted, too)");
    }
    case row_kind::empty: {
      double const usual = lse_of_empty(first_.row);
      return by_rule_of_empty(into, output_kind::lse, 0, got, usual == -reference::infinity ? exact_.empty_lse : usual,
                              usual);
    }
    case row_kind::finite: break;
  }
  by_bound(
      into, output_kind::lse, 0, got,
      [&]<unsigned W>(std::integral_constant<unsigned, W>) {
        return reference::in_base(model_.lse_base, reference::compiled::log_sum_exp(truth<W>().row));
      },
      [&](reference::row_bound const& bound, auto const&, auto const&) {
        return reference::in_base(model_.lse_base, bound.log_sum_exp());
      });
}

template <class T>
void exact_row_judge<T>::judge_weights(judgement& into) {
  using reference::row_kind;
  problem::sizes const& s = problem_.size();
  if (first_.row.kind == row_kind::nan) {
    for (std::int64_t j = 0; j < s.m; ++j) {
      T const got = outputs_.weights(b_, h_, i_, j);
      // A kernel that does not compute hidden weights writes 0 in every row.
      bool const zero_is_right = as_double(got) == 0 && !reference::visible(problem_, b_, h_, i_, j);
      by_rule_unless_open(into, output_kind::weights, j, got, zero_is_right ? 0 : std::nan(""),
                          "a visible score is NaN or +inf");
    }
    return;
  }
  auto const keys = first_.row.real_keys();
  std::size_t at_key = 0;
  double sum = 0;
  bool finite = true;
  for (std::int64_t j = 0; j < s.m; ++j) {
    T const got = outputs_.weights(b_, h_, i_, j);
    if (at_key == keys.size() || keys[at_key].j != j) {
      bool const seen = reference::visible(problem_, b_, h_, i_, j), empty = first_.row.kind == row_kind::empty;
      auto const which = empty  ? std::optional(bug_class::empty_row)
                         : seen ? std::nullopt
                                : std::optional(bug_class::mask_polarity);
      by_rule(into, output_kind::weights, j, got, 0, which, seen ? "its score is -inf" : "the key is masked");
      continue;
    }
    std::size_t const n = at_key++;
    double const value = as_double(got);
    finite = finite && std::isfinite(value);
    sum += value;
    if (value < 0)
      violate(into, "weights", j, value, 0, 1, 0, reference::infinity, std::nullopt, "a weight is never negative");
    by_bound(
        into, output_kind::weights, j, got,
        [&]<unsigned W>(std::integral_constant<unsigned, W>) { return reference::compiled::weight(truth<W>().row, n); },
        [&](reference::row_bound const& bound, auto const&, auto const&) { return bound.weight(n); });
  }
  if (first_.row.kind != row_kind::finite || !finite) return;
  if (first_.row.has_sink()) return;  // the weights sum to what the sink leaves, and each is judged
  auto const bound = first_.bound.row_sum();
  double const slack = static_cast<double>(s.m) * 0x1p-52;  // for rounding this double sum of numbers in [0, 2]
  if (bound.by != reference::judged_by::nothing && std::abs(sum - 1) > bound.size + 2 * slack)
    violate(into, "weights", 0, sum, 1, 1, bound.size, std::abs(sum - 1) / bound.size, std::nullopt,
            "the sum of the row's weights, which must be 1 within its bound");
}

namespace {

template <class... T>
constexpr auto judges(std::variant<problem::instance<T>...> const*) {
  return std::tuple{&exact_row_judge<T>::judge...};
}
/// Compiles exact_row_judge for every element type.
[[gnu::used]] constexpr auto row_judges = judges(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::audit
