// Contracts as JSON: what a kernel claims, written down by whoever made it.
//
//   {"name", "sentence", "input", "output", "model": {the fields of problem/kernel_model.hpp, "format" an object} or
//    "builtin", "conventions": {"masked_values", "empty_row", "empty_lse", "nan"}}
//
// With "from": PRESET everything else is taken from that preset and only differences are written; without it, "input"
// and the whole model must be there. Numbers are JSON numbers or strings (decimal, hex float, "inf").
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "audit/contract/contract.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The contract as a JSON object, every field written out, `indent` columns a level.
/// Ensures   parse_contract reads it back to an equal contract
std::string contract_text(contract const& what, int indent = 2);

/// Reads one contract. `fallback_name` names one that has no name.
/// Ensures   errors name the key as a path ("model.eps"); unknown keys are errors with the nearest known one; a name
///           that belongs to a preset belongs to that preset only
problem::result<contract> parse_contract(std::string_view text, std::string const& fallback_name);

/// parse_contract of a file. An error's argument begins with the file.
problem::result<contract> read_contract(std::filesystem::path const& path);

/// What `--contract ARGUMENT` means: a preset's name, or a file (anything with a '.json' end or a '/').
problem::result<contract> contract_named(std::string const& argument);

}  // namespace attest::audit
