// Linear layers before attention, exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/attention/score.hpp"

namespace attest::reference {

/// A matrix of exact dot products: entry (i, j) is dot·2^dot_exponent<T>, or the class of what is not finite.
template <class T>
struct exact_matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<exact_score<T>> entries{};

  constexpr exact_score<T> const& operator()(std::int64_t i, std::int64_t j) const noexcept {
    return entries[static_cast<std::size_t>(i * columns + j)];
  }
  /// Is entry (i, j) exactly the finite number that `value` stores?
  constexpr bool is(std::int64_t i, std::int64_t j, T value) const noexcept {
    element const x = value_of(value);
    exact_score<T> const& found = (*this)(i, j);
    return found.kind == number_class::finite && x.is_finite() &&
           found.dot == shifted(integer<dot_bits<T>>(x.significand), x.exponent - dot_exponent<T>);
  }
  /// Is every entry exactly the number that `values` stores at its place?
  constexpr bool is(std::span<T const> values) const noexcept {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        if (!is(i, j, values[static_cast<std::size_t>(i * columns + j)])) return false;
    return true;
  }
};

/// X·W
///
/// Shapes    X [n, d], W [d, e], row-major; result [n, e]
/// Ensures   every entry exact
/// Source    "Q = XW_Q, K = XW_K, V = XW_V", Day 11: Scaled Dot-Product Attention, section 11.2
/// Cost      n·d·e exact products
template <class T>
constexpr exact_matrix<T> project(std::span<T const> X, std::span<T const> W, std::int64_t n, std::int64_t d,
                                  std::int64_t e) {
  exact_matrix<T> product{.rows = n, .columns = e};
  std::vector<T> column;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < e; ++j) {
      column.clear();
      for (std::int64_t t = 0; t < d; ++t) column.push_back(W[static_cast<std::size_t>(t * e + j)]);
      product.entries.push_back(exact_dot(X.data() + i * d, column.data(), d));
    }
  return product;
}

/// X·Wᵀ
///
/// Shapes    X [n, d], W [e, d], row-major; result [n, e]
/// Ensures   every entry exact
/// Source    "Query = XW_Qᵀ, Key = XW_Kᵀ, Value = XW_Vᵀ", Scaled Dot-Product Attention (2025-07-30)
/// Cost      n·d·e exact products
template <class T>
constexpr exact_matrix<T> project_transposed(std::span<T const> X, std::span<T const> W, std::int64_t n, std::int64_t d,
                                             std::int64_t e) {
  exact_matrix<T> product{.rows = n, .columns = e};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < e; ++j) product.entries.push_back(exact_dot(X.data() + i * d, W.data() + j * d, d));
  return product;
}

}  // namespace attest::reference
