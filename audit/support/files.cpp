#include "audit/support/files.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/support/descriptor.hpp"
#include "audit/support/file_place.hpp"
#include "audit/support/output_file.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

error fault(std::filesystem::path const& path, std::string reason) {
  return {error_code::unreadable, name_of_input(path), std::move(reason)};
}

std::uint64_t memory_of_the_machine() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

result<file_bytes> read_regular(std::filesystem::path const& path, int file, std::uint64_t size) {
  if (size > memory_of_the_machine())
    return fault(path, fmt::format("has {} bytes, more than this machine's memory", size));
  std::shared_ptr<std::byte[]> const memory(new (std::nothrow) std::byte[size]);
  if (!memory) return fault(path, fmt::format("has {} bytes, more than the memory at hand", size));
  std::size_t done = 0;
  while (done < size) {
    ssize_t const count = ::read(file, memory.get() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fault(path, "cannot be read: " + system_reason(errno));
    if (count == 0) return fault(path, fmt::format("ended after {} of {} bytes while it was read", done, size));
    done += static_cast<std::size_t>(count);
  }
  return file_bytes{memory, {memory.get(), done}};
}

/// Waits until `file` has bytes or ends.
/// Ensures   1 then; 0 after `patience_ms` (−1: no limit); −1 if a signal came
int wait_for(int file, int patience_ms) {
  pollfd ready{.fd = file, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, patience_ms);
}

/// Reads to the end of a pipe, a socket or a file that another process has opened.
result<file_bytes> read_stream(std::filesystem::path const& path, int file) {
  constexpr int patience_with_writers_ms = 2000;  // for the first bytes; later ones may take any time
  bool const waits = path != standard_stream;
  int const began = waits ? wait_for(file, patience_with_writers_ms) : 1;
  if (began == 0) return fault(path, "is a pipe that no process writes");
  if (began < 0) return fault(path, "was not read: interrupted");
  std::unique_ptr<std::byte, decltype(&std::free)> memory(nullptr, &std::free);
  std::size_t done = 0, room = 0;
  for (std::uint64_t const most = memory_of_the_machine() / 2; done <= most;) {
    if (done == room) {
      room = room == 0 ? std::size_t{1} << 16 : 2 * room;
      auto* const larger = static_cast<std::byte*>(std::realloc(memory.get(), room));
      if (!larger) return fault(path, fmt::format("has {} bytes or more, more than the memory at hand", done));
      static_cast<void>(memory.release());
      memory.reset(larger);
    }
    ssize_t const count = ::read(file, memory.get() + done, room - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    else if (count == 0) break;
    else if (errno != EAGAIN && errno != EINTR) return fault(path, "cannot be read: " + system_reason(errno));
    else if (errno == EINTR || wait_for(file, -1) < 0) return fault(path, "was not read to its end: interrupted");
  }
  if (done > memory_of_the_machine() / 2)
    return fault(path, fmt::format("has {} bytes or more, more than half of this machine's memory", done));
  std::shared_ptr<std::byte[]> const owner(memory.release(), &std::free);
  return file_bytes{owner, {owner.get(), done}};
}

/// Streams give their bytes once.
std::map<std::filesystem::path, file_bytes> read_before;
std::mutex read_before_mutex;

}  // namespace

result<file_bytes> read_file(std::filesystem::path const& path) {
  if (path.empty()) return fault(path, "is an empty name, expected the name of a file");
  std::scoped_lock const lock(read_before_mutex);
  if (auto const known = read_before.find(path); known != read_before.end()) return known->second;
  bool const standard = path == standard_stream;
  // O_NONBLOCK: opening a named pipe must not wait for its other end.
  descriptor const file(standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return fault(path, "cannot be opened: " + system_reason(errno));
  if (standard && (::fcntl(file.get(), F_GETFL) & O_PATH) != 0) return fault(path, "is closed");
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return fault(path, "cannot be examined: " + system_reason(errno));
  if (S_ISDIR(about.st_mode)) return fault(path, "is a directory, expected a file");
  if (S_ISREG(about.st_mode) && !standard)
    return read_regular(path, file.get(), static_cast<std::uint64_t>(about.st_size));
  if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode))
    return fault(path, "is neither a regular file nor a pipe");
  auto read = read_stream(path, file.get());
  if (read) read_before.emplace(path, read.value());
  return read;
}

std::string name_of_input(std::filesystem::path const& path) {
  return path == standard_stream ? "standard input" : name_in_messages(path);
}

bool can_be_read_again(std::filesystem::path const& path) {
  std::error_code ignored;
  return path != standard_stream && std::filesystem::is_regular_file(path, ignored);
}

std::optional<error> write_file(std::filesystem::path const& path, std::span<std::byte const> bytes) {
  auto const output = output_file::open(path);
  return output ? output.value().write(bytes) : std::optional(output.why());
}

}  // namespace attest::audit
