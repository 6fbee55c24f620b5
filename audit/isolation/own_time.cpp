#include "audit/isolation/own_time.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <string>
#include <unordered_map>

#include <sched.h>
#include <unistd.h>

#include "audit/isolation/process_tree.hpp"
#include "audit/isolation/time_watch.hpp"

namespace attest::audit {
namespace {

constexpr double least_share = 0.25, enough_seconds = 0.5;

using thread_times = std::unordered_map<int, thread_time>;

thread_times threads_of_all() {
  thread_times all = threads_of(::getpid());
  for (tree_process const& process : processes_below(::getpid())) all.merge(threads_of(process.id));
  return all;
}

/// The last sample, and what others took until then.
class sampler {
 public:
  using clock = own_time::clock;

  clock::time_point now() {
    std::scoped_lock const lock(mutex_);
    auto const by_clock = clock::now();
    if (by_clock - sampled_ >= std::chrono::duration<double>(enough_seconds)) sample(by_clock);
    return by_clock - std::chrono::duration_cast<clock::duration>(taken_);
  }
  double share() {
    now();
    std::scoped_lock const lock(mutex_);
    return share_;
  }

 private:
  /// Threads that began or ended since the last sample do not count.
  void sample(clock::time_point by_clock) {
    thread_times next = threads_of_all();
    group_time time{.passed = std::chrono::duration<double>(by_clock - sampled_).count()};
    for (auto const& [thread, seen] : next)
      if (auto const before = threads_.find(thread); before != threads_.end()) {
        time.running += std::max(0.0, seen.running - before->second.running);
        time.queued += std::max(0.0, seen.queued - before->second.queued);
      }
    share_ = std::max(least_share, share_of_processors(time, processors_));
    taken_ += std::chrono::duration<double>(time.passed * (1 - share_));
    sampled_ = by_clock, threads_ = std::move(next);
  }

  std::mutex mutex_;
  double const processors_ = usable_processors();
  thread_times threads_ = threads_of_all();
  clock::time_point sampled_ = clock::now();
  std::chrono::duration<double> taken_{0};
  double share_ = 1;
};

sampler& of_this_process() {
  static sampler one;
  return one;
}

}  // namespace

double share_of_processors(group_time const& time, double processors) noexcept {
  double const usable = std::min(time.running + time.queued, processors * time.passed);
  constexpr double noise = 0.01;  // of the time: threads that only wake for a moment
  return usable > noise * time.passed ? std::min(1.0, time.running / usable) : 1;
}

double usable_processors() {
  double processors = static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) processors = CPU_COUNT(&allowed);
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0)
    processors = std::min(processors, std::max(1.0, std::strtod(quota.c_str(), nullptr) / period));
  return processors;
}

own_time::clock::time_point own_time::now() { return of_this_process().now(); }

double own_time::share() { return of_this_process().share(); }

}  // namespace attest::audit
