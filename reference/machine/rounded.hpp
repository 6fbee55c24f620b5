// O, weights and LSE correctly rounded, by the machine tier where its enclosures leave one value (first in doubles, then
// in double words; f64 in double words alone), by the ball tier (reference/attention/correctly_rounded.hpp) where they do not.
// The answer is the same either way; only the time differs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/attention/correctly_rounded.hpp"
#include "reference/machine/rows.hpp"

namespace attest::reference::machine {

/// One row. NaN where docs/semantics.md says NaN or leaves the value open, and where the ball tier found no width that
/// decides; a masked key's weight is 0, the LSE of an empty row −∞.
template <class Target>
struct rounded_row {
  std::int64_t b = 0, h = 0, i = 0;
  std::vector<Target> o, weights;
  Target lse{};
};

struct rounding_tally {
  std::int64_t elements = 0;   ///< that were rounded: all but those that are NaN or −∞ by rule
  std::int64_t in_double_words = 0;   ///< of these, by double words after doubles left them open
  std::int64_t in_balls = 0;    ///< of these, by the ball tier
  std::int64_t undecided = 0;  ///< of these, left open by every width
  rounding_tally& operator+=(rounding_tally const& other) noexcept {
    elements += other.elements, in_double_words += other.in_double_words, in_balls += other.in_balls, undecided += other.undecided;
    return *this;
  }
};

struct rounding_options {
  bool weights = true, lse = true;  ///< beside o
};

/// Rounds rows of one problem to Target: nearest, ties to even. One object a thread.
template <class Target, class T>
class row_rounder {
 public:
  /// Requires  the instance outlives this object
  explicit row_rounder(problem::instance<T> const& p, rounding_options const& options = {}) : problem_(p), options_(options) {
    auto made = row_source<T>::make(p, {}, {.weights = options.weights, .bounds = false});
    if (made) rows_.emplace(std::move(made).value());
    row_.o.resize(static_cast<std::size_t>(p.size().dv));
    if (options.weights) row_.weights.resize(static_cast<std::size_t>(p.size().m));
  }

  /// visit(rounded_row<Target> const&) for rows i0 ≤ i < i1 of head h of batch b, in order.
  template <class Visit>
  void each(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1, Visit&& visit) {
    auto const one = [&](certified_row const& row) {
      row_.b = row.b, row_.h = row.h, row_.i = row.i;
      balls_known_ = sharp_known_ = false;
      if (!row.handed_over) round(row);
      else if (!sharp().handed_over) round(sharp());
      else round_in_balls();
      visit(static_cast<rounded_row<Target> const&>(row_));
    };
    if (rows_) return rows_->each(b, h, i0, i1, one);
    certified_row row;
    row.b = b, row.h = h;
    for (row.i = i0; row.i < i1; ++row.i) one(row);
  }

  rounding_tally const& tally() const noexcept { return tally_; }

 private:
  static constexpr unsigned W = 128;

  /// The row in the ball tier, made once for as many elements as ask for it.
  enclosed_row<W, T> const& balls() {
    if (!balls_known_) enclose_row(problem_, row_.b, row_.h, row_.i, balls_);
    balls_known_ = true;
    return balls_;
  }
  /// The row in double words, made once for as many elements as ask for it. Handed over where there is none, or where
  /// it has been asked already (f64).
  certified_row const& sharp() {
    if (sharp_known_) return sharp_;
    sharp_known_ = true, sharp_ = {};
    if (std::is_same_v<T, double> || !rows_) return sharp_;
    if (!sharper_) {
      auto made = row_source<T>::make(problem_, {}, {.weights = options_.weights, .bounds = false, .double_words = true});
      if (!made) return sharp_;
      sharper_.emplace(std::move(made).value());
    }
    sharper_->each(row_.b, row_.h, row_.i, row_.i + 1, [&](certified_row const& row) { sharp_ = row; });
    return sharp_;
  }
  /// What `nearest(row)` says, of the row in double words where the row itself leaves it open.
  template <class Nearest>
  rounded_value<Target> by_either(certified_row const& row, Nearest&& nearest) {
    if (auto const value = nearest(row)) return value;
    if (&row == &sharp_ || sharp().handed_over) return std::nullopt;
    auto const value = nearest(sharp());
    tally_.in_double_words += value.has_value();
    return value;
  }
  Target by_machine(Target value) {
    ++tally_.elements;
    return value;
  }
  Target by_ball_tier(rounded_value<Target> const& value) {
    ++tally_.elements, ++tally_.in_balls;
    if (!value) ++tally_.undecided;
    return value.value_or(quiet_nan<Target>());
  }

  Target ball_output(std::int64_t c) {
    if (output(problem_, balls(), c).kind != value_kind::finite) return quiet_nan<Target>();
    return by_ball_tier(rounded_output<Target>(problem_, balls(), c));
  }

  void round(certified_row const& row) {
    for (std::size_t c = 0; c < row_.o.size(); ++c) {
      auto const value = by_either(row, [&](certified_row const& by) {
        return nearest_of_all<Target>(by.o[c], by.o_low.empty() ? 0 : by.o_low[c], by.o_radius[c]);
      });
      row_.o[c] = value ? by_machine(*value) : ball_output(static_cast<std::int64_t>(c));
    }
    if (options_.lse) {
      auto const value = by_either(row, [](certified_row const& by) {
        return nearest_of_all<Target>(by.lse, by.lse_low, by.lse_radius);
      });
      row_.lse = value ? by_machine(*value) : by_ball_tier(rounded_log_sum_exp<Target>(balls()));
    }
    std::size_t at = 0;
    for (std::size_t j = 0; j < row_.weights.size(); ++j) {
      if (at == row.keys.size() || row.keys[at] != static_cast<std::int64_t>(j)) {
        row_.weights[j] = by_machine(Target{});  // masked, or a score of −∞
        continue;
      }
      auto const value = by_either(row, [&](certified_row const& by) { return nearest_weight(by, at); });
      row_.weights[j] = value ? by_machine(*value) : by_ball_tier(rounded_weight<Target>(balls(), at));
      ++at;
    }
  }

  /// What every number that weight `at` may be rounds to; a weight is never 0.
  static rounded_value<Target> nearest_weight(certified_row const& row, std::size_t at) {
    std::int64_t const number = nearest_ordinal<Target>(row.weight_lower[at]);
    if (number == nearest_ordinal<Target>(row.weight_upper[at])) return value_of_ordinal<Target>(number);
    if (row.weight.empty()) return std::nullopt;
    return nearest_of_all<Target>(row.weight[at], row.weight_low[at], row.weight_radius[at]);
  }

  void round_in_balls() {
    row_kind const kind = balls().kind;
    for (std::size_t c = 0; c < row_.o.size(); ++c) row_.o[c] = ball_output(static_cast<std::int64_t>(c));
    if (options_.lse)
      row_.lse = kind == row_kind::finite  ? by_ball_tier(rounded_log_sum_exp<Target>(balls()))
                 : kind == row_kind::empty ? value_of_ordinal<Target>(-infinity_ordinal<Target>)
                                           : quiet_nan<Target>();
    std::size_t at = 0;
    for (std::size_t j = 0; j < row_.weights.size(); ++j) {
      bool const seen = kind == row_kind::finite && at < balls().keys.size() &&
                        balls().keys[at].j == static_cast<std::int64_t>(j);
      row_.weights[j] = kind == row_kind::nan ? quiet_nan<Target>()
                        : seen                ? by_ball_tier(rounded_weight<Target>(balls(), at))
                                              : by_machine(Target{});
      at += seen;
    }
  }

  problem::instance<T> const& problem_;
  rounding_options options_;
  std::optional<row_source<T>> rows_, sharper_;
  rounded_row<Target> row_;
  certified_row sharp_;
  enclosed_row<W, T> balls_;
  bool sharp_known_ = false, balls_known_ = false;
  rounding_tally tally_;
};

}  // namespace attest::reference::machine
