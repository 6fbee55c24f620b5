#include "audit/support/file_place.hpp"

#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

namespace fs = std::filesystem;
using problem::error;
using problem::error_code;

error fault(fs::path const& path, std::string reason) {
  return {error_code::unreadable, name_in_messages(path), std::move(reason)};
}

bool is_in_proc(fs::path const& folder) {
  struct statfs about{};
  return ::statfs(folder.c_str(), &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

/// N of /proc/ID/fd/N if ID is this process; −1 for any other path.
int own_descriptor(fs::path const& folder, std::string const& name) {
  if (folder != fmt::format("/proc/{}/fd", ::getpid())) return -1;
  int number = -1;
  auto const [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  return failed == std::errc() && end == name.data() + name.size() ? number : -1;
}

/// Says which file an open descriptor means. Ensures   0, or errno
int describe(int number, file_place& place) {
  struct stat about{};
  if (::fstat(number, &about) != 0) return errno;
  place.type = about.st_mode & S_IFMT;
  place.number = std::pair(about.st_dev, about.st_ino);
  return 0;
}

}  // namespace

problem::result<file_place> place_of(fs::path const& path) {
  if (path.empty()) return fault(path, "is an empty name, expected the name of a file");
  constexpr int most_links = 40;  // as the system follows
  fs::path at = path;
  for (int links = 0; links <= most_links; ++links) {
    std::error_code failed;
    fs::path const folder = fs::canonical(at.has_parent_path() ? at.parent_path() : fs::path("."), failed);
    if (failed) return fault(path, "its folder cannot be found: " + system_reason(failed.value()));
    at = folder / at.filename();
    bool const in_proc = is_in_proc(folder);
    if (int const number = in_proc ? own_descriptor(folder, at.filename().native()) : -1; number >= 0) {
      file_place place = place_of_descriptor(number);
      if (!place.number) return fault(path, "is no open descriptor of this process");
      place.path = std::move(at);
      return place;
    }
    fs::path const behind = in_proc ? fs::path() : fs::read_symlink(at, failed);
    if (in_proc || failed) {  // no link
      file_place place;
      auto held = std::make_shared<descriptor const>(::open(at.c_str(), O_PATH | O_CLOEXEC));
      int const code = *held ? describe(held->get(), place) : errno;
      if (code != 0 && code != ENOENT) return fault(path, "cannot be examined: " + system_reason(code));
      if (code == 0) place.held = std::move(held);
      place.path = std::move(at);
      return place;
    }
    at = folder / behind;  // an absolute path replaces the folder
  }
  return fault(path, "cannot be found: " + system_reason(ELOOP));
}

file_place place_of_descriptor(int number) {
  file_place place;
  place.descriptor = number;
  describe(number, place);
  return place;
}

bool is_same_file(file_place const& a, file_place const& b) {
  if (a.descriptor >= 0 && a.descriptor == b.descriptor) return true;
  if (S_ISCHR(a.type) || S_ISCHR(b.type)) return false;
  return (a.number && a.number == b.number) || (!a.path.empty() && a.path == b.path);
}

std::string name_in_messages(fs::path const& path) { return path.empty() ? "''" : printable(path.native(), 400); }

}  // namespace attest::audit
