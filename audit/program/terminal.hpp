// The terminal and the standard streams: Ctrl-C, and a line that shows the progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace attest::audit {

/// Makes every failure to write an error of the call that writes: a closed descriptor 0, 1 or 2 stays occupied and
/// closed to reading and writing, a reader that is gone and a limit of file sizes send no signal.
void prepare_streams();

/// From now on the first SIGINT, SIGTERM, SIGXCPU (the soft limit of processor time) or SIGHUP (but under nohup) sets the
/// flag, so that a command can end with a report of what is known; the second ends the program.
std::atomic<bool> const& listen_for_interrupts();

/// A line on standard error, where that is a terminal with control sequences (TERM is set, and not "dumb"): what runs
/// now, and the time left, as wide as the terminal at most. Of a single step there is nothing to show.
class progress_line {
 public:
  progress_line();
  void operator()(std::int64_t done, std::int64_t all, std::string const& next);

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace attest::audit
