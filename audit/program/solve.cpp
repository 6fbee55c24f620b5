// attest solve: certified or correctly rounded answers.
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

/// The floating types, from the least range of the fewest bytes.
auto narrowest_first() {
  auto made = problem::floating_rows;
  std::ranges::sort(made, {},
                    [](problem::element_row const& row) { return std::pair(row.bytes, row.format.exponent_bits); });
  return made;
}

struct solve_words {
  solve_options options;
  std::string out, round;
};

int run(solve_words& asked) {
  solve_options& options = asked.options;
  for (problem::element_row const& row : problem::floating_rows)
    if (asked.round == row.name) options.round = row.type;
  if (options.digits.has_value() == !asked.out.empty())
    return complain("solve: give either --out FILE (with or without --round), or --digits N");
  auto const solved = run_solve(options);
  if (!solved) return complain(solved.why().message());
  solution const& what = solved.value();
  if (options.digits) fmt::print("{}", what.text);
  else if (auto why = write_file(asked.out, what.file)) return complain("--out: " + why->message());
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
  auto const asked = std::make_shared<solve_words>();
  command.add_option("inputs", asked->options.inputs, "file with q k v")->required()->type_name("INPUTS");
  command.add_option("--out", asked->out, "the file to write")->type_name("FILE");
  auto const rows = narrowest_first();
  std::vector<std::string> names;
  for (problem::element_row const& row : rows) names.emplace_back(row.name);
  command.add_option("--round", asked->round, problem::listed(rows, "or") + ": correctly rounded")
      ->check(one_of(names));
  command
      .add_option("--digits", asked->options.digits,
                  fmt::format("print so many certified significant digits, at most {}", largest_digits))
      ->excludes("--round");
  declare_overrides(command, asked->options.flags);
  return [asked] { return run(*asked); };
}

}  // namespace attest::audit
