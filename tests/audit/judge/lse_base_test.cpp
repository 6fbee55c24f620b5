// An LSE in base 2 under a contract that says so.
#include "reference/bound/lse_base.hpp"

#include <cmath>
#include <limits>

#include "audit/cases/case.hpp"
#include "audit/judge/allowed_errors.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/oracle/rounded_lse.hpp"
#include "tests/audit/judge/answered_draft.hpp"

namespace attest::tests::lse_base_test {
namespace {

constexpr conventions base_2{.lse_base = problem::log_base::two};

void change_base(audit::owned_tensor& lse, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) audit::store(lse, row, audit::load(lse, row) * reference::log2_e);
}

}  // namespace

TEST_CASE("an LSE is judged in the base that the contract says", "[unit]") {
  for (auto const type : {problem::element_type::f32, problem::element_type::f64}) {
    answered_draft answered(type);
    constexpr std::int64_t with_keys = 5;  // of six rows
    CHECK(answered.judged({}).failed == 0);
    audit::judgement const refuted = answered.judged(base_2);
    CHECK(refuted.failed == with_keys);
    CHECK(refuted.violations.front().output == "lse");
    CHECK(refuted.violations.front().sentence.find(" in base 2, ") != std::string::npos);
    change_base(*answered.answer.lse, 6);
    CHECK(answered.judged({}).failed == with_keys);
    audit::judgement const held = answered.judged(base_2);
    CHECK(held.failed == 0);
    CHECK(held.judged() == held.exist);
    CHECK(held.not_judged() == 0);
    CHECK(held.max_error_in_bounds < 1);
  }
}

TEST_CASE("both tiers bound an LSE in base 2 by log2 e times the bound with three roundings", "[unit]") {
  answered_draft const answered(problem::element_type::f32);
  auto const problem = audit::owned_problem::of_valid(answered.draft);
  auto const& p = std::get<problem::instance<float>>(problem.instance());
  audit::contract claim = *audit::find_contract("f32-blocked");
  problem::kernel_model natural = claim.model_for(problem.instance());
  claim.conventions = base_2;
  problem::kernel_model const model = claim.model_for(problem.instance());
  CHECK(model.k_lse == std::max(3, natural.k_lse));
  natural.k_lse = model.k_lse;
  auto const bounds = [&](problem::kernel_model const& of, audit::bounds_of tiers) {
    std::vector<double> found;
    audit::allowed_errors<float>(p, of, tiers).each(0, 0, 0, 3, [&](auto const& row) { found.push_back(row.lse); });
    return found;
  };
  for (auto const tiers : {audit::bounds_of::both_tiers, audit::bounds_of::machine_tier}) {
    auto const e = bounds(natural, tiers), two = bounds(model, tiers);
    for (std::size_t row = 0; row < 3; ++row) {
      CHECK(two[row] >= e[row] * reference::log2_e);
      CHECK(two[row] <= e[row] * reference::log2_e * (1 + 1e-12));
    }
    // A number just inside is judged right, a number just outside wrong.
    for (std::int64_t i = 0; i < 3; ++i) {
      auto const exact = static_cast<double>(*audit::rounded_log2_sum_exp<double>(p, 0, 0, i));
      for (double const side : {-1.0, 1.0}) {
        audit::owned_outputs lse{.lse = answered.answer.lse};
        double const bound = two[static_cast<std::size_t>(i)];
        auto const judged = [&](double got) {
          audit::store(*lse.lse, static_cast<std::size_t>(i), got);
          return audit::judge(problem.instance(), lse, claim, std::array{audit::row_index{0, 0, i}}).failed;
        };
        double const inside = std::nextafter(static_cast<float>(exact + side * bound), static_cast<float>(exact)),
                     outside = std::nextafter(static_cast<float>(exact + side * bound * 1.000001),
                                              static_cast<float>(side) * 1e30f);
        CHECK(judged(inside) == 0);
        CHECK(judged(outside) == 1);
      }
    }
  }
}

TEST_CASE("an LSE in base 2 is rounded correctly, and is a whole number where 2^n scores are 0", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  answered.draft.mask.reset();
  audit::fill(answered.draft.q, [](auto...) { return 0.0; });
  for (std::int64_t const keys : {1, 2, 3, 4, 5}) {
    audit::problem_draft draft = answered.draft;
    draft.mask = audit::owned_tensor::compact(problem::element_type::u8, {1, 1, 1, answered_draft::m});
    audit::fill(*draft.mask, [&](auto, auto, auto, auto j) { return j < keys ? 1.0 : 0.0; });
    auto const problem = audit::owned_problem::of_valid(std::move(draft));
    auto const& p = std::get<problem::instance<float>>(problem.instance());
    auto const single = audit::rounded_log2_sum_exp<float>(p, 0, 0, 0);
    auto const wide = audit::rounded_log2_sum_exp<double>(p, 0, 0, 0);
    REQUIRE((single.has_value() && wide.has_value()));
    CHECK(std::abs(*wide - std::log2(static_cast<double>(keys))) <= 0x1p-52);
    CHECK(*single == static_cast<float>(*wide));
    if (keys == 1 || keys == 2 || keys == 4) CHECK(*wide == std::log2(static_cast<double>(keys)));
  }
}

TEST_CASE("parts whose LSE is in base 2 are merged by powers of 2", "[unit]") {
  int merged = 0;
  for (audit::audit_case const& split : audit::generated_cases({.seed = 5, .checks = {"split-and-merge"}})) {
    audit::contract claim = *audit::find_contract("f32");
    claim.conventions = base_2;
    audit::case_outputs outputs;
    for (std::size_t call = 0; call <= split.further.size(); ++call) {
      auto& answer = outputs.emplace_back(builtin_answer(split.call(call).draft()));
      change_base(*answer->lse, answer->lse->bytes.size() / sizeof(float));
    }
    audit::case_result result;
    audit::judge_case(split, outputs, {.claim = &claim}, result);
    INFO(split.name);
    CHECK(!result.unsupported);
    CHECK(result.judged.failed == 0);
    ++merged;
  }
  CHECK(merged > 0);
}

}  // namespace attest::tests::lse_base_test
