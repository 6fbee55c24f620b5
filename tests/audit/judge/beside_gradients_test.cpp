// What stands beside gradients: an LSE of another base or without its sink, and hidden keys that meet dO.
#include "audit/judge/beside_gradients.hpp"

#include <limits>

#include "audit/cases/families/backward.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/infinite_sink.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "reference/bound/lse_base.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::beside_gradients_test {
using namespace attest::audit;

namespace {

constexpr conventions base_2{.lse_base = problem::log_base::two},
    of_keys{.lse_sink = conventions::log_of_sink::excluded};

/// Four queries and five keys with a dO, and a sink of this size or none.
owned_problem pass(std::optional<double> sink, problem::band const& band = {}) {
  tests::recipe r;
  r.n = 4, r.m = 5, r.d = 6, r.dv = 3, r.seed = 7;
  problem_draft draft = tests::make_problem(r);
  draft.band = band;
  if (sink) {
    draft.sink = owned_tensor::compact(problem::element_type::f32, {1});
    store(*draft.sink, 0, *sink);
  }
  audit_case of{.check = {}, .name = "pass", .problem = owned_problem::of_valid(std::move(draft))};
  return differentiated(std::move(of), 1).problem;
}

/// The gradients of a pass as the oracle has them, and nothing else.
owned_outputs right_gradients(owned_problem const& problem) {
  owned_outputs outputs;
  auto const& p = std::get<problem::instance<float>>(problem.instance());
  contract const& claim = *find_contract("f32");
  auto source = std::move(reference::gradient_source<float>::make(
                              p, {.d_o = p.d_out()}, claim.model_for(problem.instance()),
                              claim.gradient_for(problem.instance()), reference::gradient_mode::own))
                    .value();
  for (output_kind const kind : {output_kind::dq, output_kind::dk, output_kind::dv})
    outputs.of(kind) = zero_gradient(problem, kind);
  source.group(0, 0).each([&](reference::gradient_index const& at, reference::gradient_element const& element) {
    constexpr std::array kinds{output_kind::dq, output_kind::dk, output_kind::dv};
    output_kind const kind = kinds[static_cast<std::size_t>(at.which)];
    std::size_t const place = gradient_places(problem, kind).row(at.b, at.h, at.i) + static_cast<std::size_t>(at.x);
    store(*outputs.of(kind), place, (element.lower + element.upper) / 2);
  });
  return outputs;
}

contract claim_of(conventions const& how) {
  contract claim = *find_contract("f32");
  claim.conventions = how;
  return claim;
}

std::int64_t failures(owned_problem const& problem, owned_outputs const& outputs, conventions const& how) {
  judgement const found = judge_by_law(problem, outputs, claim_of(how));
  CHECK(found.not_judged() == 0);
  return found.failed;
}

}  // namespace

TEST_CASE("an LSE that does not count its sink hides no gradient that forgets the sink", "[unit]") {
  owned_problem const problem = pass(-1), alone = *without_sink(problem);
  owned_outputs right = right_gradients(problem), wrong = right_gradients(alone);
  right.o = wrong.o = with_forward(problem).draft().handed_o;
  right.lse = wrong.lse = with_forward(alone).draft().handed_lse;
  CHECK(failures(problem, right, of_keys) == 0);
  CHECK(failures(problem, wrong, of_keys) > 20);
  // Without a sink the convention says nothing.
  wrong.o = with_forward(alone).draft().handed_o;
  CHECK(failures(alone, wrong, of_keys) == 0);
  CHECK(mode_beside(alone, wrong, true, true, claim_of(of_keys)) == reference::gradient_mode::recorded);
  CHECK(mode_beside(problem, wrong, true, true, claim_of(of_keys)) == reference::gradient_mode::own);
}

TEST_CASE("the LSE that a kernel is handed is natural and counts the sink, whatever the contract says", "[unit]") {
  for (conventions const& how : {base_2, of_keys}) {
    owned_problem const problem = with_forward(pass(0.5));
    owned_outputs gradients = right_gradients(problem);
    CHECK(failures(problem, gradients, how) == 0);
    for (std::size_t at = 0; at < 5 * 3; ++at) store(*gradients.dv, at, load(*gradients.dv, at) * 1.001);
    CHECK(failures(problem, gradients, how) == 5 * 3);
  }
}

TEST_CASE("the LSE of a recorded pass has the base that the contract says", "[unit]") {
  owned_problem const problem = pass(std::nullopt), handed = with_forward(problem);
  owned_outputs outputs = right_gradients(problem);
  outputs.o = handed.draft().handed_o, outputs.lse = handed.draft().handed_lse;
  for (std::size_t row = 0; row < 4; ++row) store(*outputs.lse, row, load(*outputs.lse, row) * reference::log2_e);
  CHECK(failures(problem, outputs, base_2) == 0);
  for (std::size_t at = 0; at < 5 * 3; ++at) store(*outputs.dv, at, load(*outputs.dv, at) * 1.001);
  CHECK(failures(problem, outputs, base_2) == 5 * 3);
}

TEST_CASE("weights that the forward pass saved do not rest on the LSE beside them", "[unit]") {
  owned_problem const problem = with_forward(pass(std::nullopt));
  contract claim = claim_of({});
  CHECK(mode_beside(problem, {}, true, true, claim) == reference::gradient_mode::recorded);
  CHECK(mode_beside(problem, {}, false, true, claim) == reference::gradient_mode::own);
  CHECK(mode_beside(problem, {}, true, false, claim) == reference::gradient_mode::own);
  claim.gradient.weights = problem::backward_weights::saved;
  CHECK(mode_beside(problem, {}, true, true, claim) == reference::gradient_mode::own);
}

TEST_CASE("a backward pass is open where 0 times a hidden product may be NaN", "[unit]") {
  contract claim = claim_of({});
  claim.conventions.masked_values = conventions::masked::must_be_finite;
  auto const is_open = [&](problem::band const& band, double d_o, double v) {
    problem_draft draft = pass(std::nullopt, band).draft();
    store(*draft.d_out, 0, d_o), store(draft.v, 4 * 3, v);  // row 0; key 4
    return leaves_outputs_open(owned_problem::of_valid(std::move(draft)), claim);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  problem::band const causal{.right = 0}, none{};
  CHECK_FALSE(is_open(causal, 0x1p60, 0x1p60));
  CHECK(is_open(causal, 0x1p70, 0x1p70));
  CHECK_FALSE(is_open(none, 0x1p70, 0x1p70));
  CHECK(is_open(causal, nan, 1));
  CHECK_FALSE(is_open(none, nan, 1));
  claim.conventions.masked_values = conventions::masked::never_read;
  CHECK_FALSE(is_open(causal, nan, 0x1p70));
}

}  // namespace attest::tests::beside_gradients_test
