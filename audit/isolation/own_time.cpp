#include "audit/isolation/own_time.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <string>
#include <unordered_map>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audit/isolation/process_tree.hpp"
#include "audit/isolation/time_watch.hpp"

namespace attest::audit {
namespace {

constexpr double least_share = 0.125, enough_seconds = 0.5;

using thread_times = std::unordered_map<int, thread_time>;

thread_times threads_of_all() {
  thread_times all = threads_of(::getpid());
  for (tree_process const& process : processes_below(::getpid())) all.merge(threads_of(process.id));
  return all;
}

/// Processor seconds of the processes below it, if they have ended.
double seconds_of_ended() {
  rusage of{};
  if (::getrusage(RUSAGE_CHILDREN, &of) != 0) return 0;
  auto const seconds = [](timeval const& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(of.ru_utime) + seconds(of.ru_stime);
}

/// Threads that are ready to run, for each processor of the machine; 1 where the system does not say.
/// Source    proc(5), /proc/loadavg: the fourth field
double runnable_threads() {
  std::ifstream file("/proc/loadavg");
  double average = 0, ready = 0;
  if (!(file >> average >> average >> average >> ready)) return 1;
  return ready / online_processors();
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
  /// Threads that began since the last sample do not count.
  void sample(clock::time_point by_clock) {
    thread_times next = threads_of_all();
    group_time time{.passed = std::chrono::duration<double>(by_clock - sampled_).count()};
    double ended = seconds_of_ended() - ended_;
    ended_ += ended;
    for (auto const& [thread, before] : threads_)
      if (auto const seen = next.find(thread); seen != next.end()) {
        time.running += std::max(0.0, seen->second.running - before.running);
        time.queued += std::max(0.0, seen->second.queued - before.queued);
      } else {
        ended -= before.running;  // in an earlier sample
      }
    time = with_ended(time, std::max(0.0, ended), runnable_threads());
    share_ = std::max(least_share, share_of_processors(time, processors_));
    taken_ += std::chrono::duration<double>(time.passed * (1 - share_));
    sampled_ = by_clock, threads_ = std::move(next);
  }

  std::mutex mutex_;
  double const processors_ = usable_processors();
  thread_times threads_ = threads_of_all();
  double ended_ = seconds_of_ended();
  clock::time_point sampled_ = clock::now();
  std::chrono::duration<double> taken_{0};
  double share_ = 1;
};

sampler& of_this_process() {
  static sampler one;
  return one;
}

}  // namespace

group_time with_ended(group_time time, double processor_seconds, double runnable) noexcept {
  time.running += processor_seconds, time.queued += processor_seconds * std::max(0.0, runnable - 1);
  return time;
}

double share_of_processors(group_time const& time, double processors) noexcept {
  double const usable = std::min(time.running + time.queued, processors * time.passed);
  constexpr double noise = 0.01;  // of the time: threads that only wake for a moment
  double const all = std::max(usable, time.passed), lost = std::max(0.0, usable - time.running);
  return usable > noise * time.passed ? (all - lost) / all : 1;
}

double usable_processors() {
  double processors = online_processors();
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
