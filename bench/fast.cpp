// The fast kernel compared with the machine's own limits, in one process and in turn with the repetitions of each
// shape: percent of the register-only multiply-add peak, of the rate at which memory is read, or of another shape's
// speed.
//
//   fast_bench [--explain] [--instruction-set NAME] [--cache KIB] [google-benchmark's flags: --benchmark_filter=REGEX,
//   ...]
//
// A row is the best of at least half a second. `percent` is relative to the best limit measured in the same run;
// `target` is the target of the shape, 0 if there is none. JSON: --benchmark_out=FILE --benchmark_out_format=json
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/fast_backward.hpp"
#include "bench/fast_peak.hpp"
#include "bench/fast_shapes.hpp"
#include "bench/prepared.hpp"
#include "fast/attention.hpp"
#include "fast/merge.hpp"
#include "fast/plan.hpp"
#include "fast/simd/bf16_tiles.hpp"
#include "fast/simd/operations.hpp"

namespace attest::bench {
namespace {

/// Percent: the plain loop's time divided by the kernel's.
void measure_merge(benchmark::State& state, shape const& asked) {
  prepared_merge merge(asked);
  int const calls = static_cast<int>(
      std::max<std::int64_t>(1, 2'000'000 / (asked.parts * asked.size.hq * asked.size.n * asked.size.dv)));
  auto const timed = [&](auto&& call) {
    double const begin = seconds_now(1);
    for (int k = 0; k < calls; ++k) call();
    return (seconds_now(1) - begin) / calls;
  };
  double best = std::numeric_limits<double>::infinity(), plain = best;
  for (auto _ : state) {
    plain = std::min(plain, timed([&] { merge.call_plain(); }));
    double const seconds = timed([&] { merge.call(); });
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["percent"] = 100 * plain / best;
  state.counters["best_ms"] = best * 1e3;
  state.counters["target"] = asked.target;
}

/// Seconds of one call: the mean of as many as fill two milliseconds.
template <class T>
class stopwatch {
 public:
  explicit stopwatch(shape const& asked) : problem_(asked), threads_(asked.threads) {
    problem_.call();
    double const once = std::max(timed(1), 1e-7);
    calls_ = std::max(1, static_cast<int>(0.002 / once));
  }
  double operator()() { return timed(calls_); }
  prepared<T> const& problem() const { return problem_; }

 private:
  double timed(int calls) {
    double const begin = seconds_now(threads_);
    for (int k = 0; k < calls; ++k) problem_.call();
    return (seconds_now(threads_) - begin) / calls;
  }
  prepared<T> problem_;
  int threads_, calls_ = 1;
};

/// Work a second that the limit allows, in the unit of work().
template <class T>
double limit_now(shape const& asked, stopwatch<T> const& mine) {
  if (asked.of == limit::reading) return mine.problem().read_rate(asked.threads);
  return sizeof(T) == 8 ? multiply_add_rate_f64(asked.threads, 0.004) : multiply_add_rate_f32(asked.threads, 0.004);
}

/// In KiB, from /proc: `VmRSS:` now, `VmHWM:` the most since reset_peak(). 0 if there is no such field.
long status_of(char const* field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field)) return std::atol(line.c_str() + std::strlen(field));
  return 0;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

template <class T, class Other>
void measure(benchmark::State& state, shape const& asked) {
  stopwatch<T> mine(asked);
  double best = std::numeric_limits<double>::infinity(), best_limit = 0;
  if (asked.of == limit::shape) {
    shape const& beside = shape_named(asked.beside);
    stopwatch<Other> other(beside);
    double least = best;
    for (auto _ : state) {
      least = std::min(least, other());
      double const seconds = mine();
      best = std::min(best, seconds);
      state.SetIterationTime(seconds);
    }
    state.counters["percent"] =
        100 * (asked.ragged ? least / best : operations(asked) / best / (operations(beside) / least));
  } else {
    double const work = asked.of == limit::reading ? mine.problem().bytes() : operations(asked);
    for (auto _ : state) {
      best_limit = std::max(best_limit, limit_now(asked, mine));
      double const seconds = mine();
      best = std::min(best, seconds);
      state.SetIterationTime(seconds);
    }
    state.counters["percent"] = 100 * work / best / best_limit;
    state.counters["limit_G"] = best_limit * 1e-9;
  }
  state.counters["best_ms"] = best * 1e3;
  state.counters["target"] = asked.target;
}

/// Seconds and the most memory beyond inputs and outputs, of a call on a thread that keeps nothing from earlier ones.
void scale(benchmark::State& state, shape const& asked) {
  prepared<float> problem(asked);
  for (auto _ : state) {
    long extra = 0;
    double seconds = 0;
    std::thread([&] {
      reset_peak();
      long const before = status_of("VmRSS:");
      double const begin = seconds_now(2);
      problem.call();
      seconds = seconds_now(2) - begin;
      extra = status_of("VmHWM:") - before;
    }).join();
    state.SetIterationTime(seconds);
    state.counters["extra_MiB"] = static_cast<double>(extra) / 1024;
  }
  fast::plan const how = fast::plan_of<float>(asked.size, false, asked.threads, planned_cache);
  auto const memory = fast::memory_of<float>(asked.size, how);
  state.counters["plan_MiB"] = static_cast<double>(memory.thread * how.threads + memory.shared) / (1 << 20);
  state.counters["n"] = static_cast<double>(asked.size.n);
  state.counters["threads"] = asked.threads;
}

template <class T>
std::string explained(shape const& asked) {
  fast::plan const how = fast::plan_of<T>(asked.size, false, asked.threads, planned_cache);
  return fast::explained(how, fast::memory_of<T>(asked.size, how));
}

void explain() {
  for (shape const& asked : shapes) {
    if (asked.parts > 0 || asked.backward) continue;
    auto const text = asked.type == element_type::f64    ? explained<double>(asked)
                      : asked.type == element_type::bf16 ? explained<problem::bf16>(asked)
                                                         : explained<float>(asked);
    std::printf("%s\n%s\n", asked.name, text.c_str());
  }
}

/// Whether the processor has the arithmetic, and an instruction for it.
bool is_fast(bf16_arithmetic by) {
  return by == bf16_arithmetic::tile_products ? fast::bf16_tiles_by_amx() != nullptr : fast::is_here(by);
}

int run(int count, char** arguments) {
  bool explains = false;
  for (int k = 1; k < count; ++k) {
    std::string_view const name = arguments[k];
    explains = explains || name == "--explain";
    if (name == "--cache") {
      if (k + 1 < count) planned_cache = std::int64_t{std::atoi(arguments[k + 1])} * 1024;
      if (planned_cache <= 0) return std::fputs("--cache needs a number of KiB\n", stderr), 2;
      std::rotate(arguments + k, arguments + k + 2, arguments + count), count -= 2, --k;
    }
    if (name != "--instruction-set") continue;
    if (k + 1 == count || !fast::use_simd_target(arguments[k + 1])) {
      std::fputs("--instruction-set is one of:", stderr);
      for (auto const known : fast::simd_targets()) std::fprintf(stderr, " %s", std::string(known).c_str());
      return std::fputs("\n", stderr), 2;
    }
    std::rotate(arguments + k, arguments + k + 2, arguments + count), count -= 2, --k;
  }
  if (explains) return explain(), 0;
  for (shape const& asked : shapes) {
    if (!is_fast(asked.by)) continue;
    auto const body = [&asked](benchmark::State& state) {
      if (asked.parts > 0) measure_merge(state, asked);
      else if (asked.type == element_type::f64) measure<double, double>(state, asked);
      else if (asked.type == element_type::bf16) measure<problem::bf16, float>(state, asked);
      else measure<float, float>(state, asked);
    };
    benchmark::RegisterBenchmark(asked.name, body)->UseManualTime()->MinTime(0.5)->Unit(benchmark::kMillisecond);
  }
  static std::vector<shape> const larger = scaling_shapes();
  for (shape const& asked : larger)
    benchmark::RegisterBenchmark(asked.name, [&asked](benchmark::State& state) { scale(state, asked); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  benchmark::AddCustomContext("instruction_set", fast::best_operations<float>().name);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace attest::bench

int main(int count, char** arguments) { return attest::bench::run(count, arguments); }
