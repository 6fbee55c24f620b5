#include "audit/findings/explain_command.hpp"

#include <fmt/format.h>

#include "audit/support/words.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "problem/operators.hpp"

namespace attest::audit {

std::string explain_command(shrunk_finding const& of, owned_problem const& problem, std::string_view prefix,
                            std::string_view contract) {
  auto const& [b, h, i, at] = of.what.index;
  problem::sizes const& s = problem.size();
  auto const kind = problem::output_named(of.what.output);
  bool const of_gradient = kind && problem::is_gradient(*kind);
  if (of_gradient && !of.file.empty())
    return fmt::format("attest explain {} --gradient {} --row {},{},{}{} --contract {}", shell_word(of.file),
                       of.what.output, b, h, i, prefix.empty() ? "" : " --problem " + shell_word(std::string(prefix)),
                       shell_word(std::string(contract)));
  bool const is_row = b < s.b && h < s.hq && i < s.n && (of.merged.n > 0 || i < queries_of(problem, b));
  if (of.file.empty() || !kind || of_gradient || !is_row) return "";
  std::string const row =
      of.merged.n > 0 ? fmt::format("{},{},{}", b, h / of.merged.n, h % of.merged.n) : fmt::format("{},{},{}", b, h, i);
  return fmt::format("attest explain {} --row {}{} --contract {}", shell_word(of.file), row,
                     prefix.empty() ? "" : " --problem " + shell_word(std::string(prefix)),
                     shell_word(std::string(contract)));
}

}  // namespace attest::audit
