// attest solve: certified or correctly rounded outputs of the problems in a file.
#include "audit/oracle/solve.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "audit/program/command.hpp"
#include "audit/program/file_options.hpp"
#include "audit/program/outputs.hpp"
#include "audit/program/parameter_options.hpp"
#include "audit/report/report.hpp"
#include "problem/element_names.hpp"

namespace attest::audit {
namespace {

/// The floating types by size, and by range within a size.
auto narrowest_first() {
  auto rows = problem::floating_rows;
  std::ranges::sort(rows, {},
                    [](problem::element_row const& row) { return std::pair(row.bytes, row.format.exponent_bits); });
  return rows;
}

struct solve_arguments {
  solve_options options;
  file_options file;
  std::string out, round;
};

int run(solve_arguments& arguments) {
  if (auto why = arguments.file.read(arguments.options.flags)) return usage_error(why->message());
  arguments.options.words = arguments.file.words();
  solve_options& options = arguments.options;
  for (problem::element_row const& row : problem::floating_rows)
    if (arguments.round == row.name) options.round = row.type;
  if (options.digits.has_value() == !arguments.out.empty())
    return usage_error("solve: give either --out FILE (with or without --round), or --digits N");
  auto const output = outputs::open({{"--out", arguments.out}}, {options.inputs});
  if (!output) return usage_error(output.why().message());
  auto const solved = run_solve(options);
  if (!solved) return usage_error(solved.why().message());
  solution const& answer = solved.value();
  tell(answer.ignored);
  auto const unwritten = options.digits ? write_text(answer.text) : output.value().write("--out", answer.file);
  if (unwritten) return usage_error(unwritten->message());
  if (options.round && answer.rounded.elements > 0)
    fmt::print(stderr, "attest: {} of {} rounded elements ({:.3g} %) needed the ball tier\n", answer.rounded.in_balls,
               answer.rounded.elements,
               100 * static_cast<double>(answer.rounded.in_balls) / static_cast<double>(answer.rounded.elements));
  if (answer.undecided == 0) return 0;
  fmt::print(stderr, "attest: {} of {} elements stayed undecided\n", answer.undecided, answer.elements);
  return static_cast<int>(verdict::undecided);
}

}  // namespace

action solve_command(CLI::App& command) {
  auto const arguments = std::make_shared<solve_arguments>();
  command.add_option("inputs", arguments->options.inputs, "file with q k v, and perhaps do")
      ->required()
      ->type_name("INPUTS");
  command.add_option("--out", arguments->out, "the file to write; - is standard output")->type_name("FILE");
  auto const rows = narrowest_first();
  std::vector<std::string> names;
  for (problem::element_row const& row : rows) names.emplace_back(row.name);
  command.add_option("--round", arguments->round, problem::listed(rows, "or") + ": correctly rounded")
      ->check(one_of(names));
  command
      .add_option("--digits", arguments->options.digits,
                  fmt::format("print so many certified significant digits, at most {}", largest_digits))
      ->excludes("--round");
  arguments->file.declare(command, "the file");
  arguments->file.declare_causal(command);
  declare_parameter_options(command, arguments->options.flags);
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
