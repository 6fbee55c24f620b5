#include "audit/isolation/runner_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/isolation/runner/protocol.hpp"

extern char** environ;

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

error fault(std::string_view failure, int code) {
  return {error_code::unreadable, "attest-runner", std::string(failure) + ": " + std::generic_category().message(code)};
}

/// A copy of `descriptor` with a number above those that the runner uses. The two descriptors that it inherits are
/// renumbered one after the other, and the first must not replace the second.
owned_descriptor with_high_number(int descriptor) noexcept {
  return owned_descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, runner::memory_descriptor + 1));
}

/// The two parameter objects of posix_spawn.
struct spawn_plan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  spawn_plan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  spawn_plan(spawn_plan const&) = delete;
  spawn_plan& operator=(spawn_plan const&) = delete;
  ~spawn_plan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

owned_descriptor& owned_descriptor::operator=(owned_descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = other.release();
  }
  return *this;
}

owned_descriptor::~owned_descriptor() {
  if (number_ >= 0) ::close(number_);
}

int owned_descriptor::release() noexcept { return std::exchange(number_, -1); }

problem::result<runner_process> runner_process::start(std::filesystem::path const& runner,
                                                      std::filesystem::path const& library, std::string const& symbol,
                                                      int memory) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fault("no channel to it", errno);
  runner_process process;
  process.channel_ = owned_descriptor(ends[0]);
  owned_descriptor const near_end(ends[1]);
  auto const far_end = with_high_number(ends[1]), shared = with_high_number(memory);
  if (far_end.get() < 0 || shared.get() < 0) return fault("no channel to it", errno);

  spawn_plan plan;
  // Standard error stays open, for the messages of the runner and the kernel. Standard output would mix with the
  // report.
  posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&plan.actions, far_end.get(), runner::channel_descriptor);
  posix_spawn_file_actions_adddup2(&plan.actions, shared.get(), runner::memory_descriptor);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, runner::memory_descriptor + 1);
#endif
  // A process group of its own, so that all processes of the kernel can be killed; default handling of every signal.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  auto parent = std::to_string(::getpid());
  auto program = runner.native(), library_path = library.native(), symbol_name = symbol;
  char* arguments[] = {program.data(), parent.data(), library_path.data(), symbol_name.data(), nullptr};
  int const code =
      ::posix_spawn(&process.process_, program.c_str(), &plan.actions, &plan.attributes, arguments, environ);
  if (code != 0) {
    process.process_ = 0;
    return fault("'" + runner.native() + "' cannot be started", code);
  }
  return process;
}

bool runner_process::send(std::span<std::byte const> message) noexcept {
  for (;;) {
    auto const count = ::send(channel_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    return count == static_cast<ssize_t>(message.size());
  }
}

runner_process::received runner_process::receive(std::span<std::byte> message, clock::time_point deadline) noexcept {
  for (;;) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    pollfd wait{channel_.get(), POLLIN, 0};
    int const ready = ::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return received::closed;
    if (ready == 0) {
      if (clock::now() >= deadline) return received::timed_out;
      continue;
    }
    auto const count = ::recv(channel_.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return received::closed;
    return count == static_cast<ssize_t>(message.size()) ? received::message : received::malformed;
  }
}

bool runner_process::has_unread_input() const noexcept {
  pollfd wait{channel_.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) != 0;
}

process_end runner_process::end() noexcept { return reap(std::chrono::seconds(1)); }

process_end runner_process::kill() noexcept { return reap(clock::duration::zero()); }

process_end runner_process::reap(clock::duration patience) noexcept {
  if (process_ <= 0) return {};
  // WNOWAIT leaves the process unreaped, so that its id, and that of its group, cannot be reused yet.
  auto const has_ended = [&] {
    siginfo_t about{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           about.si_pid == process_;
  };
  auto const deadline = clock::now() + patience;
  bool ended = has_ended();
  while (!ended && clock::now() < deadline) {
    ::poll(nullptr, 0, 1);
    ended = has_ended();
  }
  ::kill(-process_, SIGKILL);  // the group: all processes that the kernel started
  ::kill(process_, SIGKILL);
  int status = 0;
  pid_t found = 0;
  do found = ::waitpid(process_, &status, 0);
  while (found < 0 && errno == EINTR);
  process_ = 0;
  channel_ = owned_descriptor();
  if (!ended || found < 0) return {};
  if (WIFEXITED(status)) return {process_end::exited, WEXITSTATUS(status)};
  return {process_end::signalled, WTERMSIG(status)};
}

runner_process::runner_process(runner_process&& other) noexcept
    : process_(std::exchange(other.process_, 0)), channel_(std::move(other.channel_)) {}

runner_process& runner_process::operator=(runner_process&& other) noexcept {
  if (this != &other) {
    kill();
    process_ = std::exchange(other.process_, 0);
    channel_ = std::move(other.channel_);
  }
  return *this;
}

runner_process::~runner_process() { kill(); }

}  // namespace attest::audit
