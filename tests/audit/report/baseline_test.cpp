// Which known causes a baseline says did not show. tests/program/cli_baseline_test.cpp has its files.
#include "audit/report/baseline.hpp"

#include "tests/support/catch.hpp"

namespace attest::audit::baseline_test {
namespace {

TEST_CASE("a known cause that the report names beside another one is not said to be gone", "[unit]") {
  report of;
  of.kernel = "k", of.contract = "f32";
  of.failing.resize(2);
  of.cause.emplace();
  of.cause->mistakes.push_back({.name = "A", .sentence = "a", .explains = 1});
  of.cause->mistakes.push_back({.name = "B", .sentence = "b", .explains = 1});
  baseline const known{{"k", "f32", "bands", "A"}, {"k", "f32", "heads", "C"}};
  apply(known, of);
  REQUIRE(of.observations.size() == 1);
  CHECK(of.observations.front().sentence ==
        "known and not shown: C in heads; --update-baseline forgets what does not "
        "show");
}

}  // namespace
}  // namespace attest::audit::baseline_test
