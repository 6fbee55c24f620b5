// Every check of the audit as a property of the built-in kernel: for f32 and f64, on every instruction set, for seeds
// that nobody chose. With ATTEST_PLANT=NAME a kernel of the zoo takes its place: a mutant must fail here, an honest
// design must not (tests/plant_test.sh).
#include "audit/cases/case.hpp"
#include "audit/judge.hpp"
#include "fast/operations.hpp"
#include "tests/guarded_call.hpp"
#include "tests/property.hpp"

namespace attest::tests {
namespace {

/// Nothing, or what is wrong.
std::string fault_of(audit::audit_case const& each) {
  auto const instance = problem::make_instance(each.asked.arguments());
  if (!instance) return each.full_name() + ": " + instance.why().message();
  audit::recorded_answer const answer = guarded_answer(each.asked);
  if (!answer.o) return each.mandatory ? each.full_name() + " is not supported" : "";
  audit::judgement const judged = audit::judge(instance.value(), answer, claim_for(each.asked.q.type));
  if (judged.failed > 0) return each.full_name() + ": " + judged.violations.front().sentence;
  if (judged.undecided > 0) return each.full_name() + " is undecided";
  auto const same_bits = [&](audit::stored_problem const& asked) {
    audit::recorded_answer const again = guarded_answer(asked);
    return again.o && again.o->bytes == answer.o->bytes && again.lse->bytes == answer.lse->bytes &&
           again.weights->bytes == answer.weights->bytes;
  };
  if (!same_bits(each.asked)) return each.full_name() + " is answered with other bits the second time";
  for (audit::further_call const& other : each.further)
    if (other.is == audit::relation::same_bits && other.promised && !same_bits(other.asked))
      return each.full_name() + " is answered with other bits: " + other.says;
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
  explicit only_set(std::string_view name) { REQUIRE(fast::use_only(name)); }
  ~only_set() { fast::use_only(""); }
};

TEST_CASE("every check of the audit holds in f32, on every instruction set", "[property]") {
  for (std::string_view const name : fast::instruction_sets()) {
    only_set const set(name);
    INFO(name);
    every_check_holds(problem::element_type::f32);
    if (planted()) break;
  }
}

TEST_CASE("every check of the audit holds in f64, on every instruction set", "[property]") {
  for (std::string_view const name : fast::instruction_sets()) {
    only_set const set(name);
    INFO(name);
    every_check_holds(problem::element_type::f64);
    if (planted()) break;
  }
}

TEST_CASE("the zoo by name", "[.list]") {  // for tests/plant_test.sh; '+' marks honest designs
  for (zoo::specimen const& each : zoo::specimens())
    std::cout << "specimen " << (each.is_honest() ? "+" : "") << each.name << '\n';
}

}  // namespace
}  // namespace attest::tests
