// What contracts say of sinks: whether the LSE counts them, and what a sink of +∞ makes of its row.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/audit/judge/answered_draft.hpp"

namespace attest::tests::sink_conventions_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the LSE of a query that sees its sink alone is that sink, whatever empty_lse says", "[unit]") {
  for (double const sink : {2.0, infinity, nan}) {
    answered_draft answered(problem::element_type::f32);
    answered.draft.sink = audit::owned_tensor::compact(problem::element_type::f32, {2});
    audit::store(*answered.draft.sink, 0, 0.5), audit::store(*answered.draft.sink, 1, sink);
    answered.answer = builtin_answer(answered.draft);
    for (auto const log : {conventions::log::minus_infinity, conventions::log::zero, conventions::log::plus_infinity})
      CHECK(answered.judged({.empty_lse = log}).failed == 0);
    audit::store(*answered.answer.lse, answered.row, 0);
    CHECK(answered.judged({.empty_lse = conventions::log::zero}).failed == 1);
  }
}

TEST_CASE("a sink of +inf is what the contract says: a NaN row, or the limit, in which it takes all weight", "[unit]") {
  conventions limit;
  limit.sink_inf = conventions::infinite_sink::limit;
  answered_draft answered(problem::element_type::f32);
  answered.draft.sink = audit::owned_tensor::compact(problem::element_type::f32, {2});
  audit::store(*answered.draft.sink, 0, infinity), audit::store(*answered.draft.sink, 1, infinity);
  constexpr std::size_t dv = answered_draft::dv, m = answered_draft::m;
  constexpr auto row = static_cast<std::int64_t>(dv + m + 1);  // elements
  auto const take = [&](std::size_t r) {
    for (std::size_t c = 0; c < dv; ++c) audit::store(*answered.answer.o, r * dv + c, 0);
    for (std::size_t j = 0; j < m; ++j) audit::store(*answered.answer.weights, r * m + j, 0);
    audit::store(*answered.answer.lse, r, infinity);
  };
  answered.answer = builtin_answer(answered.draft);  // row 4 sees the sink alone
  CHECK(answered.judged({}).failed == 0);
  for (std::size_t r = 0; r < 6; ++r)
    if (r != answered.row) audit::store(*answered.answer.lse, r, nan);
  CHECK(answered.judged({}).failed == 0);
  audit::judgement const refuted = answered.judged(limit);
  CHECK(refuted.failed == 5 * row);
  CHECK(refuted.violations.front().bug_class == audit::bug_class::sink);
  for (std::size_t r = 0; r < 6; ++r) take(r);
  CHECK(answered.judged({}).failed == 5 * (row - 1));  // an LSE of +inf is right there, too
  audit::judgement const held = answered.judged(limit);
  CHECK(held.failed == 0);
  CHECK(held.judged() == 6 * row);
  CHECK(held.not_judged() == 0);
  audit::store(*answered.answer.o, 0, 1), audit::store(*answered.answer.weights, m, 0.5);
  audit::store(*answered.answer.lse, 2, 88);
  CHECK(answered.judged(limit).failed == 3);

  // A row that is NaN without the sink stays so; V at a visible key is multiplied by 0 or skipped.
  take(0), take(1), take(2);
  audit::store(answered.draft.q, 0, nan);
  CHECK(answered.judged(limit).failed == row);
  audit::store(answered.draft.q, 0, 0);
  audit::store(answered.draft.v, 2 * dv + 3, nan);
  for (double const x : {nan, 0.0, 3.0}) {
    audit::store(*answered.answer.o, 3, x);
    CHECK(answered.judged(limit).failed == 0);
  }
  CHECK(answered.judged(limit).not_judged() == 5);
  // Scores beyond the range of the type may be NaN in any kernel: nothing of the row is judged.
  audit::store(answered.draft.q, 0, 3e38);
  audit::store(*answered.answer.lse, 0, nan);
  CHECK(answered.judged(limit).failed == 0);
}

TEST_CASE("the LSE counts the sink, or does not, as the contract says", "[unit]") {
  conventions excluded;
  excluded.lse_sink = conventions::log_of_sink::excluded;
  for (auto const type : {problem::element_type::f32, problem::element_type::f64}) {
    answered_draft answered(type);
    audit::owned_outputs const of_keys = builtin_answer(answered.draft);
    answered.draft.sink = audit::owned_tensor::compact(type, {2});
    audit::store(*answered.draft.sink, 0, 0.5), audit::store(*answered.draft.sink, 1, 1.5);
    answered.answer = builtin_answer(answered.draft);
    CHECK(answered.judged({}).failed == 0);
    audit::judgement const refuted = answered.judged(excluded);
    CHECK(refuted.failed == 6);
    CHECK(refuted.violations.front().output == "lse");
    CHECK(refuted.violations.back().sentence.ends_with("says that the LSE does not count the sink"));
    answered.answer.lse = of_keys.lse;  // O and weights are still those with the sink
    CHECK(answered.judged({}).failed == 6);
    audit::judgement const held = answered.judged(excluded);
    CHECK(held.failed == 0);
    CHECK(held.exist == 6 * 10);
    CHECK(held.judged() == 6 * 10);
    CHECK(held.returned == std::array<std::int64_t, audit::output_names.size()>{1, 1, 1});
    // The query that sees the sink alone has the LSE of an empty row.
    CHECK(audit::load(*answered.answer.lse, answered.row) == -infinity);
    audit::store(*answered.answer.lse, answered.row, infinity);
    CHECK(answered.judged(excluded).failed == 1);
    CHECK(answered.judged({.empty_lse = conventions::log::plus_infinity, .lse_sink = excluded.lse_sink}).failed == 0);
    // O of a call without its sink is wrong all the same.
    answered.answer.o = of_keys.o, answered.answer.lse = of_keys.lse;
    CHECK(answered.judged(excluded).failed == static_cast<std::int64_t>(5 * answered_draft::dv));
    // Rows are judged alone, too.
    std::vector<audit::row_index> const some{{0, 0, 1}, {0, 1, 1}};
    audit::contract claim = *audit::find_contract(type == problem::element_type::f64 ? "f64" : "f32");
    claim.conventions = excluded;
    audit::judgement const two =
        audit::judge_by_law(audit::owned_problem::of_valid(answered.draft), {.lse = of_keys.lse}, claim, some);
    CHECK(two.failed == 0);
    CHECK(two.judged() == 2);
  }
}

TEST_CASE("an LSE without its sink is judged wherever the sink lies", "[unit]") {
  conventions excluded;
  excluded.lse_sink = conventions::log_of_sink::excluded;
  for (double const sink : {-1e30, -infinity, 50.0, infinity, nan, 3e38}) {
    answered_draft answered(problem::element_type::f32);
    audit::owned_outputs const of_keys = builtin_answer(answered.draft);
    answered.draft.sink = audit::owned_tensor::compact(problem::element_type::f32, {2});
    audit::store(*answered.draft.sink, 0, sink), audit::store(*answered.draft.sink, 1, 0.5);
    answered.answer = builtin_answer(answered.draft);
    answered.answer.lse = of_keys.lse;
    INFO(sink);
    CHECK(answered.judged(excluded).failed == 0);
    audit::store(*answered.answer.lse, 0, nan);
    bool const any = sink == 3e38;  // no kernel is asked that sink
    CHECK(answered.judged(excluded).failed == (any || std::isnan(sink) || sink == infinity ? 0 : 1));
    audit::store(*answered.answer.lse, 0, 7);
    CHECK(answered.judged(excluded).failed == (any ? 0 : 1));
  }
}

}  // namespace attest::tests::sink_conventions_test
