// Chosen elements of the gradients, in balls: sums over the rows that contribute, one row at a time.
//
//   dQ_it = σ·Σ_j dX_ij·k_jt     dK_jt = σ·Σ_i dX_ij·q_it     dV_jc = Σ_i π_ij·[keep_ij]/(1 − p)·dO_ic
//   dBias = Σ dS_ij over the rows of its element      dSink_h = Σ_i dS_i,sink
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/gradient/exact_row.hpp"
#include "reference/gradient/shapes.hpp"

namespace attest::reference {

namespace gradient_detail {

/// The entry and the heads whose rows an index reaches. A size of 1 in a shared shape reaches all.
template <class T>
constexpr bool reaches(problem::instance<T> const& p, gradient_index const& at, std::int64_t b, std::int64_t h,
                       std::int64_t i) noexcept {
  problem::sizes const& s = p.size();
  auto const same = [](std::int64_t index, std::int64_t size, std::int64_t of_row) {
    return size == 1 || index == of_row;
  };
  switch (at.which) {
    case gradient::dq: return at.b == b && at.h == h && at.i == i;
    case gradient::dk:
    case gradient::dv: return at.b == b && at.h == key_head(s, h) && visible(p, b, h, i, at.i);
    case gradient::dbias: {
      auto const shape = shape_of_dbias(p);
      return same(at.b, shape[0], b) && same(at.h, shape[1], h) && same(at.i, shape[2], i) && visible(p, b, h, i, at.x);
    }
    case gradient::dsink: return same(at.b, shape_of_dsink(p)[0], b) && at.h == h;
  }
  return false;
}

/// Row i of dQ at column t.
template <unsigned W, class T>
constexpr enclosed_value<W> term_of_dQ(problem::instance<T> const& p, exact_gradient_row<W, T> const& mine,
                                       std::int64_t t) {
  auto const& row = mine.row;
  std::int64_t const g = key_head(p.size(), row.h);
  enclosed_value<W> term{mine.kinds.row, {}};
  auto const at = [&](std::int64_t j) { return value_of(p.k()(row.b, g, j, t)); };
  auto const meets = [&](std::int64_t j) {
    if (!at(j).is_finite()) term.kind = sum_of_kinds(term.kind, value_kind::unspecified);
  };
  for (auto const& key : row.real_keys()) meets(key.j);
  for (std::int64_t const j : row.without_weight) meets(j);
  if (term.kind != value_kind::finite || mine.keys.empty()) return term;
  ball<W> const sum = weighted_sum<W>(
      static_cast<std::int64_t>(row.real_keys().size()),
      [&](std::int64_t n) -> ball<W> const& { return mine.keys[static_cast<std::size_t>(n)].dX; },
      [&](std::int64_t n) { return at(mine.keys[static_cast<std::size_t>(n)].j); });
  term.value = row.rule.scale.template enclosure<W>() * sum;
  return term;
}

/// The row's term of dV_jc, of a key that the row sees; key is null where its score is −∞, or weights are not known.
template <unsigned W, class T>
constexpr enclosed_value<W> term_of_dV(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                       exact_gradient_row<W, T> const& mine, exact_gradient_key<W> const* key,
                                       key_part part, std::int64_t c) {
  element const d_o = value_of(inputs.d_o(mine.row.b, mine.row.h, mine.row.i, c));
  enclosed_value<W> term{kind_of_dV(mine.kinds, kind_of(d_o), part), {}};
  if (term.kind != value_kind::finite || part != key_part::weighted || key == nullptr) return term;
  term.value = key->weight * ball<W>::from(d_o);
  if (dropout_of(p) > 0) term.value = term.value / kept_part<W>(p);
  return term;
}

/// The row's term of one element that it reaches.
template <unsigned W, class T>
constexpr enclosed_value<W> term_of(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                    exact_gradient_row<W, T> const& mine, gradient_index const& at) {
  auto const& row = mine.row;
  if (!mine.kinds.contributes) return {mine.kinds.row, {}};
  if (at.which == gradient::dq) return term_of_dQ(p, mine, at.x);
  if (at.which == gradient::dsink)
    return {mine.kinds.row, mine.kinds.row == value_kind::finite && row.has_sink() ? mine.keys.back().dS : ball<W>()};
  std::int64_t const j = at.which == gradient::dbias ? at.x : at.i;
  bool has_weight = row.kind == row_kind::nan && !is_without_weight(p, row.b, row.h, row.i, j);
  for (auto const& key : row.real_keys()) has_weight = has_weight || key.j == j;
  key_part const part = part_of(p, row.b, row.h, row.i, j, has_weight);
  exact_gradient_key<W> const* key = nullptr;
  for (auto const& each : mine.keys)
    if (each.j == j) key = &each;
  if (at.which == gradient::dv) return term_of_dV(p, inputs, mine, key, part, at.x);

  enclosed_value<W> term{kind_of_dS(mine.kinds, part), {}};
  element const q = at.which == gradient::dk ? value_of(p.q()(row.b, row.h, row.i, at.x)) : element{};
  if (!q.is_finite()) term.kind = sum_of_kinds(term.kind, value_kind::unspecified);
  if (term.kind != value_kind::finite || key == nullptr) return term;
  term.value =
      at.which == gradient::dbias ? key->dS : row.rule.scale.template enclosure<W>() * key->dX * ball<W>::from(q);
  return term;
}

}  // namespace gradient_detail

/// Encloses chosen elements, in the order asked. Modes own and recorded have the same exact values.
/// Requires  indices inside their shapes; inputs as enclose_gradient_row needs them
/// Cost      every row that contributes to a wanted element
template <unsigned W, class T>
constexpr std::vector<enclosed_value<W>> enclose_gradients(problem::instance<T> const& p,
                                                           gradient_inputs<T> const& inputs, gradient_mode mode,
                                                           std::span<gradient_index const> wanted) {
  problem::sizes const& s = p.size();
  std::vector<enclosed_value<W>> sums(wanted.size());
  exact_gradient_row<W, T> row;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < p.queries(b); ++i) {
        bool known = false;
        for (std::size_t at = 0; at < wanted.size(); ++at) {
          if (!gradient_detail::reaches(p, wanted[at], b, h, i)) continue;
          if (!known) enclose_gradient_row(p, inputs, mode == gradient_mode::local, b, h, i, row);
          known = true;
          auto const term = gradient_detail::term_of(p, inputs, row, wanted[at]);
          sums[at].kind = sum_of_kinds(sums[at].kind, term.kind);
          if (sums[at].kind == value_kind::finite) sums[at].value = sums[at].value + term.value;
        }
      }
  return sums;
}

}  // namespace attest::reference
