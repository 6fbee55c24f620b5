#include "audit/program/terminal.hpp"

#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace attest::audit {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

}  // namespace

void prepare_streams() {
  for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard)
    if (::fcntl(standard, F_GETFD) < 0) ::open("/", O_PATH);  // takes the lowest number that is free: this one
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

std::atomic<bool> const& listen_for_interrupts() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

progress_line::progress_line() : shown_(isatty(STDERR_FILENO) != 0) {}

void progress_line::operator()(std::int64_t done, std::int64_t all, std::string const& next) {
  if (!shown_) return;
  double const spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (done == all) {
    fmt::print(stderr, "\r\033[K");
    return;
  }
  std::string left =
      done > 5 ? fmt::format(", {:.0f} s left", spent / static_cast<double>(done) * static_cast<double>(all - done))
               : "";
  fmt::print(stderr, "\r\033[K[{}/{}] {}{}", done, all, next, left);
  std::fflush(stderr);
}

}  // namespace attest::audit
