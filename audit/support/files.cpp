#include "audit/support/files.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

error fault(std::filesystem::path const& path, std::string reason) {
  return {error_code::unreadable, printable(path.native(), 400), std::move(reason)};
}

/// The message of the operating system for an errno value: "No such file or directory".
std::string system_reason(int code) { return std::generic_category().message(code); }

class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const noexcept { return number_; }

 private:
  int number_;
};

std::uint64_t memory_of_the_machine() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

problem::result<file_bytes> read_file(std::filesystem::path const& path) {
  // O_NONBLOCK: opening a named pipe must not wait for its other end.
  descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return fault(path, "cannot be opened: " + system_reason(errno));
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return fault(path, "cannot be examined: " + system_reason(errno));
  if (S_ISDIR(about.st_mode)) return fault(path, "is a directory, expected a file");
  if (!S_ISREG(about.st_mode)) return fault(path, "is not a regular file");
  auto const size = static_cast<std::uint64_t>(about.st_size);
  if (size > memory_of_the_machine())
    return fault(path, fmt::format("has {} bytes, more than this machine's memory", size));

  std::shared_ptr<std::byte[]> const memory(new (std::nothrow) std::byte[size]);
  if (!memory) return fault(path, fmt::format("has {} bytes, more than the memory at hand", size));
  std::size_t done = 0;
  while (done < size) {
    ssize_t const count = ::read(file.get(), memory.get() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fault(path, "cannot be read: " + system_reason(errno));
    if (count == 0) return fault(path, fmt::format("ended after {} of {} bytes while it was read", done, size));
    done += static_cast<std::size_t>(count);
  }
  return file_bytes{memory, {memory.get(), done}};
}

std::optional<error> write_file(std::filesystem::path const& path, std::span<std::byte const> bytes) {
  static std::atomic<unsigned> counter = 0;
  auto const temporary = path.native() + fmt::format(".{}-{}.tmp", ::getpid(), counter++);
  auto const give_up = [&](std::string_view action, int code) {
    ::unlink(temporary.c_str());
    return fault(path, fmt::format("cannot be {}: {}", action, system_reason(code)));
  };
  {
    descriptor const file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0) return fault(path, "cannot be created: " + system_reason(errno));
    while (!bytes.empty()) {
      ssize_t const count = ::write(file.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return give_up("written", errno);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    if (::fsync(file.get()) != 0 && errno != EINVAL) return give_up("written", errno);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return give_up("replaced", errno);
  return std::nullopt;
}

}  // namespace attest::audit
