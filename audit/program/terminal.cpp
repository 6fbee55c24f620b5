#include "audit/program/terminal.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

/// The width of the terminal behind a descriptor, if it tells.
std::size_t columns_of(int descriptor, std::size_t otherwise) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : otherwise;
}

/// Does the descriptor lead to a terminal that knows control sequences?
bool takes_control_sequences(int descriptor) {
  char const* const terminal = std::getenv("TERM");
  return isatty(descriptor) != 0 && terminal && *terminal && std::string_view(terminal) != "dumb";
}

/// The first `most` characters of UTF-8.
std::string cut(std::string text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && characters++ == most) text.resize(at);
  return text;
}

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
  sigaction(SIGXCPU, &action, nullptr);
  struct sigaction before{};  // under nohup it is ignored
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  return interrupted;
}

screen_form screen_of_output(std::string_view colour) {
  char const* const without = std::getenv("NO_COLOR");
  bool const by_itself = takes_control_sequences(STDOUT_FILENO) && (!without || !*without);
  char const* const called = std::getenv("ATTEST_CALLED");  // by `./attest` in a clone, and by Python
  return {columns_of(STDOUT_FILENO, 100), colour == "always" || (colour == "auto" && by_itself), called ? called : ""};
}

progress_line::progress_line() { shown_ = takes_control_sequences(STDERR_FILENO); }

void progress_line::operator()(std::int64_t done, std::int64_t all, std::string const& next) {
  if (!shown_ || all == 1) return;
  double const spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (done == all) {
    fmt::print(stderr, "\r\033[K");
    return;
  }
  std::string left =
      done > 5 ? fmt::format(", {:.0f} s left", spent / static_cast<double>(done) * static_cast<double>(all - done))
               : "";
  fmt::print(stderr, "\r\033[K{}",
             cut(fmt::format("[{}/{}] {}{}", done, all, printable(next), left), columns_of(STDERR_FILENO, 80) - 1));
  std::fflush(stderr);
}

}  // namespace attest::audit
