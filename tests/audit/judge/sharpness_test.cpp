// How much bounds say: dull elements, quartiles of bound/|exact|, and outputs compared with sharper presets.
#include <cmath>
#include <random>

#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/report/text.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "tests/audit/judge/answers_near_exact.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_check.hpp"

namespace attest::audit::sharpness_test {
namespace {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a quartile is the least power of two that a quarter of the ratios does not exceed", "[unit]") {
  sharpness of;
  CHECK_FALSE(of.quartile(2).has_value());
  for (double const bound : {0.3, 0.3, 3.0, 5.0}) of.add(bound, -1, false);  // 2⁻², 2⁻², 2¹, 2² by ilogb
  CHECK(of.quartile(1) == 0.5);
  CHECK(of.quartile(2) == 0.5);
  CHECK(of.quartile(3) == 4.0);
  sharpness exact_power;
  exact_power.add(2, 1, false);
  CHECK(exact_power.quartile(2) >= 2.0);
  sharpness ends;  // a bound of 0 is in the first place; a ratio to 0 and a huge ratio in the last
  ends.add(0, 1, false), ends.add(1, 0, false), ends.add(1e300, 1e-300, false);
  CHECK(ends.ratios.front() == 1);
  CHECK(ends.ratios.back() == 2);
}

TEST_CASE("an output is dull where each of its elements is, and there is one", "[unit]") {
  sharpness_table table{};
  CHECK_FALSE(only_dull(table, output_kind::o));
  table[0][0].add(1, 1, true), table[0][2].add(1, 1, true);
  CHECK(only_dull(table, output_kind::o));
  CHECK_FALSE(only_dull(table, output_kind::lse));
  table[0][3].add(1, 1, false);
  CHECK_FALSE(only_dull(table, output_kind::o));
  CHECK(size_class_of(1) == 0);
  CHECK(size_class_of(64) == 0);
  CHECK(size_class_of(65) == 1);
  CHECK(size_class_of(4096) == 2);
  CHECK(size_class_of(4097) == 3);
}

TEST_CASE("parts merge to the whole, in any order: judged, dull, quartiles, comparisons", "[unit]") {
  std::mt19937_64 random(11);
  judgement whole;
  std::vector<judgement> parts(5);
  for (int n = 0; n < 4000; ++n) {
    double const bound = std::ldexp(1.0 + static_cast<double>(random() % 100), -static_cast<int>(random() % 80));
    std::size_t const output = random() % 3, size = random() % 4;
    bool const dull = random() % 3 == 0;
    judgement& part = parts[random() % parts.size()];
    auto const why = static_cast<not_judged_because>(random() % not_judged_names.size());
    preset_comparison one{random() % 2 ? "f32" : "f32-ordered"};
    random() % 5 == 0 ? one.add(2 * bound, 4 * bound) : one.add(bound / 4, bound / 2);
    for (judgement* const into : {&whole, &part}) {
      into->sharpness[output][size].add(bound, 1, dull);
      ++into->by_theorem;
      into->leave_out(static_cast<output_kind>(output), n % 3, why);
      ++into->returned[output];
      merge(into->beside, one);
    }
  }
  judgement forwards, backwards;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    forwards.merge(judgement(parts[n]));
    backwards.merge(judgement(parts[parts.size() - 1 - n]));
  }
  for (judgement const* const merged : {&forwards, &backwards}) {
    CHECK(merged->dull() == whole.dull());
    CHECK(merged->left_out == whole.left_out);
    CHECK(merged->returned == whole.returned);
    for (std::size_t output = 0; output < 3; ++output)
      for (std::size_t size = 0; size < 4; ++size) {
        CHECK(merged->sharpness[output][size].ratios == whole.sharpness[output][size].ratios);
        for (int part = 1; part < 4; ++part)
          CHECK(merged->sharpness[output][size].quartile(part) == whole.sharpness[output][size].quartile(part));
      }
    REQUIRE(merged->beside.size() == 2);
    for (std::size_t n = 0; n < 2; ++n) {
      CHECK(merged->beside[n].preset == whole.beside[n].preset);
      CHECK(merged->beside[n].compared == whole.beside[n].compared);
      CHECK(merged->beside[n].outside == whole.beside[n].outside);
      CHECK(merged->beside[n].worst == whole.beside[n].worst);
    }
  }
  CHECK(whole.dull() > 0);
  CHECK(whole.beside[0].outside > 0);
}

/// The mean of V in every row, rounded.
owned_outputs mean_of_v(problem_draft const& draft) {
  owned_outputs outputs;
  auto const& shape = draft.v.layout.shape;
  outputs.o = owned_tensor::compact(draft.v.type, {1, 1, draft.q.layout.shape[2], shape[3]});
  fill(*outputs.o, [&](auto, auto, auto, auto c) {
    double sum = 0;
    for (std::int64_t j = 0; j < shape[2]; ++j) sum += load(draft.v, offset_of(draft.v, 0, 0, j, c));
    return sum / static_cast<double>(shape[2]);
  });
  return outputs;
}

TEST_CASE("the mean of V is inside its bounds at a large softcap, and certifies nothing", "[unit]") {
  problem_draft draft = gaussian(4, 9, 8, 5);
  contract stable = *find_contract("f32");  // as 0.1 had it: rows with any scores are judged
  stable.fixed.large_scores = problem::large_scores::stable;
  for (double const softcap : {1e7, 1e12, 1e18}) {
    INFO(softcap);
    draft.softcap = softcap;
    for (contract const* const claim : {find_contract("f32"), &std::as_const(stable)}) {
      judgement found = judge(problem::make_instance(draft.arguments()).value(), mean_of_v(draft), *claim);
      CHECK(found.failed == 0);
      CHECK(found.dull() == found.judged_by_bound());
      bool const judged_at_all = softcap < 1e15 || claim == &stable;
      CHECK(found.judged_by_bound() == (judged_at_all ? 4 * 5 : 0));
      report const undecided = tests::report_of(std::move(found), "softcap");
      CHECK(undecided.verdict == verdict::undecided);
      CHECK(undecided.undecided_because ==
            (judged_at_all
                 ? "there is no sharp element of o: every bound admits an answer that is wrong in a plain way (dull)"
                 : "no element was judged"));
      CHECK(has(as_text(undecided), "UNDECIDED: " + undecided.undecided_because));
      CHECK(has(as_text(undecided), ", no sharp element of o\n") == judged_at_all);
    }
  }
}

TEST_CASE("without the softcap the mean of V is refuted, and an honest answer has sharp elements", "[unit]") {
  problem_draft const draft = gaussian(4, 9, 8, 5);
  owned_outputs const honest = answer<float>(draft, *find_contract("f32"), [](double exact, double) { return exact; });
  CHECK(judged(draft, mean_of_v(draft), "f32").failed > 0);
  judgement found = judged(draft, honest, "f32");
  CHECK(found.failed == 0);
  CHECK(found.dull() == 0);
  report const certified = tests::report_of(std::move(found), "softcap");
  CHECK(certified.verdict == verdict::certified);
  CHECK_FALSE(has(as_text(certified), "no sharp element"));
}

TEST_CASE("one output without a sharp element is enough to leave the audit undecided, whatever the others say",
          "[unit]") {
  judgement found;
  found.by_theorem = 12;
  for (int n = 0; n < 10; ++n) found.sharpness[0][0].add(1e-6, 1, false);
  for (int n = 0; n < 2; ++n) found.sharpness[1][0].add(9, 1, true);
  report const undecided = tests::report_of(found, "softcap");
  CHECK(undecided.verdict == verdict::undecided);
  CHECK(has(undecided.undecided_because, "no sharp element of lse"));
  CHECK(has(as_text(undecided), "no sharp element of lse\n"));
  CHECK_FALSE(has(as_text(undecided), "no sharp element of o"));
  found.sharpness[1][2].add(1e-6, 1, false);
  ++found.by_theorem;
  CHECK(tests::report_of(found, "softcap").verdict == verdict::certified);
}

}  // namespace
}  // namespace attest::audit::sharpness_test
