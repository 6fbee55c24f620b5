// Every check of the audit as a property of the built-in kernel: for every element type, on every instruction set, for
// arbitrary seeds. With ATTEST_PLANT=NAME a kernel of the zoo takes its place: a mutant must fail here, an honest
// design must not (tests/audit/zoo/plant_test.sh).
#include <set>

#include "audit/asking/real_data.hpp"
#include "audit/cases/case.hpp"
#include "audit/cases/families/plain.hpp"
#include "audit/judge/judge_case.hpp"
#include "fast/simd/operations.hpp"
#include "tests/support/guarded_call.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::kernel_promises_test {
namespace {

/// Nothing, or what is wrong. All calls of the case are judged as the audit judges them, each against the truth and all
/// of them against each other; the built-in kernel is reproducible, too.
std::string fault_of(audit::audit_case const& kernel_case) {
  std::vector<std::optional<audit::owned_outputs>> answers(1 + kernel_case.further.size());
  auto const ask = [&](std::size_t at, audit::owned_problem const& problem, std::int32_t threads) {
    audit::owned_outputs answer = guarded_answer(problem.draft(), threads > 0 ? threads : 1);
    if (answer.o) answers[at] = std::move(answer);
  };
  for (std::size_t n = 0; n < kernel_case.further.size(); ++n)
    if (kernel_case.further[n].is == audit::relation::warm_up) ask(n + 1, kernel_case.further[n].problem, 1);
  ask(0, kernel_case.problem, 1);
  if (!answers[0]) {
    bool const plain = audit::is_plain(kernel_case.problem) && kernel_case.problem.draft().is_of_version_1();
    return plain ? kernel_case.full_name() + " is not supported" : "";
  }
  for (std::size_t n = 0; n < kernel_case.further.size(); ++n)
    if (kernel_case.further[n].is != audit::relation::warm_up)
      ask(n + 1, kernel_case.further[n].problem, kernel_case.further[n].threads);
  audit::case_result found;
  audit::judge_case(kernel_case, answers, {.claim = &claim_for(kernel_case.problem.type()), .reproducible = !planted()},
                    found);
  if (found.judged.failed > 0) return kernel_case.full_name() + ": " + found.judged.violations.front().sentence;
  if (found.judged.undecided > 0) return kernel_case.full_name() + " is undecided";
  audit::owned_outputs const again = guarded_answer(kernel_case.problem.draft());
  auto const same = [](std::optional<audit::owned_tensor> const& a, std::optional<audit::owned_tensor> const& b) {
    return a.has_value() == b.has_value() && (!a || a->bytes == b->bytes);
  };
  if (!again.o || !same(again.o, answers[0]->o) || !same(again.lse, answers[0]->lse) ||
      !same(again.weights, answers[0]->weights))
    return kernel_case.full_name() + " is answered with other bits the second time";
  return "";
}

/// The checks of the audit, on cases of an unknown seed.
void every_check_holds(problem::element_type type) {
  property("the cases of every check, for any seed", [&] {
    std::uint64_t const seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>());
    for (audit::audit_case const& kernel_case : audit::generated_cases({.type = type, .seed = seed, .quick = true})) {
      std::string const fault = fault_of(kernel_case);
      if (!fault.empty()) RC_FAIL("seed " + std::to_string(seed) + ", " + fault);
    }
  });
}

/// While it lives, the built-in kernel uses one instruction set.
struct only_set {
  explicit only_set(std::string_view name) { REQUIRE(fast::use_simd_target(name)); }
  ~only_set() { fast::use_simd_target(""); }
};

void every_check_holds_on(std::vector<std::string_view> const& sets, problem::element_type type) {
  if (!takes(type)) return;
  for (std::string_view const name : sets) {
    only_set const set(name);
    INFO(name);
    every_check_holds(type);
    if (planted()) break;
  }
}

TEST_CASE("every check of the audit holds in f32, on every instruction set", "[property]") {
  every_check_holds_on(fast::simd_targets(), problem::element_type::f32);
}

TEST_CASE("every check of the audit holds in the other types", "[property]") {
  for (auto const type : {problem::element_type::f64, problem::element_type::bf16, problem::element_type::f16})
    every_check_holds_on({fast::simd_targets().front()}, type);
}

TEST_CASE("every check of the audit holds in the other types, on every instruction set", "[nightly]") {
  for (auto const type : {problem::element_type::f64, problem::element_type::bf16, problem::element_type::f16})
    every_check_holds_on(fast::simd_targets(), type);
}

TEST_CASE("the sentence encoder's layers come out right, on every instruction set", "[property]") {
  if (planted()) return;
  auto const cases = audit::real_data_cases();
  REQUIRE(cases.has_value());
  for (std::string_view const name : fast::simd_targets()) {
    only_set const set(name);
    INFO(name);
    for (audit::audit_case const& kernel_case : cases.value()) CHECK(fault_of(kernel_case) == "");
  }
}

TEST_CASE("every check of the audit has cases here, of every element type", "[property]") {
  for (auto const type : {problem::element_type::f32, problem::element_type::f64, problem::element_type::bf16,
                          problem::element_type::f16}) {
    std::set<std::string, std::less<>> covered(audit::checks_of_forms.begin(), audit::checks_of_forms.end());
    // f32 alone, below; asked of attest_merge; asked of attest_attention_backward, see tests/fast/backward*
    covered.insert({"real-data", "merge", "backward"});
    for (audit::audit_case const& kernel_case : audit::generated_cases({.type = type, .seed = 1, .quick = true}))
      covered.insert(kernel_case.check);
    for (audit::check const& check : audit::checks()) {
      INFO(check.name << " in " << problem::name_of(type));
      CHECK(covered.contains(check.name));
    }
  }
}

TEST_CASE("the zoo by name", "[.list]") {  // for tests/audit/zoo/plant_test.sh; '+' marks honest designs
  for (zoo::specimen const& specimen : zoo::specimens())
    if (specimen.family.empty())  // a mutant that is wrong somewhere only may well pass
      std::cout << "specimen " << (specimen.is_honest() ? "+" : "") << specimen.name << '\n';
}

}  // namespace
}  // namespace attest::tests::kernel_promises_test
