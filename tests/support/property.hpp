// RapidCheck inside Catch2: a failing property prints its seed, its shrunk input and how to replay it.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <rapidcheck.h>

#include "tests/support/catch.hpp"

namespace attest::tests {

/// Checks `testable` (a callable whose arguments RapidCheck generates) and fails the surrounding TEST_CASE where it
/// does not hold. RC_PARAMS="seed=… max_success=…" in the environment replays or extends a run.
/// Why       a std::function, so that properties of one signature share one instantiation of RapidCheck
template <class Testable>
void property(std::string const& description, Testable&& testable) {
  bool const held = rc::check(description, std::function(std::forward<Testable>(testable)));
  INFO(description << ": replay with the configuration printed first as RC_PARAMS");
  REQUIRE(held);
}

}  // namespace attest::tests
