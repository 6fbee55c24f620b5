// Sums of products as kernels form them: in a chain, pair by pair, in lanes, and by a matrix unit that aligns the
// numbers of a step and cuts them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attest::tests {

enum class sum_form : std::uint8_t { chain, pairs, lanes, unit_of_4, unit_of_8, unit_of_16 };

constexpr bool is_unit(sum_form form) { return form >= sum_form::unit_of_4; }
/// K and e of Lemma 9, as measured on V100, A100 and H100.
constexpr std::size_t products_a_step(sum_form form) {
  return form == sum_form::unit_of_4 ? 4 : form == sum_form::unit_of_8 ? 8 : 16;
}
constexpr int extra_bits(sum_form form) {
  return form == sum_form::unit_of_4 ? 0 : form == sum_form::unit_of_8 ? 1 : 2;
}

/// One step of a matrix unit: `sum` and the products are cut at 2^−23 of the largest of them, further back by the extra
/// bits. The result is cut at 2^−23 of its own size.
/// Requires  products of at most 23 bits
inline float step_of_unit(float sum, double const* products, std::size_t count, sum_form form) {
  double most = std::abs(static_cast<double>(sum));
  for (std::size_t at = 0; at < count; ++at) most = std::max(most, std::abs(products[at]));
  if (most == 0) return sum;
  double const last = std::ldexp(1.0, std::ilogb(most) - 23 - extra_bits(form));
  double all = std::trunc(static_cast<double>(sum) / last) * last;
  for (std::size_t at = 0; at < count; ++at) all += std::trunc(products[at] / last) * last;
  if (all == 0) return 0;
  double const place = std::ldexp(1.0, std::ilogb(all) - 23);
  return static_cast<float>(std::trunc(all / place) * place);
}

/// Numbers added pair by pair, the pairs likewise.
inline float sum_in_pairs(std::vector<float> numbers) {
  if (numbers.empty()) return 0;
  while (numbers.size() > 1) {
    std::size_t const half = numbers.size() / 2;
    for (std::size_t at = 0; at < half; ++at) numbers[at] = numbers[2 * at] + numbers[2 * at + 1];
    if (numbers.size() % 2 != 0) numbers[half] = numbers.back();
    numbers.resize(half + numbers.size() % 2);
  }
  return numbers[0];
}

/// Σ a_t·b_t of d numbers each.
inline float sum_of_products(sum_form form, float const* a, float const* b, std::size_t d) {
  if (is_unit(form)) {
    float sum = 0;
    std::vector<double> products(d);
    for (std::size_t t = 0; t < d; ++t) products[t] = static_cast<double>(a[t]) * static_cast<double>(b[t]);
    for (std::size_t at = 0, K = products_a_step(form); at < d; at += K)
      sum = step_of_unit(sum, products.data() + at, std::min(K, d - at), form);
    return sum;
  }
  std::size_t const lanes = form == sum_form::lanes ? 4 : form == sum_form::pairs ? d : 1;
  std::vector<float> sums(lanes, 0.0F);
  for (std::size_t t = 0; t < d; ++t) {
    float& sum = sums[t % lanes];
    sum = form == sum_form::pairs ? a[t] * b[t] : std::fma(a[t], b[t], sum);
  }
  return sum_in_pairs(std::move(sums));
}

}  // namespace attest::tests
