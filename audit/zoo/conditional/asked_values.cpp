// What a conditional mutant asks of the values of a call: scores of a query, hidden keys, the size of V.
#include <algorithm>
#include <cmath>

#include "audit/zoo/conditional/asked.hpp"
#include "audit/zoo/conditional/changed_call.hpp"

namespace attest::zoo {

bool asked::sees(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const {
  if (!in_band(query, key, call.diagonal, call.left, call.right)) return false;
  if (call.mask && load<std::uint8_t>(*call.mask, entry, head, query, key) == 0) return false;
  return !call.bias || number_at(*call.bias, entry, head, query, key) != -HUGE_VAL;
}

double asked::score(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const {
  if (!sees(entry, head, query, key)) return -HUGE_VAL;
  double sum = 0;
  for (std::int64_t t = 0; t < d; ++t)
    sum += number_at(*call.q, entry, head, query, t) * number_at(*call.k, entry, head / group(), key, t);
  sum *= default_scale() ? 1 / std::sqrt(static_cast<double>(d)) : call.scale;
  if (capped()) sum = call.softcap * std::tanh(sum / call.softcap);
  return call.bias ? sum + number_at(*call.bias, entry, head, query, key) : sum;
}

double asked::highest(std::int64_t block, std::int64_t number) const {
  double most = -HUGE_VAL;
  if (!has_a_score()) return most;
  for (std::int64_t key = number * block; key < std::min(m, (number + 1) * block); ++key)
    most = std::max(most, score(0, 0, n - 1, key));
  return most;
}

bool asked::hides(std::int64_t from, std::int64_t to) const {
  if (!has_a_score() || from < 0 || to > m) return false;
  bool seen = false;
  for (std::int64_t query = 0; query < n; ++query)
    for (std::int64_t key = 0; key < m; ++key) {
      bool const inside = key >= from && key < to;
      if ((!inside && seen) || !sees(0, 0, query, key)) continue;
      if (inside) return false;
      seen = true;
    }
  return seen;
}

double asked::largest_value() const {
  double largest = 0;
  for (std::int64_t entry = 0; entry < b; ++entry)
    for (std::int64_t head = 0; head < hk; ++head)
      for (std::int64_t key = 0; key < m; ++key)
        for (std::int64_t column = 0; column < dv; ++column)
          largest = std::max(largest, std::abs(number_at(*call.v, entry, head, key, column)));
  return largest;
}

}  // namespace attest::zoo
