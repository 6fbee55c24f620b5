// `attest explain`: the oracle's knowledge of one query of a problem in a file, as text.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "audit/contract/contract.hpp"
#include "audit/files/file_words.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

struct explain_options {
  std::filesystem::path inputs;
  flag_overrides flags;
  file_words words{};                 ///< the names and the order of axes
  std::optional<std::string> prefix;  ///< the problem of the file; none: the first
  std::array<std::int64_t, 3> row{};  ///< batch, head, query; of a gradient, a row of its tensor
  std::string gradient = {};          ///< dq, dk, dv, dbias or dsink; empty: the query itself
  contract const* claim = nullptr;    ///< none: the preset of the element type
};

/// The scores, weights, LSE and output of one query with the bounds of the contract, and the weights of its head as a
/// heatmap. If the file has o, also its error in units of the bound.
/// With `gradient` the terms, elements and bounds of a row of it (explained_gradient.hpp).
/// Ensures   a value with certified digits is within half a unit of its last digit; others are printed as an interval
problem::result<std::string> run_explain(explain_options const& options);

}  // namespace attest::audit
