#include "audit/report/json_difference.hpp"

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {

using json = nlohmann::ordered_json;

std::string difference(json const& given, json const& expected, std::string const& at) {
  auto const other = [&](json const& found) {
    return fmt::format("'{}' is {}, the rest of the file says {}", at,
                       printable(found.dump(-1, ' ', false, json::error_handler_t::replace), 200),
                       printable(expected.dump(-1, ' ', false, json::error_handler_t::replace), 200));
  };
  if (expected.is_object()) {
    if (!given.is_object()) return other(given);
    for (auto const& [key, value] : expected.items()) {
      std::string const inner = at.empty() ? key : at + "." + key;
      auto const found = given.find(key);
      if (found == given.end()) return fmt::format("there is no '{}'", inner);
      if (std::string what = difference(*found, value, inner); !what.empty()) return what;
    }
    return "";
  }
  if (expected.is_array()) {
    if (!given.is_array()) return other(given);
    if (given.size() != expected.size())
      return fmt::format("'{}' has {} entries, the rest of the file says {}", at, given.size(), expected.size());
    for (std::size_t n = 0; n < expected.size(); ++n)
      if (std::string what = difference(given[n], expected[n], fmt::format("{}[{}]", at, n)); !what.empty())
        return what;
    return "";
  }
  if (given == expected) return "";
  if (given.is_string() && expected.is_string() && printable(given.get<std::string>(), 8000) == expected) return "";
  return other(given);
}

}  // namespace attest::audit
