// attest solve: certified or correctly rounded answers.
#include "audit/oracle/solve.hpp"
#include "audit/program/command.hpp"
#include "audit/program/parameter_options.hpp"
#include "audit/support/files.hpp"
#include "audit/report/report.hpp"

#include <fmt/format.h>

namespace attest::audit {
namespace {

using problem::element_type;

struct given {
  solve_options options;
  std::string out, round;
};

int run(given& asked) {
  solve_options& options = asked.options;
  for (auto const type : {element_type::f16, element_type::bf16, element_type::f32, element_type::f64})
    if (asked.round == problem::name_of(type)) options.round = type;
  if (options.digits.has_value() == !asked.out.empty())
    return complain("solve: give either --out FILE (with or without --round), or --digits N");
  auto const solved = run_solve(options);
  if (!solved) return complain(solved.why().message());
  solution const& what = solved.value();
  if (options.digits) fmt::print("{}", what.text);
  else if (auto why = write_file(asked.out, what.file)) return complain("--out: " + why->message());
  if (options.round && what.rounded.elements > 0)
    fmt::print(stderr, "attest: {} of {} rounded elements ({:.3g} %) needed the exact tier\n", what.rounded.exactly,
               what.rounded.elements,
               100 * static_cast<double>(what.rounded.exactly) / static_cast<double>(what.rounded.elements));
  if (what.undecided == 0) return 0;
  fmt::print(stderr, "attest: {} of {} elements stayed undecided\n", what.undecided, what.elements);
  return static_cast<int>(verdict::undecided);
}

}  // namespace

action solve_command(CLI::App& command) {
  auto const asked = std::make_shared<given>();
  command.add_option("inputs", asked->options.inputs, "file with q k v")->required()->type_name("INPUTS");
  command.add_option("--out", asked->out, "the file to write")->type_name("FILE");
  command.add_option("--round", asked->round, "f16, bf16, f32 or f64: correctly rounded")->check(one_of({"f16", "bf16", "f32", "f64"}));
  command.add_option("--digits", asked->options.digits,
                     fmt::format("print so many certified significant digits, at most {}", largest_digits))
      ->excludes("--round");
  declare_overrides(command, asked->options.flags);
  return [asked] { return run(*asked); };
}

}  // namespace attest::audit
