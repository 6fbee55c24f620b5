// A strict JSON parser for text from outside attest: rejects duplicate keys and deep nesting, which common parsers
// accept.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "problem/result.hpp"

namespace attest::audit {

struct json_limits {
  std::size_t bytes = std::size_t{1} << 20;
  int depth = 8;
};

/// Parses one JSON value. An error has no argument; its sentence says the fault of the text, and at which byte.
/// Ensures   no object has a key twice, nesting and size stay within `limits`, and every number fits in a double
problem::result<nlohmann::ordered_json> parse_strict(std::string_view text, json_limits const& limits = {});

/// "an object", "a string", …: for sentences about a value of the wrong type.
std::string_view kind_of(nlohmann::ordered_json const& value) noexcept;

}  // namespace attest::audit
