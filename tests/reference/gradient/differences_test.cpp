// The enclosed gradients are the derivatives of the enclosed forward pass: central differences of f = Σ dO·O.
//
// D(h) = (f(x + h) − f(x − h))/2h = f′ + h²f‴/6 + …, so that D(h/2) − f′ is a third of D(h) − D(h/2), up to h⁴. At
// h = 2⁻²⁴ both are some 2⁻⁴⁸; a wrong gradient is off by far more.
#include <cmath>

#include "reference/compiled/row.hpp"
#include "tests/reference/gradient/drawn.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::differences_test {
using reference::gradient, reference::gradient_index;
using ball = reference::ball<256>;

namespace {

/// Σ dO·O over all rows.
ball loss(gradient_case const& c) {
  stored_case<double> const stored(c);
  auto const& p = *stored.instance;
  auto const& s = c.size;
  ball sum;
  reference::enclosed_row<256, double> row;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < p.queries(b); ++i) {
        reference::compiled::enclose_row(p, b, h, i, row);
        for (std::int64_t e = 0; e < s.dv; ++e) {
          double const d_o = c.d_o[static_cast<std::size_t>(((b * s.hq + h) * s.n + i) * s.dv + e)];
          sum = sum + reference::compiled::output(p, row, e).value * ball::from(reference::value_of(d_o));
        }
      }
  return sum;
}

ball difference(gradient_case c, std::vector<double> gradient_case::* list, std::size_t at, double h) {
  double const x = (c.*list)[at];
  (c.*list)[at] = x + h;
  ball const above = loss(c);
  (c.*list)[at] = x - h;
  return (above - loss(c)) * ball::from(reference::value_of(0.5 / h));
}

}  // namespace

TEST_CASE("gradients are derivatives of the forward pass", "[property]") {
  draw random(21);
  for (unsigned features = 0; features < 512; features += 7) {
    auto const c = drawn_case<problem::bf16>(random, family::gaussian, features, 3);  // x ± h are exact in f64
    stored_case<double> const stored(c);
    auto const& s = c.size;
    auto const check = [&](gradient which, std::vector<double> gradient_case::* list,
                           std::array<std::int64_t, 4> shape) {
      std::vector<gradient_index> wanted;
      for (std::int64_t b = 0; b < shape[0]; ++b)
        for (std::int64_t h = 0; h < shape[1]; ++h)
          for (std::int64_t i = 0; i < shape[2]; ++i)
            for (std::int64_t x = 0; x < shape[3]; ++x) wanted.push_back({which, b, h, i, x});
      if (wanted.empty()) return;
      std::size_t const at = static_cast<std::size_t>(random.whole(0, static_cast<std::int64_t>(wanted.size()) - 1));
      if (std::isinf((c.*list)[at])) return;
      auto const exact = reference::compiled::enclose_gradients<256>(
          *stored.instance, stored.inputs(), reference::gradient_mode::own, std::span(&wanted[at], 1));
      constexpr double h = 0x1p-24;
      ball const wide = difference(c, list, at, h), narrow = difference(c, list, at, h / 2);
      double const off = reference::upper_size(narrow - exact[0].value), step = reference::upper_size(wide - narrow);
      CAPTURE(features, static_cast<int>(which), at, off, step, reference::upper(exact[0].value));
      CHECK(off <= step + 0x1p-150);
      CHECK(step < 0x1p-30);
    };
    check(gradient::dq, &gradient_case::q, {s.b, s.hq, s.n, s.d});
    check(gradient::dk, &gradient_case::k, {s.b, s.hk, s.m, s.d});
    check(gradient::dv, &gradient_case::v, {s.b, s.hk, s.m, s.dv});
    if (!c.bias.empty()) check(gradient::dbias, &gradient_case::bias, c.bias_shape);
    if (!c.sink.empty()) check(gradient::dsink, &gradient_case::sink, {1, s.hq, 1, 1});
  }
}

}  // namespace attest::tests::differences_test
