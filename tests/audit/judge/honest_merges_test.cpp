// Rows of an honest kernel that merges parts by LSE.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/audit/judge/honest_rows.hpp"
#include "tests/support/known_run.hpp"
#include "tests/support/recorded_row.hpp"

namespace attest::tests::honest_merges_test {
namespace {

using problem::element_type;
using problem::kernel_model;

}  // namespace

// The q·k of a key that a bias of −∞ takes is beyond H0: the exact tier did not judge the row, the machine tier did.
TEST_CASE("both tiers leave a row alone whose lost key overflows", "[unit]") {
  recorded_row row = row_of({0x1p64}, {0, 0x1p-65, 0x1p64}, {1, 2, 3});
  row.bias = {0, 0, -infinity};
  for (double const answer : {1.6224593312018545, 1.7}) {
    row.o = {answer};
    check_not_judged(answer < 1.7 ? "lost-key-right" : "lost-key-wrong", row, preset("f32"));
  }
}

// FlashAttention-2's combine: Σ exp(L_i − L)·O_i. The rounding of L, 2⁻²⁴·|L| at scores of this size, is never divided
// out.
TEST_CASE("the combine of split keys without a division has a preset", "[unit]") {
  for (double const size : {10.0, 100.0, 1000.0}) {
    recorded_row row = row_of({1}, {size, static_cast<double>(static_cast<float>(size + 0.1))}, {1, 1});
    row = answered(row, kernel_of(softmax_form::split), 1);
    row.lse.clear();
    std::string const title = "split-combine-" + std::to_string(static_cast<int>(size));
    check_inside(title, row, preset("f32-split"));
    if (size == 100) check_refuted(title, row, preset("f32-any"));
  }
}

// Parts merged one after the other by their LSE, whose rounding goes down at every merge.
TEST_CASE("a ring of merges by LSE is inside with as many levels as it has", "[unit]") {
  for (int const parts : {64, 200, 1000}) {
    std::mt19937_64 random(1);
    double const size = 1000;
    std::vector<double> k{size}, v{1};
    float lse = static_cast<float>(size);
    float const unit = std::nextafter(lse, 2 * lse) - lse;
    for (int n = 1; n < parts; ++n) {
      float const base = static_cast<float>(static_cast<double>(lse) - std::log(n) + 0.01 * gaussian(random));
      float const step = std::nextafter(base, 2 * base) - base;
      float best = base;
      double most = -1;
      for (int at = 0; at < 160; ++at) {
        float const candidate = base + static_cast<float>(at) * step;
        double const units = std::log1p(std::exp(static_cast<double>(candidate - lse))) / static_cast<double>(unit);
        double const lost = units - std::floor(units), gain = lost < 0.49 ? lost : -lost;
        if (gain > most) most = gain, best = candidate;
      }
      k.push_back(static_cast<double>(best)), v.push_back(n < parts / 2 ? 1 : 0);
      float const top = std::max(lse, best);
      lse = top + static_cast<float>(
                      std::log(static_cast<double>(static_cast<float>(std::exp(static_cast<double>(lse - top))) +
                                                   static_cast<float>(std::exp(static_cast<double>(best - top))))));
    }
    recorded_row const row = answered(row_of({1}, k, v), kernel_of(softmax_form::ring), 1);
    std::string const title = "ring-" + std::to_string(parts);
    check_inside(title, row, changed_preset("f32-any", [&](kernel_model& m) { m.merge_levels = parts - 1; }));
    if (parts == 64) check_inside(title, row, preset("f32-ring"));
    else check_refuted(title, row, preset("f32-any"));
  }
}

// Weights exp(s − LSE) meet V and nothing is divided: the rounding of the LSE, 2⁻²⁴·1000, is the error of O.
TEST_CASE("weights formed by the LSE are inside where a contract says so", "[unit]") {
  recorded_row row = row_of({1}, {1000, 1000.125}, {1, 1});
  row = answered(row, kernel_of(softmax_form::by_lse), 2);
  check_refuted("by-lse", row, preset("f32"));
  check_inside("by-lse", row, changed_preset("f32", [](kernel_model& m) { m.normalise = problem::normaliser::lse; }));
}

// LSEs kept in base 2 have three roundings: z_j has the rounding of each merge, k_lse at a time.
TEST_CASE("merges by way of base 2 count every rounding of the LSE", "[unit]") {
  auto const claim = changed_preset("f32-any", [](kernel_model& m) { m.c_m = 0, m.k_lse = 3; });
  recorded_row row = row_of({1}, {1000, static_cast<double>(1000.1f)}, {0, 1});
  known_kernel kernel = kernel_of(softmax_form::one_level);
  kernel.scores = score_form::base_2;
  check_inside("two-parts-base-2", answered(row, kernel, 1), claim);
  written<float> const read = row.row();
  auto const instance = read.instance();
  reference::enclosed_row<128, float> enclosed;
  reference::row_facts facts;
  reference::row_bound bound;
  reference::compiled::enclose_row(instance, 0, 0, 0, enclosed);
  reference::compiled::collect_facts(instance, enclosed, facts);
  bound.evaluate(claim.fixed, facts);
  CHECK(bound.terms().z_per_Y >= 3 * 0x1p-24);  // γ_3; it was 2u(1 + 2u)
}

}  // namespace attest::tests::honest_merges_test
