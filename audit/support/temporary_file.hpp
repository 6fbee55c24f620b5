// The file that holds what is written until it is whole: one of a fixed name, locked by the process that writes it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include <sys/types.h>

#include "audit/support/descriptor.hpp"

namespace attest::audit {

/// What is behind the name of a file in that of its temporary.
inline constexpr char const* temporary_ending = ".attest-tmp";

/// How long a process waits for others that write the same temporary.
inline constexpr auto patience_with_writers = std::chrono::seconds(10);

/// A new file of this name, locked by this process until the descriptor closes. One that a killed process has left is
/// not locked, and is removed. Who removes or renames a temporary holds its lock.
/// Ensures   none where it cannot be made; errno is then EWOULDBLOCK where others have it for too long, and EEXIST
///           where what is there is no temporary of attest
std::unique_ptr<descriptor> locked_temporary(std::filesystem::path const& path, mode_t mode);

/// Removes a temporary that no process has locked.
/// Ensures   false where what is there is no file of ours
bool remove_if_abandoned(std::filesystem::path const& path);

}  // namespace attest::audit
