// Rows on which an honest kernel leaves a bound that has no term for it, or meets a bound that says nothing.
#include "tests/audit/judge/honest_rows.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/known_run.hpp"
#include "tests/support/recorded_row.hpp"

namespace attest::tests::honest_rows_test {
namespace {

using problem::element_type;
using problem::kernel_model;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

recorded_row gaussian_row(std::int64_t m, std::int64_t d, double score_size, element_type type) {
  std::mt19937_64 random(1);
  recorded_row row;
  row.type = type;
  for (std::int64_t n = 0; n < d; ++n) row.q.push_back(gaussian(random) * score_size);
  for (std::int64_t n = 0; n < m * d; ++n) row.k.push_back(gaussian(random));
  for (std::int64_t n = 0; n < m; ++n) row.v.push_back(gaussian(random));
  return row;
}

}  // namespace

// exp2(fma(s, c, −fl(M·c))): the exponent is off by half an ulp of M·c, which is 32 at 10⁹. 0.1 refuted the NaN of the
// exponent at 10¹⁵ under every preset that allows this exponent (c_m = 4).
TEST_CASE("FlashAttention-2's exponent is not judged where scores overflow it", "[unit]") {
  for (auto const& [type, name] : {std::pair{element_type::f32, "f32"},
                                   {element_type::bf16, "bf16"},
                                   {element_type::bf16, "bf16-ieee"},
                                   {element_type::f16, "f16"}}) {
    auto const kernel = kernel_of(softmax_form::flash_attention_2, type);
    bool const half = type == element_type::f16;
    for (double const size : {1e4, 1e6, 1e15}) {
      if (half && size > 1e4) continue;  // q overflows
      recorded_row const row = answered(gaussian_row(128, 64, size, type), kernel, 64);
      std::string const title = "fa2-" + std::string(name) + (size == 1e15 ? "-1e15" : size == 1e6 ? "-1e6" : "-1e4");
      if (size < 1e15) {
        check_inside(title, row, preset(name));
      } else {
        check_not_judged(title, row, preset(name));
        auto const stable =
            changed_preset(name, [](kernel_model& m) { m.large_scores = problem::large_scores::stable; });
        check_refuted(title + "-stable", row, stable);
      }
    }
  }
}

// A kernel that leaves out keys never reads their V. Revision 6 asked it for the NaN of such a key.
TEST_CASE("V at a key that a kernel may leave out need not be finite", "[unit]") {
  recorded_row row = row_of({1}, {0, 0, -60}, {1, 1, 1, 1, nan, 1});
  row.o = {1, 1}, row.lse = {std::log(2.0)};
  auto const cut = [](double x0) { return changed_preset("f32", [=](kernel_model& m) { m.x0 = x0; }); };
  auto const refuted = [&](double x0) { return judged("left-out-key", row, cut(x0)).failed; };
  CHECK(refuted(20) == 0);
  CHECK(refuted(70) == 1);
  CHECK(refuted(infinity) == 1);
  row.v[4] = infinity;
  CHECK(refuted(20) == 0);
  CHECK(refuted(70) == 1);
  // Beside an infinity that is read, a NaN or an infinity is right, and a number is not.
  row.v[0] = infinity, row.v[4] = nan;
  CHECK(refuted(20) == 1);
  row.o[0] = infinity;
  CHECK(refuted(20) == 0);
  CHECK(refuted(70) == 1);
}

// exp is cut below the LSE, not below the maximum, where a second pass forms weights exp(s − LSE).
TEST_CASE("weights formed by the LSE may be cut below the LSE", "[unit]") {
  std::vector<double> k(64, 0.0), v(64, 0.0);
  k[0] = -9.5, v[0] = 1;  // 13.6 below the LSE
  recorded_row row = row_of({1}, k, v);
  row.o = {0}, row.lse = {std::log(63 + std::exp(-9.5))};
  auto const cut = [](kernel_model& m) { m.normalise = problem::normaliser::lse, m.x0 = 10; };
  check_inside("cut-below-lse", row, changed_preset("f32", cut));
}

// The reference point is off by 6 in base 2, so p·v = 2⁻¹²⁷ is flushed and the answer is 0. Where 1/2 < g, what
// underflows is divided by Λ, not by 1/2.
TEST_CASE("a reference point that is off makes the sum small, and what underflows large", "[unit]") {
  known_kernel kernel = kernel_of(softmax_form::flash_attention_2);
  kernel.how.flushes = true;
  recorded_row row;
  for (double score = 1.2e8; row.o.empty() || row.o[0] != 0; score += 8) {
    REQUIRE(score < 1.21e8);
    row = answered(row_of({1}, {score}, {0x1p-121}), kernel, 1);
  }
  row.lse.clear();
  check_inside("tiny-constant-value", row, preset("f32"));
}

// Γ_O passes its pole. 0.1 called the elements judged: any finite number was certified, and at large scores the exact
// answer was refuted as "off by 0 bounds of inf".
TEST_CASE("an infinite bound judges nothing", "[unit]") {
  std::vector<double> values;
  for (int j = 0; j < 20; ++j) values.push_back(-1 + 2.0 * j / 19);
  auto const pole = changed_preset("f32", [](kernel_model& m) { m.u_pv = 0.0625; });
  for (double const score : {0.0, 1e6, 1e14})
    for (double const answer : {0.0, 1e30, nan}) {
      recorded_row row = row_of({1}, std::vector<double>(20, score), values);
      row.o = {answer};
      std::string const title = std::string("pole-") +
                                (score == 0     ? "0"
                                 : score == 1e6 ? "1e6"
                                                : "1e14") +
                                (answer == 0      ? "-right"
                                 : answer == 1e30 ? "-1e30"
                                                  : "-nan");
      check_not_judged(title, row, pole);
    }
  // Accumulators of 14 bits, as for FP8 products, over 4096 keys and more.
  auto const narrow = changed_preset("bf16", [](kernel_model& m) { m.u_pv = 0x1p-13; });
  for (std::int64_t const m : {4096, 8192}) {
    recorded_row row = gaussian_row(m, 8, 0, element_type::bf16);
    row.o = {0.5};
    check_not_judged("fp8-accumulators-" + std::to_string(m), row, narrow);
  }
}

// P is rounded to f16 and l is not: 63 weights just above a midpoint raise O/l by 2⁻¹¹, past 65520.
TEST_CASE("an honest f16 output may overflow at the largest values, and a wrong finite one may not", "[unit]") {
  // q·k = high + low·2⁻¹², as f16 cannot hold the score.
  double const score = std::log(0.5 * (1 + 0x1p-11 * 1.01));
  double const high = audit::rounded_to(score, problem::row_of(element_type::f16).format);
  recorded_row row = row_of({1, 0x1p-12}, {0, 0}, std::vector<double>(64, 65504), element_type::f16);
  for (int j = 1; j < 64; ++j) row.k.push_back(high), row.k.push_back((score - high) * 0x1p12);
  recorded_row honest = answered(row, kernel_of(softmax_form::two_passes, element_type::f16), 64);
  honest.lse.clear();
  REQUIRE(honest.o[0] == infinity);
  for (auto const* name : {"f16", "f16-ieee"}) {
    check_not_judged("f16-overflow", honest, preset(name));
    recorded_row wrong = honest;
    wrong.o = {60000};
    check_refuted("f16-overflow-60000", wrong, preset(name));
    wrong.o = {-infinity};
    check_refuted("f16-overflow-negative", wrong, preset(name));
  }
}

// Weights that are divided first are near 1/n, and lose ω_p each when they are rounded: Z times more than 0.1 allowed.
TEST_CASE("weights that are divided and then rounded to f16 lose more the more keys there are", "[unit]") {
  auto const uniform = [](std::int64_t n) {
    return row_of({0}, std::vector<double>(static_cast<std::size_t>(n)),
                  std::vector<double>(static_cast<std::size_t>(n), 1), element_type::f16);
  };
  auto const summed = [](std::int64_t n, double weight) {  // in blocks of 256, in float
    float total = 0;
    for (std::int64_t first = 0; first < n; first += 256) {
      float block = 0;
      for (std::int64_t j = first; j < std::min(n, first + 256); ++j) block += static_cast<float>(weight);
      total += block;
    }
    return static_cast<double>(total);
  };
  auto const format = problem::row_of(element_type::f16).format;
  recorded_row flushed = uniform(20000);
  flushed.o = {0};  // 1/20000 is below 2⁻¹⁴
  check_inside("f16-normalised-flushed", flushed, preset("f16-ftz"));
  check_refuted("f16-normalised-flushed", flushed, preset("f16"));
  recorded_row gradual = uniform(20000);
  gradual.o = {summed(20000, audit::rounded_to(static_cast<double>(1.0f / 20000), format))};
  check_inside("f16-normalised-gradual", gradual, preset("f16"));
  recorded_row many = uniform(41891);
  many.o = {summed(41891, audit::rounded_to(static_cast<double>(1.0f / 41891), format))};
  auto const local = [](problem::normalised_first first) {
    return changed_preset("f16-ieee", [&](kernel_model& m) {
      m.omega_p = 0x1p-25, m.rescales = problem::rescale_count::none, m.height = problem::sum_height::block_local;
      m.block = 256, m.k_pre = 1, m.k_f = 0, m.c_m = 0, m.k_x = 1, m.fold_q = m.flushes = false;
      m.p_normalised = first;
    });
  };
  check_inside("f16-normalised-blocks", many, local(problem::normalised_first::yes));
  check_refuted("f16-normalised-blocks-no", many, local(problem::normalised_first::no));
}

// A scale is a number of the format: below 2⁻¹²⁶ it may be read as 0, above 2¹²⁸ it is an infinity; and folded into q
// or k it may overflow there.
TEST_CASE("a scale that flushes is inside, and one that overflows is not judged", "[unit]") {
  recorded_row tiny = row_of({0x1p60}, {0, 0x1p65}, {0, 1});
  tiny.scale = 0x1p-127;  // a score of 1/4
  known_kernel flushing = kernel_of(softmax_form::two_passes);
  flushing.how.flushes = true;
  recorded_row const honest = answered(tiny, flushing, 2);
  CHECK(honest.o[0] == 0.5);
  check_inside("scale-flushed", honest, preset("f32"));

  recorded_row large = row_of({0x1p-70}, {0, 0x1p-60}, {0, 1});
  large.scale = 1e39, large.o = {nan};
  check_not_judged("scale-overflows", large, preset("f32"));
  recorded_row folded = row_of({1e30}, {0, 1e-35}, {0, 1});
  folded.scale = 1e10, folded.o = {nan};  // q·σ = 1e40, and ∞·0
  check_not_judged("scale-folded-overflows", folded, preset("f32"));
  recorded_row root = row_of({0}, {0, 1e25}, {0, 1});
  root.scale = 1e30, root.o = {nan};  // k·√σ = 1e40
  check_not_judged("scale-root-overflows", root, preset("f32"));
  recorded_row cap = row_of({1}, {0, 1}, {0, 1});
  cap.softcap = 0x1p-130, cap.o = {nan};  // read as 0: 0/0
  check_not_judged("softcap-flushed", cap, preset("f32"));
}

// tanh(y) = 1 − 2/(e^{2y} + 1) with exp within 8u is off by up to 6u; a_t was 4u.
TEST_CASE("a softcap by an exp-based tanh is inside", "[unit]") {
  for (double const c : {8.0, 30.0, 50.0, 1000.0}) {
    std::mt19937_64 random(1);
    auto const uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    known_kernel kernel = kernel_of(softmax_form::two_passes);
    kernel.how.exp_error = 6.9, kernel.capped = true;
    recorded_row worst;
    double farthest = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      double const size = trial % 2 ? 1e-3 * c : 0.02 * c;
      recorded_row row = row_of({1},
                                {static_cast<double>(static_cast<float>(uniform() * size)),
                                 static_cast<double>(static_cast<float>(-uniform() * size))},
                                {0, 1});
      row.softcap = c;
      double const gap = c * std::tanh(row.k[0] / c) - c * std::tanh(row.k[1] / c), exact = 1 / (1 + std::exp(gap));
      for (directions const& up : {directions{1, 1, 0, 0}, {0, 0, 1, 1}}) {
        recorded_row const honest = answered(row, kernel, 2, up);
        double const error = std::abs(honest.o[0] - exact) / (exact * (1 - exact));
        if (error > farthest) farthest = error, worst = honest;
      }
    }
    worst.lse.clear();
    check_inside("exp-based-tanh-" + std::to_string(static_cast<int>(c)), worst, preset("f32"));
  }
}

// Two roundings to 16 bits, of P and of P/l; Corollary W had one of them.
TEST_CASE("weights returned from the rounded P are inside", "[unit]") {
  for (auto const type : {element_type::bf16, element_type::f16}) {
    known_kernel kernel = kernel_of(softmax_form::two_passes, type);
    kernel.returns_weights = kernel.returns_narrow_p = true;
    recorded_row worst;
    double farthest = 0;
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 4000; ++trial) {
      double const drawn = -1.5 * static_cast<double>(random() >> 11) * 0x1p-53;
      double const score = audit::rounded_to(drawn, problem::row_of(type).format);
      recorded_row const row = answered(row_of({1}, {0, score}, {0, 1}, type), kernel, 2);
      double const exact = std::exp(score) / (1 + std::exp(score)), error = std::abs(row.weights[1] - exact) / exact;
      if (error > farthest) farthest = error, worst = row;
    }
    worst.o.clear(), worst.lse.clear();
    std::string const name(problem::name_of(type));
    check_inside(name + "-weights-of-rounded-p", worst, preset(name));
    check_inside(name + "-weights-of-rounded-p", worst, preset(name + "-ieee"));
  }
}

// acc = b; acc += q_t·k_t: every addition rounds at the size of b, which the model had only k_add times.
TEST_CASE("a bias as the accumulator's first value is inside", "[unit]") {
  double const step = 0.49 * 0x1p-13;  // of an ulp of 1025
  recorded_row row = row_of(std::vector<double>(64, 1), {}, {0, 1});
  for (double const sign : {1.0, -1.0}) row.k.insert(row.k.end(), 64, sign * step);
  row.bias = {1025, 1025};
  known_kernel kernel = kernel_of(softmax_form::two_passes);
  kernel.scores = score_form::bias_first;
  recorded_row honest = answered(row, kernel, 2);
  CHECK(honest.o[0] == 0.5);  // both scores are 1025; exactly they differ by 128·step
  honest.lse.clear();
  for (auto const* name : {"f32", "f32-any"}) check_inside("bias-first", honest, preset(name));
}

// ω_out is added whether or not the output is rounded relatively, too.
TEST_CASE("an absolute rounding of the output is in every bound", "[unit]") {
  recorded_row row = row_of({1}, {0, 0.5}, {0, 1});
  row.o = {0.7}, row.weights = {0.3, 0.7};  // off by 0.08
  check_refuted("absolute-output-rounding", row, preset("f32"));
  check_inside("absolute-output-rounding", row, changed_preset("f32", [](kernel_model& m) { m.omega_out = 0.1; }));
}

}  // namespace attest::tests::honest_rows_test
