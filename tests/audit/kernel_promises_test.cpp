// Every check of the audit as a property of the built-in kernel: for every element type, on every instruction set, for
// seeds that nobody chose. With ATTEST_PLANT=NAME a kernel of the zoo takes its place: a mutant must fail here, an honest
// design must not (tests/audit/plant_test.sh).
#include <set>

#include "audit/cases/case.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/session/real_data.hpp"
#include "fast/simd/operations.hpp"
#include "tests/support/guarded_call.hpp"
#include "tests/support/property.hpp"

namespace attest::tests {
namespace {

/// Nothing, or what is wrong. All calls of the case are judged as the audit judges them, each against the truth and all of
/// them against each other; the built-in kernel is reproducible, too.
std::string fault_of(audit::audit_case const& each) {
  std::vector<std::optional<audit::owned_outputs>> answers(1 + each.further.size());
  auto const ask = [&](std::size_t at, audit::owned_problem const& asked, std::int32_t threads) {
    audit::owned_outputs answer = guarded_answer(asked.draft(), threads > 0 ? threads : 1);
    if (answer.o) answers[at] = std::move(answer);
  };
  for (std::size_t n = 0; n < each.further.size(); ++n)
    if (each.further[n].is == audit::relation::warm_up) ask(n + 1, each.further[n].problem, 1);
  ask(0, each.problem, 1);
  if (!answers[0]) return each.mandatory ? each.full_name() + " is not supported" : "";
  for (std::size_t n = 0; n < each.further.size(); ++n)
    if (each.further[n].is != audit::relation::warm_up) ask(n + 1, each.further[n].problem, each.further[n].threads);
  audit::case_result found;
  audit::judge_case(each, answers, {.claim = &claim_for(each.problem.type()), .reproducible = !planted()}, found);
  if (found.judged.failed > 0) return each.full_name() + ": " + found.judged.violations.front().sentence;
  if (found.judged.undecided > 0) return each.full_name() + " is undecided";
  audit::owned_outputs const again = guarded_answer(each.problem.draft());
  if (!again.o || again.o->bytes != answers[0]->o->bytes || again.lse->bytes != answers[0]->lse->bytes ||
      again.weights->bytes != answers[0]->weights->bytes)
    return each.full_name() + " is answered with other bits the second time";
  return "";
}

/// The checks of the audit, on cases of an unknown seed.
void every_check_holds(problem::element_type type) {
  property("the cases of every check, for any seed", [&] {
    std::uint64_t const seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>());
    for (audit::audit_case const& each : audit::generated_cases({.type = type, .seed = seed, .quick = true})) {
      std::string const fault = fault_of(each);
      if (!fault.empty()) RC_FAIL("seed " + std::to_string(seed) + ", " + fault);
    }
  });
}

/// While it lives, the built-in kernel uses one instruction set.
struct only_set {
  explicit only_set(std::string_view name) { REQUIRE(fast::use_simd_target(name)); }
  ~only_set() { fast::use_simd_target(""); }
};

void every_check_holds_on_every_set(problem::element_type type) {
  if (!takes(type)) return;
  for (std::string_view const name : fast::simd_targets()) {
    only_set const set(name);
    INFO(name);
    every_check_holds(type);
    if (planted()) break;
  }
}

TEST_CASE("every check of the audit holds in f32, on every instruction set", "[property]") {
  every_check_holds_on_every_set(problem::element_type::f32);
}

TEST_CASE("every check of the audit holds in f64, on every instruction set", "[property]") {
  every_check_holds_on_every_set(problem::element_type::f64);
}

TEST_CASE("every check of the audit holds in bf16, on every instruction set", "[property]") {
  every_check_holds_on_every_set(problem::element_type::bf16);
}

TEST_CASE("every check of the audit holds in f16, on every instruction set", "[property]") {
  every_check_holds_on_every_set(problem::element_type::f16);
}

TEST_CASE("the sentence encoder's layers come out right, on every instruction set", "[property]") {
  if (planted()) return;
  auto const cases = audit::real_data_cases();
  REQUIRE(cases.has_value());
  for (std::string_view const name : fast::simd_targets()) {
    only_set const set(name);
    INFO(name);
    for (audit::audit_case const& each : cases.value()) CHECK(fault_of(each) == "");
  }
}

TEST_CASE("every check of the audit has cases here, of every element type", "[property]") {
  for (auto const type : {problem::element_type::f32, problem::element_type::f64, problem::element_type::bf16, problem::element_type::f16}) {
    std::set<std::string, std::less<>> asked{"real-data"};  // f32 alone, below
    for (audit::audit_case const& each : audit::generated_cases({.type = type, .seed = 1, .quick = true})) asked.insert(each.check);
    for (audit::check const& each : audit::checks()) {
      INFO(each.name << " in " << problem::name_of(type));
      CHECK(asked.contains(each.name));
    }
  }
}

TEST_CASE("the zoo by name", "[.list]") {  // for tests/audit/plant_test.sh; '+' marks honest designs
  for (zoo::specimen const& each : zoo::specimens())
    std::cout << "specimen " << (each.is_honest() ? "+" : "") << each.name << '\n';
}

}  // namespace
}  // namespace attest::tests
