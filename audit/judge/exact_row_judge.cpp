#include "audit/judge/exact_row_judge.hpp"

#include <algorithm>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "reference/attention/infinite_score.hpp"
#include "reference/bound/lse_base.hpp"
#include "reference/machine/rows.hpp"

namespace attest::audit {
namespace {

/// Does the q·k of a visible key multiply an infinity by a number that the kernel may read as 0? Such a number is below
/// ω (alone or times σ·log₂ e), or it is σ if σ may be 0. Then the kernel's score is NaN, whatever the exact score is,
/// and the row is not judged (E10 of docs/bound.md).
template <class T>
bool flushed_meets_infinity(problem::instance<T> const& p, problem::kernel_model const& model,
                            reference::enclosed_row<first_width, T> const& row, std::int64_t b, std::int64_t h,
                            std::int64_t i) {
  std::int64_t const d = p.size().d, hk = reference::key_head(p.size(), h);
  T const* const q = p.q().row(b, h, i);
  // The smallest factor other than 1 that a kernel may fold into q or k is σ, rounded down as a kernel may round it.
  double const scale = reference::given_scale(p).value_or(1 / std::sqrt(static_cast<double>(d)));
  double const sigma = reference::size_upper(reference::value_of(scale));
  double const roundings = std::max(8 * model.format.u, model.k_qk_base * model.u_qk);
  double const folded = sigma * (1 - roundings);
  bool const scale_may_be_zero = sigma > 0 && folded < model.format.omega;
  auto const may_be_zero = [&](T x) {
    double const size = std::abs(as_double(x));
    return size > 0 && (size < model.format.omega || size * folded < model.format.omega);
  };
  auto const meets = [&](std::int64_t j) {
    T const* const k = p.k().row(b, hk, j);
    for (std::int64_t t = 0; t < d; ++t) {
      bool const infinite_q = std::isinf(as_double(q[t])), infinite_k = std::isinf(as_double(k[t]));
      if (scale_may_be_zero && (infinite_q || infinite_k)) return true;
      if ((infinite_q && may_be_zero(k[t])) || (infinite_k && may_be_zero(q[t]))) return true;
    }
    return false;
  };
  return std::ranges::any_of(row.real_keys(), [&](auto const& key) { return meets(key.j); }) ||
         std::ranges::any_of(row.without_weight, meets);
}

}  // namespace

template <class T>
bool is_outside_hypotheses(problem::instance<T> const& p, problem::kernel_model const& model,
                           row_truth<first_width, T> const& truth, std::int64_t b, std::int64_t h, std::int64_t i) {
  using reference::row_kind;
  // Outside H0 the scores of an honest kernel may overflow: to −∞, and then a NaN in V does not reach the output, or to
  // NaN if the bias is −∞.
  row_kind const kind = truth.row.kind;
  bool const outside = kind == row_kind::finite
                           ? !truth.bound.says_anything()
                           : kind == row_kind::empty &&
                                 !reference::keys_without_weight_in_range(model, reference::range_of(p, truth.row));
  return outside || (kind != row_kind::nan && model.flushes && flushed_meets_infinity(p, model, truth.row, b, h, i));
}

template <class T>
value_hull hull_of(problem::instance<T> const& p, row_truth<first_width, T> const& truth, std::int64_t b,
                   std::int64_t h, std::int64_t c) {
  std::int64_t const hk = reference::key_head(p.size(), h);
  value_hull hull{reference::infinity, -reference::infinity};
  auto const add = [&](double lowest, double highest) {
    hull.lowest = std::min(hull.lowest, lowest), hull.highest = std::max(hull.highest, highest);
  };
  double const dropout = reference::dropout_of(p);
  for (auto const& key : truth.row.real_keys()) {
    double const v = as_double(p.v()(b, hk, key.j, c));
    if (dropout == 0) add(v, v);
    else add(reference::rounded_down(v / (1 - dropout)), reference::rounded_up(v / (1 - dropout)));
  }
  // A sink, and a key that dropout removes, add the value 0.
  if (truth.row.has_sink() || p.keep().present) add(0, 0);
  hull.margin = truth.bound.hull_margin(std::max(std::abs(hull.lowest), std::abs(hull.highest)));
  return hull;
}

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

template <class T>
template <class E>
void exact_row_judge<T>::by_rule(judgement& into, output_kind output, std::int64_t at, E got, double expected,
                                 std::optional<bug_class> kind, std::string const& why) {
  into.count_by_rule(output);
  double const value = as_double(got);
  if (std::isnan(expected) ? std::isnan(value) : value == expected) return;
  violate(into, output_names[static_cast<std::size_t>(output)], at, value, expected, expected, 0, reference::infinity,
          kind, fmt::format("expected {}: {}", expected, why));
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
template <class E, class Truth, class Bound>
bool exact_row_judge<T>::by_bound(judgement& into, output_kind kind, std::int64_t at, E got, Truth&& truth_at,
                                  Bound&& bound_at) {
  char const* const output = output_names[static_cast<std::size_t>(kind)];
  using reference::decision;
  double const value = as_double(got);
  bool counted = false, by_dominance = false;
  auto const decide = [&]<unsigned W>(std::integral_constant<unsigned, W>) -> decision {
    auto const truth = truth_at(std::integral_constant<unsigned, W>{});
    reference::error_bound const bound = bound_at(this->truth<W>().bound, this->truth<W>(), truth);
    double const lowest = reference::lower(truth), highest = reference::upper(truth);
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

template <class T>
void exact_row_judge<T>::judge_o(judgement& into) {
  using reference::row_kind;
  using reference::value_kind;
  problem::sizes const& s = problem_.size();
  for (std::int64_t c = 0; c < s.dv && !enough(into); ++c) {
    T const got = outputs_.o(b_, h_, i_, c);
    auto const exact = reference::compiled::output(problem_, first_.row, c);
    switch (exact.kind) {
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
      return by_rule_of_empty(into, output_kind::lse, 0, got,
                              usual == -reference::infinity ? exact_.empty_lse : usual, usual);
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
  return std::tuple{&exact_row_judge<T>::judge..., &is_outside_hypotheses<T>..., &hull_of<T>...};
}
/// Compiles exact_row_judge for every element type.
[[gnu::used]] constexpr auto row_judges = judges(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::audit
