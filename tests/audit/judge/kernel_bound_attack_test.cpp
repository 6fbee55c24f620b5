// The built-in kernel's own bound attacked: every family, then a climb from each towards larger error/bound, on every
// instruction set. The best ratio is in claims.md.
#include <iostream>

#include "fast/algorithm/model.hpp"
#include "fast/attention.hpp"
#include "tests/fast/case.hpp"
#include "tests/support/attacked_row.hpp"

namespace attest::tests::kernel_bound_attack_test {
namespace {

template <class F>
row_answer kernel_answer(written<F> const& problem) {
  auto const p = problem.instance();
  owned<F> o({1, p.size().dv}), weights({1, p.size().m}), lse({1});
  auto const outputs = problem::outputs<F>::make(p, {o.out(), lse.out(), weights.out()});
  REQUIRE(fast::attention(p, outputs.value(), {.threads = 1}));
  return {{o.values.begin(), o.values.end()},
          {weights.values.begin(), weights.values.end()},
          static_cast<double>(lse.values[0])};
}

template <class F>
ratios judged(written<F> const& problem) {
  bound_check<F> const check(problem);
  return check.finite() ? check.judge(fast::model(problem.instance()), kernel_answer(problem)) : ratios{};
}

template <class F>
double attack(generator& random) {
  double best = 0;
  for (int family = 0; family < families; ++family)
    for (int start = 0; start < 2; ++start)
      best = std::max(best, climb(attacked_row<F>(family, random), 150, random, judged<F>));
  for (int start = 0; start < 4; ++start)  // the sigmoid goes farthest
    best = std::max(best, climb(attacked_row<F>(9, random), 1000, random, judged<F>));
  return best;
}

}  // namespace

TEST_CASE("hill climbing does not push the kernel past its own bound", "[property]") {
  for (auto const& name : fast::simd_targets()) {
    simd_target const set(name);
    generator random(20260607);
    double const single = attack<float>(random), twice = attack<double>(random);
    std::cerr << name << ": the kernel reached " << single << " (f32) and " << twice << " (f64) of its own bound\n";
    CHECK(single > 0.2);
    CHECK(twice > 0.2);
  }
}

}  // namespace attest::tests::kernel_bound_attack_test
