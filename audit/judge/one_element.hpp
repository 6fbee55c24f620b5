// How exact_row_judge judges one element of a row: by an exact rule, or by its bound at widths that grow.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"

namespace attest::audit {

template <class T>
template <unsigned W>
row_truth<W, T>& exact_row_judge<T>::truth() {
  auto const refined = [&](auto& at) -> auto& {
    if (!at) at.emplace().evaluate(problem_, model_, b_, h_, i_);
    return *at;
  };
  if constexpr (W == first) return first_;
  else if constexpr (W == second) return refined(second_);
  else return refined(last_);
}

template <class T>
template <class E>
void exact_row_judge<T>::by_rule(judgement& into, output_kind output, std::int64_t at, E got, double expected,
                                 std::optional<bug_class> kind, std::string const& why) {
  into.count_by_rule(output);
  double const value = as_double(got);
  if (std::isnan(expected) ? std::isnan(value) : value == expected) return;
  violate(into, name_of(output), at, value, expected, expected, 0, reference::infinity, kind,
          fmt::format("expected {}: {}", expected, why));
}

template <class T>
template <class E>
void exact_row_judge<T>::by_rule_unless_open(judgement& into, output_kind output, std::int64_t at, E got,
                                             double expected, std::string const& why) {
  if (exact_.any_for_nan) into.count_by_rule(output);
  else by_rule(into, output, at, got, expected, bug_class::nan_swallowed, why);
}

template <class T>
template <class E>
void exact_row_judge<T>::by_rule_of_empty(judgement& into, output_kind output, std::int64_t at, E got, double expected,
                                          double usual) {
  std::string why = "no key is visible to this query (or every score is -inf)";
  if (!(expected == usual)) why += fmt::format(", and the contract {} says so", says_.name);
  by_rule(into, output, at, got, expected, bug_class::empty_row, why);
}

template <class T>
template <class E, class Truth, class Bound>
bool exact_row_judge<T>::by_bound(judgement& into, output_kind kind, std::int64_t at, E got, Truth&& truth_at,
                                  Bound&& bound_at) {
  char const* const output = name_of(kind);
  using reference::decision;
  double const value = as_double(got);
  bool counted = false, by_dominance = false;
  auto const decide = [&]<unsigned W>(std::integral_constant<unsigned, W>) -> decision {
    auto const truth = truth_at(std::integral_constant<unsigned, W>{});
    reference::error_bound const bound = bound_at(this->truth<W>().bound, this->truth<W>(), truth);
    double const lowest = reference::lower(truth) + 0.0, highest = reference::upper(truth) + 0.0;  // no -0
    bool const overflows = reference::explained_by_overflow(model_, bound, lowest, highest, value);
    if (bound.by == reference::judged_by::nothing || overflows) {
      into.leave_out(kind, 1, overflows ? not_judged_because::format_overflows : not_judged_because::bound_not_finite);
      return decision::yes;
    }
    if (!counted) {
      into.count_by_bound(kind, bound.by == reference::judged_by::theorem);
      double const middle = (lowest + highest) / 2;
      into.sharpness[static_cast<std::size_t>(kind)][size_class_].add(admitted(bound, middle), middle, bound.dull);
    }
    counted = true;
    by_dominance = bound.by == reference::judged_by::dominance;
    auto const fail = [&](double error_in_bounds) {
      violate(into, output, at, value, lowest, highest, bound.size, error_in_bounds, std::nullopt,
              lowest == highest ? fmt::format("the exact value is {}; off by {:.4g} bounds of {:.4g}", lowest,
                                              error_in_bounds, bound.size)
                                : fmt::format("the exact value lies in [{}, {}]; off by {:.4g} bounds of {:.4g}",
                                              lowest, highest, error_in_bounds, bound.size));
      return decision::no;
    };
    bool const finite = std::isfinite(value);
    auto const error = finite ? reference::absolute(reference::ball<W>::from(reference::value_of(got)) - truth) : truth;
    if constexpr (W == first)
      for (std::size_t n = 0; n < sharper_bounds_.size(); ++n) {
        preset_comparison one{sharper_[n].preset};
        compare(one, value, reference::lower(error), reference::upper(error),
                bound_at(sharper_bounds_[n], first_, truth));
        merge(into.beside, one);
      }
    if (!finite) return fail(reference::infinity);
    double const error_in_bounds = reference::upper(error) / bound.size;
    decision const within = reference::at_most(error, reference::ball<W>::from(reference::value_of(bound.size)));
    if (within == decision::undecided) return within;
    into.max_error_in_bounds = std::max(into.max_error_in_bounds, error_in_bounds);
    into.max_ulp = std::max(into.max_ulp, reference::upper(error) / ulp_at<E>(highest));
    into.max_error = std::max(into.max_error, reference::upper(error));
    if (within != decision::yes) return fail(error_in_bounds);
    if (reference::lower(error) > bound.warning) ++into.suspicious;
    // Section 5, Theorem (known weights): the distance from the answer with the weights that the contract's rounding
    // gives.
    double const beside = std::abs(value - bound.known_center);
    if (!(bound.known_size < reference::infinity)) return within;
    into.max_error_in_bounds = std::max(into.max_error_in_bounds, beside / bound.known_size);
    if (reference::rounded_down(beside) <= bound.known_size) return within;
    violate(into, output, at, value, bound.known_center, bound.known_center, bound.known_size,
            beside / bound.known_size, std::nullopt,
            fmt::format("within {:.4g} bounds of the exact value, but weights rounded as the contract declares give "
                        "{:.9g}; off by {:.4g} bounds of {:.4g} from that",
                        error_in_bounds, bound.known_center, beside / bound.known_size, bound.known_size));
    return decision::no;
  };
  decision result = decide(std::integral_constant<unsigned, first>{});
  if (result == decision::undecided) result = decide(std::integral_constant<unsigned, second>{});
  if (result == decision::undecided) result = decide(std::integral_constant<unsigned, last>{});
  if (result == decision::undecided) ++into.undecided;
  return result == decision::yes && by_dominance;
}

}  // namespace attest::audit
