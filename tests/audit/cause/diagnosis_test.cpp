// A row whose outputs are all the same multiple of the exact ones: the weights do not sum to 1.
#include "audit/cause/diagnosis.hpp"

#include <algorithm>

#include "audit/cause/explain.hpp"
#include "audit/contract/contract.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::diagnosis_test {
namespace {

/// The sentence of the worst violation, where query 1 is multiplied by `factor`.
std::string says(recipe r, double factor, double but_the_last, bool ones = false) {
  r.n = 3, r.m = 121, r.d = 8, r.seed = 4;
  audit::problem_draft draft = make_problem(r);
  if (ones) audit::fill(draft.v, [](auto...) { return 1.0; });
  audit::case_outputs outputs{builtin_answer(draft)};
  audit::owned_tensor& o = *outputs[0]->o;
  for (std::int64_t c = 0; c < r.dv; ++c) {
    std::size_t const at = audit::offset_of(o, 0, 0, 1, c);
    audit::store(o, at, audit::load(o, at) * (c + 1 == r.dv && r.dv > 1 ? but_the_last : factor));
  }
  std::string const name(problem::name_of(r.type));
  audit::case_result found;
  audit::judge_and_explain({.check = "masks", .name = "drawn", .problem = audit::owned_problem::of_valid(draft)},
                           outputs, {.claim = audit::find_contract(name)}, found);
  REQUIRE(found.judged.failed > 0);
  return found.judged.violations.front().sentence;
}

bool names(std::string const& sentence, char const* sum) {
  return sentence.ends_with(std::string("the weights sum to ") + sum);
}

}  // namespace

TEST_CASE("a row that is a multiple of the exact one says what its weights sum to", "[unit]") {
  recipe r;
  r.dv = 4;
  for (auto const type : {problem::element_type::f32, problem::element_type::f64, problem::element_type::f16}) {
    r.type = type;
    CHECK(names(says(r, 121, 121), "121"));
    CHECK(names(says(r, 0.5, 0.5), "0.5"));
  }
}

TEST_CASE("one column says it where V is constant there, and only there", "[unit]") {
  recipe r;
  r.dv = 1;
  CHECK(names(says(r, 121, 121, true), "121"));
  CHECK(says(r, 121, 121).find("the weights sum") == std::string::npos);
}

TEST_CASE("columns of different factors, and zeros, say nothing of the weights", "[unit]") {
  recipe r;
  r.dv = 4;
  CHECK(says(r, 121, 120).find("the weights sum") == std::string::npos);
  CHECK(says(r, 0, 0).find("the weights sum") == std::string::npos);
  CHECK(says(r, -1, -1).find("the weights sum") == std::string::npos);
}

TEST_CASE("beside a named mistake no sentence keeps the answer of another", "[unit]") {
  auto const kept = [](std::string_view mistake, std::string sentence) {
    audit::keep_answer_of(mistake, sentence);
    return sentence;
  };
  std::string const top_left =
      "o[0] is 1; all 8 outputs of its row equal the answer with the band aligned top-left; here";
  CHECK(kept("band-top-left", top_left) == top_left);
  CHECK(kept("band-bottom-right", top_left) == "o[0] is 1; here");
  CHECK(kept("lse-negated", top_left) == top_left);
  CHECK(kept("mask-ignored", "o[0] is 1; it equals the answer without the mask and the band") == "o[0] is 1");
  CHECK(kept("mask-ignored", "o[0] is 1; it equals the answer without the mask") ==
        "o[0] is 1; it equals the answer without the mask");
}

}  // namespace attest::tests::diagnosis_test
