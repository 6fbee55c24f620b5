#include "audit/report/rows_of_parts.hpp"

#include <array>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attest::audit {
namespace {

using place = std::array<std::int64_t, 4>;

/// "o[0, 5, 0, 2]", of an LSE also "lse[0, 5, 0]".
std::string named(std::string const& output, place const& index, std::size_t axes) {
  return fmt::format("{}[{}]", output, fmt::join(std::span(index).first(axes), ", "));
}

void say(violation& what, problem::sizes& sizes, rows_of_parts& merged) {
  if (merged.n == 0) return;
  place const of_problem = what.index,
              of_parts{of_problem[0], of_problem[1] / merged.n, of_problem[1] % merged.n, of_problem[3]};
  for (std::size_t const axes : {4u, 3u})
    if (std::string const before = named(what.output, of_problem, axes); what.sentence.starts_with(before)) {
      what.sentence.replace(0, before.size(), named(what.output, of_parts, axes));
      break;
    }
  what.index = of_parts;
  sizes.hq = sizes.hk = merged.hq, sizes.n = merged.n;
  merged = {};
}

}  // namespace

rows_of_parts rows_of(owned_problem const& problem) {
  auto const& merge = problem.draft().merge;
  if (!merge) return {};
  auto const [hq, n] = heads_and_queries(*merge, problem.size().hq);
  return {hq, n};
}

void in_rows_of_parts(report& of) {
  for (finding& found : of.findings) {
    say(found.what, found.sizes, found.merged);
    if (found.shrunk) say(found.shrunk->what, found.shrunk->sizes, found.shrunk->merged);
  }
}

}  // namespace attest::audit
