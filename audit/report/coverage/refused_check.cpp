#include "audit/report/coverage/refused_check.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attest::audit {
namespace {

constexpr std::string_view before_features = "the kernel does not support ", between = ", ";

}  // namespace

std::string refused_check(std::string_view check) { return fmt::format("check {}", check); }

std::string words_of_refusal(feature_set const& unsupported) {
  if (unsupported.empty()) return "the kernel answered none of its cases";
  std::vector<std::string_view> names;
  unsupported.each([&](feature one) { names.push_back(row_of(one).name); });
  return fmt::format("{}{}", before_features, fmt::join(names, between));
}

feature_set refused_in(std::string_view words) {
  feature_set found;
  if (!words.starts_with(before_features)) return found;
  std::string const listed = fmt::format("{}{}{}", between, words.substr(before_features.size()), between);
  for (feature_row const& row : feature_table())
    if (listed.find(fmt::format("{}{}{}", between, row.name, between)) != std::string::npos) found.add(row.id);
  return found;
}

}  // namespace attest::audit
