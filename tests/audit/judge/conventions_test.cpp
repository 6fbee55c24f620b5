// Kernels that document other conventions than docs/semantics.md are judged by theirs, and refuted where they break
// them.
#include <limits>

#include "audit/cases/case.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/merge_form.hpp"
#include "tests/audit/judge/answered_draft.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::conventions_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the row of a query that sees no key is what the contract says: 0, NaN or the mean of V", "[unit]") {
  for (auto const type : {problem::element_type::f32, problem::element_type::f64}) {
    answered_draft answered(type);
    conventions zero, not_a_number, mean;
    not_a_number.empty_row = conventions::row::nan, mean.empty_row = conventions::row::mean;
    CHECK(answered.judged(zero).failed == 0);
    answered.breaks(not_a_number, answered.dv);
    answered.breaks(mean, answered.dv);
    answered.set_o(nan);
    answered.breaks(zero, answered.dv);
    CHECK(answered.judged(not_a_number).failed == 0);
    answered.breaks(mean, answered.dv);
    answered.set_mean();
    answered.breaks(zero, answered.dv);
    answered.breaks(not_a_number, answered.dv);
    audit::judgement const held = answered.judged(mean);
    CHECK(held.failed == 0);
    // The mean is computed, so a bound judges it; the others are rules.
    CHECK(held.by_theorem == answered.judged(not_a_number).by_theorem + static_cast<std::int64_t>(answered.dv));
    audit::store(*answered.answer.o, answered.row * answered.dv,
                 1.001 * audit::load(*answered.answer.o, answered.row * answered.dv));
    answered.breaks(mean, 1);
  }
}

TEST_CASE("where the contract says unmasked, the row of a query that sees no key is that without mask and band",
          "[unit]") {
  conventions unmasked, nan_row;
  unmasked.empty_row = conventions::row::unmasked, nan_row.empty_row = conventions::row::nan;
  for (bool const by_bias : {false, true}) {
    answered_draft answered(problem::element_type::f32);
    if (by_bias) {  // no mask: a bias of −∞ hides every key
      answered.draft.mask.reset();
      answered.draft.bias = audit::owned_tensor::compact(problem::element_type::f32, {1, 2, 3, 5});
      for (std::size_t j = 0; j < answered.m; ++j)
        audit::store(*answered.draft.bias, answered.row * answered.m + j, -infinity);
    }
    audit::problem_draft open = answered.draft;
    open.mask.reset(), open.bias.reset();
    audit::owned_outputs const without = builtin_answer(open);
    CHECK(answered.judged({}).failed == 0);
    // O, the weights and their sum; an LSE of −∞ marks the row
    CHECK(answered.judged(unmasked).failed == static_cast<std::int64_t>(answered.dv + answered.m + 1));
    auto const copy = [&](std::optional<audit::owned_tensor>& to, std::optional<audit::owned_tensor> const& from,
                          std::size_t width) {
      for (std::size_t at = answered.row * width; at < (answered.row + 1) * width; ++at)
        audit::store(*to, at, audit::load(*from, at));
    };
    copy(answered.answer.o, without.o, answered.dv);
    copy(answered.answer.weights, without.weights, answered.m);
    CHECK(answered.judged(unmasked).failed == 0);
    copy(answered.answer.lse, without.lse, 1);
    CHECK(answered.judged(unmasked).failed == 0);
    CHECK(answered.judged({}).failed == static_cast<std::int64_t>(answered.dv + 1 + answered.m));
    answered.breaks(nan_row, static_cast<std::int64_t>(answered.dv + 1 + answered.m));
    audit::store(*answered.answer.lse, answered.row, 1 + audit::load(*answered.answer.lse, answered.row));
    answered.breaks(unmasked, 1);
    audit::store(*answered.answer.lse, answered.row, 0);  // it marks no row under this convention
    answered.breaks(unmasked, 1);
  }
}

TEST_CASE("weights of keys behind the length are 0, whatever the contract says of the row", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  answered.draft.k_lengths = audit::owned_tensor::compact(problem::element_type::i32, {1});
  audit::store(*answered.draft.k_lengths, 0, 4);
  answered.answer = builtin_answer(answered.draft);
  for (auto const row : {conventions::row::mean, conventions::row::unmasked}) {
    std::int64_t const before = answered.judged({.empty_row = row}).failed;
    std::size_t const behind = answered.row * answered.m + 4;
    audit::store(*answered.answer.weights, behind, 0.25);
    CHECK(answered.judged({.empty_row = row}).failed == before + 1);
    audit::store(*answered.answer.weights, behind, 0);
  }
}

TEST_CASE("scores beyond the range of a type may be NaN in a row that hides them: no convention has it judged",
          "[unit]") {
  answered_draft answered(problem::element_type::f32);
  answered.draft.mask.reset();
  answered.draft.bias = audit::owned_tensor::compact(problem::element_type::f32, {1, 2, 3, 5});
  for (std::size_t j = 0; j < answered.m; ++j)
    audit::store(*answered.draft.bias, answered.row * answered.m + j, -infinity);
  for (std::size_t t = 0; t < 6; ++t) audit::store(answered.draft.q, answered.row * 6 + t, 3e38);
  answered.answer = builtin_answer(answered.draft);
  constexpr auto elements = static_cast<std::int64_t>(answered_draft::dv + answered_draft::m + 1);
  for (auto const row : {conventions::row::zero, conventions::row::nan}) {
    audit::judgement const found = answered.judged({.empty_row = row, .empty_lse = conventions::log::zero});
    CHECK(found.failed == 0);
    CHECK(found.not_judged() == elements);
  }
}

TEST_CASE("where the contract says nan_unless_no_keys, a query of no keys at all is 0", "[unit]") {
  conventions either, not_a_number;
  either.empty_row = conventions::row::nan_unless_no_keys, not_a_number.empty_row = conventions::row::nan;
  answered_draft answered(problem::element_type::f32);
  answered.breaks(either, answered.dv);
  answered.set_o(nan);
  CHECK(answered.judged(either).failed == 0);

  recipe r;
  r.m = 0, r.n = 2, r.dv = 3;
  audit::contract claim = *audit::find_contract("f32");
  audit::problem_draft const none = make_problem(r);
  audit::owned_outputs answer = builtin_answer(none);
  auto const failed = [&](conventions const& how) {
    claim.conventions = how;
    return audit::judge_by_law(audit::owned_problem::of_valid(none), answer, claim).failed;
  };
  CHECK(failed(either) == 0);
  CHECK(failed(not_a_number) == 6);
  for (std::size_t at = 0; at < 6; ++at) audit::store(*answer.o, at, nan);
  CHECK(failed(either) == 6);
  CHECK(failed(not_a_number) == 0);

  // An entry without keys next to an entry with keys, which are all hidden.
  r = {};
  r.b = 2, r.n = 1, r.m = 3, r.dv = 2;
  audit::problem_draft entries = make_problem(r);
  entries.k_lengths = audit::owned_tensor::compact(problem::element_type::i32, {2});
  audit::store(*entries.k_lengths, 0, 0), audit::store(*entries.k_lengths, 1, 3);
  entries.mask = audit::owned_tensor::compact(problem::element_type::u8, {2, 1, 1, 3});
  audit::owned_outputs rows = builtin_answer(entries);
  auto const failed_rows = [&](conventions const& how) {
    claim.conventions = how;
    return audit::judge_by_law(audit::owned_problem::of_valid(entries), rows, claim).failed;
  };
  CHECK(failed_rows(either) == 2);
  for (std::size_t at = 2; at < 4; ++at) audit::store(*rows.o, at, nan);
  CHECK(failed_rows(either) == 0);
  CHECK(failed_rows(not_a_number) == 2);
}

TEST_CASE("where hidden scores must not overflow, a call in which they may is not judged, and any other is", "[unit]") {
  conventions finite, small;
  finite.masked_values = conventions::masked::must_be_finite,
  small.masked_values = conventions::masked::must_not_overflow;
  struct asked {
    double hidden_key;
    bool large, is_finite;
  };
  for (auto const& [hidden_key, large, is_finite] :
       {asked{1e30, false, true}, asked{3e38, true, true}, asked{infinity, true, false}}) {
    recipe r;
    r.n = 2, r.m = 5, r.d = 2, r.dv = 2;
    audit::problem_draft draft = make_problem(r);
    audit::fill(draft.q, [](auto...) { return 2.0; });
    audit::store(draft.k, 3 * 2, hidden_key);
    draft.mask = audit::owned_tensor::compact(problem::element_type::u8, {1, 1, 1, 5});
    audit::fill(*draft.mask, [](auto, auto, auto, auto j) { return j != 3; });
    audit::case_outputs outputs{builtin_answer(draft)};
    audit::audit_case const drawn{
        .check = "masked-reads", .name = "drawn", .problem = audit::owned_problem::of_valid(draft)};
    audit::store(*outputs[0]->o, 0, nan);
    for (bool const overflows : {false, true}) {
      audit::contract claim = *audit::find_contract("f32");
      claim.conventions = overflows ? small : finite;
      audit::case_result found;
      audit::judge_case(drawn, outputs, {.claim = &claim}, found);
      bool const excluded = overflows ? large : !is_finite;
      INFO(hidden_key << " under " << audit::relaxed(claim.conventions).front());
      CHECK((found.judged.failed == 0) == excluded);
      CHECK(found.conventions.size() == (excluded ? 1U : 0U));
      if (excluded) CHECK(found.conventions == audit::relaxed(claim.conventions));
    }
  }
}

TEST_CASE("the huge numbers of poison are the calls that must_not_overflow leaves out", "[unit]") {
  int huge = 0;
  for (audit::audit_case const& poison : audit::generated_cases({.seed = 5, .checks = {"poison"}})) {
    if (!poison.name.ends_with("-huge")) continue;
    ++huge;
    INFO(poison.name);
    CHECK_FALSE(audit::hidden_scores_may_overflow(poison.problem, *audit::find_contract("f32")));
    CHECK(audit::hidden_scores_may_overflow(poison.further.front().problem, *audit::find_contract("f32")));
  }
  CHECK(huge >= 3);
}

TEST_CASE("an element that a convention decides is judged once", "[unit]") {
  using enum conventions::row;
  for (auto const type : {problem::element_type::f32, problem::element_type::f64})
    for (auto const row : {zero, conventions::row::nan, mean, unmasked, nan_unless_no_keys})
      for (auto const lse : {conventions::log::minus_infinity, conventions::log::zero, conventions::log::plus_infinity})
        for (bool const sampled : {false, true}) {
          answered_draft const answered(type);
          audit::contract claim = *audit::find_contract(type == problem::element_type::f64 ? "f64" : "f32");
          claim.conventions.empty_row = row, claim.conventions.empty_lse = lse;
          std::vector<audit::row_index> const some{{0, 1, 0}, {0, 1, 1}};  // the second sees no key
          audit::judgement const found = audit::judge_by_law(
              audit::owned_problem::of_valid(answered.draft), answered.answer, claim,
              sampled ? std::span<audit::row_index const>(some) : std::span<audit::row_index const>());
          std::int64_t const each = answered_draft::dv + answered_draft::m + 1, rows = sampled ? 2 : 6;
          INFO("convention " << static_cast<int>(row) << ", " << static_cast<int>(lse));
          CHECK(found.exist == 6 * each);
          CHECK(found.judged() + found.not_judged() == rows * each);
        }
}

TEST_CASE("conventions are named as contract files write them", "[unit]") {
  conventions all;
  all.masked_values = conventions::masked::must_not_overflow, all.empty_row = conventions::row::nan_unless_no_keys;
  all.empty_lse = conventions::log::zero, all.nan = conventions::invalid::unspecified;
  all.sink_inf = conventions::infinite_sink::limit, all.lse_sink = conventions::log_of_sink::excluded;
  CHECK(audit::relaxed(all) == std::vector<std::string>{"masked_values: must_not_overflow",
                                                        "empty_row: nan_unless_no_keys", "empty_lse: 0",
                                                        "nan: unspecified", "sink_inf: limit", "lse_sink: excluded"});
  CHECK(audit::relaxed({}).empty());
}

TEST_CASE("where NaN is unspecified anything may come of it, and only of it", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  audit::store(answered.draft.q, 0, nan);                         // query 0 of head 0
  audit::store(answered.draft.v, 2 * answered.dv + 3, infinity);  // every row that sees key 2, in column 3
  answered.answer = builtin_answer(answered.draft);
  conventions unspecified;
  unspecified.nan = conventions::invalid::unspecified;
  CHECK(answered.judged({}).failed == 0);
  CHECK(answered.judged(unspecified).failed == 0);
  for (std::size_t c = 0; c < answered.dv; ++c) audit::store(*answered.answer.o, c, 7);
  audit::store(*answered.answer.lse, 0, 7);
  for (std::size_t j = 0; j < answered.m; ++j) audit::store(*answered.answer.weights, j, 0.2);
  audit::store(*answered.answer.o, 2 * answered.dv + 3, -1);  // query 2 of head 0, the column of the infinity
  CHECK(answered.judged({}).failed == static_cast<std::int64_t>(answered.dv + 1 + answered.m + 1));
  CHECK(answered.judged(unspecified).failed == 0);
  audit::store(*answered.answer.o, 2 * answered.dv + 2, 7);
  CHECK(answered.judged(unspecified).failed == 1);
}

}  // namespace attest::tests::conventions_test
