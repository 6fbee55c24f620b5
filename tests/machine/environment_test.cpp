// The floating-point environment is part of the proof.
#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "audit/contract/contract.hpp"
#include "reference/machine/environment.hpp"
#include "reference/machine/rows.hpp"
#include "tests/machine/problem.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::environment_test {
namespace {

using reference::machine::unsafe_environment;

/// In the environment that `spoil` makes: no new row source, and a ready one hands every row over.
template <class Spoil, class Restore>
void refuses(std::string const& expected, Spoil&& spoil, Restore&& restore) {
  tests::machine_problem<float> problem(3);
  problem.mask = {}, problem.bias = {};
  problem.band = {};
  auto const instance = problem.instance();
  auto const model = audit::find_contract("f32")->fixed;
  auto rows = reference::machine::row_source<float>::make(instance, model);
  REQUIRE(rows.has_value());
  std::int64_t handed_over = 0;
  auto const count = [&](reference::machine::certified_row const& row) { handed_over += row.handed_over; };
  spoil();
  auto const why = unsafe_environment();
  auto const refused = reference::machine::row_source<float>::make(instance, model);
  rows.value().each(0, 0, 0, problem.s.n, count);
  restore();
  REQUIRE(why.has_value());
  CHECK(std::string(*why).find(expected) != std::string::npos);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.why().message().find(expected) != std::string::npos);
  CHECK(handed_over == problem.s.n);
  CHECK_FALSE(unsafe_environment().has_value());
}

}  // namespace

TEST_CASE("the default environment is safe", "[unit]") { CHECK_FALSE(unsafe_environment().has_value()); }

TEST_CASE("a rounding mode that is not to nearest is noticed", "[unit]") {
  for (int const mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    refuses("rounding", [&] { std::fesetround(mode); }, [] { std::fesetround(FE_TONEAREST); });
  }
}

#if defined(__x86_64__)
TEST_CASE("flushing subnormals is noticed", "[unit]") {
  unsigned const found = _mm_getcsr();
  refuses("FTZ", [&] { _mm_setcsr(found | 0x8000u); }, [&] { _mm_setcsr(found); });
  refuses("DAZ", [&] { _mm_setcsr(found | 0x0040u); }, [&] { _mm_setcsr(found); });
}
#endif

}  // namespace attest::tests::environment_test
