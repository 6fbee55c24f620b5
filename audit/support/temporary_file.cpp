#include "audit/support/temporary_file.hpp"

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto step = std::chrono::milliseconds(10);

/// Has no other process locked it? On a file system without locks there is no lock to wait for.
bool locked(descriptor const& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool is_at(descriptor const& file, std::filesystem::path const& path) {
  struct stat open{}, named{};
  return ::fstat(file.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

bool remove_if_abandoned(std::filesystem::path const& path) {
  descriptor const old(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!old) return errno == ENOENT;
  struct stat about{};
  if (::fstat(old.get(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  if (locked(old) && is_at(old, path)) ::unlink(path.c_str());
  return true;
}

std::unique_ptr<descriptor> locked_temporary(std::filesystem::path const& path, mode_t mode) {
  for (auto const until = clock::now() + patience_with_writers;; std::this_thread::sleep_for(step)) {
    auto file =
        std::make_unique<descriptor>(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    // Between the two calls another process may have taken it for an abandoned file.
    if (*file && locked(*file) && is_at(*file, path)) return file;
    if (!*file && errno != EEXIST) return nullptr;
    if (!*file && !remove_if_abandoned(path)) return errno = EEXIST, nullptr;
    if (clock::now() >= until) return errno = EWOULDBLOCK, nullptr;
  }
}

}  // namespace attest::audit
