// The fast kernel beside the machine's own limits: percent of the multiply-add peak, or of the reading rate, measured
// in the same process and in turn with the repetitions of each shape.
//
//   bench_fast [--seconds S] [--json FILE] [--only TEXT] [--instruction-set NAME]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/fast_peak.hpp"
#include "fast/attention.hpp"
#include "fast/operations.hpp"

namespace attest::bench {
namespace {

struct shape {
  std::string_view name;
  problem::sizes size;  ///< b, hq, hk, n, m, d, dv
  bool causal = false;
  int threads = 1;
  bool reads_memory = false;  ///< judged by bytes of K and V, not by multiply-adds
  double target = 0;          ///< percent
  bool in_f64 = false;
};

constexpr shape shapes[]{
    {"n=m=512 d=64", {1, 8, 8, 512, 512, 64, 64}, false, 1, false, 80},
    {"n=m=2048 d=64", {1, 8, 8, 2048, 2048, 64, 64}, false, 1, false, 82},
    {"n=m=4096 d=64", {1, 8, 8, 4096, 4096, 64, 64}, false, 1, false, 82},
    {"n=m=2048 d=128", {1, 8, 8, 2048, 2048, 128, 128}, false, 1, false, 85},
    {"n=m=2048 d=32", {1, 8, 8, 2048, 2048, 32, 32}, false, 1, false, 68},
    {"causal 2048 d=64", {1, 8, 8, 2048, 2048, 64, 64}, true, 1, false, 72},
    {"causal 2048 d=128", {1, 8, 8, 2048, 2048, 128, 128}, true, 1, false, 76},
    {"n=m=64 d=64", {1, 8, 8, 64, 64, 64, 64}, false, 1, false, 60},
    {"ragged n=m=2045 d=63", {1, 8, 8, 2045, 2045, 63, 63}, false, 1, false, 0},
    {"2 threads 2048 d=64", {1, 8, 8, 2048, 2048, 64, 64}, false, 2, false, 80},
    {"2 threads causal 2048 d=64", {1, 8, 8, 2048, 2048, 64, 64}, true, 2, false, 70},
    {"f64 n=m=2048 d=64", {1, 8, 8, 2048, 2048, 64, 64}, false, 1, false, 75, true},
    {"decode m=4096 32 heads d=64", {1, 32, 32, 1, 4096, 64, 64}, false, 2, true, 100},
    {"decode m=32768 1 head d=128", {1, 1, 1, 1, 32768, 128, 128}, false, 2, true, 100},
};

struct figure {
  double percent = 0;    ///< of the best limit seen beside it
  double seconds = 0;    ///< best repetition
  double limit = 0;      ///< operations or bytes a second
  int repetitions = 0;
};

/// One call of the kernel on numbers it owns.
template <class T>
class prepared {
 public:
  explicit prepared(shape const& asked) : shape_(asked) {
    auto const& s = asked.size;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    auto const fill = [&](std::vector<T>& to, std::int64_t h, std::int64_t rows, std::int64_t d) {
      to.resize(static_cast<std::size_t>(s.b * h * rows * d));
      for (T& x : to) x = static_cast<T>(normal(random));
    };
    fill(q_, s.hq, s.n, s.d), fill(k_, s.hk, s.m, s.d), fill(v_, s.hk, s.m, s.dv);
    o_.resize(static_cast<std::size_t>(s.b * s.hq * s.n * s.dv));
  }

  void call() {
    using problem::layout;
    auto const& s = shape_.size;
    problem::arguments<T> asked;
    asked.q = {q_.data(), layout::compact({s.b, s.hq, s.n, s.d})};
    asked.k = {k_.data(), layout::compact({s.b, s.hk, s.m, s.d})};
    asked.v = {v_.data(), layout::compact({s.b, s.hk, s.m, s.dv})};
    if (shape_.causal) asked.where.right = 0;
    auto const instance = problem::instance<T>::make(asked);
    auto const given =
        problem::outputs<T>::make(instance.value(), {{o_.data(), layout::compact({s.b, s.hq, s.n, s.dv})}, {}, {}});
    if (!fast::attention(instance.value(), given.value(), {.threads = shape_.threads})) std::abort();
  }

  /// Multiply-adds count twice; a causal problem counts its visible half.
  double operations() const {
    auto const& s = shape_.size;
    double const n = static_cast<double>(s.n), m = static_cast<double>(s.m);
    double const pairs = shape_.causal ? n * (n + 1) / 2 : n * m;
    return 2 * pairs * static_cast<double>(s.b * s.hq * (s.d + s.dv));
  }
  double bytes() const { return static_cast<double>((k_.size() + v_.size()) * sizeof(T)); }
  float const* memory() const { return reinterpret_cast<float const*>(k_.data()); }
  std::size_t memory_floats() const { return k_.size() * sizeof(T) / sizeof(float); }

 private:
  shape shape_;
  std::vector<T> q_, k_, v_, o_;
};

/// Best of at least 5 repetitions and `seconds`, in turn with the limit.
template <class T>
figure measured(shape const& asked, double seconds) {
  prepared<T> problem(asked);
  problem.call();
  double const begin = seconds_now(asked.threads);
  problem.call();
  double const once = std::max(seconds_now(asked.threads) - begin, 1e-7);
  int const calls = std::max(1, static_cast<int>(0.002 / once));
  figure made;
  made.seconds = 1e9;
  for (double const start = seconds_now(2); made.repetitions < 5 || seconds_now(2) - start < seconds;) {
    double const limit = asked.reads_memory ? read_rate(problem.memory(), problem.memory_floats(), asked.threads)
                         : sizeof(T) == 4   ? multiply_add_rate_f32(asked.threads, 0.004)
                                            : multiply_add_rate_f64(asked.threads, 0.004);
    made.limit = std::max(made.limit, limit);
    double const first = seconds_now(asked.threads);
    for (int k = 0; k < calls; ++k) problem.call();
    made.seconds = std::min(made.seconds, (seconds_now(asked.threads) - first) / calls);
    ++made.repetitions;
  }
  made.percent = 100 * (asked.reads_memory ? problem.bytes() : problem.operations()) / made.seconds / made.limit;
  return made;
}

int run(int count, char** arguments) {
  double seconds = 0.5;
  std::string json, only;
  for (int k = 1; k + 1 < count; k += 2) {
    std::string_view const name = arguments[k];
    if (name == "--seconds") seconds = std::atof(arguments[k + 1]);
    else if (name == "--json") json = arguments[k + 1];
    else if (name == "--only") only = arguments[k + 1];
    else if (name == "--instruction-set" && !fast::use_only(arguments[k + 1])) return std::puts("unknown"), 2;
  }
  std::string text;
  std::printf("%-30s %9s %8s %12s\n", "shape", "percent", "target", "milliseconds");
  for (shape const& asked : shapes) {
    if (asked.name.find(only) == std::string_view::npos) continue;
    figure const made = asked.in_f64 ? measured<double>(asked, seconds) : measured<float>(asked, seconds);
    std::printf("%-30s %8.1f%% %7.0f%% %12.3f   of %.1f %s\n", std::string(asked.name).c_str(), made.percent,
                asked.target, made.seconds * 1e3, made.limit * 1e-9, asked.reads_memory ? "GB/s" : "GFLOP/s");
    std::fflush(stdout);
    text += std::string(text.empty() ? "" : ",\n") + "  {\"shape\": \"" + std::string(asked.name) +
            "\", \"percent\": " + std::to_string(made.percent) + ", \"target\": " + std::to_string(asked.target) +
            ", \"seconds\": " + std::to_string(made.seconds) + ", \"limit\": " + std::to_string(made.limit) +
            ", \"repetitions\": " + std::to_string(made.repetitions) + "}";
  }
  if (!json.empty())
    std::ofstream(json) << "{\"instruction_set\": \"" << fast::best_operations<float>().name << "\", \"figures\": [\n"
                        << text << "\n]}\n";
  return 0;
}

}  // namespace
}  // namespace attest::bench

int main(int count, char** arguments) { return attest::bench::run(count, arguments); }
