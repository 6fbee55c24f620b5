// Properties that deserve more runs than RapidCheck's 100.
#pragma once

#include <iostream>

#include "tests/support/property.hpp"

namespace attest::tests {

/// `property`, with `times` as many runs as RC_PARAMS (or its default of 100) asks for.
template <class Testable>
void many(int times, std::string const& description, Testable&& testable) {
  auto runs = rc::detail::configuration().testParams;
  runs.maxSuccess *= times;
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = description;
  auto const result = rc::detail::checkTestable(std::function(std::forward<Testable>(testable)), metadata, runs);
  std::cerr << "\n- " << description << "\n";
  rc::detail::printResultMessage(result, std::cerr);
  std::cerr << "\n";
  INFO(description << ": replay with the configuration printed first as RC_PARAMS");
  REQUIRE(result.template is<rc::detail::SuccessResult>());
}

}  // namespace attest::tests
