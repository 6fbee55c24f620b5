// The reference compared with a plain float64 loop, Arb and MPFR: same inputs, same process, one thread; and the
// verdict on a large problem with threads. Times are processor time of the thread, the best of several runs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include "audit/contract/contract.hpp"
#include "bench/best_of.hpp"
#include "bench/oracle_plain.hpp"
#include "reference/bound/bound.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rounded.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/testing.hpp"
#ifdef ATTEST_HAS_ARB
#include "oracles/arb.hpp"
#endif
#ifdef ATTEST_HAS_MPFR
#include "oracles/mpfr.hpp"
#endif

namespace {

using namespace attest;
using bench::best_of;

/// Gaussian tensors of one head.
template <class T>
struct inputs {
  std::int64_t n, m, d, dv;
  std::vector<T> q, k, v;

  inputs(std::int64_t n_, std::int64_t m_, std::int64_t d_, std::int64_t dv_) : n(n_), m(m_), d(d_), dv(dv_) {
    std::mt19937_64 random(20260101);
    std::normal_distribution<T> normal;
    auto const drawn = [&](std::int64_t size) {
      std::vector<T> made(static_cast<std::size_t>(size));
      for (T& x : made) x = normal(random);
      return made;
    };
    q = drawn(n * d), k = drawn(m * d), v = drawn(m * dv);
  }
  problem::instance<T> instance() const {
    problem::arguments<T> asked;
    asked.q = {q.data(), problem::layout::compact({n, d})};
    asked.k = {k.data(), problem::layout::compact({m, d})};
    asked.v = {v.data(), problem::layout::compact({m, dv})};
    return problem::instance<T>::make(asked).value();
  }
#ifdef ATTEST_HAS_MPFR
  /// The same for other oracles, and all their outputs as doubles.
  oracles::head head() const {
    return oracles::head_of(k, v, static_cast<std::size_t>(d), static_cast<std::size_t>(dv));
  }
  template <class Oracle, class As>
  void answer(Oracle oracle, As as_double, std::vector<double>& o) const {
    auto to = o.begin();
    for (std::int64_t i = 0; i < n; ++i) {
      oracle.row(std::vector<double>(q.begin() + i * d, q.begin() + (i + 1) * d));
      for (std::size_t c = 0; c < static_cast<std::size_t>(dv); ++c) *to++ = as_double(oracle.output(c));
    }
  }
#endif
};

double peak_mebibytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

void tell(reference::machine::rounding_tally const& rounded) {
  fmt::print("    double words: {}, ball tier: {} of {} elements ({:.4f} %)\n", rounded.in_double_words,
             rounded.in_balls, rounded.elements,
             100 * static_cast<double>(rounded.in_balls) / static_cast<double>(rounded.elements));
}

/// The same shape in f64, where the machine tier is double words. `plain`: the time of the plain loop.
void wide_problem(int runs, double plain) {
  inputs<double> const in(256, 256, 64, 64);
  auto const asked = in.instance();
  auto const elements = static_cast<double>(in.n * in.dv);
  auto const report = [&](std::string_view what, double seconds) {
    fmt::print("  {:<44} {:>9.3f} µs/element {:>9.2f} × the loop\n", what, seconds / elements * 1e6, seconds / plain);
  };
  auto const model = audit::default_contract(problem::element_type::f64).fixed;
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    auto rows = reference::machine::row_source<double>::make(asked, model);
    std::int64_t handed_over = 0;
    double radius = 0;
    report(fmt::format("f64: machine tier, o and bound, {}", target), best_of(runs, [&] {
             handed_over = 0;
             rows.value().each(0, 0, 0, in.n, [&](reference::machine::certified_row const& row) {
               for (std::size_t c = 0; c < static_cast<std::size_t>(in.dv); ++c) {
                 bool const open = row.handed_over || !(row.o_radius[c] < row.o_bound[c] * 0x1p-10);
                 handed_over += open;
                 if (!open) radius = std::max(radius, row.o_radius[c]);
               }
             });
           }));
    fmt::print("    radius ≤ {:.2e}, handed over {:.4f} %\n", radius,
               100 * static_cast<double>(handed_over) / elements);
  }
  reference::machine::use_simd_target("");
  reference::machine::rounding_tally rounded;
  report("f64: correctly rounded f64", best_of(runs, [&] {
           reference::machine::row_rounder<double, double> rounder(asked, {.weights = false, .lse = false});
           double sum = 0;
           rounder.each(0, 0, 0, in.n, [&](reference::machine::rounded_row<double> const& row) {
             for (double const x : row.o) sum += x;
           });
           rounded = rounder.tally();
           [[maybe_unused]] static double volatile kept;
           kept = sum;
         }));
  tell(rounded);
  report("f64: ball tier, 128 bits, o (16 rows)", 16 * best_of(1, [&] {
                                                    reference::enclosed_row<128, double> row;
                                                    for (std::int64_t i = 0; i < 16; ++i) {
                                                      reference::compiled::enclose_row(asked, 0, 0, i, row);
                                                      for (std::int64_t c = 0; c < in.dv; ++c)
                                                        (void)reference::compiled::output(asked, row, c);
                                                    }
                                                  }));
}

void small_problem(problem::kernel_model const& model, int runs) {
  inputs<float> const in(256, 256, 64, 64);
  auto const asked = in.instance();
  auto const elements = static_cast<double>(in.n * in.dv);
  std::vector<double> o(static_cast<std::size_t>(in.n * in.dv));
  double const plain = best_of(
      runs, [&] { bench::plain_attention(in.q.data(), in.k.data(), in.v.data(), in.n, in.m, in.d, in.dv, o.data()); });
  auto const report = [&](std::string_view what, double seconds) {
    fmt::print("  {:<44} {:>9.3f} µs/element {:>9.2f} × the loop\n", what, seconds / elements * 1e6, seconds / plain);
  };
  fmt::print("n = m = 256, d = dv = 64, Gaussian f32, one thread, contract f32, best of {}\n", runs);
  report("plain float64 loop", plain);
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    auto rows = reference::machine::row_source<float>::make(asked, model);
    std::int64_t handed_over = 0;
    double radius = 0, off = 0;
    auto const all_rows = [&] {
      handed_over = 0;
      rows.value().each(0, 0, 0, in.n, [&](reference::machine::certified_row const& row) {
        for (std::size_t c = 0; c < static_cast<std::size_t>(in.dv); ++c) {
          if (row.handed_over || !(row.o_radius[c] < row.o_bound[c] * 0x1p-10)) {
            ++handed_over;
            continue;
          }
          radius = std::max(radius, row.o_radius[c]);
          off = std::max(off, std::abs(row.o[c] - o[static_cast<std::size_t>(row.i * in.dv) + c]));
        }
      });
    };
    report(fmt::format("machine tier, o and bound, {}", target), best_of(runs, all_rows));
    fmt::print("    radius ≤ {:.2e}, differs from the loop by ≤ {:.2e}, handed over {:.4f} %\n", radius, off,
               100 * static_cast<double>(handed_over) / elements);
  }
  reference::machine::use_simd_target("");
  reference::machine::rounding_tally rounded;
  double const rounding = best_of(runs, [&] {
    reference::machine::row_rounder<float, float> rounder(asked, {.weights = false, .lse = false});
    double sum = 0;
    rounder.each(0, 0, 0, in.n, [&](reference::machine::rounded_row<float> const& row) {
      for (float const x : row.o) sum += static_cast<double>(x);
    });
    rounded = rounder.tally();
    o[0] = sum;
  });
  report("correctly rounded f32", rounding);
  tell(rounded);
  wide_problem(runs, plain);
  report("ball tier, 128 bits, o", best_of(1, [&] {
           reference::enclosed_row<128, float> row;
           for (std::int64_t i = 0; i < in.n; ++i) {
             reference::compiled::enclose_row(asked, 0, 0, i, row);
             for (std::int64_t c = 0; c < in.dv; ++c) (void)reference::compiled::output(asked, row, c);
           }
         }));
  report("ball tier, 128 bits, o and bound (16 rows)", 16 * best_of(1, [&] {
                                                         reference::enclosed_row<128, float> row;
                                                         reference::row_facts facts;
                                                         reference::row_bound bound;
                                                         for (std::int64_t i = 0; i < 16; ++i) {
                                                           reference::compiled::enclose_row(asked, 0, 0, i, row);
                                                           reference::compiled::collect_facts(asked, row, facts);
                                                           bound.evaluate(model, facts);
                                                           for (std::int64_t c = 0; c < in.dv; ++c)
                                                             (void)reference::compiled::output_bound(
                                                                 bound, asked, row, c,
                                                                 reference::compiled::output(asked, row, c).value);
                                                         }
                                                       }));
#ifdef ATTEST_HAS_ARB
  for (long const bits : {64, 128, 256}) {
    double const arb = best_of(std::min(runs, 3), [&] {
      in.answer(oracles::arb_attention(in.head(), bits, bits), [](auto const& x) { return x.middle(); }, o);
    });
    report(fmt::format("Arb, {} bits, o", bits), arb);
    if (bits == 128) fmt::print("    {:.0f} × the time of correctly rounded f32\n", arb / rounding);
  }
#endif
#ifdef ATTEST_HAS_MPFR
  report("MPFR, 128 bits, o (no error bounds)", best_of(1, [&] {
           in.answer(oracles::mpfr_attention(in.head(), 128), [](auto const& x) { return x.approximately(); }, o);
         }));
#endif
}

void large_problem(problem::kernel_model const& model, std::int64_t n, int threads) {
  inputs<float> const in(n, n, 64, 64);
  double const before = peak_mebibytes();
  auto const asked = in.instance();
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  std::atomic<std::int64_t> handed_over{0}, certified{0};
  auto const start = std::chrono::steady_clock::now();
  rusage used_before{}, used{};
  getrusage(RUSAGE_SELF, &used_before);
  constexpr std::int64_t rows_of_a_task = 32;
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, in.n, rows_of_a_task), [&](auto const& range) {
    auto rows = reference::machine::row_source<float>::make(asked, model);
    std::int64_t mine = 0, others = 0;
    rows.value().each(0, 0, range.begin(), range.end(), [&](reference::machine::certified_row const& row) {
      bool const lse = !row.handed_over && row.lse_radius < row.lse_bound.size;
      ++(lse ? mine : others);
      for (std::size_t c = 0; c < static_cast<std::size_t>(in.dv); ++c)
        ++(!row.handed_over && row.o_radius[c] < row.o_bound[c] ? mine : others);
    });
    certified += mine, handed_over += others;
  });
  double const wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  getrusage(RUSAGE_SELF, &used);
  auto const seconds = [](rusage const& r) {
    return static_cast<double>(r.ru_utime.tv_sec) + static_cast<double>(r.ru_utime.tv_usec) * 1e-6;
  };
  fmt::print(
      "n = m = {}, d = dv = 64, one head, O and LSE with bounds, {} threads\n"
      "  {:.2f} s wall, {:.2f} s of processors, peak memory beyond the inputs {:.1f} MiB, "
      "handed over {:.4f} %\n",
      n, threads, wall, seconds(used) - seconds(used_before), peak_mebibytes() - before,
      100 * static_cast<double>(handed_over) / static_cast<double>(handed_over + certified));
}

}  // namespace

/// oracle_bench [runs] [n of the large problem] [threads]
int main(int count, char** argument) {
  auto const number = [&](int at, int otherwise) { return count > at ? std::atoi(argument[at]) : otherwise; };
  auto const model = audit::default_contract(problem::element_type::f32).fixed;
  large_problem(model, number(2, 4096), number(3, 2));  // first: the peak of memory is the process's
  small_problem(model, number(1, 20));
}
