// Writing a file whose name must be free.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

#include "problem/result.hpp"

namespace attest::audit {

/// Writes a file under the first of name(1), …, name(most) that is free. `temporary` (temporary_file.hpp) holds it
/// until it is whole, and is in the same folder.
/// Ensures   the path. No existing file is overwritten, and under that name a part of the file is never visible, even
///           if this process is killed. On error no temporary remains
problem::result<std::filesystem::path> write_new_file(std::filesystem::path const& temporary,
                                                      std::function<std::filesystem::path(int)> const& name, int most,
                                                      std::span<std::byte const> bytes);

}  // namespace attest::audit
