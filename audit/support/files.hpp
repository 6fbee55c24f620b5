// Reading and writing whole files, with errors as values.
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

/// Copies a regular file into memory; later changes of the file have no effect on the copy.
/// Ensures   rejects pipes and devices without waiting for them, and files larger than the memory of the machine
problem::result<file_bytes> read_file(std::filesystem::path const& path);

/// Writes `bytes` to `path` atomically: a reader sees the old file or the new one, never a part.
/// Ensures   on error the old file is unchanged and no temporary file remains
std::optional<problem::error> write_file(std::filesystem::path const& path, std::span<std::byte const> bytes);

}  // namespace attest::audit
