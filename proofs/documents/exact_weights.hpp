// Softmax without rounding: weights as quotients of formal sums of exponentials. Enclosures of equal numbers can only
// be shown to overlap; here equality itself is proven.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace attest::proofs {

/// Σ_g c_g·e^(n_g·u), whole n_g and c_g. The unit u is one real number, the same in all sums that meet; nothing else is
/// known of it. So sums of the same terms are equal whatever u is. (Where u ≠ 0 is algebraic, by Lindemann and
/// Weierstrass no others are.)
struct exponential_sum {
  struct term {
    std::int64_t exponent = 0, coefficient = 0;
    friend constexpr bool operator==(term const&, term const&) noexcept = default;
  };
  std::array<term, 64> terms{};  ///< the first `size`: exponents rise, no coefficient is 0; the others are {0, 0}
  std::size_t size = 0;

  /// coefficient·e^(exponent·u)
  static constexpr exponential_sum of(std::int64_t exponent, std::int64_t coefficient = 1) {
    exponential_sum sum;
    sum.add({exponent, coefficient});
    return sum;
  }
  constexpr void add(term const& more) {
    std::size_t at = 0;
    while (at < size && terms[at].exponent < more.exponent) ++at;
    if (at == size || terms[at].exponent != more.exponent) {
      for (std::size_t to = size++; to > at; --to) terms[to] = terms[to - 1];
      terms[at] = {more.exponent, 0};
    }
    terms[at].coefficient += more.coefficient;
    if (terms[at].coefficient != 0) return;
    for (--size; at < size; ++at) terms[at] = terms[at + 1];
    terms[size] = {};
  }
  friend constexpr exponential_sum operator+(exponential_sum a, exponential_sum const& b) {
    for (std::size_t g = 0; g < b.size; ++g) a.add(b.terms[g]);
    return a;
  }
  friend constexpr exponential_sum operator*(exponential_sum const& a, exponential_sum const& b) {
    exponential_sum product;
    for (std::size_t g = 0; g < a.size; ++g)
      for (std::size_t h = 0; h < b.size; ++h)
        product.add({a.terms[g].exponent + b.terms[h].exponent, a.terms[g].coefficient * b.terms[h].coefficient});
    return product;
  }
  friend constexpr bool operator==(exponential_sum const&, exponential_sum const&) = default;
};

/// over/under. Requires under > 0: here it is a sum with positive coefficients.
struct exact_weight {
  exponential_sum over{}, under = exponential_sum::of(0);

  friend constexpr exact_weight operator+(exact_weight const& a, exact_weight const& b) {
    return {a.over * b.under + b.over * a.under, a.under * b.under};
  }
  friend constexpr exact_weight operator*(exact_weight const& a, exact_weight const& b) {
    return {a.over * b.over, a.under * b.under};
  }
  friend constexpr exact_weight operator*(std::int64_t value, exact_weight const& weight) {
    return {exponential_sum::of(0, value) * weight.over, weight.under};
  }
  friend constexpr bool operator==(exact_weight const& a, exact_weight const& b) {
    return a.over * b.under == b.over * a.under;
  }
};

/// a/b. Requires b > 0.
constexpr exact_weight fraction(std::int64_t a, std::int64_t b) {
  return {exponential_sum::of(0, a), exponential_sum::of(0, b)};
}

/// e^(n_i·u)/Σ_j e^(n_j·u), the softmax of the scores n_i·u.
template <std::size_t N>
constexpr std::array<exact_weight, N> exact_softmax(std::array<std::int64_t, N> const& n) {
  exponential_sum all;
  for (std::int64_t const score : n) all.add({score, 1});
  std::array<exact_weight, N> weights;
  for (std::size_t i = 0; i < N; ++i) weights[i] = {exponential_sum::of(n[i]), all};
  return weights;
}

/// Σ_i value_i·weight_i
template <std::size_t N>
constexpr exact_weight weighted_sum(std::array<std::int64_t, N> const& values,
                                    std::array<exact_weight, N> const& weights) {
  exact_weight sum;
  for (std::size_t i = 0; i < N; ++i) sum = sum + values[i] * weights[i];
  return sum;
}

/// The softmax of the scores n_i·u sums to exactly 1.
template <std::size_t N>
constexpr bool exactly_sums_to_1(std::array<std::int64_t, N> const& n) {
  exact_weight sum;
  for (exact_weight const& weight : exact_softmax(n)) sum = sum + weight;
  return sum == fraction(1, 1);
}

}  // namespace attest::proofs
