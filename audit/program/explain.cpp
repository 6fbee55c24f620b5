// attest explain: one query of a recorded problem, seen through.
#include "audit/oracle/explain.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/program/parameter_options.hpp"

namespace attest::audit {
namespace {

struct explain_words {
  explain_options options;
  std::string row = "0,0,0", contract;
};

/// "b,h,i" as three numbers; nothing where it is not.
std::optional<std::array<std::int64_t, 3>> parse_row(std::string const& text) {
  std::array<std::int64_t, 3> made{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld,%ld,%ld%c", &made[0], &made[1], &made[2], &rest) != 3) return std::nullopt;
  return made;
}

int run(explain_words& asked) {
  auto const row = parse_row(asked.row);
  if (!row) return complain("--row: '" + asked.row + "' is not b,h,i: batch, head, query, counted from 0");
  asked.options.row = *row;
  std::optional<contract> claim;
  if (!asked.contract.empty()) {
    auto named = contract_named(asked.contract);
    if (!named) return complain("--contract: " + named.why().message());
    claim = std::move(named).value();
    asked.options.claim = &*claim;
  }
  auto const text = run_explain(asked.options);
  if (!text) return complain(text.why().message());
  fmt::print("{}", text.value());
  return 0;
}

}  // namespace

action explain_command(CLI::App& command) {
  auto const asked = std::make_shared<explain_words>();
  command.add_option("inputs", asked->options.inputs, "file with q k v, and perhaps o")->required()->type_name("FILE");
  command.add_option("--row", asked->row, "batch, head and query, counted from 0")
      ->type_name("b,h,i")
      ->capture_default_str();
  command.add_option("--problem", asked->options.prefix, "the prefix of one of several problems")->type_name("PREFIX");
  command.add_option("--contract", asked->contract, "whose bounds to show; see `attest list contracts`");
  declare_overrides(command, asked->options.flags);
  return [asked] { return run(*asked); };
}

}  // namespace attest::audit
