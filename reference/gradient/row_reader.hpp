// The numbers of one query row, from either tier: what evaluate (row.hpp) takes "from the tier", except the products
// with dO.
#pragma once

#include "reference/compiled/row.hpp"
#include "reference/gradient/row.hpp"
#include "reference/machine/rows.hpp"

namespace attest::reference {

/// A stored number as a double, exactly. Infinities and NaN become 0: `kinds` speak of them.
template <class T>
double finite_double(T stored) noexcept {
  element const x = value_of(stored);
  if (!x.is_finite()) return 0;
  return x.significand < 0 ? -size_upper(x) : size_upper(x);
}

/// From a row of the machine tier. Requires !from.handed_over, with bounds, and finite q, dO, k and v in the row
template <class T>
void read_row(problem::instance<T> const& p, gradient_terms const& terms, machine::certified_row const& from,
              gradient_row& row);

/// From the ball tier, at 128 bits. Sets `kinds`; where weights are NaN or nothing contributes, no keys.
template <class T>
class ball_row_reader {
 public:
  void read(problem::instance<T> const& p, problem::view<T const> const& d_o, gradient_terms const& terms,
            std::int64_t b, std::int64_t h, std::int64_t i, gradient_row& row);

 private:
  enclosed_row<128, T> row_;
  row_facts facts_;
  row_bound bound_;
};

}  // namespace attest::reference
