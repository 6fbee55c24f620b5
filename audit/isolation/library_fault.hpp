// Whether a path names a file that could be a library, and that a kernel's process can read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "problem/result.hpp"

namespace attest::audit {

/// Why `library` cannot be loaded, as far as its file shows: it is missing, no regular file, or not readable.
std::optional<problem::error> library_fault(std::filesystem::path const& library);

/// A remedy for `said`, the message with which loading `library` failed: "; the kernel's process …". Empty unless the
/// kernel's process is a user other than root and the system denies it CAP_DAC_READ_SEARCH, as containers can.
std::string remedy_of_closed_folder(std::filesystem::path const& library, std::string_view said);

}  // namespace attest::audit
