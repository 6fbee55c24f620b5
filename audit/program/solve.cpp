// attest solve: certified or correctly rounded outputs of the problems in a file.
#include "audit/oracle/solve.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "audit/program/command.hpp"
#include "audit/program/parameter_options.hpp"
#include "audit/report/report.hpp"
#include "audit/support/files.hpp"
#include "problem/element_names.hpp"

namespace attest::audit {
namespace {

/// The floating types by size, and by range within a size.
auto narrowest_first() {
  auto made = problem::floating_rows;
  std::ranges::sort(made, {},
                    [](problem::element_row const& row) { return std::pair(row.bytes, row.format.exponent_bits); });
  return made;
}

struct solve_arguments {
  solve_options options;
  std::string out, round;
};

int run(solve_arguments& given) {
  solve_options& options = given.options;
  for (problem::element_row const& row : problem::floating_rows)
    if (given.round == row.name) options.round = row.type;
  if (options.digits.has_value() == !given.out.empty())
    return usage_error("solve: give either --out FILE (with or without --round), or --digits N");
  auto const solved = run_solve(options);
  if (!solved) return usage_error(solved.why().message());
  solution const& what = solved.value();
  if (options.digits) fmt::print("{}", what.text);
  else if (auto why = write_file(given.out, what.file)) return usage_error("--out: " + why->message());
  if (options.round && what.rounded.elements > 0)
    fmt::print(stderr, "attest: {} of {} rounded elements ({:.3g} %) needed the ball tier\n", what.rounded.in_balls,
               what.rounded.elements,
               100 * static_cast<double>(what.rounded.in_balls) / static_cast<double>(what.rounded.elements));
  if (what.undecided == 0) return 0;
  fmt::print(stderr, "attest: {} of {} elements stayed undecided\n", what.undecided, what.elements);
  return static_cast<int>(verdict::undecided);
}

}  // namespace

action solve_command(CLI::App& command) {
  auto const given = std::make_shared<solve_arguments>();
  command.add_option("inputs", given->options.inputs, "file with q k v")->required()->type_name("INPUTS");
  command.add_option("--out", given->out, "the file to write")->type_name("FILE");
  auto const rows = narrowest_first();
  std::vector<std::string> names;
  for (problem::element_row const& row : rows) names.emplace_back(row.name);
  command.add_option("--round", given->round, problem::listed(rows, "or") + ": correctly rounded")
      ->check(one_of(names));
  command
      .add_option("--digits", given->options.digits,
                  fmt::format("print so many certified significant digits, at most {}", largest_digits))
      ->excludes("--round");
  declare_parameter_options(command, given->options.flags);
  return [given] { return run(*given); };
}

}  // namespace attest::audit
