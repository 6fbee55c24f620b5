#include "audit/isolation/time_watch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace attest::audit {

std::unordered_map<int, thread_time> threads_of(int id) {
  std::unordered_map<int, thread_time> threads;
  std::error_code code;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", id), code), end; !code && at != end;
       at.increment(code)) {
    std::ifstream file(at->path() / "schedstat");
    double running = 0, queued = 0;
    auto const thread = number_in(at->path().filename().native());
    if (thread && file >> running >> queued) threads[*thread] = {1e-9 * running, 1e-9 * queued};
  }
  return threads;
}

double online_processors() noexcept { return static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

double time_watch::sum_of(std::span<tree_process const> tree) {
  double sum = 0;
  for (tree_process const& one : tree) sum += one.processor_seconds;
  return sum;
}

time_watch::time_watch(int id, time_limits limits)
    : id_(id), limits_(limits), before_(threads_of(id)), all_before_(sum_of(process_tree(id))) {}

time_watch::passed time_watch::observe(std::span<tree_process const> tree) {
  double longest = 0, queued = 0;
  for (auto const& [thread, time] : threads_of(id_)) {
    auto const found = before_.find(thread);
    longest = std::max(longest, time.running - (found == before_.end() ? 0 : found->second.running));
    queued += time.queued;
  }
  // The time of a process that ends is lost, unless its parent waits for it.
  all_ = std::max(all_, sum_of(tree) - all_before_);

  auto const now = clock::now();
  constexpr double most_between = 1, tick = 0.01;
  double const between = std::chrono::duration<double>(now - observed_).count();
  observed_ = now;
  rested_ += std::min(between, most_between);
  if (all_ > all_at_rest_ || queued - queued_at_rest_ > tick || queued < queued_at_rest_)
    rested_ = 0, all_at_rest_ = all_, queued_at_rest_ = queued;

  static double const processors = online_processors();
  if (longest >= limits_.working || all_ >= limits_.working * processors) return passed::working;
  if (rested_ >= limits_.resting) return passed::resting;
  if (std::chrono::duration<double>(now - begun_).count() >= limits_.waiting) return passed::waiting;
  return passed::nothing;
}

std::string time_watch::words(passed what) const {
  switch (what) {
    case passed::working: return fmt::format("did not return within {:.4g} s of processor time", limits_.working);
    case passed::resting: return fmt::format("did not return, and used no processor for {:.4g} s", limits_.resting);
    case passed::waiting:
      return fmt::format("did not return within {:.4g} s, in which it had {:.3g} s of processor time", limits_.waiting,
                         all_);
    case passed::nothing: break;
  }
  return "";
}

}  // namespace attest::audit
