// A row with a score of +∞: O and weights are NaN, and its LSE is +∞ or NaN unless a score is NaN.
#include <limits>

#include "audit/contract/contract.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::infinite_score_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// Three queries of five keys; query 0 has a score of +∞ by way of a bias, query 1 that and a NaN, query 2 neither.
struct infinite_rows {
  audit::problem_draft draft;
  audit::owned_outputs answer;

  infinite_rows() {
    recipe r;
    r.n = 3, r.m = 5, r.d = 6, r.dv = 4, r.seed = 3;
    draft = make_problem(r);
    draft.bias = audit::owned_tensor::compact(problem::element_type::f32, {1, 1, 3, 5});
    audit::store(*draft.bias, 2, infinity);
    audit::store(*draft.bias, 5 + 1, nan), audit::store(*draft.bias, 5 + 3, infinity);
    answer = builtin_answer(draft);
  }
  std::int64_t failed_with(std::size_t row, double lse) {
    audit::owned_outputs changed = answer;
    audit::store(*changed.lse, row, lse);
    auto const problem = audit::owned_problem::of_valid(draft);
    return audit::judge(problem.instance(), changed, *audit::find_contract("f32")).failed;
  }
};

}  // namespace

TEST_CASE("the LSE of a row with a score of +inf is +inf or NaN", "[unit]") {
  infinite_rows rows;
  CHECK(rows.failed_with(0, nan) == 0);
  CHECK(rows.failed_with(0, infinity) == 0);
  for (double const wrong : {-infinity, 0.0, 3e38}) CHECK(rows.failed_with(0, wrong) == 1);
}

TEST_CASE("beside a NaN score the LSE is NaN, and a finite row has no infinite LSE", "[unit]") {
  infinite_rows rows;
  CHECK(rows.failed_with(1, nan) == 0);
  CHECK(rows.failed_with(1, infinity) == 1);
  CHECK(rows.failed_with(2, infinity) == 1);
}

TEST_CASE("O of a row with a score of +inf is NaN and nothing else", "[unit]") {
  infinite_rows rows;
  audit::store(*rows.answer.o, 1, infinity);
  CHECK(rows.failed_with(0, infinity) == 1);
}

TEST_CASE("a scale that may be flushed, times an infinity, is not judged", "[unit]") {
  auto const failed = [](char const* preset, double scale) {
    audit::contract const& claim = *audit::find_contract(preset);
    audit::problem_draft draft;
    draft.q = audit::owned_tensor::compact(claim.type, {1, 1, 1, 1});
    draft.k = audit::owned_tensor::compact(claim.type, {1, 1, 2, 1});
    draft.v = audit::owned_tensor::compact(claim.type, {1, 1, 2, 1});
    audit::store(draft.q, 0, 8);
    audit::store(draft.k, 0, -infinity), audit::store(draft.k, 1, 1);
    draft.scale = scale;
    audit::owned_outputs answer;
    answer.o = audit::owned_tensor::compact(claim.type, {1, 1, 1, 1});
    audit::store(*answer.o, 0, nan);
    auto const problem = audit::owned_problem::of_valid(std::move(draft));
    return audit::judge(problem.instance(), answer, claim).failed;
  };
  CHECK(failed("f32", 0x1p-127) == 0);
  CHECK(failed("f64-in-f32", 0x1p-160) == 0);
  CHECK(failed("f32-gradual", 0x1p-127) == 1);
  CHECK(failed("f32", 0x1p-120) == 1);
}

}  // namespace attest::tests::infinite_score_test
