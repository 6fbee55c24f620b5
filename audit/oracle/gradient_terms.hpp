// The terms of one row of a gradient: what each pair of a query and a key adds to it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "reference/attention/dropout.hpp"
#include "reference/compiled/row.hpp"

namespace attest::audit {

/// A pair of a query and a key, with what it adds.
struct gradient_term {
  std::int64_t h = 0, i = 0, j = 0;  ///< j < 0: the sink
  double weight = 0, dP = 0, dS = 0;
};

/// The terms of one query; all of its keys, or the keys that `takes` takes.
template <class T>
void terms_of_query(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                    std::function<bool(std::int64_t)> const& takes, std::vector<gradient_term>& into) {
  reference::enclosed_row<128, T> row;
  reference::compiled::enclose_row(p, b, h, i, row);
  if (row.kind != reference::row_kind::finite) return;
  std::int64_t const g = reference::key_head(p.size(), h);
  double const kept = reference::dropout_of(p) > 0 ? 1 / (1 - reference::dropout_of(p)) : 1;
  std::vector<gradient_term> all;
  double delta = 0;
  for (std::size_t n = 0; n < row.keys.size(); ++n) {
    bool const is_sink = n >= row.real_keys().size();
    std::int64_t const j = is_sink ? -1 : row.keys[n].j;
    double dP = 0;
    for (std::int64_t c = 0; !is_sink && c < p.size().dv; ++c)
      dP += number(p.d_out().row(b, h, i)[c]) * number(p.v().row(b, g, j)[c]);
    if (!is_sink) dP *= reference::is_dropped(p, b, h, i, j) ? 0 : kept;
    double const weight = reference::upper(reference::compiled::weight(row, n));
    delta += weight * dP;
    all.push_back({h, i, j, weight, dP, 0});
  }
  for (gradient_term& each : all) {
    each.dS = each.weight * (each.dP - delta);
    if (takes(each.j)) into.push_back(each);
  }
}

/// All terms of a row of one gradient. `shape`: of the gradient
template <class T>
std::vector<gradient_term> gradient_terms_of(problem::instance<T> const& p, output_kind which,
                                             std::array<std::int64_t, 4> const& shape,
                                             std::array<std::int64_t, 3> const& row) {
  std::vector<gradient_term> all;
  auto const& [b, h, i] = row;
  auto const is = [&](output_kind kind) { return which == kind; };
  std::int64_t const group = p.size().hk > 0 ? p.size().hq / p.size().hk : 1;
  auto const real = [](std::int64_t j) { return j >= 0; };
  if (is(output_kind::dq)) terms_of_query(p, b, h, i, real, all);
  if (is(output_kind::dk) || is(output_kind::dv))
    for (std::int64_t head = h * group; head < (h + 1) * group; ++head)
      for (std::int64_t query = 0; query < p.queries(b); ++query)
        terms_of_query(p, b, head, query, [key = i](std::int64_t j) { return j == key; }, all);
  if (is(output_kind::dbias) || is(output_kind::dsink)) {
    bool const sink = is(output_kind::dsink);
    for (std::int64_t entry = 0; entry < p.size().b; ++entry)
      for (std::int64_t head = 0; head < p.size().hq; ++head)
        for (std::int64_t query = 0; query < p.queries(entry); ++query) {
          bool const mine = (shape[0] == 1 || entry == b) && (shape[1] == 1 ? !sink || head == h : head == h) &&
                            (sink || shape[2] == 1 || query == i);
          if (mine) terms_of_query(p, entry, head, query, [=](std::int64_t j) { return sink ? j < 0 : j >= 0; }, all);
        }
  }
  return all;
}

}  // namespace attest::audit
