// O, weights and LSE, correctly rounded. docs/rounding.md has the theorem and its proof.
#pragma once

#include <optional>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/exponential_sum.hpp"
#include "reference/real/constants.hpp"
#include "reference/real/nearest.hpp"

namespace attest::reference {

/// The sums over a row that its rounded values need. All elements of a row may share one object.
/// Requires  row.kind finite
template <unsigned W, class T>
constexpr exponential_sums<T> sums_of(enclosed_row<W, T> const& row) {
  std::vector<exact_score<T>> scores;
  for (auto const& key : row.keys) scores.push_back(key.score);
  return exponential_sums<T>(row.rule, scores);
}

namespace detail {

/// Are more than nine values of Target possible? Then a narrower enclosure is cheaper than bisection. (Fewer may be
/// left at any width: the ends of an enclosure are doubles, at least 2^−1074 apart.)
template <class Target, unsigned W>
constexpr bool is_wide(ball<W> const& enclosure) noexcept {
  std::int64_t const low = nearest_ordinal<Target>(lower(enclosure)), high = nearest_ordinal<Target>(upper(enclosure));
  return low < high - 8;  // high − low may pass 2⁶³
}

/// The value in `enclosure`, rounded. As long as it is wide, it is enclosed again, by wider(256) and wider(1152).
template <class Target, unsigned W, class Wider, class SignAgainst>
constexpr rounded_value<Target> nearest_by_widths(ball<W> const& enclosure, Wider&& wider, SignAgainst&& sign_against) {
  if (!is_wide<Target>(enclosure)) return nearest<Target>(enclosure, sign_against);
  auto const at_256 = wider.template operator()<256>();
  if (!is_wide<Target>(at_256)) return nearest<Target>(at_256, sign_against);
  auto const at_1152 = wider.template operator()<1152>();
  return at_1152.radius <= at_256.radius ? nearest<Target>(at_1152, sign_against)
                                         : nearest<Target>(at_256, sign_against);
}

}  // namespace detail

/// (1 − p)·t as an integer of exact_coefficient's unit. Returns nothing if it may not be one: p has a bit below 2^−120,
/// so p < 2^−67.
/// Why       t is a boundary of a format, a multiple of 2^−1076
constexpr std::optional<integer<exact_coefficient::bits>> kept_part_of(element const& t, double dropout) noexcept {
  integer<exact_coefficient::bits> const whole = exact_coefficient::at_unit(t);
  if (!(dropout > 0)) return whole;
  element const p = detail::canonical(value_of(dropout));
  if (p.exponent < -120) return std::nullopt;
  integer<exact_coefficient::bits> lost = whole;
  lost *= p.significand;
  return integer<exact_coefficient::bits>(whole - shifted(lost, p.exponent));
}

/// O at column c, correctly rounded to Target: o − t has the sign of Σ_j e^(s_j)·(v_jc − (1 − p)·t), with v_jc = 0 for
/// a dropped key and for the sink.
/// Requires  row made from p by enclose_row, sums from row; output(p, row, c).kind is finite
/// Ensures   the nearest value of Target, ties to even, an exact 0 is +0; none only if exponential_sums::sign remains
///           undecided
template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_output(problem::instance<T> const& p, enclosed_row<W, T> const& row,
                                               std::int64_t c, exponential_sums<T>& sums) {
  double const dropout = dropout_of(p);
  auto const value = [&](std::size_t n) { return exact_coefficient::at_unit(value_at(p, row, n, c)); };
  return detail::nearest_by_widths<Target>(
      output(p, row, c).value,
      [&]<unsigned Wider>() {
        ball<Wider> const mean = sums.template mean<Wider>(value);
        return dropout > 0 ? mean / kept_part<Wider>(p) : mean;
      },
      [&](element const& t) -> std::optional<int> {
        auto const boundary = kept_part_of(t, dropout);
        if (!boundary) return std::nullopt;
        return sums.sign([&](std::size_t n) { return integer<exact_coefficient::bits>(value(n) - *boundary); });
      });
}

/// The weight of the key at position `at`, correctly rounded: π − t has the sign of e^(s_at) − t·Σ_j e^(s_j).
/// Requires  row.kind finite, sums from row
template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_weight(enclosed_row<W, T> const& row, std::size_t at,
                                               exponential_sums<T>& sums) {
  auto const own = [&](std::size_t n) {
    return exact_coefficient::at_unit({number_class::finite, n == at ? 1 : 0, 0});
  };
  return detail::nearest_by_widths<Target>(
      weight(row, at), [&]<unsigned Wider>() { return sums.template mean<Wider>(own); },
      [&](element const& t) {
        auto const boundary = exact_coefficient::at_unit(t);
        return sums.sign([&](std::size_t n) { return integer<exact_coefficient::bits>(own(n) - boundary); });
      });
}

/// LSE in the base of the row, correctly rounded: LSE − t has the sign of Σ_j e^(s_j) − e^t, or of Σ_j 2^(x_j) − 2^t.
/// Requires  row.kind finite, sums from row
template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_log_sum_exp(enclosed_row<W, T> const& row, exponential_sums<T>& sums) {
  return detail::nearest_by_widths<Target>(
      in_base(row.rule.base, log_sum_exp(row)),
      [&]<unsigned Wider>() { return in_base(row.rule.base, sums.template log_sum<Wider>()); },
      [&](element const& t) {
        std::vector<exact_score<T>> scores;
        for (auto const& key : row.keys) scores.push_back(key.score);
        scores.push_back({.bias = t});
        exponential_sums<T> against(row.rule, scores);
        return against.sign([&](std::size_t n) {
          return exact_coefficient::at_unit({number_class::finite, n < row.keys.size() ? 1 : -1, 0});
        });
      });
}

// The same of a single element.

template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_output(problem::instance<T> const& p, enclosed_row<W, T> const& row,
                                               std::int64_t c) {
  if (row.kind == row_kind::empty) return value_of_ordinal<Target>(0);
  exponential_sums<T> sums = sums_of(row);
  return rounded_output<Target>(p, row, c, sums);
}

template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_weight(enclosed_row<W, T> const& row, std::size_t at) {
  exponential_sums<T> sums = sums_of(row);
  return rounded_weight<Target>(row, at, sums);
}

template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_log_sum_exp(enclosed_row<W, T> const& row) {
  exponential_sums<T> sums = sums_of(row);
  return rounded_log_sum_exp<Target>(row, sums);
}

}  // namespace attest::reference
