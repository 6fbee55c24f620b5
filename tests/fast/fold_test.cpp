// Folding σ into q stays within the underflow that the kernel declares, and overflows nothing that fits.
#include <cmath>
#include <limits>

#include "audit/judge/judge_outputs.hpp"
#include "tests/fast/case.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::fold_test {
namespace {

/// One query, two keys, d = dv = 1: the kernel judged by its own model.
void require_within_bound(double sigma, float q, float k) {
  audit::problem_draft draft;
  auto const column = [](std::int64_t rows) {
    return audit::owned_tensor::compact(problem::element_type::f32, {1, 1, rows, 1});
  };
  draft.q = column(1), draft.k = column(2), draft.v = column(2);
  draft.q.as<float>()[0] = q;
  draft.k.as<float>()[0] = k, draft.k.as<float>()[1] = 0;
  draft.v.as<float>()[0] = 1, draft.v.as<float>()[1] = 0;
  draft.scale = sigma;
  auto const answer = tests::builtin_answer(draft);
  REQUIRE(answer.o.has_value());
  audit::judgement const found =
      audit::judge(problem::make_instance(draft.arguments()).value(), answer, *audit::find_contract("f32-blocked"));
  CHECK(found.failed == 0);
  CHECK(found.undecided == 0);
  CHECK(found.by_theorem + found.by_dominance > 0);
}

}  // namespace

TEST_CASE("tiny queries under a scale of 1 and more are within the declared underflow", "[unit]") {
  for (double const sigma : {1.0, 1.5, 1.9, 2.0, 3.0, 4.0, 7.9, 100.0, 1e6, 0.9, 0.5, 1e-3})
    for (double size = 1; size < 64; size *= 1.09)
      for (int const power : {100, 115}) {
        INFO("sigma " << sigma << ", |q| = " << size << " 2^-126, |k| = 2^" << power);
        require_within_bound(sigma, static_cast<float>(std::ldexp(size, -126)),
                             static_cast<float>(std::ldexp(1.0, power)));
        require_within_bound(-sigma, static_cast<float>(std::ldexp(size, -126)),
                             static_cast<float>(std::ldexp(1.0, power)));
      }
}

TEST_CASE("queries whose product with the scale is out of range are answered where the score is not", "[unit]") {
  for (double const sigma : {1.0, 3.0, 1e6, 1e30})
    for (int const power : {100, 120, 125, 127}) {
      INFO("sigma " << sigma << ", q = 2^" << power);
      require_within_bound(sigma, static_cast<float>(std::ldexp(1.9, power)), 0x1p-125f);
      require_within_bound(-sigma, static_cast<float>(std::ldexp(1.9, power)), 0x1p-125f);
    }
}

TEST_CASE("a scale far from 1 loses nothing to underflow", "[unit]") {
  // σ·q·k is about 1 each time, and q·k below 2^126: docs/bound.md judges nothing above.
  require_within_bound(1e-36, 1e18f, 1e18f);
  require_within_bound(0x1p-120, 0x1p100f, 0x1p20f);
  require_within_bound(0x1p-60, 0x1p100f, 0x1p-40f);
  require_within_bound(0x1p-110, 0x1p-10f, 0x1p120f);
  require_within_bound(1e30, 1e-15f, 1e-15f);
  require_within_bound(0x1p100, 0x1p-60f, 0x1p-40f);
}

TEST_CASE("an infinite query makes scores of its sign, on every instruction set", "[unit]") {
  for (std::string_view const name : fast::simd_targets()) {
    tests::simd_target const only(name);
    for (std::int64_t const d : {1, 11, 16, 37})  // with and without a vector's rest
      for (double const sigma : {0.25, -0.25, 3.0, -3.0})
        for (float const infinity : {HUGE_VALF, -HUGE_VALF}) {
          INFO(name << ", d = " << d << ", sigma " << sigma << ", q = " << infinity);
          audit::problem_draft draft;
          auto const rows = [&](std::int64_t count, std::int64_t width) {
            return audit::owned_tensor::compact(problem::element_type::f32, {1, 1, count, width});
          };
          draft.q = rows(1, d), draft.k = rows(3, d), draft.v = rows(3, 1);
          draft.q.as<float>()[0] = infinity;
          for (std::int64_t j = 0; j < 3; ++j) draft.k.as<float>()[j * d] = 2.5f, draft.v.as<float>()[j] = 1;
          draft.scale = sigma;
          auto const answer = tests::builtin_answer(draft);
          audit::judgement const found = audit::judge(problem::make_instance(draft.arguments()).value(), answer,
                                                      *audit::find_contract("f32-blocked"));
          CHECK(found.failed == 0);
          CHECK(found.by_rule == 1 + 1 + 3);
        }
  }
}

}  // namespace attest::tests::fold_test
