// Processor time of one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include <time.h>

namespace attest::bench {

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The seconds of the fastest of so many runs.
inline double best_of(int runs, std::function<void()> const& work) {
  double best = HUGE_VAL;
  for (int run = 0; run < runs; ++run) {
    double const start = thread_seconds();
    work();
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

}  // namespace attest::bench
