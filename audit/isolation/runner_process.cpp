#include "audit/isolation/runner_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/isolation/runner/protocol.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

/// A fault of recv that does not come again. ECONNRESET is reported once if the other end closed before it had read
/// everything; the messages that it had sent are still there.
bool is_passing(int fault) noexcept { return fault == EINTR || fault == ECONNRESET; }

/// Has process `id` ended, or begun to? A process that only closed its channel has not.
bool is_ending(int id) noexcept {
  std::ifstream file(fmt::format("/proc/{}/stat", id));
  std::string text;
  std::getline(file, text);
  auto const end = text.rfind(')');
  char state = 0;
  unsigned flags = 0;
  if (end == text.npos || std::sscanf(text.c_str() + end + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
    return true;
  constexpr unsigned exiting = 0x4;  // PF_EXITING: set before the descriptors are closed
  return state == 'Z' || state == 'X' || (flags & exiting) != 0;
}

}  // namespace

std::string signal_text(int signal) {
  char const* const name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string words(process_end const& end) {
  switch (end.kind) {
    case process_end::exited: return fmt::format("exited with code {}", end.code);
    case process_end::signalled: return "crashed with " + signal_text(end.code);
    case process_end::killed: break;
  }
  return "closed its channel without an answer";
}

runner_process::received runner_process::wait_for_cage(clock::time_point deadline) noexcept {
  if (!wait_for_input(deadline)) return received::timed_out;
  runner::caged_message message{};
  iovec into{&message, sizeof message};
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(ucred))];
  msghdr header{};
  header.msg_iov = &into, header.msg_iovlen = 1;
  header.msg_control = control, header.msg_controllen = sizeof control;
  ssize_t count = 0;
  do count = ::recvmsg(channel_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (count < 0 && is_passing(errno));
  if (count <= 0) return received::closed;
  cmsghdr const* const first = CMSG_FIRSTHDR(&header);
  if (count != sizeof message || message.magic != runner::caged_magic || !first || first->cmsg_level != SOL_SOCKET ||
      first->cmsg_type != SCM_CREDENTIALS)
    return received::malformed;
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(first), sizeof sender);
  kernel_ = sender.pid;
  faults_ = message.faults;
  address_bytes_ = message.address_bytes;
  start_fault_ = message.fault;
  return received::message;
}

void runner_process::drain() noexcept {
  constexpr std::size_t most_text = 16384;
  char bytes[most_text];
  // A pipe holds 64 KiB: a kernel that prints without end is not followed without end.
  for (int times = 0; times < 32; ++times) {
    auto const count = ::read(printed_.get(), bytes, sizeof bytes);
    if (count <= 0) return;
    text_.append(bytes, static_cast<std::size_t>(count));
    if (text_.size() > most_text) text_.erase(0, text_.size() - most_text);
  }
}

std::string runner_process::said() const {
  std::string_view const text = text_;
  auto last = text.find_last_not_of(" \t\r\n");
  if (last == text.npos) return {};
  constexpr std::string_view summary = "\nSUMMARY: ";
  auto first = text.rfind(summary);
  if (first != text.npos) last = text.find('\n', first + 1) - 1;  // npos − 1 is beyond the text, too
  else first = text.rfind('\n', last);
  first = first == text.npos ? 0 : first + 1;
  return fmt::format(" after it said '{}'", printable(text.substr(first, last - first + 1), 200));
}

bool runner_process::send(std::span<std::byte const> message) noexcept {
  for (;;) {
    auto const count = ::send(channel_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    return count == static_cast<ssize_t>(message.size());
  }
}

/// Waits for a message or the end of the channel, and meanwhile takes the printed output. False if neither came in
/// time.
bool runner_process::wait_for_input(clock::time_point deadline) noexcept {
  for (;;) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    pollfd waits[] = {{channel_.get(), POLLIN, 0}, {printed_.get(), POLLIN, 0}};
    int const ready = ::poll(waits, 2, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready > 0 && (waits[1].revents & POLLIN) != 0) drain();
    if (ready > 0 && waits[1].revents != 0 && (waits[1].revents & POLLIN) == 0) printed_ = owned_descriptor();
    if (ready > 0 && waits[0].revents != 0) return true;
    if (clock::now() >= deadline) return false;
  }
}

runner_process::received runner_process::receive(std::span<std::byte> message, clock::time_point deadline) noexcept {
  for (;;) {
    if (!wait_for_input(deadline)) return received::timed_out;
    auto const count = ::recv(channel_.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0 && (is_passing(errno) || errno == EAGAIN)) continue;
    if (count == 0 && !is_closed()) return received::malformed;  // an empty message
    if (count <= 0) return received::closed;
    return count == static_cast<ssize_t>(message.size()) ? received::message : received::malformed;
  }
}

bool runner_process::is_closed() const noexcept {
  pollfd wait{channel_.get(), 0, 0};
  return ::poll(&wait, 1, 0) != 0;  // POLLHUP is never asked for
}

bool runner_process::has_unread_input() const noexcept {
  pollfd wait{channel_.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) != 0;
}

process_end runner_process::end() noexcept { return reap(std::chrono::seconds(10)); }

process_end runner_process::kill() noexcept { return reap(clock::duration::zero()); }

process_end runner_process::reap(clock::duration patience) noexcept {
  if (std::exchange(attached_, false)) {
    channel_ = owned_descriptor();
    return {};
  }
  if (process_ <= 0) return {};
  // WNOWAIT leaves the process unreaped, so that its id and the id of its group cannot be reused yet.
  auto const has_ended = [&] {
    siginfo_t about{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           about.si_pid == process_;
  };
  auto const deadline = clock::now() + patience;
  bool ended = has_ended();
  while (!ended && clock::now() < deadline && is_ending(kernel_)) {
    ::poll(nullptr, 0, 1);
    drain();
    ended = has_ended();
  }
  if (!ended) {
    ::kill(process_, SIGTERM);  // it kills every process that the kernel started, and ends
    auto const last = clock::now() + std::chrono::seconds(60);
    while (!has_ended() && clock::now() < last) ::poll(nullptr, 0, 1);
  }
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);
  int status = 0;
  pid_t found = 0;
  do found = ::waitpid(process_, &status, 0);
  while (found < 0 && errno == EINTR);
  process_ = kernel_ = 0;
  channel_ = owned_descriptor();
  drain();
  printed_ = owned_descriptor();
  hidden_ = hidden_memory();
  if (!ended || found < 0) return {};
  if (WIFEXITED(status)) return {process_end::exited, WEXITSTATUS(status)};
  return {process_end::signalled, WTERMSIG(status)};
}

runner_process::runner_process(runner_process&& other) noexcept { *this = std::move(other); }

runner_process& runner_process::operator=(runner_process&& other) noexcept {
  if (this != &other) {
    kill();
    attached_ = std::exchange(other.attached_, false);
    process_ = std::exchange(other.process_, 0), kernel_ = std::exchange(other.kernel_, 0);
    channel_ = std::move(other.channel_), printed_ = std::move(other.printed_);
    hidden_ = std::move(other.hidden_);
    start_fault_ = other.start_fault_, address_bytes_ = other.address_bytes_, faults_ = other.faults_,
    text_ = std::move(other.text_);
  }
  return *this;
}

runner_process::~runner_process() { kill(); }

}  // namespace attest::audit
