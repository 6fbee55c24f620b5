// One query of a recorded problem, seen through: what the oracle knows of it, for a person.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

struct explain_options {
  std::filesystem::path inputs;
  flag_overrides flags;
  std::optional<std::string> prefix;  ///< which problem of the file; none: the first
  std::array<std::int64_t, 3> row{};  ///< batch, head, query
  contract const* claim = nullptr;    ///< none: the preset of the element type
};

/// Scores, weights, LSE and output of one query, as far as 128-bit enclosures certify their digits, with the contract's
/// bounds; the weights of its whole head as a heatmap; where the file has o, its error in bounds.
/// Ensures   every printed digit of an exact value is right to half a unit of the last place, or the value is an
/// interval
problem::result<std::string> run_explain(explain_options const& options);

}  // namespace attest::audit
