#include "audit/program/file_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/axis_orders.hpp"
#include "audit/program/command.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {

CLI::Validator is_order(std::vector<std::string> orders) {
  return CLI::Validator(
      [orders](std::string const& word) {
        if (std::ranges::find(orders, order_word(word)) != orders.end()) return std::string();
        return fmt::format("'{}' is none of {}{}", printable(word, 60), fmt::join(orders, ", "),
                           orders.size() > 2 ? " (bhsd, bshd and sbhd are known, too)" : "");
      },
      "");
}

void file_options::declare(CLI::App& command, std::string const& of) {
  command
      .add_option(
          "--layout", words_.layout,
          fmt::format("axes of q, k, v and o in {}: bhnd, bnhd, nbhd, or thd for packed rows; also bshd, sbhd, …", of))
      ->check(is_order({axis_orders.begin(), axis_orders.end()}))
      ->type_name("LAYOUT");
  command.add_option("--kv-layout", words_.kv_layout, fmt::format("axes of pools of pages in {}: hnd, nhd", of))
      ->check(is_order({pool_orders.begin(), pool_orders.end()}))
      ->type_name("LAYOUT");
  command.add_option("--names", names_, fmt::format("the names of the tensors in {}, such as q=query,o=output", of))
      ->delimiter(',')
      ->type_name("ROLE=NAME,…");
}

void file_options::declare_causal(CLI::App& command) {
  command
      .add_option("--causal", causal_,
                  "top-left: key j is visible to query i if j <= i; bottom-right: if j <= i + m - n")
      ->check(one_of({"top-left", "bottom-right"}))
      ->type_name("CORNER");
}

std::optional<problem::error> file_options::read(flag_overrides& flags) {
  for (std::string const& text : names_) {
    auto pair = name_pair(text);
    if (!pair) return pair.why();
    words_.names.push_back(std::move(pair).value());
  }
  if (causal_.empty()) return std::nullopt;
  for (char const* const flag : {"right", "align", "diagonal"})
    if (flags[flag])
      return problem::error{problem::error_code::bad_value, "--causal",
                            fmt::format("says --right, --align and --diagonal: leave out --{}", flag)};
  flags["right"] = "0", flags["align"] = causal_, flags["diagonal"] = "0";
  return std::nullopt;
}

}  // namespace attest::audit
