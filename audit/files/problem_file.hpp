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
#include "audit/tensors/owned.hpp"
#include "problem/result.hpp"

namespace attest::audit {

struct recorded_problem {
  std::string prefix;  ///< without the last '.'; empty for plain q, k, v
  stored_problem asked;
  recorded_answer answered;

  /// The name of a tensor or metadata key of this problem: "layer0.q".
  std::string name_of(std::string_view role) const {
    return prefix.empty() ? std::string(role) : prefix + '.' + std::string(role);
  }
};

struct recorded_file {
  std::vector<recorded_problem> problems;  ///< by prefix; at least one
  std::vector<std::string> ignored;        ///< names of tensors that belong to no problem, printable
  std::vector<std::string> notes;          ///< sentences for the report, such as which flag overrode what
  safetensors_metadata metadata;           ///< all of the file's
};

/// The parameters that the user gave as flags, by name, as written. Each one overrides the file's metadata.
using flag_overrides = std::map<std::string, std::optional<std::string>, std::less<>>;

/// The problems of a file.
/// Ensures   problem::make_instance accepts each problem, make_outputs each answer; errors name the tensor, the
///           metadata key or the flag. A group without any of q, k, v is ignored (and listed); a group that has only
///           some of them is an error. A floating mask is an error that points to bias.
/// Cost      memory in proportion to the file
problem::result<recorded_file> recorded_problems(safetensors_file const& file, flag_overrides const& flags = {});

/// Adds the outputs that a second file holds to the problems of the first, by prefix. Where both have one the second
/// file's is taken, and a note says so; outputs without a problem are ignored (and listed).
problem::result<recorded_file> with_outputs(recorded_file inputs, safetensors_file const& outputs);

/// A safetensors file that recorded_problems reads back: same values, layouts without gaps. `metadata` is added.
/// Requires  problems that problem::make_instance accepts, prefixes that differ
problem::result<std::vector<std::byte>> recorded_bytes(std::span<recorded_problem const> problems,
                                                       safetensors_metadata metadata = {});

}  // namespace attest::audit
