// One row of one gradient as text: the pairs that it sums, the parts of its bound, and its elements.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

/// The row [b, h, i] of a gradient: of dq a query; of dk and dv a key of a key-value head; of dbias a row of its
/// tensor; of dsink the head of entry b (or of entry 0, where all share it). The terms of the sum, the elements with
/// their bounds under `claim`, and how much of the largest bound each kind of rounding makes. If the entry has the
/// gradient, also its errors in units of the bounds. Requires  gradient_row_fault() finds nothing
std::string explained_gradient(problem_file_entry const& from, contract const& claim, output_kind which,
                               std::array<std::int64_t, 3> const& row);

/// Why there is no such row; nothing if there is one.
std::optional<problem::error> gradient_row_fault(problem_file_entry const& from, output_kind which,
                                                 std::array<std::int64_t, 3> const& row);

}  // namespace attest::audit
