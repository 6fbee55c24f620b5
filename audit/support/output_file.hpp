// The file to which a command writes a result: found and tried before its work, written whole after it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "audit/support/descriptor.hpp"
#include "audit/support/file_place.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The reason if the reader of standard output has closed it.
inline constexpr std::string_view reader_gone = "its reader is gone";

/// The kind of the output decides how it is written:
///   a regular file, or nothing   a temporary file in its folder replaces it, with its mode and, if allowed, its owner.
///                                If it cannot be replaced (it is a mount point, or its folder may not be written),
///                                its bytes are overwritten.
///   a pipe, a terminal, …        stays open from open() on, and takes the bytes in write().
///   "-", /dev/fd/N, …            a descriptor that this process has: takes the bytes in write().
/// The temporary is NAME.attest-tmp, locked while it is written. A temporary that a killed program left is not locked
/// and is removed; write() waits for a temporary that another program writes.
/// Requires  SIGPIPE and SIGXFSZ are ignored, so that both are errors of write()
class output_file {
 public:
  /// Finds what `path` is, and tries whether it can be written, without changing it.
  /// Ensures   waits for the reader of a named pipe for a second at most; a block device is refused
  static problem::result<output_file> open(std::string const& path);

  /// Writes all of it. Requires that nothing was written.
  /// Ensures   on error no temporary remains. A regular file that could be replaced, or for which there is no room, is
  ///           as it was
  std::optional<problem::error> write(std::span<std::byte const> bytes) const;

  file_place const& place() const noexcept { return place_; }
  /// The temporary of write(); an empty path if there is none.
  std::filesystem::path temporary() const;

 private:
  output_file(std::string name, file_place place) : name_(std::move(name)), place_(std::move(place)) {}

  problem::error fault(std::string reason) const;
  std::optional<problem::error> try_it();
  std::optional<problem::error> replace(std::span<std::byte const> bytes) const;
  std::optional<problem::error> overwrite(std::span<std::byte const> bytes) const;

  std::string name_;  ///< the name in messages
  file_place place_;
  std::shared_ptr<descriptor const> stream_;  ///< none for a regular file
};

}  // namespace attest::audit
