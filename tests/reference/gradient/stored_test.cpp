// What a backward kernel stores in a narrower format, or multiplies early: where it overflows nothing is judged, and
// where it underflows the bound says so. Honest kernels left earlier bounds on each of these inputs.
#include "tests/reference/gradient/asked.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::stored_test {
using problem::f16;
using reference::gradient_element, reference::gradient_mode;

namespace {

/// One query, d = dv = 1.
gradient_case one_row(double q, std::vector<double> k, std::vector<double> v, double d_o, double scale = 1) {
  gradient_case c;
  c.size = {.b = 1, .hq = 1, .hk = 1, .n = 1, .m = static_cast<std::int64_t>(k.size()), .d = 1, .dv = 1};
  c.q = {q}, c.k = std::move(k), c.v = std::move(v), c.d_o = {d_o};
  c.parameters.scale = scale;
  return c;
}

/// The group of a case whose O and LSE were handed over, from an honest forward pass.
template <class T>
reference::group_gradients judged(gradient_case const& c, honest_models const& models) {
  stored_case<T> const stored(c);
  REQUIRE(stored.instance);
  auto const exact = honest_run({}, c)();
  auto const& s = c.size;
  std::vector<T> o;
  for (double const x : exact.o) o.push_back(audit::nearest_element<T>(x));
  std::vector<float> lse(exact.lse.begin(), exact.lse.end());
  auto inputs = stored.inputs();
  inputs.o = stored_case<T>::rows(o, {s.b, s.hq, s.n, s.dv}),
  inputs.lse = stored_case<T>::rows(lse, {s.b, s.hq, s.n, 1});
  auto source = reference::gradient_source<T>::make(*stored.instance, inputs, models.forward, models.backward,
                                                    gradient_mode::recorded);
  REQUIRE(source);
  return source.value().group(0, 0);
}

bool is_judged(std::vector<gradient_element> const& elements) {
  return std::ranges::all_of(elements, [](gradient_element const& each) { return each.bound < reference::infinity; });
}

constexpr double u16 = 0x1p-11, most = 65504;

}  // namespace

TEST_CASE("a product with the scale that overflows before its product with K or Q is not judged", "[unit]") {
  for (double const up : {0x1p30, 0x1p60}) {
    auto const c = one_row(0x1p20, {0, 0x1p-100}, {0x1p40, -0x1p40}, 0x1p30, up);  // σ·dS is up·2⁷⁰
    auto const found = judged<float>(c, models_of({}, c));
    CAPTURE(up);
    CHECK(is_judged(found.of_q) == (up < 0x1p50));
    CHECK(is_judged(found.of_k) == (up < 0x1p50));
  }
}

TEST_CASE("a stored product of dS with the scale that overflows is not judged", "[unit]") {
  for (double const scale : {8, 64}) {
    auto const c = one_row(0x1p-6, {0, 0x1p-10}, {4000, -4000}, 1, scale);  // dS = ±2000
    auto models = models_of({}, c);
    models.backward.u_ds = u16, models.backward.stored_limit = most;
    CHECK(is_judged(judged<f16>(c, models).of_q));
    models.backward.ds_scaled = true;
    CHECK(is_judged(judged<f16>(c, models).of_q) == (scale < 32));
  }
}

TEST_CASE("weights, delta, LSE and dP that overflow a narrower format are not judged", "[unit]") {
  auto const c = one_row(1, {100, 100}, {300, -300}, 100);  // W = ±30,000, L = 100.7
  auto const with = [&](auto const& change, gradient_case const& of) {
    auto models = models_of({}, of);
    models.backward.stored_limit = most;
    change(models);
    return is_judged(judged<f16>(of, models).of_q);
  };
  CHECK(with([](auto& m) { m.backward.u_dps = u16; }, c));
  CHECK(with([](auto& m) { m.backward.u_lse = u16; }, c));
  CHECK_FALSE(with([](auto& m) { m.backward.u_lse = u16, m.backward.stored_limit = 100; }, c));
  CHECK_FALSE(with([](auto& m) { m.backward.u_pd = u16, m.backward.stored_limit = 0.25; }, c));
  auto const apart = one_row(1, {1, 1, 1}, {600, 600, -600}, 100);  // W = ±60,000, Δ = 20,000
  CHECK(with([](auto& m) { m.backward.u_dps = u16; }, apart));
  CHECK_FALSE(with([](auto& m) { m.backward.u_dps = u16, m.backward.delta_first = true; }, apart));
  CHECK(with([](auto& m) { m.backward.u_delta = u16; }, apart));
  CHECK_FALSE(with([](auto& m) { m.backward.u_delta = u16, m.backward.stored_limit = 10000; }, apart));
}

TEST_CASE("a weight that dropout makes too large for its format is not judged", "[unit]") {
  for (double const dropout : {1 - 0x1p-15, 1 - 0x1p-17}) {
    auto c = one_row(0, {0}, {0}, 0x1p-10);
    c.keep = {1}, c.parameters.dropout = dropout;
    auto models = models_of({}, c);
    models.forward.u_p = u16, models.forward.p_limit = most;
    CHECK(is_judged(judged<f16>(c, models).of_v) == (dropout < 1 - 0x1p-16));
  }
}

TEST_CASE("a dropped key whose product with dO overflows leaves its row open", "[unit]") {
  for (double const v : {0x1p40, 0x1p70}) {
    auto c = one_row(0, {0, 0, 0}, {1, 2, v}, 0x1p70);
    c.keep = {1, 1, 0}, c.parameters.dropout = 0.25;
    CHECK(is_judged(judged<float>(c, models_of({}, c)).of_k) == (v < 0x1p50));
  }
}

TEST_CASE("a weight that is rounded before and behind the factor of dropout loses twice", "[unit]") {
  auto c = one_row(1, {0, -17.296875}, {1, 1}, 4096);  // π is just above half of the least f16
  c.keep = {1, 1}, c.parameters.dropout = 0.35;
  auto models = models_of({}, c);
  models.forward.u_p = models.forward.u_drop = u16, models.forward.omega_p = models.forward.omega_drop = 0x1p-25;
  auto const found = judged<f16>(c, models);
  auto const stored = [](double x) { return audit::rounded_to(x, problem::format_of<f16>); };
  double const weight = std::exp(-17.296875) / (1 + std::exp(-17.296875));
  double const got = stored(stored(stored(weight) / 0.65) * 4096);
  CHECK(got == 0x1p-11);
  CHECK(verdict_on(found.dv_at(1, 0), got) == reference::gradient_verdict::certified);
  models.forward.omega_drop = 0;
  CHECK(verdict_on(judged<f16>(c, models).dv_at(1, 0), got) == reference::gradient_verdict::refuted);
}

TEST_CASE("parts and blocks of rows do not reach across heads", "[unit]") {
  constexpr std::int64_t heads = 64;
  gradient_case c;
  c.size = {.b = 1, .hq = heads, .hk = 1, .n = 1, .m = 1, .d = 1, .dv = 1};
  c.q.assign(heads, 0), c.k = {0}, c.v = {0};
  auto const answer = [&](problem::binary_format const* format) {
    float sum = 0;
    for (double const x : c.d_o) {
      sum += static_cast<float>(x);
      if (format) sum = static_cast<float>(audit::rounded_to(static_cast<double>(sum), *format));
    }
    return static_cast<double>(sum);
  };
  c.d_o.assign(heads, 1), c.d_o[0] = 0x1p24;
  auto models = models_of({}, c);
  models.backward.height = problem::sum_height::block_local, models.backward.block = 16;
  CHECK(answer(nullptr) == 0x1p24);  // 63 too small
  CHECK(verdict_on(judged<float>(c, models).dv_at(0, 0), 0x1p24) == reference::gradient_verdict::certified);
  c.d_o[0] = 256;
  models = models_of({}, c);
  models.backward.part_rows = 32, models.backward.u_grad = 0x1p-8;
  auto const format = problem::format_of<problem::bf16>;
  CHECK(answer(&format) == 256);
  CHECK(verdict_on(judged<problem::bf16>(c, models).dv_at(0, 0), 256) == reference::gradient_verdict::certified);
}

}  // namespace attest::tests::stored_test
