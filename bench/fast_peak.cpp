// Register-only multiply-adds and streaming reads, for each instruction set.
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/fast_peak.cpp"
#include "bench/fast_peak.hpp"

#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Twelve chains: two units of latency four keep eight busy. Returns the operations done.
template <class T>
double multiply_adds(long rounds, T seed, T* result) {
  hn::ScalableTag<T> const d;
  auto const a = hn::Set(d, T(0.999) * seed), b = hn::Set(d, T(1e-3));
  auto x0 = hn::Iota(d, seed), x1 = hn::Add(x0, b), x2 = hn::Add(x1, b), x3 = hn::Add(x2, b), x4 = hn::Add(x3, b),
       x5 = hn::Add(x4, b), x6 = hn::Add(x5, b), x7 = hn::Add(x6, b), x8 = hn::Add(x7, b), x9 = hn::Add(x8, b),
       y0 = hn::Add(x9, b), y1 = hn::Add(y0, b);
  for (long k = 0; k < rounds; ++k) {
    x0 = hn::MulAdd(x0, a, b), x1 = hn::MulAdd(x1, a, b), x2 = hn::MulAdd(x2, a, b), x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b), x5 = hn::MulAdd(x5, a, b), x6 = hn::MulAdd(x6, a, b), x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b), x9 = hn::MulAdd(x9, a, b), y0 = hn::MulAdd(y0, a, b), y1 = hn::MulAdd(y1, a, b);
  }
  auto const left = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)));
  *result = hn::GetLane(hn::SumOfLanes(d, hn::Add(left, hn::Add(hn::Add(x8, x9), hn::Add(y0, y1)))));
  return 24.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

double multiply_adds_f32(long rounds, float seed, float* result) { return multiply_adds(rounds, seed, result); }
double multiply_adds_f64(long rounds, double seed, double* result) { return multiply_adds(rounds, seed, result); }

float sum_of(float const* data, std::size_t count) {
  hn::ScalableTag<float> const d;
  std::size_t const step = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (std::size_t k = 0; k + 4 * step <= count; k += 4 * step) {
    a = hn::Add(a, hn::LoadU(d, data + k)), b = hn::Add(b, hn::LoadU(d, data + k + step));
    c = hn::Add(c, hn::LoadU(d, data + k + 2 * step)), e = hn::Add(e, hn::LoadU(d, data + k + 3 * step));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

}  // namespace attest::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::bench {

HWY_EXPORT(multiply_adds_f32);
HWY_EXPORT(multiply_adds_f64);
HWY_EXPORT(sum_of);

double seconds_now(int threads) {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  if (threads == 1) {
    std::timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
#endif
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

/// work(t) on `threads` threads at once; returns the seconds it took.
template <class Work>
double together(int threads, Work const& work) {
  double const start = seconds_now(threads);
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&work, t] { work(t); });
  work(0);
  for (auto& other : others) other.join();
  return seconds_now(threads) - start;
}

template <class T, class Chains>
double rate(int threads, double seconds, Chains const& chains) {
  auto const run = [&](long rounds) {
    std::vector<double> done(static_cast<std::size_t>(threads));
    double const took = together(threads, [&](int t) {
      T volatile seed = 1;
      T result = 0;
      done[static_cast<std::size_t>(t)] = chains(rounds, seed, &result);
      T volatile kept = result;
      static_cast<void>(kept);
    });
    double sum = 0;
    for (double const one : done) sum += one;
    return sum / took;
  };
  // 48 operations a cycle and lane or so: about `seconds` long at any plausible speed.
  return run(static_cast<long>(seconds * 4e8));
}

}  // namespace

double multiply_add_rate_f32(int threads, double seconds) {
  return rate<float>(threads, seconds, [](long rounds, float seed, float* result) {
    return HWY_DYNAMIC_DISPATCH(multiply_adds_f32)(rounds, seed, result);
  });
}

double multiply_add_rate_f64(int threads, double seconds) {
  return rate<double>(threads, seconds, [](long rounds, double seed, double* result) {
    return HWY_DYNAMIC_DISPATCH(multiply_adds_f64)(rounds, seed, result);
  });
}

double read_rate(float const* data, std::size_t count, int threads) {
  std::size_t const part = count / static_cast<std::size_t>(threads);
  double const took = together(threads, [&](int t) {
    float volatile kept = HWY_DYNAMIC_DISPATCH(sum_of)(data + static_cast<std::size_t>(t) * part, part);
    static_cast<void>(kept);
  });
  return static_cast<double>(part) * static_cast<double>(threads) * sizeof(float) / took;
}

}  // namespace attest::bench
#endif
