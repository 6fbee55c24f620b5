// The memory of a call as a file, which this process reads and writes instead of mapping it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "problem/result.hpp"

namespace attest::audit {

/// "the memory of the call cannot be {action}: ", and the words of the system for `code`.
problem::error file_fault(std::string_view action, int code);

/// Writes all bytes from `offset` on, or returns why not.
std::optional<problem::error> write_all(int memory, std::span<std::byte const> bytes, std::uint64_t offset);

/// Reads all bytes from `offset` on, or returns why not.
std::optional<problem::error> read_all(int memory, std::span<std::byte> bytes, std::uint64_t offset);

}  // namespace attest::audit
