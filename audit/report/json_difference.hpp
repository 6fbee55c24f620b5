// A JSON report beside the one that its own lists and counts give.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace attest::audit {

struct json_difference {
  std::string at;               ///< "summary.cases", "checks[0].name"
  std::string given, expected;  ///< as JSON of at most 200 bytes, or "nothing", or "3 entries"
};

/// The first key of `expected` that `given` lacks or has another value for. Further keys and another order of keys are
/// no difference, nor is a string that reads as expected once it is made printable.
/// Requires  values that are nested as little as parse_strict lets pass
std::optional<json_difference> difference(nlohmann::ordered_json const& given, nlohmann::ordered_json const& expected,
                                          std::string const& at = "");

}  // namespace attest::audit
