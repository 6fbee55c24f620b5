#include "audit/support/output_file.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "audit/support/temporary_file.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;
using problem::error;
using problem::error_code;

constexpr auto step = std::chrono::milliseconds(10);
constexpr auto patience_with_readers = std::chrono::seconds(1);  // for readers that are just being started

/// Does the folder, rather than a lack of space, forbid a file of this name?
bool is_forbidden(int code) {
  return code == EACCES || code == EPERM || code == EROFS || code == EEXIST || code == ENAMETOOLONG;
}

/// Reserves room for a file of so many bytes, if the file system can. The contents of the file stay.
/// Ensures   0, or the errno value with which writing them would end
int keep_room(descriptor const& file, std::size_t bytes) {
  rlimit most{};
  if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < bytes) return EFBIG;
  if (bytes == 0 || ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return 0;
  return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

}  // namespace

error output_file::fault(std::string reason) const { return {error_code::unreadable, name_, std::move(reason)}; }

std::filesystem::path output_file::temporary() const {
  return stream_ ? std::filesystem::path() : std::filesystem::path(place_.path.native() + temporary_ending);
}

problem::result<output_file> output_file::open(std::string const& path) {
  bool const standard = path == standard_stream;
  auto place = standard ? place_of_descriptor(STDOUT_FILENO) : place_of(path);
  if (!place) return std::move(place).why();
  output_file output(standard ? "standard output" : name_in_messages(path), std::move(place).value());
  if (auto why = output.try_it()) return *std::move(why);
  return output;
}

std::optional<error> output_file::try_it() {
  if (place_.descriptor >= 0) {
    int const flags = ::fcntl(place_.descriptor, F_GETFL);
    if (flags < 0 || (flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY) return fault("is not open for writing");
    stream_ = std::make_shared<descriptor const>(::fcntl(place_.descriptor, F_DUPFD_CLOEXEC, 3));
    return *stream_ ? std::nullopt : std::optional(fault("cannot be opened: " + system_reason(errno)));
  }
  if (S_ISDIR(place_.type)) return fault("is a directory, expected a file");
  if (S_ISBLK(place_.type)) return fault("is a block device, expected a file");
  if (S_ISSOCK(place_.type)) return fault("is a socket, expected a file");
  std::error_code ignored;
  if (place_.is_regular() && std::filesystem::is_symlink(place_.path, ignored))  // only /proc keeps such links
    return fault("is a file that another process has open, expected a file by its name");
  if (place_.type == 0) {  // a trial
    auto const path = temporary();
    if (auto const file = locked_temporary(path, 0600)) ::unlink(path.c_str());
    else if (errno != EWOULDBLOCK && errno != ENAMETOOLONG) return fault("cannot be created: " + system_reason(errno));
    return std::nullopt;
  }
  for (auto const until = clock::now() + patience_with_readers;; std::this_thread::sleep_for(step)) {
    auto file =
        std::make_shared<descriptor const>(::open(place_.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (*file) {
      if (place_.is_regular()) return std::nullopt;  // it can be written, which happens at the end
      ::fcntl(file->get(), F_SETFL, ::fcntl(file->get(), F_GETFL) & ~O_NONBLOCK);
      stream_ = std::move(file);
      return std::nullopt;
    }
    if (errno != ENXIO || !S_ISFIFO(place_.type)) return fault("cannot be written: " + system_reason(errno));
    if (clock::now() >= until) return fault("is a pipe that no process reads");
  }
}

std::optional<error> output_file::write(std::span<std::byte const> bytes) const {
  if (!stream_) return replace(bytes);
  if (int const code = write_all(stream_->get(), bytes))
    return fault(code == EPIPE && place_.descriptor == STDOUT_FILENO ? std::string(reader_gone)
                                                                     : "cannot be written: " + system_reason(code));
  return std::nullopt;
}

std::optional<error> output_file::replace(std::span<std::byte const> bytes) const {
  struct stat old{};
  bool const exists = ::lstat(place_.path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return fault("is no longer the file that it was");
  auto const path = temporary();
  auto const file = locked_temporary(path, exists ? 0600 : 0666);
  if (!file && errno == EWOULDBLOCK)
    return fault(fmt::format("another program has been writing it for {} s", patience_with_writers.count()));
  if (!file && is_forbidden(errno)) return overwrite(bytes);
  if (!file) return fault("cannot be written: " + system_reason(errno));
  auto const give_up = [&](int code) {
    ::unlink(path.c_str());
    return fault("cannot be written: " + system_reason(code));
  };
  if (int const code = write_all(file->get(), bytes)) return give_up(code);
  if (exists) {
    // The group alone may be allowed even if the owner is not. The mode comes last: a new owner clears bits of it.
    if (::fchown(file->get(), old.st_uid, old.st_gid) != 0 &&
        ::fchown(file->get(), static_cast<uid_t>(-1), old.st_gid) != 0)
      old.st_mode &= static_cast<mode_t>(~(S_ISUID | S_ISGID));
    if (::fchmod(file->get(), old.st_mode & 07777) != 0) return give_up(errno);
  }
  if (::fsync(file->get()) != 0 && errno != EINVAL) return give_up(errno);
  if (std::rename(path.c_str(), place_.path.c_str()) == 0) return std::nullopt;
  if (!exists) return give_up(errno);
  ::unlink(path.c_str());
  return overwrite(bytes);
}

std::optional<error> output_file::overwrite(std::span<std::byte const> bytes) const {
  bool const exists = place_.type != 0;
  descriptor const file(
      ::open(place_.path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return fault("cannot be written: " + system_reason(errno));
  struct stat about{};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return fault("is no longer the file that it was");
  if (int const why = keep_room(file, bytes.size())) {
    if (!exists) ::unlink(place_.path.c_str());
    return fault("cannot be written: " + system_reason(why));
  }
  int code = write_all(file.get(), bytes);
  if (code == 0 && ::ftruncate(file.get(), static_cast<off_t>(bytes.size())) != 0) code = errno;
  if (code == 0 && ::fsync(file.get()) != 0 && errno != EINVAL) code = errno;
  if (code == 0) return std::nullopt;
  if (!exists) ::unlink(place_.path.c_str());
  return fault(
      fmt::format("cannot be written{}: {}", exists ? ", and what was in it is lost" : "", system_reason(code)));
}

}  // namespace attest::audit
