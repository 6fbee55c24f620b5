// attest reference: correctly rounded outputs of the problems in a file, and the largest error that a contract allows
// each.
#include "audit/oracle/reference.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/program/file_options.hpp"
#include "audit/program/outputs.hpp"
#include "audit/program/parameter_options.hpp"
#include "audit/report/report.hpp"
#include "problem/element_names.hpp"

namespace attest::audit {
namespace {

struct reference_arguments {
  reference_options options;
  file_options file;
  std::string out, round, contract;
};

int run(reference_arguments& arguments) {
  if (auto why = arguments.file.read(arguments.options.flags)) return usage_error(why->message());
  arguments.options.words = arguments.file.words();
  reference_options& options = arguments.options;
  for (problem::element_row const& row : problem::floating_rows)
    if (arguments.round == row.name) options.round = row.type;
  std::optional<contract> claim;
  if (!arguments.contract.empty()) {
    auto named = contract_named(arguments.contract);
    if (!named) return usage_error("--contract: " + named.why().message());
    claim = std::move(named).value();
    options.claim = &*claim;
  }
  auto const output = outputs::open({{"--out", arguments.out}}, {options.inputs});
  if (!output) return usage_error(output.why().message());
  auto const answer = run_reference(options);
  if (!answer) return usage_error(answer.why().message());
  tell(answer.value().ignored);
  if (auto const unwritten = output.value().write("--out", answer.value().file))
    return usage_error(unwritten->message());
  if (answer.value().undecided == 0) return 0;
  fmt::print(stderr, "attest: {} of {} elements stayed undecided\n", answer.value().undecided, answer.value().elements);
  return static_cast<int>(verdict::undecided);
}

}  // namespace

action reference_command(CLI::App& command) {
  auto const arguments = std::make_shared<reference_arguments>();
  command.add_option("inputs", arguments->options.inputs, "file with q k v, and perhaps do")
      ->required()
      ->type_name("INPUTS");
  command.add_option("--out", arguments->out, "the file to write; - is standard output")->required()->type_name("FILE");
  command.add_option(
      "--contract", arguments->contract,
      "whose bounds: a name of `attest list contracts`, or FILE.json; without it the preset of q's type");
  std::vector<std::string> names;
  for (problem::element_row const& row : problem::floating_rows) names.emplace_back(row.name);
  std::ranges::sort(names);
  command.add_option("--round", arguments->round, "the type of o; without it the type of q")->check(one_of(names));
  command.add_flag("--quick", arguments->options.quick,
                   "bounds of double arithmetic alone where it has them: proven, about eighty times as fast; their "
                   "last digits may differ from the judge's");
  arguments->file.declare(command, "the file");
  arguments->file.declare_causal(command);
  declare_parameter_options(command, arguments->options.flags);
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
