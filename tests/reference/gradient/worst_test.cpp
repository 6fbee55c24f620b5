// Near-worst inputs, and counterexamples to bounds that look right: honest kernels come close to the bound there, and
// the version without the term in question is exceeded.
#include "tests/reference/gradient/asked.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::worst_test {
using reference::gradient, reference::gradient_mode;

namespace {

/// One head, d = dv = 1, σ = 1.
gradient_case column(std::vector<double> q, std::vector<double> k, std::vector<double> v, std::vector<double> d_o) {
  gradient_case c;
  c.size = {.b = 1,
            .hq = 1,
            .hk = 1,
            .n = static_cast<std::int64_t>(q.size()),
            .m = static_cast<std::int64_t>(k.size()),
            .d = 1,
            .dv = 1};
  c.q = std::move(q), c.k = std::move(k), c.v = std::move(v), c.d_o = std::move(d_o);
  c.parameters.scale = 1.0;
  return c;
}
std::vector<double> times(std::size_t count, double x) { return std::vector<double>(count, x); }
std::vector<double> then(double first, std::size_t count, double x) {
  std::vector<double> list = times(count, x);
  list[0] = first;
  return list;
}

double ratio(gradient_case const& c, honest_kernel const& kernel, honest_models const& models, gradient which,
             gradient_mode mode = gradient_mode::own) {
  asked found;
  auto const answer = honest_run(kernel, c)();
  if (kernel.stores_low() && kernel.low.exponent_bits == 8)
    found = ask(stored_case<problem::bf16>(c), models, answer, mode);
  else if (kernel.stores_low()) found = ask(stored_case<problem::f16>(c), models, answer, mode);
  else found = ask(stored_case<float>(c), models, answer, mode);
  CHECK(found.judged == found.elements);
  return found.worst[static_cast<std::size_t>(which)];
}
/// σ = 1 is exact: no rounding of it.
honest_models sharp_models(honest_kernel const& kernel, gradient_case const& c) {
  auto models = models_of(kernel, c);
  models.forward.k_qk_base = 0, models.backward.k_scale = 0;
  return models;
}
void require_near(double found, double least) {
  INFO("error over bound " << found << ", wanted " << least);
  CHECK(found <= 1);
  CHECK(found >= least);
}

constexpr honest_kernel fa{}, naive{.saved = true, .from_weights = true};

}  // namespace

TEST_CASE("additions that stay put reach the bound of dV and dK", "[unit]") {
  auto const c = column(times(2000, 0), {0}, {1}, then(1, 2000, 0x1p-24));
  require_near(ratio(c, fa, sharp_models(fa, c), gradient::dv, gradient_mode::recorded), 0.99);
  require_near(ratio(c, fa, sharp_models(fa, c), gradient::dv), 0.99);
  require_near(ratio(c, naive, sharp_models(naive, c), gradient::dv), 0.99);
  auto const k = column(then(1, 2000, 0x1p-24), {0, 0}, {1, -1}, times(2000, 2));
  require_near(ratio(k, fa, sharp_models(fa, k), gradient::dk), 0.98);
  require_near(ratio(k, naive, sharp_models(naive, k), gradient::dk), 0.98);
}

TEST_CASE("additions that stay put reach the bound of dQ", "[unit]") {
  std::vector<double> v(2048), k(2048);
  for (std::size_t j = 0; j < v.size(); ++j) v[j] = j % 2 == 0 ? 1 : -1, k[j] = v[j] * (j < 2 ? 1 : 0x1p-23);
  auto const c = column({0}, k, v, {1});
  auto kernel = naive;
  kernel.pairwise_forward = true;
  auto models = sharp_models(kernel, c);
  models.forward.height = problem::sum_height::declared;
  models.forward.height_divisor = 2048, models.forward.height_base = 10;
  require_near(ratio(c, kernel, models, gradient::dq), 0.9);
}

TEST_CASE("drawn and climbed inputs come near the bound", "[unit]") {
  struct row {
    honest_kernel kernel;
    gradient which;
    std::vector<double> q, k, v, d_o;
    double least;
  };
  auto low = fa;
  low.low = problem::format_of<problem::bf16>;
  std::vector<row> const rows{
      {fa,
       gradient::dq,
       {-0x1.1bb254p-7},
       {-0x1.19c6f4p-1, 0x1.1c6be4p-1},
       {0x1.4c3d0ep+9, 0x1.4adea8p+9},
       {0x1.9e19a6p-4},
       0.9},
      {low,
       gradient::dv,
       {-0x1.56p+1, -0x1.4ep+1},
       {0x1.06p-4, 0x1.f4p-5},
       {-0x1.22p-3, 0x1.38p-4},
       {-0x1.18p+2, 0x1.92p-2},
       0.9},
      {naive,
       gradient::dq,
       {-0x1.f9b6a8p-1, -0x1.a08528p-8},
       {-0x1.93179cp+2, -0x1.819e10p-7},
       {0x1.f02ee0p-6, 0x1.6a6432p-6},
       {0x1.0b5ec2p-1, 0x1.469374p-2},
       0.75},
      {naive,
       gradient::dv,
       {-0x1.210820p+3},
       {-0x1.137446p-1, 0x1.b25e6cp-2, 0x1.2e12f0p-1},
       {0x1.9476fep-4, 0x1.b5e7eep-7, 0x1.6d1698p-2},
       {0x1.0a3e16p-3},
       0.34},
      {naive,
       gradient::dbias,
       {0x1.c41fbep+1, 0x1.c1dc3ap+0},
       {-0x1.d1dc2cp-3, 0x1.448842p+3},
       {0x1.2a473cp-4, -0x1.10d606p-5},
       {-0x1.69394cp-8, 0x1.300f14p-5},
       0.54},
  };
  for (auto const& [kernel, which, q, k, v, d_o, least] : rows) {
    auto c = column(q, k, v, d_o);
    if (which == gradient::dbias) {
      c.bias_shape = {1, 1, c.size.n, c.size.m};
      c.bias = times(q.size() * k.size(), 0);
    }
    CAPTURE(static_cast<int>(which));
    require_near(ratio(c, kernel, sharp_models(kernel, c), which), least);
  }
}

TEST_CASE("sums of the same terms hold a mean key far from 0 together", "[unit]") {
  draw random(3);
  // Σ_j dS_j is 0, except for the roundings of Δ and of the row's sum: form (c).
  auto const bound_of = [](gradient_case const& c, honest_models const& models) {
    stored_case<float> const stored(c);
    auto source = std::move(reference::gradient_source<float>::make(*stored.instance, stored.inputs(), models.forward,
                                                                    models.backward, gradient_mode::own))
                      .value();
    return source.group(0, 0).dq_at(0, 0, 0).bound;
  };
  for (honest_kernel const& kernel : {naive, honest_kernel{.from_weights = true}}) {
    double worst = 0;
    for (int n = 0; n < 40; ++n) {
      std::vector<double> k, v;
      for (int j = 0; j < 16; ++j)
        k.push_back(static_cast<float>(1000 + random.gaussian())), v.push_back(static_cast<float>(random.gaussian()));
      auto const c = column({static_cast<float>(0.001 * random.gaussian())}, k, v, {1});
      auto models = sharp_models(kernel, c);
      worst = std::max(worst, ratio(c, kernel, models, gradient::dq));
      double const with = bound_of(c, models);
      models.backward.same_terms = false;
      double const without = bound_of(c, models);
      CHECK(with < 0.85 * without);
      models.backward.same_terms = true, models.backward.one_pass = false;
      if (kernel.saved) CHECK(with < bound_of(c, models));
    }
    INFO("error over bound " << worst);
    CHECK(worst <= 1);
    CHECK(worst >= 0.03);
  }
}

TEST_CASE("a recorded LSE is not exact", "[unit]") {
  auto const c = column({1}, {100000, 100000}, {0, 0}, {1});
  auto models = sharp_models(fa, c);
  models.forward.k_qk_base = -1;  // q = 1: no product rounds
  require_near(ratio(c, fa, models, gradient::dv, gradient_mode::recorded), 0.2);
  // Local mode takes the LSE as exact: its truth is another one, and so is the answer that it admits.
  CHECK(ratio(c, fa, models, gradient::dv, gradient_mode::local) <= 1);
}

TEST_CASE("the slope of a softcap is only absolutely accurate", "[unit]") {
  auto c = column({1}, {9, 9}, {1, -1}, {1});
  c.parameters.softcap = 1;
  auto const models = sharp_models(fa, c);
  require_near(ratio(c, fa, models, gradient::dk), 0.01);
  // κ is what admits it: the error is far above 2⁻²⁰ of the exact value.
  auto const got = honest_run(fa, c)();
  stored_case<float> const stored(c);
  auto source = std::move(reference::gradient_source<float>::make(*stored.instance, stored.inputs(), models.forward,
                                                                  models.backward, gradient_mode::own))
                    .value();
  auto const& element = source.group(0, 0).dk_at(0, 0);
  CHECK(std::abs(got.dk[0] - element.lower) > 0.01 * std::abs(element.lower));
}

TEST_CASE("an error is not relative to dS", "[unit]") {
  auto const c = column({0x1.a378eap+0}, {0x1.7f29a8p+0, -0x1.01e610p-1, -0x1.b3150cp-2}, times(3, 0x1.c96734p-1),
                        {0x1.ad03a0p-1});
  auto const got = honest_run(fa, c)();
  CHECK(std::abs(got.dq[0]) > 0);  // dS is 0 exactly
  require_near(ratio(c, fa, sharp_models(fa, c), gradient::dq), 0.001);
}

TEST_CASE("heads that are stored before they are added", "[unit]") {
  gradient_case c = column(times(4, 0), {0}, {1}, {1, 0x1.8p-8, -1, 0});
  c.size.hq = 2, c.size.n = 2;
  honest_kernel kernel{.low = problem::format_of<problem::bf16>, .low_heads = true};
  auto models = sharp_models(kernel, c);
  models.forward.u_p = models.forward.omega_p = 0;  // the weight is 1
  require_near(ratio(c, kernel, models, gradient::dv), 0.2);
  models.backward.u_head = models.backward.omega_head = 0;
  CHECK(ratio(c, kernel, models, gradient::dv) > 1);
}

TEST_CASE("partial gradients that are stored", "[unit]") {
  std::vector<double> d_o;
  double const x[] = {0x1p-7, 0x1p-7, 0x1p-7, 0x1p-6, 0x1p-6};
  for (int part = 0; part < 5; ++part)
    for (int row = 0; row < 32; ++row) d_o.push_back(row < (part == 0 ? 15 : 31) ? 1 + x[part] : 1);
  auto const c = column(times(160, 0), {0}, {1}, d_o);
  honest_kernel kernel{.pairwise = true, .low = problem::format_of<problem::bf16>, .part = 32};
  auto models = sharp_models(kernel, c);
  require_near(ratio(c, kernel, models, gradient::dv), 0.3);
  models.backward.part_rows = 0;
  CHECK(ratio(c, kernel, models, gradient::dv) > 1);
}

TEST_CASE("dS in bf16, which nobody declared", "[unit]") {
  draw random(5);
  honest_kernel wrong = fa;
  wrong.rounds_dS = true;
  std::size_t refuted = 0;
  for (int n = 0; n < 20; ++n) {
    auto const c = drawn_case<float>(random, family::gaussian, 0);
    refuted += ask(stored_case<float>(c), models_of(fa, c), honest_run(wrong, c)(), gradient_mode::own).refuted > 0;
  }
  CHECK(refuted >= 15);
}

TEST_CASE("what may overflow is not judged", "[unit]") {
  auto const c = column({0}, {1, -1}, {60000, -60000}, {4});
  honest_kernel kernel{.low = problem::format_of<problem::f16>};
  auto const found =
      ask(stored_case<problem::f16>(c), sharp_models(kernel, c), honest_run(kernel, c)(), gradient_mode::own);
  CHECK(found.refuted == 0);
  CHECK(found.judged < found.elements);
}

TEST_CASE("what roundings of an argument lose takes exp below its normal range", "[unit]") {
  // Half precision that flushes: 101 roundings of the argument of exp may lose ω each.
  double const omega = 0x1p-14, far = 9.7, roundings = 100 * 0x1p-11;
  auto const bound_at = [&](double lost) {  // |s − L|(1 + γ) = far − lost·ω
    auto const c = column({1}, {0, -(far - lost * omega) * (1 - roundings)}, {0, 0}, {1});
    auto models = sharp_models(fa, c);
    models.forward.format = {0x1p-11, omega, far, far, 0x1p-13, 0x1p14};
    models.forward.k_qk_base = -1, models.forward.flushes = true,
    models.backward.k_x = 100;  // q = 1: no product rounds
    stored_case<float> const stored(c);
    auto inputs = stored.inputs();
    std::vector<float> const zero{0};
    inputs.o = stored_case<float>::rows(zero, {1, 1, 1, 1}), inputs.lse = inputs.o;
    auto source = std::move(reference::gradient_source<float>::make(*stored.instance, inputs, models.forward,
                                                                    models.backward, gradient_mode::local))
                      .value();
    return source.group(0, 0).dv_at(1, 0).bound;
  };
  CHECK(bound_at(70) > bound_at(200) + 0x1p-13);  // ω_W/e^τ
}

TEST_CASE("an LSE that is not finite judges nothing", "[unit]") {
  auto const c = column({1}, {1, 2}, {1, -1}, {1});
  auto got = honest_run(fa, c)();
  got.lse[0] = INFINITY;
  auto const found = ask(stored_case<float>(c), sharp_models(fa, c), got, gradient_mode::recorded);
  CHECK(found.judged == 0);
}

}  // namespace attest::tests::worst_test
