#include "audit/support/new_file.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "audit/support/file_place.hpp"
#include "audit/support/temporary_file.hpp"

namespace attest::audit {
namespace {

namespace fs = std::filesystem;

/// Gives a file a name that must be free. Returns 0, or errno: EEXIST if it is taken.
int move_to_free_name(fs::path const& from, fs::path const& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // Not every file system can do that. A second name is as good, if there can be one.
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0 ? 0 : errno;
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  descriptor const reserved(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!reserved) return errno;
  if (std::rename(from.c_str(), to.c_str()) == 0) return 0;
  int const code = errno;
  ::unlink(to.c_str());
  return code;
}

}  // namespace

problem::result<fs::path> write_new_file(fs::path const& temporary, std::function<fs::path(int)> const& name, int most,
                                         std::span<std::byte const> bytes) {
  auto const fault = [](fs::path const& path, std::string reason) {
    return problem::error{problem::error_code::unreadable, name_in_messages(path), std::move(reason)};
  };
  auto const file = locked_temporary(temporary, 0666);
  if (!file && errno == EWOULDBLOCK)
    return fault(temporary, fmt::format("another program has been writing it for {} s", patience_with_writers.count()));
  if (!file) return fault(temporary, "cannot be created: " + system_reason(errno));
  int code = write_all(file->get(), bytes);
  if (code == 0 && ::fsync(file->get()) != 0 && errno != EINVAL) code = errno;
  fs::path path = name(1);
  for (int n = 1; code == 0;) {
    code = move_to_free_name(temporary, path);
    if (code == 0) return path;
    if (code == EEXIST && n < most) code = 0, path = name(++n);
  }
  ::unlink(temporary.c_str());
  return fault(path, "cannot be written: " + system_reason(code));
}

}  // namespace attest::audit
