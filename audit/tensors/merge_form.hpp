// The merge of partial results as a problem: attention whose scores are the LSE of the parts and whose values are their
// O (docs/semantics.md, Merge). Code that reads the problem as attention needs nothing of this file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "problem/element_type.hpp"
#include "problem/log_base.hpp"

namespace attest::audit {

/// The facts that the problem of a merge does not state itself. Its q is [b, hq·n, 1, 0]: a head is one row of a head
/// of the parts.
struct merge_form {
  std::int64_t heads = 1, queries = 1;  ///< hq, and n: rows of a head of the parts
  int rank = 4;                         ///< of O: [b, hq, n, dv], [hq, n, dv] or [n, dv]
  problem::element_type answer =
      problem::element_type::f32;                 ///< of O as the kernel answered it; it may be narrower than the parts
  problem::log_base base = problem::log_base::e;  ///< of the LSE of the parts, and of the merge
  friend bool operator==(merge_form const&, merge_form const&) noexcept = default;
};

struct problem_draft;
class owned_problem;
struct owned_tensor;

/// The results of S parts, one behind the other: O [S, b, hq, n, dv] and LSE [S, b, hq, n], without gaps.
struct merge_parts {
  std::int64_t parts = 0, b = 1, hq = 1, n = 1, dv = 0;
  int rank = 4;                                             ///< as merge_form::rank
  problem::element_type type = problem::element_type::f32;  ///< of O; the LSE is f64 for f64, else f32
  std::vector<std::byte> o{}, lse{};
  problem::log_base base = problem::log_base::e;  ///< of the LSE
};

/// The problem whose answer is the merge of these parts: scale 1, the LSE as bias. If an LSE is −∞, a mask hides the
/// part, so that its O is not read. Parts of another type than `answer` are converted to f32, exactly.
/// Requires  parts ≥ 1, sizes that fit the bytes; `answer` the type of the parts, or one of f32 and the 16-bit types
///           for parts of f32 or 16 bits
/// Cost      memory in proportion to the parts
problem_draft merge_draft(merge_parts parts, problem::element_type answer);

/// The same merge, answered in another type. Requires  as merge_draft
problem_draft answered_in(owned_problem const& merge, problem::element_type answer);

/// The problem itself; if it is a merge, the LSE of the parts and of the answer are read as logarithms to this base.
owned_problem with_base(owned_problem const& problem, problem::log_base base);

/// The parts of the problem of a merge, in one block.
merge_parts parts_of(problem_draft const& merge);

/// hq and n of the parts of a merge whose problem has so many heads. (If some of them were chosen, each row is a head.)
std::array<std::int64_t, 2> heads_and_queries(merge_form const& form, std::int64_t rows) noexcept;

/// The axes of the rows of a merge, [b, hq, n] or the last of them, as merge_form::rank says.
std::vector<std::int64_t> merged_rows(owned_problem const& merge);

/// The place in the problem of row i of head h of batch b of the parts: the indices of its query.
inline std::array<std::int64_t, 3> merged_row(merge_form const& form, std::array<std::int64_t, 3> row) noexcept {
  return {row[0], row[1] * form.queries + row[2], 0};
}

/// The numbers of a tensor without gaps in another floating type, each rounded to nearest.
owned_tensor converted(owned_tensor const& from, problem::element_type to);

}  // namespace attest::audit
