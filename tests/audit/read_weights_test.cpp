// Weights read through V: what judge_read_weights says of answers that no bound of an element is asked about.
#include "audit/cases/case.hpp"
#include "audit/contract/contract.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/judge/cross_call.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests {
namespace {

/// A case whose V reads all weights in one call, and the built-in kernel's answer to it.
struct read_case {
  audit::audit_case each;
  audit::case_outputs given{};
  std::int64_t b = 0, h = 1, i = 2, seen = 1, hidden = 4;  ///< a query, a key that it sees, and one that it does not

  audit::judgement judged() const {
    audit::case_result made;
    audit::judge_read_weights(each, given, *audit::find_contract("f32"), made);
    return made.judged;
  }
  double weight(std::int64_t j) const { return audit::load(*given[0]->o, audit::offset_of(*given[0]->o, b, h, i, j)); }
  void set(std::int64_t j, double x) { audit::store(*given[0]->o, audit::offset_of(*given[0]->o, b, h, i, j), x); }
};

/// V is the identity: O is the weights.
read_case made_case() {
  recipe r;
  r.type = problem::element_type::f32, r.groups = 2, r.n = 3, r.m = r.dv = 6, r.d = 4, r.seed = 5;
  constexpr std::int64_t hidden = 4;
  audit::problem_draft asked = make_problem(r);
  audit::fill(asked.v, [](auto, auto, auto j, auto c) { return j == c ? 1.0 : 0.0; });
  asked.mask = audit::owned_tensor::compact(problem::element_type::u8, {1, 2, r.n, r.m});
  audit::fill(*asked.mask, [&](auto, auto, auto, auto j) { return j == hidden ? 0.0 : 1.0; });
  read_case made{.each = {.check = "weights-through-v", .name = "made", .problem = audit::owned_problem::of_valid(asked)},
                 .hidden = hidden};
  made.given.emplace_back(builtin_answer(asked));
  return made;
}

/// One finding whose sentence says so.
void says(audit::judgement const& found, std::size_t at, std::string const& words) {
  REQUIRE(found.violations.size() > at);
  INFO(found.violations[at].sentence);
  CHECK(found.violations[at].sentence.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("weights read through V: the kernel's own are non-negative, 0 where masked, and sum to 1", "[unit]") {
  CHECK(made_case().judged().failed == 0);
}

TEST_CASE("weights read through V: a masked key with a weight, however small, is named", "[unit]") {
  read_case made = made_case();
  made.set(made.hidden, 0x1p-149);
  audit::judgement const found = made.judged();
  CHECK(found.failed == 1);
  says(found, 0, "masked key " + std::to_string(made.hidden));
  CHECK(found.violations[0].bug_class == audit::bug_class::mask_polarity);
}

TEST_CASE("weights read through V: a negative weight is named, and so is a sum that is not 1", "[unit]") {
  read_case made = made_case();
  double const weight = made.weight(made.seen);
  made.set(made.seen, -0x1p-149);
  audit::judgement found = made.judged();
  CHECK(found.failed == (weight > 1e-3 ? 2 : 1));
  made.set(made.seen, weight + 0.01);
  found = made.judged();
  CHECK(found.failed == 1);
  says(found, 0, "sum to");
  made.set(made.seen, -0.01);
  found = made.judged();
  bool negative = false;
  for (audit::violation const& v : found.violations) negative = negative || v.sentence.find("never negative") != std::string::npos;
  CHECK(negative);
}

}  // namespace attest::tests
