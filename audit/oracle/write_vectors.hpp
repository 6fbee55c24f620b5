// `attest vectors`: the certified test vectors, written by a library that this command alone loads.
#pragma once

#include <filesystem>
#include <optional>

#include "problem/result.hpp"

namespace attest::audit {

/// Writes certified_vectors() as FOLDER/CHECK.json; makes the folder if there is none. Returns the error, if any.
std::optional<problem::error> write_vectors(std::filesystem::path const& folder);

}  // namespace attest::audit
