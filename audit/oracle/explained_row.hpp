// One row of one problem as text: its keys, its outputs, and a picture of its head.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

/// The scores, weights, LSE and outputs of the row (b, h, i) with the bounds of `claim`, and the weights of its head.
/// If the entry has o, also its errors in units of the bounds.
/// Requires  a problem under `claim`, and a row of it
std::string explained_row(problem_file_entry const& from, contract const& claim,
                          std::array<std::int64_t, 3> const& row);

}  // namespace attest::audit
