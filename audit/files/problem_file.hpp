// Problems and answers recorded in safetensors files.
//
// A tensor's name is PREFIX.role or role, where role is one of q k v o mask bias lse weights; the tensors with one
// prefix are one problem. The metadata keys of problem/parameters.hpp (PREFIX.scale before plain scale) hold a decimal
// number, a hex float, or `default`.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/files/safetensors.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The name of a tensor or metadata key of the problem with this prefix: "layer0.q".
inline std::string prefixed(std::string_view prefix, std::string_view role) {
  return prefix.empty() ? std::string(role) : std::string(prefix) + '.' + std::string(role);
}

/// One problem of a file, and what was answered.
struct problem_file_entry {
  std::string prefix;  ///< without the last '.'; empty for plain q, k, v
  owned_problem asked;
  owned_outputs answered{};

  std::string name_of(std::string_view role) const { return prefixed(prefix, role); }
};

struct problem_file {
  std::vector<problem_file_entry> problems;  ///< by prefix; at least one
  std::vector<std::string> ignored;          ///< names of tensors that belong to no problem, printable
  std::vector<std::string> notes;            ///< sentences for the report, such as which flag overrode what
  safetensors_metadata metadata;             ///< all of the file's
};

/// The parameters that the user gave as flags, by name, as written. Each one overrides the file's metadata.
using flag_overrides = std::map<std::string, std::optional<std::string>, std::less<>>;

/// The problems of a file.
/// Ensures   problem::make_outputs accepts each answer; errors name the tensor, the metadata key or the flag. A group
/// without any of q, k, v is ignored (and listed); a group that has only
///           some of them is an error. A floating mask is an error that points to bias.
/// Cost      memory in proportion to the file
problem::result<problem_file> problem_file_of(safetensors_file const& file, flag_overrides const& flags = {});

/// Adds the outputs that a second file holds to the problems of the first, by prefix. Where both have one the second
/// file's is taken, and a note says so; outputs without a problem are ignored (and listed).
problem::result<problem_file> with_outputs(problem_file inputs, safetensors_file const& outputs);

/// A safetensors file that problem_file_of reads back: same values, layouts without gaps. `metadata` is added.
/// Requires  prefixes that differ
problem::result<std::vector<std::byte>> problem_file_bytes(std::span<problem_file_entry const> problems,
                                                           safetensors_metadata metadata = {});

}  // namespace attest::audit
