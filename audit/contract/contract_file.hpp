// Contract files: the claim of a kernel as JSON, written by its authors.
//
//   {"name", "sentence", "input", "output", "model": {the fields of problem/kernel_model.hpp, "format" an object} or
//    "builtin", "conventions": {"masked_values", "empty_row", "empty_lse", "nan", …}, "sources": {FIELD: TEXT}}
//
// With "from": PRESET, absent keys keep the value of that preset; without it, "input" and the whole model are required.
// Numbers are JSON numbers or strings (decimal, hex float, "inf"). "sources" gives the origin of the value of a field
// of the model or of the conventions, in at most 1,000 bytes each. It is checked, then ignored: no contract holds it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "audit/contract/contract.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The contract as a JSON object with every field, indented by `indent` columns a level.
/// Ensures   parse_contract reads it back to an equal contract
std::string contract_text(contract const& written, int indent = 2);

/// Reads one contract. A contract without a name is called `fallback_name`.
/// Ensures   errors name the key as a path ("model.eps"); an unknown key is an error that suggests the nearest known
///           key; the name of a preset is an error unless the contract equals that preset
problem::result<contract> parse_contract(std::string_view text, std::string const& fallback_name);

/// Reads one contract from a file. The argument of an error begins with the path.
problem::result<contract> read_contract(std::filesystem::path const& path);

/// The contract that `--contract ARGUMENT` names: a file if ARGUMENT ends with '.json' or has a '/', else a preset.
problem::result<contract> contract_named(std::string const& argument);

}  // namespace attest::audit
