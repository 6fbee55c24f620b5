// The parameters of a problem as text: read from metadata and flags, written to metadata.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/files/problem_file_entry.hpp"
#include "audit/files/safetensors.hpp"

namespace attest::audit {

/// Reads every parameter of the problem with this prefix into `to`. Adds a note for every flag that overrides metadata.
/// Ensures   an error names the flag or the metadata key and shows its value
std::optional<problem::error> read_parameters(safetensors_metadata const& metadata, flag_overrides const& flags,
                                              std::string_view prefix, problem::parameters& to,
                                              std::vector<std::string>& notes);

/// Writes the metadata from which read_parameters reads `from` exactly: decimal numbers, or `default`.
void write_parameters(problem::parameters const& from, std::string_view prefix, safetensors_metadata& to);

}  // namespace attest::audit
