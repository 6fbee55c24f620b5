// The answers of the oracle's two tiers to a problem, row by row and in one form, for properties that hold for both.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <rapidcheck.h>

#include "audit/tensors/owned_problem.hpp"
#include "problem/erased.hpp"
#include "reference/attention/attention.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rows.hpp"

namespace attest::tests {

using oracle_ball = reference::ball<128>;

/// One row. From the machine tier always finite.
struct oracle_row {
  reference::row_kind kind = reference::row_kind::finite;
  std::vector<std::int64_t> keys;             ///< visible, finite score
  std::vector<oracle_ball> weights;           ///< of `keys`
  std::vector<std::optional<oracle_ball>> o;  ///< empty if it is not finite, or left to the ball tier
  oracle_ball lse;
};

/// Rows (b, h, i) in that order; nothing for a row that the machine tier hands over.
using oracle_answer = std::vector<std::optional<oracle_row>>;

/// { x : |x − middle − low| ≤ radius }, and up to 2⁻²⁹·radius more.
inline oracle_ball ball_around(double middle, double low, double radius) {
  auto ball = oracle_ball::from(reference::value_of(middle)) + oracle_ball::from(reference::value_of(low));
  reference::element const r = reference::value_of(radius);
  ball.radius = ball.radius + reference::magnitude(static_cast<std::uint64_t>(r.significand), r.exponent);
  return ball;
}

inline oracle_ball ball_between(double low, double high) {
  auto const a = oracle_ball::from(reference::value_of(low)), b = oracle_ball::from(reference::value_of(high));
  auto ball = (a + b).scaled_by_power_of_two(-1);
  ball.radius = ball.radius + (b - a).scaled_by_power_of_two(-1).upper_size();
  return ball;
}

template <class Row>
void for_each_row_of(problem::sizes const& s, Row&& row) {
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) row(b, h, i);
}

/// The ball tier: enclose_row, output, weight, log_sum_exp.
inline oracle_answer ball_tier(audit::problem_draft const& draft) {
  oracle_answer answer;
  auto const instance = problem::make_instance(draft.arguments());
  RC_ASSERT(instance.has_value());
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        reference::enclosed_row<128, T> row;
        for_each_row_of(p.size(), [&](auto b, auto h, auto i) {
          reference::compiled::enclose_row(p, b, h, i, row);
          oracle_row& to = answer.emplace_back(std::in_place).value();
          to.kind = row.kind;
          for (std::int64_t c = 0; c < p.size().dv; ++c) {
            auto const o = reference::compiled::output(p, row, c);
            to.o.push_back(o.kind == reference::value_kind::finite ? std::optional(o.value) : std::nullopt);
          }
          if (row.kind != reference::row_kind::finite) return;
          to.lse = reference::compiled::log_sum_exp(row);
          for (std::size_t n = 0; n < row.keys.size(); ++n) {
            to.keys.push_back(row.keys[n].j);
            to.weights.push_back(reference::compiled::weight(row, n));
          }
        });
      },
      instance.value());
  return answer;
}

/// The machine tier: enclosures alone, in doubles (f64 and `double_words` in double words).
inline oracle_answer machine_tier(audit::problem_draft const& draft, bool double_words = false) {
  oracle_answer answer;
  auto const instance = problem::make_instance(draft.arguments());
  RC_ASSERT(instance.has_value());
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        auto rows = reference::machine::row_source<T>::make(
            p, {}, {.weights = true, .bounds = false, .double_words = double_words});
        problem::sizes const& s = p.size();
        answer.resize(static_cast<std::size_t>(s.b * s.hq * s.n));
        if (!rows) return;
        for (std::int64_t head = 0; head < s.b * s.hq; ++head)
          rows.value().each(head / s.hq, head % s.hq, 0, s.n, [&](reference::machine::certified_row const& row) {
            if (row.handed_over) return;
            oracle_row& to = answer[static_cast<std::size_t>(head * s.n + row.i)].emplace();
            to.keys.assign(row.keys.begin(), row.keys.end());
            to.lse = ball_around(row.lse, row.lse_low, row.lse_radius);
            for (std::size_t n = 0; n < row.keys.size(); ++n)
              to.weights.push_back(row.weight.empty()
                                       ? ball_between(row.weight_lower[n], row.weight_upper[n])
                                       : ball_around(row.weight[n], row.weight_low[n], row.weight_radius[n]));
            for (std::size_t c = 0; c < row.o.size(); ++c)
              to.o.push_back(
                  row.o_radius[c] < reference::infinity
                      ? std::optional(ball_around(row.o[c], row.o_low.empty() ? 0 : row.o_low[c], row.o_radius[c]))
                      : std::nullopt);
          });
      },
      instance.value());
  return answer;
}

}  // namespace attest::tests
