// Whole files in and out, with errors as values.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "problem/result.hpp"

namespace attest::audit {

/// The bytes of one file. Copies share them.
struct file_bytes {
  std::shared_ptr<std::byte const[]> owner;
  std::span<std::byte const> bytes;
};

/// Reads a regular file at one moment: later changes of the file are not seen.
/// Ensures   never waits on a pipe or device (refused), and never asks for more memory than the machine has
problem::result<file_bytes> read_file(std::filesystem::path const& path);

/// Writes `bytes` to `path`, all or nothing: a reader sees the old file or the new one, never a part.
/// Ensures   on error the old file is untouched and no temporary file stays behind
std::optional<problem::error> write_file(std::filesystem::path const& path, std::span<std::byte const> bytes);

}  // namespace attest::audit
