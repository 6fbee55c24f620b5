// A JSON report beside the one that its own lists and counts give.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace attest::audit {

/// The first key of `expected` that `given` lacks or has another value for, in a clause: "'summary.cases' is 3, …".
/// Empty where there is none. Further keys and another order of keys are no difference, nor is a string that reads as
/// expected once it is made printable.
/// Requires  values that are nested as little as parse_strict lets pass
std::string difference(nlohmann::ordered_json const& given, nlohmann::ordered_json const& expected,
                       std::string const& at = "");

}  // namespace attest::audit
