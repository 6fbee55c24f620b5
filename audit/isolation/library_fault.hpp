// Whether a path names a file that could be a library.
#pragma once

#include <filesystem>
#include <optional>

#include "problem/result.hpp"

namespace attest::audit {

/// Why `library` cannot be loaded, as far as its file shows: it is missing, no regular file, or not to be read.
std::optional<problem::error> library_fault(std::filesystem::path const& library);

}  // namespace attest::audit
