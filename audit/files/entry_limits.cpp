#include "audit/files/entry_limits.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/files/empty_rows.hpp"
#include "audit/files/problem_file_entry.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

std::optional<error> pages_fault(std::string_view prefix, owned_problem const& problem) {
  auto const& pool = problem.draft().k.layout.shape;  // [pages, heads, page, width]
  std::int64_t const rows = pool[0] * pool[2], most = std::max(rows, most_empty_rows), room = problem.size().m;
  auto const refused = [&](std::string why) {
    return fault(error_code::unsupported, prefixed(prefix, "block_table"), std::move(why));
  };
  if (room > most)
    return refused(
        fmt::format("gives an entry room for {} keys, and the pool has {} rows: an entry has at most {} keys, or as "
                    "many as the pool has rows; columns behind its length may be left out",
                    room, rows, most_empty_rows));
  std::int64_t keys = 0;
  for (std::int64_t b = 0; b < problem.size().b; ++b) keys += keys_of(problem, b);
  if (keys > most * most_sharing)
    return refused(fmt::format(
        "gives the entries {} keys together, and the pool has {} rows: they have at most {}, or {} times as many as "
        "the pool has rows",
        keys, rows, most_empty_rows * most_sharing, most_sharing));
  return std::nullopt;
}

}  // namespace

std::optional<error> entry_limits_fault(std::string_view prefix, owned_problem const& problem) {
  if (problem.draft().block_table)
    if (auto why = pages_fault(prefix, problem)) return why;
  if (!problem.draft().q_offsets) return std::nullopt;
  problem::sizes const& s = problem.size();
  std::int64_t const heads = std::max(s.hq, s.hk);
  std::int64_t empty = 0;
  for (std::int64_t b = 0; b < s.b; ++b) empty += queries_of(problem, b) == 0 ? 1 : 0;
  std::int64_t const counted[]{empty, heads};
  if (empty == 0 || empty_rows(counted) <= most_empty_rows) return std::nullopt;
  return fault(error_code::unsupported, prefixed(prefix, "q_offsets"),
               fmt::format("{} entries have no queries, and q has {} heads: entries without queries have at most {} "
                           "rows along their heads",
                           empty, heads, most_empty_rows));
}

}  // namespace attest::audit
