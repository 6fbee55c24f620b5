// Gradients, correctly rounded: beside dense matrices of 300 bits, and where only exact arithmetic decides.
#include <cmath>

#include "reference/gradient/rounded.hpp"
#include "reference/real/nearest.hpp"
#include "tests/reference/gradient/dense.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::rounding_test {
using reference::gradient, reference::gradient_index, reference::gradient_mode, reference::value_kind;

namespace {

/// One head, d = dv = 1, σ = 1.
gradient_case column(std::vector<double> q, std::vector<double> k, std::vector<double> v, std::vector<double> d_o) {
  gradient_case c;
  auto const n = static_cast<std::int64_t>(q.size()), m = static_cast<std::int64_t>(k.size());
  c.size = {.b = 1, .hq = 1, .hk = 1, .n = n, .m = m, .d = 1, .dv = 1};
  c.q = std::move(q), c.k = std::move(k), c.v = std::move(v), c.d_o = std::move(d_o);
  c.parameters.scale = 1.0;
  return c;
}

template <class Target, class T = float>
std::vector<reference::rounded_gradient<Target>> rounded(gradient_case const& c,
                                                         std::vector<gradient_index> const& wanted) {
  stored_case<T> const stored(c);
  REQUIRE(stored.instance);
  return reference::compiled::round_gradients<Target>(*stored.instance, stored.inputs(), gradient_mode::own,
                                                      std::span<gradient_index const>(wanted));
}
template <class Target, class T = float>
std::optional<Target> rounded_one(gradient_case const& c, gradient which, std::int64_t at) {
  auto const found = rounded<Target, T>(c, {{which, 0, 0, at, 0}});
  CHECK(found.front().kind == value_kind::finite);
  return found.front().value;
}
bool is_plus_zero(std::optional<float> x) { return x && *x == 0 && !std::signbit(*x); }

/// The values of every drawn case are the nearest ones; what stays undecided is a boundary or 0 as far as 240 bits say.
template <class T, class Target>
void round_drawn(std::uint64_t seed, int cases) {
  draw random(seed);
  std::size_t decided = 0, open = 0;
  for (int n = 0; n < cases; ++n) {
    auto const of = static_cast<family>(random.whole(0, last_family));
    auto const c = drawn_case<T>(random, of, static_cast<unsigned>(random.whole(0, 511)), 3);
    // Weights of e^(−10³⁸) and slopes of e^(−10¹⁰) are below the exponents of balls: their signs stay open.
    std::size_t const counts =
        of == family::least_masked || of == family::giant_scores || of == family::offset_keys ? 0 : 1;
    auto const exact = dense(c);
    auto const all = places(c);
    std::vector<gradient_index> wanted;
    for (auto const& each : all)
      if (c.q_lengths.empty() || each.index.which != gradient::dq ||
          each.index.i < c.q_lengths[static_cast<std::size_t>(each.index.b)])
        wanted.push_back(each.index);
    auto const got = rounded<Target, T>(c, wanted);
    std::size_t at = 0;
    for (auto const& each : all) {
      if (at == wanted.size() || !(wanted[at] == each.index)) continue;
      wide const truth = (exact.*each.tensor)[each.at];
      auto const& one = got[at++];
      REQUIRE(one.kind == value_kind::finite);
      if (!one.value) {
        open += counts;
        auto const near = reference::nearest_ordinal<Target>(static_cast<double>(truth));
        bool const is_zero = abs(truth) < ldexp(wide(1), -240);
        auto const boundary = [&](std::int64_t ordinal) {
          auto const t = reference::boundary_above<Target>(ordinal);
          return ldexp(wide(t.significand), t.exponent);
        };
        CHECK((is_zero || abs(truth - boundary(near)) < abs(truth) * ldexp(wide(1), -200) ||
               abs(truth - boundary(near - 1)) < abs(truth) * ldexp(wide(1), -200)));
        continue;
      }
      ++decided;
      double const value = audit::number(*one.value);
      if (std::isinf(value)) continue;
      std::int64_t const ordinal = reference::nearest_ordinal<Target>(value);
      auto const off = [&](std::int64_t neighbour) {
        return abs(wide(audit::number(reference::value_of_ordinal<Target>(neighbour))) - truth);
      };
      wide const slack = ldexp(abs(truth), -200) + ldexp(wide(1), -1000);
      INFO("case " << n << ", gradient " << static_cast<int>(each.index.which) << ", value " << value);
      bool const inner = std::abs(ordinal) + 1 < reference::infinity_ordinal<Target>;
      CHECK((!inner || (off(ordinal) <= off(ordinal + 1) + slack && off(ordinal) <= off(ordinal - 1) + slack)));
    }
  }
  WARN("decided " << decided << ", undecided " << open);
  CHECK(open * 500 <= decided);
}

}  // namespace

TEST_CASE("drawn gradients are rounded to the nearest value", "[property]") {
  round_drawn<float, float>(21, 60);
  round_drawn<problem::bf16, problem::bf16>(22, 40);
  round_drawn<problem::f16, float>(23, 40);
}

TEST_CASE("gradients that are exactly zero are +0", "[unit]") {
  // One visible key; equal values; an upstream gradient of 0; values whose covariance with the keys is 0.
  auto const one = column({0x1.3p+0}, {0x1.7p+0}, {0x1.9p-3}, {0x1.5p+1});
  CHECK(is_plus_zero(rounded_one<float>(one, gradient::dq, 0)));
  CHECK(is_plus_zero(rounded_one<float>(one, gradient::dk, 0)));
  auto const equal = column({0x1.3p+0, -0x1.1p+1}, {0x1.7p+0, -0x1.3p-2}, {0x1.9p-3, 0x1.9p-3}, {0x1.5p+1, 1});
  CHECK(is_plus_zero(rounded_one<float>(equal, gradient::dq, 1)));
  CHECK(is_plus_zero(rounded_one<float>(equal, gradient::dk, 1)));
  auto const silent = column({0x1.3p+0}, {0x1.7p+0, -0x1.3p-2}, {0x1.9p-3, 1}, {0});
  CHECK(is_plus_zero(rounded_one<float>(silent, gradient::dv, 0)));
  auto const uncorrelated = column({0}, {1, 1, -1, -1}, {3, -3, 3, -3}, {0x1.5p+1});
  CHECK(is_plus_zero(rounded_one<float>(uncorrelated, gradient::dq, 0)));
}

TEST_CASE("ties between two values go to the even one", "[unit]") {
  // Equal weights 1/2: dV is (1 + t)/2.
  for (double const t : {0x1p-24, 0x1.8p-23}) {
    auto const c = column({0, 0}, {1, 1}, {1, -1}, {1, t});
    auto const found = rounded_one<float>(c, gradient::dv, 0);
    REQUIRE(found);
    CHECK(*found == static_cast<float>((1 + t) / 2));
  }
  // dQ = Σ_j (W_j − Δ)·k_j/2 = (1 + 2⁻²⁴)·(k_0 − k_1)/2·… with σ = 1/√4: rational.
  auto quarter = column({0, 0, 0, 0}, {1, 0, 0, 0, 0x1.000002p+0, 0, 0, 0}, {1, -1}, {0x1.000002p+0});
  quarter.size = {.b = 1, .hq = 1, .hk = 1, .n = 1, .m = 2, .d = 4, .dv = 1};
  quarter.parameters.scale.reset();
  auto const found = rounded_one<float>(quarter, gradient::dq, 0);
  REQUIRE(found);
  CHECK(*found == static_cast<float>(0x1.000002p+0 * (1 - 0x1.000002p+0) / 4));
  // 1/√2 is no dyadic number: no tie, and zero only where the sum is.
  auto root = column({0, 0}, {1, 0, 1, 0}, {1, -1}, {1});
  root.size = {.b = 1, .hq = 1, .hk = 1, .n = 1, .m = 2, .d = 2, .dv = 1};
  root.parameters.scale.reset();
  CHECK(is_plus_zero(rounded_one<float>(root, gradient::dq, 0)));
}

TEST_CASE("dropout keeps ties exact", "[unit]") {
  auto c = column({0}, {1, 1}, {1, -1}, {0x1.8p-1});
  c.keep = {1, 1}, c.parameters.dropout = 0.25;
  // π/(1 − p)·dO = (1/2)/(3/4)·(3/4)
  CHECK(rounded_one<float>(c, gradient::dv, 0) == 0.5F);
}

TEST_CASE("scores in arithmetic progression gather", "[unit]") {
  // Keys 0, 1, 2 with scores 0, s, 2s: e^(s_0 + s_2) = e^(2·s_1). Values with W = (1, 0, 1) and x = (1, 0, 1):
  // no pair cancels alone, and dBias of a key is no rational number.
  auto c = column({1}, {0, 1, 2}, {1, 0, 1}, {1});
  c.bias_shape = {1, 1, 1, 3}, c.bias = {0, 0, 0};
  auto const found = rounded<float>(c, {{gradient::dbias, 0, 0, 0, 0}, {gradient::dbias, 0, 0, 0, 1}});
  CHECK(found[0].value);
  CHECK(found[1].value);
}

TEST_CASE("two rows whose exponentials cancel stay undecided", "[unit]") {
  auto const c = column({1, 1}, {1, -1}, {1, 3}, {1, -1});
  CHECK(!rounded_one<float>(c, gradient::dv, 0));
  // One of them alone is decided.
  CHECK(rounded_one<float>(column({1}, {1, -1}, {1, 3}, {1}), gradient::dv, 0));
}

}  // namespace attest::tests::rounding_test
