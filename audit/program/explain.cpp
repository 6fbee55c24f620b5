// attest explain: scores, weights, output and bounds of one query of a problem in a file.
#include "audit/oracle/explain.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/program/file_options.hpp"
#include "audit/program/parameter_options.hpp"

namespace attest::audit {
namespace {

struct explain_arguments {
  explain_options options;
  file_options file;
  std::string row = "0,0,0", contract;
};

/// "b,h,i" as three numbers. Returns nothing for any other text.
std::optional<std::array<std::int64_t, 3>> parse_row(std::string const& text) {
  std::array<std::int64_t, 3> row{};
  char const *at = text.data(), *const end = at + text.size();
  for (std::int64_t& number : row) {
    if (&number != row.data() && (at == end || *at++ != ',')) return std::nullopt;
    auto const [rest, failed] = std::from_chars(at, end, number);
    if (failed != std::errc()) return std::nullopt;
    at = rest;
  }
  return at == end ? std::optional(row) : std::nullopt;
}

int run(explain_arguments& arguments) {
  if (auto why = arguments.file.read(arguments.options.flags)) return usage_error(why->message());
  arguments.options.words = arguments.file.words();
  auto const row = parse_row(arguments.row);
  if (!row) return usage_error("--row: '" + arguments.row + "' is not b,h,i: batch, head, query, counted from 0");
  arguments.options.row = *row;
  std::optional<contract> claim;
  if (!arguments.contract.empty()) {
    auto named = contract_named(arguments.contract);
    if (!named) return usage_error("--contract: " + named.why().message());
    claim = std::move(named).value();
    arguments.options.claim = &*claim;
  }
  auto const text = run_explain(arguments.options);
  if (!text) return usage_error(text.why().message());
  return print(text.value());
}

}  // namespace

action explain_command(CLI::App& command) {
  auto const arguments = std::make_shared<explain_arguments>();
  command.add_option("inputs", arguments->options.inputs, "file with q k v, and perhaps o")
      ->required()
      ->type_name("FILE");
  command.add_option("--row", arguments->row, "batch, head and query, counted from 0")
      ->type_name("b,h,i")
      ->capture_default_str();
  command
      .add_option("--gradient", arguments->options.gradient,
                  "explain a row of this gradient: its entry, head, and query or key")
      ->check(one_of({"dq", "dk", "dv", "dbias", "dsink"}));
  command.add_option("--problem", arguments->options.prefix, "the prefix of one of several problems")
      ->type_name("PREFIX");
  command.add_option("--contract", arguments->contract, "whose bounds to show; see `attest list contracts`");
  arguments->file.declare(command, "the file");
  arguments->file.declare_causal(command);
  declare_parameter_options(command, arguments->options.flags);
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
