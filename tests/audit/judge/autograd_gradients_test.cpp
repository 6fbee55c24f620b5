// Gradients of autograd: weights that its own forward pass saved, beside an LSE that is more accurate than they are.
#include <cmath>
#include <numeric>

#include "audit/judge/by_law.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::autograd_gradients_test {
using namespace attest::audit;

namespace {

owned_tensor column(std::vector<float> const& values) {
  auto tensor = owned_tensor::compact(problem::element_type::f32, {1, 1, std::ssize(values), 1});
  for (std::size_t at = 0; at < values.size(); ++at) store(tensor, at, static_cast<double>(values[at]));
  return tensor;
}

/// One query of width 1, σ = 1. Small weights of 2,000 keys stay put beside 1: l of a sum in sequence is 1, and all
/// weights are too large by 5·10⁻⁵.
struct one_row {
  std::vector<float> k = std::vector<float>(2001, -17.5F), v = std::vector<float>(2001, 0.5F);
  one_row() { k[0] = 0, v[0] = 1; }

  owned_problem problem() const {
    problem_draft draft;
    draft.q = column({1}), draft.k = column(k), draft.v = column(v), draft.d_out = column({1});
    draft.scale = 1.0, draft.of = &problem::backward;
    return with_forward(owned_problem::of_valid(std::move(draft)));
  }
};

/// Autograd through exp(s − max)/l in float32, sums in sequence.
owned_outputs autograd(one_row const& of) {
  std::size_t const n = of.k.size();
  std::vector<float> weight(n), dS(n);
  float l = 0, delta = 0, dQ = 0;
  for (std::size_t j = 0; j < n; ++j) l += weight[j] = std::exp(of.k[j]);
  for (std::size_t j = 0; j < n; ++j) weight[j] /= l, delta += weight[j] * of.v[j];
  for (std::size_t j = 0; j < n; ++j) dQ += (dS[j] = weight[j] * (of.v[j] - delta)) * of.k[j];
  owned_outputs found;
  found.dq = column({dQ}), found.dk = column(dS), found.dv = column(weight);
  return found;
}

contract claim_of(problem::backward_weights weights, char const* name = "f32") {
  contract claim = *find_contract(name);
  claim.gradient.weights = weights;
  return claim;
}

using problem::backward_weights;

/// One query of width 1, σ = 1, dO = 1: the first key, and two keys of small weight, one with a large value.
problem_draft unequal_parts() {
  problem_draft draft;
  draft.q = column({1}), draft.k = column({0, -20, -20}), draft.v = column({1, 0x1p20F, 0}), draft.d_out = column({1});
  draft.scale = 1.0, draft.of = &problem::backward;
  return draft;
}

/// dS_j of a part by autograd: dO of the part is `share`, and its LSE has a gradient, too.
std::vector<float> dS_of_part(std::vector<float> const& weight, std::vector<float> const& v, float share, float d_lse) {
  std::vector<float> dS;
  float delta = 0;
  for (std::size_t j = 0; j < v.size(); ++j) delta += weight[j] * (share * v[j]);
  for (std::size_t j = 0; j < v.size(); ++j) dS.push_back(weight[j] * (share * v[j] - delta) + weight[j] * d_lse);
  return dS;
}

/// dK and dV: dS and the weights.
owned_outputs of_keys(std::vector<float> const& dS, std::vector<float> const& weight) {
  owned_outputs found;
  found.dk = column(dS), found.dv = column(weight);
  return found;
}

/// Autograd through a merge by LSE of the first key and of the other two.
owned_outputs through_merge() {
  float const other = std::log(2.0F) - 20, e = std::exp(other), share[]{1 / (1 + e), e / (1 + e)}, o[]{1, 0x1p19F};
  float const delta = share[0] * o[0] + share[1] * o[1];
  auto const first = dS_of_part({1}, {1}, share[0], share[0] * (o[0] - delta));
  auto const second = dS_of_part({0.5F, 0.5F}, {0x1p20F, 0}, share[1], share[1] * (o[1] - delta));
  return of_keys({first[0], second[0], second[1]}, {share[0], share[1] / 2, share[1] / 2});
}

/// Autograd through the factor of a sink of 20 behind two keys of score 0: O = 2¹⁹·f.
owned_problem beside_sink() {
  problem_draft draft = unequal_parts();
  draft.k = column({0, 0}), draft.v = column({0x1p20F, 0});
  draft.sink = owned_tensor::compact(problem::element_type::f32, {1});
  store(*draft.sink, 0, 20);
  return owned_problem::of_valid(std::move(draft));
}
owned_outputs through_factor() {
  float const f = 1 / (1 + std::exp(20 - std::log(2.0F)));
  return of_keys(dS_of_part({0.5F, 0.5F}, {0x1p20F, 0}, f, f * (1 - f) * 0x1p19F), {f / 2, f / 2});
}

}  // namespace

TEST_CASE("gradients that flow through a merge by LSE are open beyond the bound, and never refuted", "[unit]") {
  owned_problem const problem = owned_problem::of_valid(unequal_parts()), handed = with_forward(problem);
  owned_outputs const got = through_merge();
  for (backward_weights const weights : {backward_weights::saved, backward_weights::either})
    for (owned_problem const* const of : {&problem, &handed}) {
      judgement const found = judge_by_law(*of, got, claim_of(weights, "f32-any"));
      CHECK(found.failed == 0);
      CHECK(found.may_flow() > 0);
      CHECK(found.judged() > 0);
    }
  CHECK(judge_by_law(handed, got, claim_of(backward_weights::lse, "f32-any")).failed > 0);
  CHECK(judge_by_law(problem, got, claim_of(backward_weights::lse, "f32-any")).failed > 0);
  CHECK(judge_by_law(problem, got, claim_of(backward_weights::saved)).failed > 0);
}

TEST_CASE("gradients that flow through the factor of a sink are open beyond the bound", "[unit]") {
  owned_problem const problem = beside_sink();
  owned_outputs const got = through_factor();
  contract claim = claim_of(backward_weights::saved);
  CHECK(judge_by_law(problem, got, claim).failed > 0);
  for (auto const form : {problem::sink_form::rescale, problem::sink_form::any}) {
    claim.fixed.sink_form = form;
    judgement const found = judge_by_law(problem, got, claim);
    CHECK(found.failed == 0);
    CHECK(found.may_flow() > 0);
  }
  // Without a sink nothing flows through its factor.
  owned_problem const alone = owned_problem::of_valid(unequal_parts());
  CHECK(judge_by_law(alone, through_merge(), claim).failed > 0);
}

TEST_CASE("what is no number is refuted where gradients may flow through parts, too", "[unit]") {
  problem_draft draft = unequal_parts();
  store(draft.v, 0, std::nan(""));
  judgement const found = judge_by_law(owned_problem::of_valid(std::move(draft)), through_merge(),
                                       claim_of(backward_weights::saved, "f32-any"));
  CHECK(found.failed == 3);  // dK; dV does not see V
}

TEST_CASE("gradients by saved weights are honest beside an accurate LSE, unless the contract says lse", "[unit]") {
  one_row const row;
  owned_problem const problem = row.problem();
  owned_outputs const got = autograd(row);
  CHECK(judge_by_law(problem, got, claim_of(backward_weights::saved)).failed == 0);
  CHECK(judge_by_law(problem, got, claim_of(backward_weights::lse)).failed > 2000);
  judgement const either = judge_by_law(problem, got, claim_of(backward_weights::either));
  CHECK(either.failed == 0);
  CHECK(either.not_judged() == 0);
  CHECK(either.undecided == 0);
}

TEST_CASE("a call whose weights are neither of the LSE nor saved is refuted under either", "[unit]") {
  one_row const row;
  owned_problem const problem = row.problem();
  owned_outputs got = autograd(row);
  store(*got.dv, 7, load(*got.dv, 7) * 1.1);
  judgement const either = judge_by_law(problem, got, claim_of(backward_weights::either));
  CHECK(either.failed == 1);
}

}  // namespace attest::tests::autograd_gradients_test
