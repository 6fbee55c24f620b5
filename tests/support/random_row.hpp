// RapidCheck draws rows of attention: ordinary and adversarial scores, masks, biases, scales.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/property.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

/// One finite number of a family: small whole numbers (ties), Gaussian sizes, huge and tiny ones.
template <class T>
T drawn_number(int family) {
  double const fraction = *rc::gen::inRange(-(1 << 22), 1 << 22) * 0x1p-22;
  switch (family) {
    case 0: return element_from<T>(*rc::gen::inRange(-3, 4));
    case 1: return element_from<T>(fraction * 2);
    case 2: return element_from<T>(fraction * 30);
    case 3: return element_from<T>(std::ldexp(fraction, *rc::gen::inRange(-20, 12)));
    default: return element_from<T>(1 + fraction * 0x1p-6);  // near-ties
  }
}

/// A row with 1 to 8 keys, d from 0 to 5, one column of values.
template <class T>
written<T> drawn_row(bool with_bias = true, bool with_softcap = false) {
  std::int64_t const m = *rc::gen::inRange<std::int64_t>(1, 9), d = *rc::gen::inRange<std::int64_t>(0, 6);
  written<T> problem(m, d, 1);
  auto const family_of_numbers = rc::gen::element(0, 1, 2, 3, 4);
  int const q_family = *family_of_numbers, k_family = *family_of_numbers, v_family = *family_of_numbers;
  for (auto& x : problem.q.values) x = drawn_number<T>(q_family);
  for (auto& x : problem.k.values) x = drawn_number<T>(k_family);
  for (auto& x : problem.v.values) x = drawn_number<T>(v_family);
  if (with_bias && *rc::gen::element(0, 0, 1) == 1) {
    int const family = *family_of_numbers;
    for (std::int64_t j = 0; j < m; ++j) problem.bias.values.push_back(drawn_number<T>(family));
  }
  if (*rc::gen::element(0, 0, 0, 1) == 1)
    for (std::int64_t j = 0; j < m; ++j) problem.mask.values.push_back(*rc::gen::element<std::uint8_t>(1, 2, 255, 0));
  if (d == 0 || *rc::gen::element(0, 0, 1) == 1)
    problem.scale = *rc::gen::element(0.0, 1.0, -1.0, 0.5, 0.1, 3.0, 40.0, 0.08838834764831845);
  if (with_softcap && *rc::gen::element(0, 0, 1) == 1)
    problem.softcap = *rc::gen::element(0.5, 1.0, 3.0, 30.0, 1e-3, 1e10);
  return problem;
}

/// The same, of merges too: some of the rows that base 2 admits have it.
template <class T>
written<T> drawn_row_of_either_base() {
  written<T> problem = drawn_row<T>(true, true);
  if (problem.scale && problem.softcap == 0)
    problem.base = *rc::gen::element(problem::log_base::e, problem::log_base::two);
  return problem;
}

inline rc::Gen<std::vector<std::size_t>> drawn_permutation(std::int64_t m) {
  return rc::gen::map(
      rc::gen::container<std::vector<std::uint32_t>>(static_cast<std::size_t>(m), rc::gen::arbitrary<std::uint32_t>()),
      [](std::vector<std::uint32_t> const& keys) {
        std::vector<std::size_t> order(keys.size());
        for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
        return order;
      });
}

/// Key n of the result is key order[n] of `from`; order may repeat keys.
template <class T>
written<T> permuted(written<T> const& from, std::vector<std::size_t> const& order) {
  auto const d = from.k.layout.shape[1], dv = from.v.layout.shape[1];
  written<T> problem(static_cast<std::int64_t>(order.size()), d, dv);
  problem.q = from.q;
  static_cast<problem::parameters&>(problem) = from;
  auto const copy_row = [](owned<T> const& a, std::size_t i, owned<T>& b, std::size_t n) {
    auto const width = static_cast<std::size_t>(a.layout.shape[1]);
    for (std::size_t t = 0; t < width; ++t) b.values[n * width + t] = a.values[i * width + t];
  };
  for (std::size_t n = 0; n < order.size(); ++n) {
    copy_row(from.k, order[n], problem.k, n);
    copy_row(from.v, order[n], problem.v, n);
    if (!from.bias.values.empty()) problem.bias.values.push_back(from.bias.values[order[n]]);
    if (!from.mask.values.empty()) problem.mask.values.push_back(from.mask.values[order[n]]);
  }
  return problem;
}

template <class T>
written<T> doubled(written<T> const& from) {
  std::vector<std::size_t> twice;
  for (std::size_t n = 0; n < 2 * static_cast<std::size_t>(from.k.layout.shape[0]); ++n)
    twice.push_back(n % static_cast<std::size_t>(from.k.layout.shape[0]));
  return permuted(from, twice);
}

}  // namespace attest::tests
