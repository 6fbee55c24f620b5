#include "audit/report/json_difference.hpp"

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

std::string words(json const& value) {
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 200);
}

std::string entries(json const& list) { return list.is_array() ? fmt::format("{} entries", list.size()) : words(list); }

bool same(json const& given, json const& expected) {
  if (given == expected) return true;
  return given.is_string() && expected.is_string() && json(printable(given.get<std::string>(), 8000)) == expected;
}

}  // namespace

std::optional<json_difference> difference(json const& given, json const& expected, std::string const& at) {
  if (expected.is_object() && given.is_object()) {
    for (auto const& [key, value] : expected.items()) {
      std::string const inner = at.empty() ? key : at + "." + key;
      auto const found = given.find(key);
      if (found == given.end()) return json_difference{inner, "nothing", words(value)};
      if (auto what = difference(*found, value, inner)) return what;
    }
    return std::nullopt;
  }
  if (expected.is_array()) {
    if (!given.is_array() || given.size() != expected.size())
      return json_difference{at, entries(given), entries(expected)};
    for (std::size_t n = 0; n < expected.size(); ++n)
      if (auto what = difference(given[n], expected[n], fmt::format("{}[{}]", at, n))) return what;
    return std::nullopt;
  }
  if (same(given, expected)) return std::nullopt;
  return json_difference{at, words(given), words(expected)};
}

}  // namespace attest::audit
