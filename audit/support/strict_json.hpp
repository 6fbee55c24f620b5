// JSON from outside: what a parser lets pass and a reader would not notice is an error here.
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

/// The value that `text` is. An error has no argument: it says what is wrong with the text, and where.
/// Ensures   no key twice in an object, no deeper nesting and no more bytes than `limits`, no number past a double
problem::result<nlohmann::ordered_json> parse_strict(std::string_view text, json_limits const& limits = {});

/// "an object", "a string", …: for sentences about a value of the wrong type.
std::string_view kind_of(nlohmann::ordered_json const& value) noexcept;

}  // namespace attest::audit
