// A row of the reference as the other oracles are asked it: which keys take part is the reference's word, what they
// hold is read from the problem.
#pragma once

#include <cmath>
#include <vector>

#include "oracles/head.hpp"
#include "reference/attention/attention.hpp"

namespace attest::tests {

/// NaN for what is no finite number.
inline double as_double(reference::element const& x) {
  return x.is_finite() ? std::ldexp(static_cast<double>(x.significand), x.exponent) : std::nan("");
}

/// One query, and the keys that it attends to with a finite score.
struct oracle_row {
  oracles::head head;
  std::vector<double> q, bias;  ///< [d], [keys]

  template <unsigned W, class T>
  oracle_row(problem::instance<T> const& p, reference::enclosed_row<W, T> const& row)
      : head{row.keys.size(),
             static_cast<std::size_t>(p.size().d),
             static_cast<std::size_t>(p.size().dv),
             {},
             {},
             p.scale(),
             p.softcap()} {
    std::int64_t const b = row.b, h = row.h, i = row.i;
    std::int64_t const hk = reference::key_head(p.size(), h);
    auto const number = [](T const& stored) { return as_double(reference::value_of(stored)); };
    for (std::int64_t t = 0; t < p.size().d; ++t) q.push_back(number(p.q()(b, h, i, t)));
    for (auto const& key : row.keys) {
      for (std::int64_t t = 0; t < p.size().d; ++t) head.k.push_back(number(p.k()(b, hk, key.j, t)));
      for (std::int64_t c = 0; c < p.size().dv; ++c) head.v.push_back(number(p.v()(b, hk, key.j, c)));
      bias.push_back(as_double(reference::bias_at(p, b, h, i, key.j)));
    }
  }
};

}  // namespace attest::tests
