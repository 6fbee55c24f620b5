// Weights read through V: what judge_read_weights says of answers that no bound of an element is asked about.
#include "audit/cases/case.hpp"
#include "audit/contract/contract.hpp"
#include "audit/judge/cross_call.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::read_weights_test {
namespace {

/// A case whose V reads all weights in one call, and the built-in kernel's answer to it.
struct read_case {
  audit::audit_case kernel_case;
  audit::case_outputs outputs{};
  std::int64_t b = 0, h = 1, i = 2, seen = 1,
               hidden = 4;  ///< a query, a key that it sees, and a key that it does not see

  audit::judgement judged() const {
    audit::case_result result;
    audit::judge_read_weights(kernel_case, outputs, *audit::find_contract("f32"), result);
    return result.judged;
  }
  double weight(std::int64_t j) const {
    return audit::load(*outputs[0]->o, audit::offset_of(*outputs[0]->o, b, h, i, j));
  }
  void set(std::int64_t j, double x) { audit::store(*outputs[0]->o, audit::offset_of(*outputs[0]->o, b, h, i, j), x); }
};

/// V is the identity: O is the weights.
read_case identity_case() {
  recipe r;
  r.type = problem::element_type::f32, r.groups = 2, r.n = 3, r.m = r.dv = 6, r.d = 4, r.seed = 5;
  constexpr std::int64_t hidden = 4;
  audit::problem_draft draft = make_problem(r);
  audit::fill(draft.v, [](auto, auto, auto j, auto c) { return j == c ? 1.0 : 0.0; });
  draft.mask = audit::owned_tensor::compact(problem::element_type::u8, {1, 2, r.n, r.m});
  audit::fill(*draft.mask, [&](auto, auto, auto, auto j) { return j == hidden ? 0.0 : 1.0; });
  read_case probe{
      .kernel_case = {.check = "weights-through-v", .name = "made", .problem = audit::owned_problem::of_valid(draft)},
      .hidden = hidden};
  probe.outputs.emplace_back(builtin_answer(draft));
  return probe;
}

/// One finding whose sentence says so.
void says(audit::judgement const& found, std::size_t at, std::string const& words) {
  REQUIRE(found.violations.size() > at);
  INFO(found.violations[at].sentence);
  CHECK(found.violations[at].sentence.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("weights read through V: the kernel's own are non-negative, 0 where masked, and sum to 1", "[unit]") {
  CHECK(identity_case().judged().failed == 0);
}

TEST_CASE("weights read through V: a masked key with a weight, however small, is named", "[unit]") {
  read_case probe = identity_case();
  probe.set(probe.hidden, 0x1p-149);
  audit::judgement const found = probe.judged();
  CHECK(found.failed == 1);
  says(found, 0, "masked key " + std::to_string(probe.hidden));
  CHECK(found.violations[0].bug_class == audit::bug_class::mask_polarity);
}

TEST_CASE("weights read through V: a negative weight is named, and so is a sum that is not 1", "[unit]") {
  read_case probe = identity_case();
  double const weight = probe.weight(probe.seen);
  probe.set(probe.seen, -0x1p-149);
  audit::judgement found = probe.judged();
  CHECK(found.failed == (weight > 1e-3 ? 2 : 1));
  probe.set(probe.seen, weight + 0.01);
  found = probe.judged();
  CHECK(found.failed == 1);
  says(found, 0, "sum to");
  probe.set(probe.seen, -0.01);
  found = probe.judged();
  bool negative = false;
  for (audit::violation const& v : found.violations)
    negative = negative || v.sentence.find("never negative") != std::string::npos;
  CHECK(negative);
}

}  // namespace attest::tests::read_weights_test
