// reference/machine/rounded.hpp, compiled for every element type of the problem and of the result.
#include "reference/machine/rounded.hpp"

#include <tuple>
#include <variant>

#include "reference/bound/lse_base.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"

namespace attest::reference::machine {

template <class Target, class T>
void row_rounder<Target, T>::open() {
  auto rows = row_source<T>::make(problem_, {}, {.weights = options_.weights, .bounds = false});
  if (rows) rows_.emplace(std::move(rows).value());
  row_.o.resize(static_cast<std::size_t>(problem_.size().dv));
  if (options_.weights) row_.weights.resize(static_cast<std::size_t>(problem_.size().m));
}

template <class Target, class T>
void row_rounder<Target, T>::run(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1,
                                 void (*visit)(void*, rounded_row<Target> const&), void* to) {
  auto const round_row = [&](certified_row const& row) {
    row_.b = row.b, row_.h = row.h, row_.i = row.i;
    balls_known_ = sharp_known_ = false;
    sums_.reset();
    if (!row.handed_over) round(row);
    else if (!sharp().handed_over) round(sharp());
    else round_in_balls();
    visit(to, row_);
  };
  if (rows_) return rows_->each(b, h, i0, i1, round_row);
  certified_row row;
  row.b = b, row.h = h;
  for (row.i = i0; row.i < i1; ++row.i) round_row(row);
}

template <class Target, class T>
enclosed_row<128, T> const& row_rounder<Target, T>::balls() {
  if (!balls_known_) compiled::enclose_row(problem_, row_.b, row_.h, row_.i, balls_);
  balls_known_ = true;
  return balls_;
}

template <class Target, class T>
exponential_sums<T>& row_rounder<Target, T>::sums() {
  if (!sums_) sums_.emplace(compiled::sums_of(balls()));
  return *sums_;
}

template <class Target, class T>
certified_row const& row_rounder<Target, T>::sharp() {
  if (sharp_known_) return sharp_;
  sharp_known_ = true, sharp_ = {};
  if (std::is_same_v<T, double> || !rows_) return sharp_;
  if (!sharper_) {
    auto source =
        row_source<T>::make(problem_, {}, {.weights = options_.weights, .bounds = false, .double_words = true});
    if (!source) return sharp_;
    sharper_.emplace(std::move(source).value());
  }
  sharper_->each(row_.b, row_.h, row_.i, row_.i + 1, [&](certified_row const& row) { sharp_ = row; });
  return sharp_;
}

template <class Target, class T>
template <class Nearest>
rounded_value<Target> row_rounder<Target, T>::by_either(certified_row const& row, Nearest&& nearest) {
  if (auto const value = nearest(row)) return value;
  if (&row == &sharp_ || sharp().handed_over) return std::nullopt;
  auto const value = nearest(sharp());
  tally_.in_double_words += value.has_value();
  return value;
}

template <class Target, class T>
Target row_rounder<Target, T>::by_machine(Target value) {
  ++tally_.elements;
  return value;
}

template <class Target, class T>
Target row_rounder<Target, T>::by_ball_tier(rounded_value<Target> const& value) {
  ++tally_.elements, ++tally_.in_balls;
  if (!value) ++tally_.undecided;
  return value.value_or(quiet_nan<Target>());
}

template <class Target, class T>
Target row_rounder<Target, T>::ball_output(std::int64_t c) {
  if (compiled::output(problem_, balls(), c).kind != value_kind::finite) return quiet_nan<Target>();
  if (balls().kind == row_kind::empty) return by_ball_tier(value_of_ordinal<Target>(0));
  return by_ball_tier(compiled::rounded_output<Target>(problem_, balls(), c, sums()));
}

/// The value to which every number in the enclosure of weight `at` rounds; a weight is never 0.
template <class Target>
rounded_value<Target> nearest_weight(certified_row const& row, std::size_t at) {
  std::int64_t const number = nearest_ordinal<Target>(row.weight_lower[at]);
  if (number == nearest_ordinal<Target>(row.weight_upper[at])) return value_of_ordinal<Target>(number);
  if (row.weight.empty()) return std::nullopt;
  return nearest_of_all<Target>(row.weight[at], row.weight_low[at], row.weight_radius[at]);
}

template <class Target, class T>
void row_rounder<Target, T>::round(certified_row const& row) {
  for (std::size_t c = 0; c < row_.o.size(); ++c) {
    auto const value = by_either(row, [&](certified_row const& by) {
      return nearest_of_all<Target>(by.o[c], by.o_low.empty() ? 0 : by.o_low[c], by.o_radius[c]);
    });
    row_.o[c] = value ? by_machine(*value) : ball_output(static_cast<std::int64_t>(c));
  }
  if (options_.lse) {
    auto const value = by_either(row, [&](certified_row const& by) {
      auto const [middle, low, radius] = in_base(problem_.base(), lse_in_words{by.lse, by.lse_low, by.lse_radius});
      return nearest_of_all<Target>(middle, low, radius);
    });
    row_.lse = value ? by_machine(*value) : by_ball_tier(compiled::rounded_log_sum_exp<Target>(balls(), sums()));
  }
  std::size_t at = 0;
  for (std::size_t j = 0; j < row_.weights.size(); ++j) {
    if (at == row.keys.size() || row.keys[at] != static_cast<std::int64_t>(j)) {
      row_.weights[j] = by_machine(Target{});  // masked, or with a score of −∞
      continue;
    }
    auto const value = by_either(row, [&](certified_row const& by) { return nearest_weight<Target>(by, at); });
    row_.weights[j] = value ? by_machine(*value) : by_ball_tier(compiled::rounded_weight<Target>(balls(), at, sums()));
    ++at;
  }
}

template <class Target, class T>
Target row_rounder<Target, T>::lse_of_empty() {
  switch (balls().empty_lse) {
    case number_class::minus_infinity: return value_of_ordinal<Target>(-infinity_ordinal<Target>);
    case number_class::plus_infinity: return value_of_ordinal<Target>(infinity_ordinal<Target>);
    default: return quiet_nan<Target>();
  }
}

template <class Target, class T>
void row_rounder<Target, T>::round_in_balls() {
  row_kind const kind = balls().kind;
  for (std::size_t c = 0; c < row_.o.size(); ++c) row_.o[c] = ball_output(static_cast<std::int64_t>(c));
  if (options_.lse)
    row_.lse = kind == row_kind::finite  ? by_ball_tier(compiled::rounded_log_sum_exp<Target>(balls(), sums()))
               : kind == row_kind::empty ? lse_of_empty()
                                         : quiet_nan<Target>();
  std::size_t at = 0;
  for (std::size_t j = 0; j < row_.weights.size(); ++j) {
    bool const seen =
        kind == row_kind::finite && at < balls().keys.size() && balls().keys[at].j == static_cast<std::int64_t>(j);
    row_.weights[j] = kind == row_kind::nan ? quiet_nan<Target>()
                      : seen                ? by_ball_tier(compiled::rounded_weight<Target>(balls(), at, sums()))
                                            : by_machine(Target{});
    at += seen;
  }
}

namespace {

template <class Target, class T>
void round_all(problem::instance<T> const& p, rounding_options const& options) {
  row_rounder<Target, T>(p, options).each(0, 0, 0, p.size().n, [](auto const&) {});
}
template <class Target, class... T>
constexpr auto rounders_to(std::variant<problem::instance<T>...> const*) {
  return std::tuple{&round_all<Target, T>...};
}
template <class... Target>
constexpr auto rounders(std::variant<problem::instance<Target>...> const* from) {
  return std::tuple{rounders_to<Target>(from)...};
}
/// Instantiates the functions of row_rounder for every pair of element types.
[[gnu::used]] constexpr auto kept = rounders(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::reference::machine
