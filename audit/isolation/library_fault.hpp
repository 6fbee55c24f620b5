// Whether a path names a file that could be a library, and one that a kernel's process can read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "problem/result.hpp"

namespace attest::audit {

/// Why `library` cannot be loaded, as far as its file shows: it is missing, no regular file, or not to be read.
std::optional<problem::error> library_fault(std::filesystem::path const& library);

/// What to do about `said`, with which the loading of `library` failed, if the reason is that the kernel's process is
/// another user than root and the system denies it CAP_DAC_READ_SEARCH, as containers can: "; the kernel's process …".
/// Else empty.
std::string remedy_of_closed_folder(std::filesystem::path const& library, std::string_view said);

}  // namespace attest::audit
