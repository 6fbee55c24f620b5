// The truth about one row, enclosed at a width in bits, and the bound that judges it.
#pragma once

#include <cstdint>
#include <limits>

#include "reference/compiled/row.hpp"

namespace attest::audit {

/// The width in bits at which the judge encloses a row first.
inline constexpr unsigned first_width = 128;

/// The truth about one row at W bits, and the bound that judges it.
template <unsigned W, class T>
struct row_truth {
  reference::enclosed_row<W, T> row;
  reference::row_facts facts;
  reference::row_bound bound;

  void evaluate(problem::instance<T> const& p, problem::kernel_model const& model, std::int64_t b, std::int64_t h,
                std::int64_t i) {
    reference::compiled::enclose_row(p, b, h, i, row);
    if (row.kind != reference::row_kind::finite) return;
    reference::compiled::collect_facts(p, row, facts);
    reference::compiled::evaluate(bound, model, facts);
  }
};

/// The LSE of an empty row: −∞, or its sink if the sink is +∞ or NaN.
template <unsigned W, class T>
double lse_of_empty(reference::enclosed_row<W, T> const& row) noexcept {
  return row.empty_lse == reference::number_class::minus_infinity  ? -reference::infinity
         : row.empty_lse == reference::number_class::plus_infinity ? reference::infinity
                                                                   : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace attest::audit
