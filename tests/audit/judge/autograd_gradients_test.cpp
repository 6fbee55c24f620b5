// Gradients of autograd: weights that its own forward pass saved, beside an LSE that is more accurate than they are.
#include <cmath>
#include <numeric>

#include "audit/judge/by_law.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "tests/support/catch.hpp"

using namespace attest;
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

}  // namespace

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
