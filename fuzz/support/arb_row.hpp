// One row of attention by Arb's ball arithmetic, in numbers that know nothing of attest.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference/attention/attention.hpp"

namespace attest::fuzz {

/// The visible keys with finite scores, as doubles (exact for every element type).
struct plain_row {
  std::int64_t d = 0, dv = 0;
  std::vector<double> q, k, v, bias;  ///< [d], [keys, d], [keys, dv], [keys]
  std::optional<double> scale;
  double softcap = 0;

  template <unsigned W, class T>
  static plain_row of(problem::instance<T> const& p, reference::enclosed_row<W, T> const& row) {
    auto const number = [](reference::element const& x) {
      return x.is_finite() ? std::ldexp(static_cast<double>(x.significand), x.exponent) : std::nan("");
    };
    plain_row made{.d = p.size().d, .dv = p.size().dv, .q = {}, .k = {}, .v = {}, .bias = {}, .scale = p.scale(),
                   .softcap = p.softcap()};
    std::int64_t const hk = reference::key_head(p.size(), row.h);
    for (std::int64_t t = 0; t < made.d; ++t) made.q.push_back(number(reference::value_of(p.q()(row.b, row.h, row.i, t))));
    for (auto const& key : row.keys) {
      for (std::int64_t t = 0; t < made.d; ++t) made.k.push_back(number(reference::value_of(p.k()(row.b, hk, key.j, t))));
      for (std::int64_t c = 0; c < made.dv; ++c) made.v.push_back(number(reference::value_of(p.v()(row.b, hk, key.j, c))));
      made.bias.push_back(number(reference::bias_at(p, row.b, row.h, row.i, key.j)));
    }
    return made;
  }
};

/// Doubles, rounded outward.
struct interval {
  double low, high;
};

struct arb_answer {
  std::vector<interval> o, weights;
  interval lse;
};

/// Is there an Arb? Without, arb_row answers nothing.
bool has_arb() noexcept;

/// The textbook formula at so many bits.
arb_answer arb_row(plain_row const& asked, long bits);

}  // namespace attest::fuzz
