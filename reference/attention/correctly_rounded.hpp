// O, weights and LSE, correctly rounded. docs/rounding.md has the theorem and its proof.
#pragma once

#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/exponential_sum.hpp"
#include "reference/real/nearest.hpp"

namespace attest::reference {

namespace detail {

/// Σ_j e^(s_j)·c_j over the row's keys, as terms; the coefficient of the key at position n is c(n).
template <unsigned W, class T, class Coefficient>
constexpr std::vector<exponential_term<T>> terms_of(enclosed_row<W, T> const& row, Coefficient&& c) {
  std::vector<exponential_term<T>> terms;
  for (std::size_t n = 0; n < row.keys.size(); ++n) terms.push_back({row.keys[n].score, {c(n)}});
  return terms;
}

}  // namespace detail

/// O at column c, correctly rounded to Target: o − t has the sign of Σ_j e^(s_j)·(v_jc − t).
/// Requires  row made from p by enclose_row; output(p, row, c).kind is finite
/// Ensures   the nearest value of Target, ties to even, an exact 0 is +0; none only if last_width does not decide it
template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_output(problem::instance<T> const& p, enclosed_row<W, T> const& row,
                                               std::int64_t c) {
  if (row.kind == row_kind::empty) return value_of_ordinal<Target>(0);
  std::int64_t const hk = key_head(p.size(), row.h);
  return nearest<Target>(output(p, row, c).value, [&](element const& t) {
    auto const terms = detail::terms_of(row, [&](std::size_t n) {
      element const v = value_of(p.v()(row.b, hk, row.keys[n].j, c));
      return integer<exact_coefficient::bits>(exact_coefficient::at_unit(v) - exact_coefficient::at_unit(t));
    });
    return sign_of_exponential_sum(row.rule, terms);
  });
}

/// The weight of the key at position `at`, correctly rounded: π − t has the sign of e^(s_at) − t·Σ_j e^(s_j).
/// Requires  row.kind finite
template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_weight(enclosed_row<W, T> const& row, std::size_t at) {
  return nearest<Target>(weight(row, at), [&](element const& t) {
    auto const terms = detail::terms_of(row, [&](std::size_t n) {
      auto const own = exact_coefficient::at_unit({number_class::finite, n == at ? 1 : 0, 0});
      return integer<exact_coefficient::bits>(own - exact_coefficient::at_unit(t));
    });
    return sign_of_exponential_sum(row.rule, terms);
  });
}

/// LSE, correctly rounded: LSE − t has the sign of Σ_j e^(s_j) − e^t.
/// Requires  row.kind finite
template <class Target, unsigned W, class T>
constexpr rounded_value<Target> rounded_log_sum_exp(enclosed_row<W, T> const& row) {
  return nearest<Target>(log_sum_exp(row), [&](element const& t) {
    auto terms =
        detail::terms_of(row, [](std::size_t) { return exact_coefficient::at_unit({number_class::finite, 1, 0}); });
    exponential_term<T> boundary;
    boundary.exponent.bias = t;
    boundary.coefficient.value = -exact_coefficient::at_unit({number_class::finite, 1, 0});
    terms.push_back(std::move(boundary));
    return sign_of_exponential_sum(row.rule, terms);
  });
}

}  // namespace attest::reference
