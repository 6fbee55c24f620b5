// The terminal and the standard streams: Ctrl-C, and a line that shows the progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "audit/report/screen.hpp"

namespace attest::audit {

/// Makes every failure to write an error of the call that writes. A closed descriptor 0, 1 or 2 stays occupied and
/// closed to reading and writing. A reader that is gone and a limit of file sizes send no signal.
void prepare_streams();

/// From now on the first SIGINT, SIGTERM, SIGXCPU (the soft limit of processor time) or SIGHUP (except under nohup)
/// sets the flag. Then a command can end with a report of the facts so far. The second signal ends the program.
std::atomic<bool> const& listen_for_interrupts();

/// The columns of the terminal behind standard output, or 100; colour by --color ("auto", "always", "never") and
/// NO_COLOR.
screen_form screen_of_output(std::string_view colour);

/// A line on standard error, if that is a terminal with control sequences (TERM is set, and not "dumb"): the current
/// step, and the time left, at most as wide as the terminal. A single step shows no line.
class progress_line {
 public:
  progress_line();
  void operator()(std::int64_t done, std::int64_t all, std::string const& next);

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace attest::audit
