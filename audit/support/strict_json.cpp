#include "audit/support/strict_json.hpp"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using problem::error;
using problem::error_code;

error fault(std::string reason) { return {error_code::unreadable, "", std::move(reason)}; }

/// An error found in the parser's events. Thrown and caught inside parse_strict: only an exception stops the parser.
struct rejected {
  std::string reason;
};

}  // namespace

problem::result<json> parse_strict(std::string_view text, json_limits const& limits) {
  if (text.size() > limits.bytes) return fault(fmt::format("has {} bytes, {} are allowed", text.size(), limits.bytes));
  // The parser takes a zero byte as the end of its input and would ignore the rest.
  if (auto const at = text.find('\0'); at != text.npos)
    return fault(fmt::format("is not JSON: its byte {} is zero", at));
  std::vector<std::set<std::string>> keys;
  auto const check_event = [&](int depth, json::parse_event_t event, json& parsed) {
    bool const opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= limits.depth) throw rejected{fmt::format("is nested deeper than {} levels", limits.depth)};
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw rejected{fmt::format("key '{}' occurs twice", printable(parsed.get<std::string>()))};
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), check_event);
  } catch (rejected const& error) { return fault(error.reason); } catch (json::exception const& thrown) {
    std::string_view reason = thrown.what();
    if (auto const start = reason.find("] "); start != reason.npos) reason.remove_prefix(start + 2);
    return fault("is not JSON: " + printable(reason, 200));
  }
}

std::string_view kind_of(json const& value) noexcept {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "a truth value";
  if (value.is_number()) return "a number";
  return "null";
}

}  // namespace attest::audit
