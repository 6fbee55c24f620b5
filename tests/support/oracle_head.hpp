// A row of the reference in the form for other oracles: the reference decides which keys take part, and their contents
// are read from the problem.
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

/// One query, and the keys that it attends to with a finite score. A finite sink is the last of them: q·k = 0, which no
/// softcap moves, its score as the bias, and the value 0. The value of a dropped key is 0 too; the factor 1/(1 − p) is
/// left to the caller.
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
             p.softcap(),
             p.base() == problem::log_base::two} {
    std::int64_t const b = row.b, h = row.h, i = row.i;
    std::int64_t const hk = reference::key_head(p.size(), h);
    auto const number = [](T const& stored) { return as_double(reference::value_of(stored)); };
    for (std::int64_t t = 0; t < p.size().d; ++t) q.push_back(number(p.q()(b, h, i, t)));
    for (auto const& key : row.real_keys()) {
      bool const dropped = reference::is_dropped(p, b, h, i, key.j);
      for (std::int64_t t = 0; t < p.size().d; ++t) head.k.push_back(number(p.k()(b, hk, key.j, t)));
      for (std::int64_t c = 0; c < p.size().dv; ++c) head.v.push_back(dropped ? 0 : number(p.v()(b, hk, key.j, c)));
      bias.push_back(as_double(reference::bias_at(p, b, h, i, key.j)));
    }
    if (!row.has_sink()) return;
    head.k.resize(head.k.size() + q.size(), 0), head.v.resize(head.v.size() + static_cast<std::size_t>(p.size().dv), 0);
    bias.push_back(as_double(reference::sink_at(p, b, h)));
  }
};

}  // namespace attest::tests
