#include "audit/isolation/memory_file.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace attest::audit {

problem::error file_fault(std::string_view action, int code) {
  return {problem::error_code::unreadable, "",
          fmt::format("the memory of the call cannot be {}: {}", action, std::strerror(code))};
}

std::optional<problem::error> write_all(int memory, std::span<std::byte const> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    auto const count = ::pwrite(memory, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return file_fault("written", count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

std::optional<problem::error> read_all(int memory, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    auto const count = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return file_fault("read", count < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

}  // namespace attest::audit
