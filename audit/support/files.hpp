// Reading and writing whole files, with errors as values.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "problem/result.hpp"

namespace attest::audit {

/// The bytes of one file. Copies share them.
struct file_bytes {
  std::shared_ptr<std::byte const[]> owner;
  std::span<std::byte const> bytes;
};

/// Copies a file into memory; later changes of the file have no effect on the copy. A pipe is read to its end, as is
/// standard input under the name "-". A second request gives the same bytes.
/// Ensures   rejects devices, files larger than the memory of the machine, and pipes with more than half of it. Rejects
///           a named pipe if no process begins to write within two seconds. A signal with a handler ends the wait for a
///           pipe with an error
problem::result<file_bytes> read_file(std::filesystem::path const& path);

/// The name in messages and reports of a file that read_file reads: its path, printable, or "standard input".
std::string name_of_input(std::filesystem::path const& path);

/// Can another process read the same file again? Not if it is a pipe or standard input.
bool can_be_read_again(std::filesystem::path const& path);

/// Writes `bytes` to `path` as output_file does: a reader sees the old file or the new one, never a part.
/// Ensures   on error no temporary file remains
std::optional<problem::error> write_file(std::filesystem::path const& path, std::span<std::byte const> bytes);

}  // namespace attest::audit
