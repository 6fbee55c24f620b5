// Contract files: the claim of a kernel as JSON, written by its authors.
//
//   {"name", "sentence", "input", "output", "model": {the fields of problem/kernel_model.hpp, "format" an object} or
//    "builtin", "conventions": {"masked_values", "empty_row", "empty_lse", "nan", …}, "sources": {FIELD: TEXT}}
//
// With "from": NAME, of a preset or a ready contract, absent keys keep its value; without it, "input" and the whole
// model are required. Numbers are JSON numbers or strings (decimal, hex float, "inf"). "sources" gives the origin of
// the value of a field of the model or of the conventions, in at most 1,000 bytes each. It is checked, then ignored: no
// contract holds it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Where the contract that "from" names is looked for.
enum class base_contracts { presets, presets_and_ready };
problem::result<contract> parse_contract(std::string_view text, std::string const& fallback_name, base_contracts from);

/// Reads one contract from a file. The argument of an error begins with the path.
problem::result<contract> read_contract(std::filesystem::path const& path,
                                        base_contracts from = base_contracts::presets_and_ready);

/// The contract that `--contract ARGUMENT` names: a preset, the name of a ready contract, a file if ARGUMENT ends with
/// '.json' or has a '/', or the JSON itself, which begins with '{'. Behind each of them may stand +FIELD=WORD: the
/// convention that it has instead of its own.
problem::result<contract> contract_named(std::string const& argument);

/// The path in an ARGUMENT that names a file by its path.
std::optional<std::filesystem::path> contract_path(std::string const& argument);

/// The contract files that come with the program, by their names. Empty if their folder is not there.
std::vector<contract> ready_contracts();

/// The names of all presets and ready contracts.
std::vector<std::string> contract_names();

/// The ready contract of this name, which starts from a preset. Returns nothing if there is none.
std::optional<contract> find_ready_contract(std::string_view name);

/// Gives the contract the convention "lse_base=2", and its name "+lse_base=2" if it had another one. The error names
/// `option`.
std::optional<problem::error> accept(contract& claim, std::string const& convention, char const* option);

/// The conventions that `change` sets, whatever they were: "lse_base=2".
std::vector<std::string> conventions_set_by(void (*change)(conventions&));

}  // namespace attest::audit
