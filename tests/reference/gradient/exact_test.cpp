// The ball tier of gradients: encloses dense matrices of 300 bits; both tiers enclose the same number.
#include "reference/gradient/exact.hpp"

#include <cmath>

#include "tests/reference/gradient/dense.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::exact_test {
using reference::gradient, reference::gradient_index, reference::gradient_mode, reference::value_kind;

namespace {

/// Is x within the ball, up to the 2⁻²⁵⁰ of the dense matrices?
template <unsigned W>
bool contains(reference::ball<W> const& ball, wide const& x, wide const& size) {
  auto const exactly = [](auto const& mantissa, std::int64_t exponent) {
    return exponent < -100000 ? wide(0) : ldexp(wide(mantissa.str()), static_cast<int>(exponent));  // wide ends there
  };
  wide const mid = ball.mid.sign() == 0 ? wide(0) : exactly(ball.mid, ball.exponent);
  wide const radius = ball.radius.is_zero() ? wide(0) : exactly(wide(ball.radius.mantissa()), ball.radius.exponent());
  return abs(mid - x) <= radius + ldexp(size, -250);
}

/// What the terms of any gradient are below: the dense matrices are within 2⁻²⁵⁰ of it.
wide scale_of(gradient_case const& c) {
  auto const largest = [](std::vector<double> const& list) {
    double most = 0;
    for (double const x : list) most = std::max(most, std::abs(x));
    return wide(most);
  };
  return (1 + largest(c.q)) * (1 + largest(c.k)) * (1 + largest(c.v)) * largest(c.d_o);
}

constexpr problem::kernel_model f32_model{
    .format = problem::formats::f32, .k_qk_base = 2, .eps = 0x1p-23, .eps_log = 0x1p-23};

template <class T>
void require_enclosed(gradient_case const& c, std::size_t& elements, std::size_t& judged,
                      problem::kernel_model const& forward = f32_model, double widest = 1e-4,
                      gradient_mode mode = gradient_mode::own) {
  stored_case<T> const stored(c);
  REQUIRE(stored.instance);
  auto const& p = *stored.instance;
  auto exact = dense(c);
  // What is handed over: O and LSE, rounded, and off by 2⁻⁶ so that it matters.
  std::vector<T> o;
  std::vector<problem::lse_element<T>> lse;
  std::vector<double> o_numbers, lse_numbers;
  for (wide const& each : exact.o) {
    o.push_back(audit::nearest_element<T>(static_cast<double>(each) * (1 + 0x1p-6)));
    o_numbers.push_back(audit::number(o.back()));
  }
  for (wide const& each : exact.lse) {
    lse.push_back(static_cast<problem::lse_element<T>>(static_cast<double>(each) + 0x1p-6));
    lse_numbers.push_back(static_cast<double>(lse.back()));
  }
  auto inputs = stored.inputs();
  inputs.o = stored_case<T>::rows(o, {c.size.b, c.size.hq, c.size.n, c.size.dv});
  inputs.lse = stored_case<T>::rows(lse, {c.size.b, c.size.hq, c.size.n, 1});
  if (mode == gradient_mode::local) exact = dense(c, &o_numbers, &lse_numbers);
  auto const wanted = places(c);
  std::vector<gradient_index> indices;
  for (auto const& each : wanted) indices.push_back(each.index);
  auto const balls = reference::compiled::enclose_gradients<128>(p, inputs, mode, indices);

  auto made = reference::gradient_source<T>::make(p, inputs, forward, {}, mode);
  REQUIRE(made);
  auto source = std::move(made).value();
  std::vector<reference::group_gradients> groups;
  for (std::int64_t b = 0; b < c.size.b; ++b)
    for (std::int64_t g = 0; g < c.size.hk; ++g) groups.push_back(source.group(b, g));
  auto const dbias = source.dbias(), dsink = source.dsink();
  wide const scale = scale_of(c);
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    auto const& [which, b, h, i, x] = wanted[n].index;
    wide const& truth = (exact.*wanted[n].tensor)[wanted[n].at];
    INFO("gradient " << static_cast<int>(which) << " [" << b << ", " << h << ", " << i << ", " << x << "]");
    REQUIRE(balls[n].kind == value_kind::finite);
    CHECK(contains(balls[n].value, truth, scale));
    bool const of_rows = which == gradient::dq;
    std::int64_t const g = of_rows ? h / (c.size.hq / c.size.hk) : h;
    reference::gradient_element element;
    if (which == gradient::dbias) element = dbias.at(b, h, i, x);
    else if (which == gradient::dsink) element = dsink.at(0, h, 0, 0);
    else {
      auto const& group = groups[static_cast<std::size_t>(b * c.size.hk + g)];
      if (i >= (of_rows ? group.queries : group.keys)) continue;
      element = of_rows                 ? group.dq_at(h - g * group.heads, i, x)
                : which == gradient::dk ? group.dk_at(i, x)
                                        : group.dv_at(i, x);
    }
    ++elements, judged += element.bound < INFINITY ? 1 : 0;
    INFO("lower " << element.lower << " upper " << element.upper << " bound " << element.bound << " truth "
                  << static_cast<double>(truth));
    REQUIRE(element.kind == value_kind::finite);
    CHECK(wide(element.lower) <= truth);
    CHECK(truth <= wide(element.upper));
    CAPTURE((element.upper - element.lower) / element.bound);
    CHECK(element.upper - element.lower <= widest * element.bound + 0x1p-1000);
    auto const refined = reference::refined(element, balls[n]);
    wide const dense_error = ldexp(scale, -250);
    CHECK(wide(refined.lower) <= truth + dense_error);
    CHECK(truth - dense_error <= wide(refined.upper));
    CHECK(refined.upper - refined.lower <= 0x1p-50 * std::abs(refined.upper) + 0x1p-60);
    if (element.no_terms) CHECK(truth == 0);
  }
}

}  // namespace

namespace {

// Two keys of equal scores: π = 1/2, Δ = 2, dS = (−1/2, 1/2), and dQ = σ·Σ dS·k = 1.
constexpr bool halves_are_proved() {
  constexpr std::array<float, 1> q{0}, d_o{1};
  constexpr std::array<float, 2> k{1, 3}, v{1, 3};
  problem::arguments<float> call;
  call.scale = 1.0;
  call.q = {q.data(), problem::layout::compact({1, 1})};
  call.k = {k.data(), problem::layout::compact({2, 1})}, call.v = {v.data(), problem::layout::compact({2, 1})};
  auto const p = problem::instance<float>::make(call).value();
  reference::gradient_inputs<float> inputs;
  inputs.d_o = {d_o.data(), {1, 1, 1, 1}, {1, 1, 1}, true, {}};
  constexpr std::array<gradient_index, 2> wanted{{{gradient::dq, 0, 0, 0, 0}, {gradient::dv, 0, 0, 1, 0}}};
  auto const found = reference::enclose_gradients<128>(p, inputs, gradient_mode::own, wanted);
  auto const is = [](reference::ball<128> const& x, double y) {
    return y - 0x1p-50 < reference::lower(x) && reference::upper(x) < y + 0x1p-50;
  };
  return is(found[0].value, 1) && is(found[1].value, 0.5);
}
static_assert(halves_are_proved(), "the gradients of two equal scores, proved while this file compiles");

}  // namespace

TEST_CASE("both tiers enclose the gradients of dense matrices", "[unit][property]") {
  draw random(1);
  std::size_t elements = 0, judged = 0;
  for (unsigned features = 0; features < 512; features += 1) {
    auto const of = static_cast<family>(random.whole(0, last_family));
    CAPTURE(features, static_cast<int>(of));
    double const widest = of == family::giant_scores ? 0.01 : 1e-3;
    require_enclosed<float>(drawn_case<float>(random, of, features), elements, judged, f32_model, widest);
    if (of == family::giant_scores || of == family::least_masked) continue;  // an LSE of 10³⁸ leaves no weight
    auto const mode = random.chance(0.5) ? gradient_mode::local : gradient_mode::recorded;
    require_enclosed<float>(drawn_case<float>(random, of, features), elements, judged, f32_model, 1e-2, mode);
    if (features % 4 == 0)
      require_enclosed<problem::bf16>(drawn_case<problem::bf16>(random, of, features), elements, judged, f32_model,
                                      widest);
  }
  CHECK(judged > elements * 9 / 10);
}

TEST_CASE("both tiers enclose gradients of f64, whose bounds are as small as double arithmetic", "[unit][property]") {
  constexpr double u = 0x1p-53;
  constexpr problem::kernel_model f64_model{
      .format = problem::formats::f64, .k_qk_base = 2, .eps = 2 * u, .eps_log = 2 * u};
  draw random(2);
  std::size_t elements = 0, judged = 0;
  for (unsigned features = 0; features < 512; features += 3) {
    auto const of = static_cast<family>(random.whole(0, 8));
    CAPTURE(features, static_cast<int>(of));
    require_enclosed<double>(drawn_case<double>(random, of, features), elements, judged, f64_model,
                             (features & 8) != 0 ? 1e4 : 32);  // a softcap's slope is formed in doubles
  }
  CHECK(judged > elements * 9 / 10);
}

TEST_CASE("packed queries and paged keys have the gradients of the dense problem", "[unit]") {
  draw random(7);
  auto const c = drawn_case<float>(random, family::gaussian, 32 + 16);
  gradient_case one = c;  // one entry, so that its rows are packed as they lie
  one.size.b = 1;
  auto const& s = one.size;
  stored_case<float> const dense_form(one);
  std::vector<std::int32_t> const offsets{0, static_cast<std::int32_t>(s.n)};
  std::vector<std::int32_t> const lengths{static_cast<std::int32_t>(s.m)};
  std::vector<std::int32_t> table;  // pages of one key, in reverse
  std::vector<float> k, v;
  for (std::int64_t j = 0; j < s.m; ++j) {
    table.push_back(static_cast<std::int32_t>(s.m - 1 - j));
    for (std::int64_t g = 0; g < s.hk; ++g) {
      auto const row = static_cast<std::size_t>(g * s.m + (s.m - 1 - j));
      for (std::size_t t = 0; t < static_cast<std::size_t>(s.d); ++t)
        k.push_back(dense_form.k[row * static_cast<std::size_t>(s.d) + t]);
      for (std::size_t e = 0; e < static_cast<std::size_t>(s.dv); ++e)
        v.push_back(dense_form.v[row * static_cast<std::size_t>(s.dv) + e]);
    }
  }
  using problem::layout;
  problem::arguments<float> a;
  static_cast<problem::parameters&>(a) = one.parameters;
  a.q = {dense_form.q.data(), layout::compact({1, s.hq, s.n, s.d})};
  a.k = {k.data(), layout::compact({s.m, s.hk, 1, s.d})}, a.v = {v.data(), layout::compact({s.m, s.hk, 1, s.dv})};
  a.sink = problem::tensor<float const>{dense_form.sink.data(), layout::compact({s.hq})};
  a.q_offsets = problem::tensor<std::int32_t const>{offsets.data(), layout::compact({2})};
  a.k_lengths = problem::tensor<std::int32_t const>{lengths.data(), layout::compact({1})};
  a.block_table = problem::tensor<std::int32_t const>{table.data(), layout::compact({1, s.m})};
  auto const made = problem::instance<float>::make(a);
  REQUIRE(made);
  auto const& paged = made.value();
  auto inputs = dense_form.inputs();
  inputs.d_o.map = paged.entries().queries.map;
  auto const source_of = [&](auto const& p, auto const& with) {
    return std::move(reference::gradient_source<float>::make(p, with, f32_model, {}, gradient_mode::own)).value();
  };
  auto ours = source_of(paged, inputs), theirs = source_of(*dense_form.instance, dense_form.inputs());
  auto const same = [](auto const& x, auto const& y) {
    REQUIRE(x.size() == y.size());
    for (std::size_t n = 0; n < x.size(); ++n)
      CHECK((x[n].lower == y[n].lower && x[n].upper == y[n].upper && x[n].bound == y[n].bound));
  };
  for (std::int64_t g = 0; g < s.hk; ++g) {
    auto const& x = ours.group(0, g);
    auto const& y = theirs.group(0, g);
    same(x.of_q, y.of_q), same(x.of_k, y.of_k), same(x.of_v, y.of_v);
  }
  same(ours.dsink().element, theirs.dsink().element);
}

TEST_CASE("sources of several threads add up", "[unit]") {
  draw random(9);
  auto const c = drawn_case<float>(random, family::gaussian, 4 + 16);
  stored_case<float> const stored(c);
  auto const make = [&] {
    return std::move(reference::gradient_source<float>::make(*stored.instance, stored.inputs(), f32_model, {},
                                                             gradient_mode::own))
        .value();
  };
  auto one = make(), first = make(), second = make();
  for (std::int64_t b = 0; b < c.size.b; ++b)
    for (std::int64_t g = 0; g < c.size.hk; ++g) one.group(b, g), ((b + g) % 2 == 0 ? first : second).group(b, g);
  first.add(second);
  auto const together = first.dbias(), alone = one.dbias();
  REQUIRE(together.element.size() == alone.element.size());
  for (std::size_t n = 0; n < alone.element.size(); ++n) {
    CHECK(std::abs(together.element[n].bound - alone.element[n].bound) <= 1e-12 * alone.element[n].bound);
    CHECK(together.element[n].lower <= alone.element[n].upper);
    CHECK(alone.element[n].lower <= together.element[n].upper);
  }
}

TEST_CASE("some rows and keys of a group are what they are in the whole group", "[unit]") {
  for (unsigned number = 0; number < 24; ++number) {
    draw random(100 + number);
    auto const c = drawn_case<float>(random, static_cast<family>(number % 3), number * 5, 40);
    stored_case<float> const stored(c);
    auto source = std::move(reference::gradient_source<float>::make(*stored.instance, stored.inputs(), f32_model, {},
                                                                    gradient_mode::own))
                      .value();
    for (std::int64_t b = 0; b < c.size.b; ++b)
      for (std::int64_t g = 0; g < c.size.hk; ++g) {
        reference::group_gradients const whole = source.group(b, g);
        auto const dbias = source.dbias();
        reference::wanted_rows wanted;
        for (std::int64_t h = 0; h < whole.heads; ++h)
          for (std::int64_t i = 0; i < whole.queries; ++i)
            if ((h + 3 * i + number) % 4 == 0) wanted.queries.push_back({h, i});
        for (std::int64_t j = 0; j < whole.keys; ++j)
          if ((j + number) % 5 == 2) wanted.keys.push_back(j);
        auto const& some = source.some_of_group(b, g, wanted);
        auto const same = [](reference::gradient_element const& x, reference::gradient_element const& y) {
          bool const equal = x.kind == y.kind && x.no_terms == y.no_terms && x.lower <= y.upper && y.lower <= x.upper &&
                             (x.bound == y.bound || std::abs(x.bound - y.bound) <= 1e-9 * y.bound);
          CHECK(equal);
        };
        for (std::size_t at = 0; at < wanted.queries.size(); ++at)
          for (std::int64_t t = 0; t < whole.d; ++t)
            same(some.dq_at(0, static_cast<std::int64_t>(at), t),
                 whole.dq_at(wanted.queries[at].h, wanted.queries[at].i, t));
        for (std::size_t at = 0; at < wanted.keys.size(); ++at) {
          auto const place = static_cast<std::int64_t>(at);
          for (std::int64_t t = 0; t < whole.d; ++t) same(some.dk_at(place, t), whole.dk_at(wanted.keys[at], t));
          for (std::int64_t e = 0; e < whole.dv; ++e) same(some.dv_at(place, e), whole.dv_at(wanted.keys[at], e));
        }
        auto const after = source.dbias();  // not counted twice
        for (std::size_t at = 0; at < dbias.element.size(); ++at)
          CHECK(after.element[at].upper == dbias.element[at].upper);
      }
  }
}

}  // namespace attest::tests::exact_test
