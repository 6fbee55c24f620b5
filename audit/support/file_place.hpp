// Which file a path means, so that two names of one file are known to be one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "audit/support/descriptor.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The word of a command line that means standard input or standard output.
inline constexpr char const* standard_stream = "-";

/// A file behind all links, or an open descriptor of this process.
struct file_place {
  std::filesystem::path path;  ///< absolute; the file itself need not exist
  int descriptor = -1;         ///< of /dev/fd/N, /dev/stdout and the like, if this process has it; -1: none
  mode_t type = 0;             ///< S_IFREG, S_IFIFO, …; 0 if there is no file yet
  std::optional<std::pair<dev_t, ino_t>> number;  ///< of the file, if it exists
  std::shared_ptr<audit::descriptor const> held;  ///< the file itself, so that no other file gets its number meanwhile

  bool is_regular() const noexcept { return S_ISREG(type); }
};

/// The place of a path. A link in /proc is not followed by its text, which may name a file that is gone.
/// Ensures   an error if the folder of the file does not exist, if links go in a circle, and for an empty path
problem::result<file_place> place_of(std::filesystem::path const& path);

/// The place of an open descriptor.
file_place place_of_descriptor(int number);

/// Would writing into one of them change the other, by its name or by its number? Devices such as a terminal accept
/// several writers.
bool is_same_file(file_place const& a, file_place const& b);

/// The name of a path in messages: without control characters, and "''" if it is empty.
std::string name_in_messages(std::filesystem::path const& path);

}  // namespace attest::audit
