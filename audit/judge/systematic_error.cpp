#include "audit/judge/systematic_error.hpp"

#include <cmath>

namespace attest::audit {

void mean_sums::add(std::array<double, error_signs> const& x) noexcept {
  ++count;
  for (std::size_t sign = 0; sign < error_signs; ++sign) {
    means[sign] += static_cast<std::int64_t>(std::nearbyint(x[sign] * units));
    squares[sign] += static_cast<std::int64_t>(std::nearbyint(x[sign] * x[sign] * units));
  }
}

void mean_sums::merge(mean_sums const& other) noexcept {
  count += other.count;
  for (std::size_t sign = 0; sign < error_signs; ++sign)
    means[sign] += other.means[sign], squares[sign] += other.squares[sign];
}

double mean_sums::mean(error_sign sign) const noexcept {
  return static_cast<double>(means[static_cast<std::size_t>(sign)]) / units / static_cast<double>(count);
}

void call_errors::add(row_errors const& row) noexcept {
  if (row.elements == 0) return;
  auto const n = static_cast<double>(row.elements);
  rows.add({row.sums[0] / n, row.sums[1] / n});
  elements += row.elements;
}

bool mean_error::is_systematic() const noexcept {
  return std::abs(mean) > noted_ulp && std::abs(mean) > noted_standard_errors * standard_error;
}

void systematic_error::add(call_errors const& call) noexcept {
  if (call.rows.count == 0) return;
  calls.add({call.rows.mean(error_sign::upwards), call.rows.mean(error_sign::away_from_0)});
  rows += call.rows.count, elements += call.elements;
}

void systematic_error::merge(systematic_error const& other) noexcept {
  calls.merge(other.calls);
  rows += other.rows, elements += other.elements;
}

mean_error systematic_error::of(error_sign sign) const noexcept {
  auto const n = static_cast<double>(calls.count);
  double const mean = calls.mean(sign),
               squares = static_cast<double>(calls.squares[static_cast<std::size_t>(sign)]) / mean_sums::units;
  double const variance = std::max(0.0, (squares - n * mean * mean) / (n - 1));
  return {mean, std::sqrt(variance / n)};
}

bool systematic_error::is_worth_a_note() const noexcept {
  return calls.count >= noted_calls &&
         (of(error_sign::upwards).is_systematic() || of(error_sign::away_from_0).is_systematic());
}

}  // namespace attest::audit
