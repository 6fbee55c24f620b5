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
#include <cmath>
#include <cstdio>
#include <cstdlib>
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
#include "fast/attention.hpp"
#include "fast/merge.hpp"
#include "fast/plan.hpp"
#include "fast/simd/bf16_tiles.hpp"
#include "fast/simd/operations.hpp"

namespace attest::bench {
namespace {

/// The second-level cache that is planned for, in bytes: --cache, 0 = what there is.
std::int64_t planned_cache = 0;

/// One call of the kernel on numbers it owns.
template <class T>
class prepared {
 public:
  explicit prepared(shape const& asked) : shape_(asked) {
    auto const& s = asked.size;
    normal_numbers draw;
    auto const fill = [&](std::vector<T>& to, std::int64_t h, std::int64_t rows, std::int64_t d, double factor) {
      to.resize(static_cast<std::size_t>(s.b * h * rows * d));
      for (T& x : to) x = stored<T>(draw() * factor);
    };
    fill(q_, s.hq, s.n, s.d, asked.subnormal ? 1e-20 : 1), fill(k_, s.hk, s.m, s.d, asked.subnormal ? 1e-25 : 1);
    fill(v_, s.hk, s.m, s.dv, asked.subnormal ? 1e-40 : 1);
    if (asked.bias) fill(bias_, 1, s.n, s.m, 1);
    if (asked.mask)
      for (std::int64_t at = 0; at < s.n * s.m; ++at) mask_.push_back(draw() > -1);  // 84 % visible, no empty tile
    o_.resize(static_cast<std::size_t>(s.b * s.hq * s.n * s.dv));
    if (asked.sink) fill(sink_, s.hq, 1, 1, 1);
    for (std::int64_t e = 0; e <= s.b; ++e) {
      q_offsets_.push_back(static_cast<std::int32_t>(e * s.n)),
          k_offsets_.push_back(static_cast<std::int32_t>(e * s.m));
      k_lengths_.push_back(static_cast<std::int32_t>(s.m));
    }
    if (asked.page > 0) {
      for (std::int64_t at = 0; at < s.b * s.m / asked.page; ++at) table_.push_back(static_cast<std::int32_t>(at));
      std::shuffle(table_.begin(), table_.end(), std::mt19937(1));
    }
    if (asked.blocks > 0) {
      // As many of each row of blocks, at other places in each.
      std::int64_t const rows = s.n / block, columns = s.m / block;
      auto const set = static_cast<std::int64_t>(asked.blocks * static_cast<double>(columns));
      std::vector<std::uint8_t> row(static_cast<std::size_t>(columns));
      std::fill_n(row.begin(), set, 1);
      std::mt19937 random(1);
      for (std::int64_t i = 0; i < rows; ++i)
        std::shuffle(row.begin(), row.end(), random), block_mask_.insert(block_mask_.end(), row.begin(), row.end());
    }
  }

  void call() {
    using problem::layout;
    auto const& s = shape_.size;
    problem::arguments<T> asked;
    asked.q = {q_.data(), layout::compact({s.b, s.hq, s.n, s.d})};
    asked.k = {k_.data(), layout::compact({s.b, s.hk, s.m, s.d})};
    asked.v = {v_.data(), layout::compact({s.b, s.hk, s.m, s.dv})};
    if (shape_.bias) asked.bias = problem::tensor<T const>{bias_.data(), layout::compact({s.n, s.m})};
    if (shape_.mask) asked.mask = problem::tensor<std::uint8_t const>{mask_.data(), layout::compact({s.n, s.m})};
    asked.softcap = shape_.softcap;
    if (shape_.causal) asked.band.right = 0;
    if (shape_.sink) asked.sink = problem::tensor<T const>{sink_.data(), layout::compact({s.hq})};
    auto const list = [](std::vector<std::int32_t> const& from, std::int64_t count) {
      return problem::tensor<std::int32_t const>{from.data(), layout::compact({count})};
    };
    problem::layout out = layout::compact({s.b, s.hq, s.n, s.dv});
    if (shape_.packed) {
      asked.q_offsets = list(q_offsets_, s.b + 1), asked.k_offsets = list(k_offsets_, s.b + 1);
      asked.q.layout = layout::compact({1, s.hq, s.b * s.n, s.d}), out = layout::compact({1, s.hq, s.b * s.n, s.dv});
      asked.k.layout = layout::compact({1, s.hk, s.b * s.m, s.d});
      asked.v.layout = layout::compact({1, s.hk, s.b * s.m, s.dv});
    }
    if (shape_.page > 0) {
      std::int64_t const pages = s.b * s.m / shape_.page;
      asked.k.layout = layout::compact({pages, s.hk, shape_.page, s.d});
      asked.v.layout = layout::compact({pages, s.hk, shape_.page, s.dv});
      asked.block_table = problem::tensor<std::int32_t const>{table_.data(), layout::compact({s.b, s.m / shape_.page})};
      asked.k_lengths = list(k_lengths_, s.b);
    }
    if (shape_.blocks > 0) {
      asked.block_mask =
          problem::tensor<std::uint8_t const>{block_mask_.data(), layout::compact({1, 1, s.n / block, s.m / block})};
      asked.block_q = asked.block_k = block;
    }
    auto const instance = problem::instance<T>::make(asked);
    fast::options const how{.threads = shape_.threads, .cache = planned_cache, .bf16_arithmetic = shape_.by};
    if (shape_.backward) return backward_.call(instance.value(), how);
    auto const given = problem::outputs<T>::make(instance.value(), {{o_.data(), out}, {}, {}});
    if (!fast::attention(instance.value(), given.value(), how)) std::abort();
  }

  double bytes() const { return static_cast<double>((k_.size() + v_.size()) * sizeof(T)); }
  /// Bytes a second at which so many threads only read K, then V: as much memory as a call reads, so that neither finds
  /// more of it in a cache.
  double read_rate(int threads) const {
    double const seconds = seconds_to_read(k_, threads) + seconds_to_read(v_, threads);
    return bytes() / seconds;
  }

 private:
  static constexpr std::int64_t block = 64;

  static double seconds_to_read(std::vector<T> const& numbers, int threads) {
    std::size_t const bytes = numbers.size() * sizeof(T);
    return static_cast<double>(bytes) /
           bench::read_rate(reinterpret_cast<float const*>(numbers.data()), bytes / sizeof(float), threads);
  }

  shape shape_;
  std::vector<T> q_, k_, v_, bias_, o_, sink_;
  std::vector<std::uint8_t> mask_, block_mask_;
  std::vector<std::int32_t> q_offsets_, k_offsets_, k_lengths_, table_;
  backward_arrays<T> backward_;
};

/// A merge of partial results in f32, by the kernel and by the plainest loop.
class prepared_merge {
 public:
  explicit prepared_merge(shape const& asked) : shape_(asked), rows_(asked.size.b * asked.size.hq * asked.size.n) {
    normal_numbers draw;
    o_.resize(static_cast<std::size_t>(asked.parts * rows_ * asked.size.dv));
    lse_.resize(static_cast<std::size_t>(asked.parts * rows_));
    for (float& x : o_) x = static_cast<float>(draw());
    for (float& x : lse_) x = static_cast<float>(draw());
    out_.resize(static_cast<std::size_t>(rows_ * asked.size.dv)), out_lse_.resize(static_cast<std::size_t>(rows_));
  }

  void call() {
    auto const& s = shape_.size;
    fast::merge_outputs<float, float> outputs;
    outputs.o = {out_.data(), {s.b, s.hq, s.n, s.dv}, {s.hq * s.n * s.dv, s.n * s.dv, s.dv}, true, {}};
    outputs.lse = {out_lse_.data(), {s.b, s.hq, s.n, 1}, {s.hq * s.n, s.n, 1}, true, {}};
    fast::merge(fast::merge_parts<float>{shape_.parts, this, part}, outputs, {.threads = 1});
  }

  /// Row by row: the largest LSE, weights, their sum, one division a number. As a compiler makes it of plain C++.
  void call_plain() {
    std::int64_t const dv = shape_.size.dv;
    for (std::int64_t r = 0; r < rows_; ++r) {
      float m = -std::numeric_limits<float>::infinity(), l = 0;
      for (std::int64_t s = 0; s < shape_.parts; ++s) m = std::max(m, lse_[static_cast<std::size_t>(s * rows_ + r)]);
      float* const to = out_.data() + r * dv;
      std::fill_n(to, dv, 0.0f);
      for (std::int64_t s = 0; s < shape_.parts; ++s) {
        float const w = std::exp(lse_[static_cast<std::size_t>(s * rows_ + r)] - m);
        float const* const from = o_.data() + (s * rows_ + r) * dv;
        l += w;
        for (std::int64_t c = 0; c < dv; ++c) to[c] += w * from[c];
      }
      for (std::int64_t c = 0; c < dv; ++c) to[c] /= l;
      out_lse_[static_cast<std::size_t>(r)] = m + std::log(l);
    }
  }

 private:
  static fast::merge_part<float> part(void const* described, std::int64_t s) noexcept {
    auto const& of = *static_cast<prepared_merge const*>(described);
    auto const& size = of.shape_.size;
    std::int64_t const n = size.n, dv = size.dv;
    return {of.o_.data() + s * of.rows_ * dv,
            {size.hq * n * dv, n * dv, dv},
            of.lse_.data() + s * of.rows_,
            {size.hq * n, n, 1}};
  }

  shape shape_;
  std::int64_t rows_;
  std::vector<float> o_, lse_, out_, out_lse_;
};

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
