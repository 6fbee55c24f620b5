// Rows of one query as constants, and every bound of such a row.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "proofs/worked_example.hpp"
#include "reference/bound/bound.hpp"

namespace attest::proofs {

using problem::kernel_model;
using reference::judged_by;
using reference::row_bound;

/// Facts of one query, as a constant: row_facts owns a vector.
template <std::size_t M>
struct facts {
  reference::row_scalars row{};
  std::array<reference::key_facts, M> keys{};
  std::array<float, M> v{};
  number o{};
};

/// d = 1 (or 0 with no q), σ = 1, dv = 1.
template <std::size_t M>
constexpr facts<M> facts_of(float q, std::array<float, M> k, std::array<float, M> v, std::array<float, M> bias = {},
                            std::int64_t d = 1) {
  problem::arguments<float> arguments;
  arguments.q = {&q, problem::layout::compact({1, d})};
  arguments.k = {k.data(), problem::layout::compact({M, d})};
  arguments.v = {v.data(), problem::layout::compact({M, 1})};
  arguments.bias = problem::tensor<float const>{bias.data(), problem::layout::compact({M})};
  arguments.scale = 1;
  auto const p = problem::instance<float>::make(arguments).value();
  reference::enclosed_row<width, float> row;
  reference::enclose_row(p, 0, 0, 0, row);
  reference::row_facts found;
  reference::collect_facts(p, row, found);
  facts<M> result{found, {}, v, reference::output(p, row, 0).value};
  for (std::size_t j = 0; j < M; ++j) result.keys[j] = found.keys[j];
  return result;
}

/// Bounds of O (Theorem), the first key's weight, LSE, the row sum (Corollaries W, L, R), and the hull's margin (Clause
/// H).
struct bounds {
  double o = 0, weight = 0, lse = 0, row_sum = 0, hull = 0;
  judged_by by{};
};
template <std::size_t M>
constexpr reference::row_facts row_of(facts<M> const& of) {
  reference::row_facts all;
  static_cast<reference::row_scalars&>(all) = of.row;
  all.keys.assign(of.keys.begin(), of.keys.end());
  return all;
}
template <std::size_t M>
constexpr bounds bounds_of_row(kernel_model const& model, facts<M> const& of, reference::row_facts const& all) {
  row_bound bound;
  bound.evaluate(model, all);
  auto const o = bound.output(of.o, [&](std::size_t j) { return reference::value_of(of.v[j]); });
  double largest = 0;
  for (float const x : of.v) largest = reference::larger(largest, x < 0 ? -x : x);
  return {o.size, bound.weight(0).size, bound.log_sum_exp().size, bound.row_sum().size, bound.hull_margin(largest),
          o.by};
}
template <std::size_t M>
constexpr bounds bounds_of(kernel_model const& model, facts<M> const& of) {
  return bounds_of_row(model, of, row_of(of));
}

constexpr bool none_below(bounds const& a, bounds const& b) noexcept {
  return a.o >= b.o && a.weight >= b.weight && a.lse >= b.lse && a.row_sum >= b.row_sum && a.hull >= b.hull;
}
constexpr bool one_above(bounds const& a, bounds const& b) noexcept {
  return a.o > b.o || a.weight > b.weight || a.lse > b.lse || a.row_sum > b.row_sum || a.hull > b.hull;
}

}  // namespace attest::proofs
