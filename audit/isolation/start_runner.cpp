// Starts a process of attest-runner with its descriptors and its filter, or attaches to a process that serves a kernel.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "audit/isolation/runner/needs.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "audit/isolation/runner_process.hpp"
#include "audit/isolation/system_call_filter.hpp"

extern char** environ;

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

error fault(std::string_view failure, int code) {
  return {error_code::unreadable, "attest-runner", std::string(failure) + ": " + std::generic_category().message(code)};
}

/// A copy of `descriptor` with a number above all numbers that the runner uses. The two descriptors that the runner
/// inherits are renumbered one after the other, and the first must not replace the second.
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

problem::result<runner_process> runner_process::start(std::filesystem::path const& runner, kernel_library const& kernel,
                                                      int memory, kernel_needs const& needs) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fault("no channel to it", errno);
  runner_process process;
  process.channel_ = owned_descriptor(ends[0]);
  owned_descriptor const near_end(ends[1]);
  auto const far_end = with_high_number(ends[1]), shared = with_high_number(memory);
  int pipe_ends[2] = {-1, -1};
  int const one = 1;
  if (far_end.get() < 0 || shared.get() < 0 || ::pipe2(pipe_ends, O_CLOEXEC) != 0 ||
      ::setsockopt(process.channel_.get(), SOL_SOCKET, SO_PASSCRED, &one, sizeof one) != 0)
    return fault("no channel to it", errno);
  process.printed_ = owned_descriptor(pipe_ends[0]);
  owned_descriptor const near_print(pipe_ends[1]);
  auto const print = with_high_number(near_print.get());
  if (print.get() < 0 || ::fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK) != 0) return fault("no channel to it", errno);

  spawn_plan plan;
  // The process gets no descriptor of this one: a terminal or a report behind it could be opened again and written.
  posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (int const number : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_adddup2(&plan.actions, print.get(), number);
  posix_spawn_file_actions_adddup2(&plan.actions, far_end.get(), runner::channel_descriptor);
  posix_spawn_file_actions_adddup2(&plan.actions, shared.get(), runner::memory_descriptor);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, runner::memory_descriptor + 1);
#endif
  // A process group of its own, which no signal of the terminal reaches; default handling of every signal.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  auto parent = std::to_string(::getpid());
  auto program = runner.native(), path = kernel.path.native();
  auto symbol = kernel.is_program() ? std::string() : kernel.symbol;  // an empty one: `path` is a program
  auto words = needs.words();
  if (kernel.is_program())
    for (std::string const& argument : *kernel.arguments) words.push_back(runner::argument_word + argument);
  std::vector<char*> arguments{program.data(), parent.data(), path.data(), symbol.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int const code =
      ::posix_spawn(&process.process_, program.c_str(), &plan.actions, &plan.attributes, arguments.data(), environ);
  if (code != 0) {
    process.process_ = 0;
    std::string const limit = code == EAGAIN ? ", since its user has as many as ulimit -u allows" : "";
    return fault("'" + runner.native() + "' cannot be started" + limit, code);
  }
  // Other processes of its user cannot reach the judge, whatever the runner's protections are.
  process.hidden_ = hidden_memory::begin();
  runner::filter_message message{};
  auto const& filter = system_call_filter(needs);
  message.magic = runner::filter_magic;
  message.count = filter.size() <= runner::most_instructions ? static_cast<std::uint32_t>(filter.size()) : 0;
  std::copy_n(filter.begin(), message.count, message.instructions);
  process.send(std::as_bytes(std::span(&message, 1))
                   .first(offsetof(runner::filter_message, instructions) + message.count * sizeof(std::uint64_t)));
  return process;
}

problem::result<runner_process> runner_process::attach(int control, int memory) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fault("no channel", errno);
  runner_process process;
  process.channel_ = owned_descriptor(ends[0]);
  owned_descriptor const far_end(ends[1]);
  runner::attach_message message{runner::attach_magic};
  iovec from{&message, sizeof message};
  int const passed[] = {far_end.get(), memory};
  alignas(cmsghdr) std::byte control_bytes[CMSG_SPACE(sizeof passed)]{};
  msghdr header{};
  header.msg_iov = &from, header.msg_iovlen = 1;
  header.msg_control = control_bytes, header.msg_controllen = sizeof control_bytes;
  cmsghdr* const first = CMSG_FIRSTHDR(&header);
  first->cmsg_level = SOL_SOCKET, first->cmsg_type = SCM_RIGHTS, first->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(first), passed, sizeof passed);
  ssize_t sent = 0;
  do sent = ::sendmsg(control, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent != sizeof message)
    return error{error_code::unreadable, "--channel",
                 "the process at its other end does not answer: " + std::generic_category().message(errno)};
  process.attached_ = true;
  return process;
}

}  // namespace attest::audit
