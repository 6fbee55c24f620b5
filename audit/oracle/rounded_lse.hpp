// The LSE of one row in base 2, correctly rounded.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "audit/judge/exact_row_judge.hpp"
#include "reference/bound/lse_base.hpp"
#include "reference/real/nearest.hpp"

namespace attest::audit {

/// log2 Σ exp(s) of the row (b, h, i), correctly rounded to E. Returns nothing if its side of a boundary remained
/// undecided.
/// Requires  a row of kind finite
/// Why       boundaries are dyadic. log2 Σ exp(s) is dyadic only if every score is 0 and their number a power of 2
///           (docs/rounding.md, by Lindemann's theorem; scores under a softcap may stay undecided)
template <class E, class T>
reference::rounded_value<E> rounded_log2_sum_exp(problem::instance<T> const& p, std::int64_t b, std::int64_t h,
                                                 std::int64_t i) {
  auto const enclosed = [&]<unsigned W>(std::integral_constant<unsigned, W>) {
    reference::enclosed_row<W, T> row;
    reference::compiled::enclose_row(p, b, h, i, row);
    return std::pair{reference::in_base(problem::log_base::two, reference::compiled::log_sum_exp(row)), std::move(row)};
  };
  auto const [enclosure, row] = enclosed(std::integral_constant<unsigned, first_width>{});
  auto const is_zero = [](auto const& x) { return x.is_exact() && x.mid.sign() == 0; };
  auto const keys = static_cast<std::uint64_t>(row.keys.size());
  if (std::has_single_bit(keys) && is_zero(row.max_score) &&
      std::ranges::all_of(row.keys, [&](auto const& key) { return is_zero(key.below_max); }))
    return static_cast<E>(std::countr_zero(keys));
  auto const side_at = [&]<unsigned W>(reference::element const& t, std::integral_constant<unsigned, W> width) {
    return reference::certain_sign(enclosed(width).first - reference::ball<W>::from(t));
  };
  return reference::nearest<E>(enclosure, [&](reference::element const& t) -> std::optional<int> {
    int side = side_at(t, std::integral_constant<unsigned, 256>{});
    if (side == 0) side = side_at(t, std::integral_constant<unsigned, 1152>{});
    return side == 0 ? std::nullopt : std::optional(side);
  });
}

}  // namespace attest::audit
