// The file that holds an output until it is whole: it has a fixed name, and the process that writes it locks it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include <sys/types.h>

#include "audit/support/descriptor.hpp"

namespace attest::audit {

/// The name of a temporary is the name of its file with this ending.
inline constexpr char const* temporary_ending = ".attest-tmp";

/// How long a process waits for others that write the same temporary.
inline constexpr auto patience_with_writers = std::chrono::seconds(10);

/// A new file of this name, locked by this process until the descriptor closes. A file that a killed process has left
/// is not locked, and is removed. A process that removes or renames a temporary holds its lock.
/// Ensures   nothing if it cannot be made; errno is then EWOULDBLOCK if others lock it for too long, and EEXIST if a
///           file of this name is no temporary of attest
std::unique_ptr<descriptor> locked_temporary(std::filesystem::path const& path, mode_t mode);

/// Removes a temporary that no process has locked.
/// Ensures   false if the file there is not ours
bool remove_if_abandoned(std::filesystem::path const& path);

}  // namespace attest::audit
