// What the oracle of gradients costs: dQ, dK and dV with their bounds, in multiples of O with its bound on the same
// problem. One thread, processor time, the best of several runs.
//
// usage: gradients_bench [RUNS]
#include "reference/gradient/gradients.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/contract/contract.hpp"
#include "bench/best_of.hpp"
#include "reference/machine/rows.hpp"

namespace {

using namespace attest;
using bench::best_of;
using reference::gradient_mode;

/// One head with n queries and keys and d = dv columns, Gaussian.
template <class T>
class problem_of_one_head {
 public:
  problem_of_one_head(std::int64_t n, std::int64_t d) : n_(n), d_(d) {
    std::mt19937_64 random(20260101);
    std::normal_distribution<T> normal;
    for (std::vector<T>* const to : {&q_, &k_, &v_, &d_o_, &o_}) {
      to->resize(static_cast<std::size_t>(n * d));
      std::ranges::generate(*to, [&] { return normal(random); });
    }
    lse_.resize(static_cast<std::size_t>(n));
  }

  void measure(char const* name, int runs) {
    problem::arguments<T> asked;
    asked.q = {q_.data(), problem::layout::compact({n_, d_})};
    asked.k = {k_.data(), problem::layout::compact({n_, d_})};
    asked.v = {v_.data(), problem::layout::compact({n_, d_})};
    auto const p = problem::instance<T>::make(asked).value();
    problem::any_instance const any = p;
    auto const& claim = audit::default_contract(problem::type_of<T>);
    auto const model = claim.model_for(any);
    auto rows = reference::machine::row_source<T>::make(p, model);
    double const of_o = best_of(runs, [&] {
      rows.value().each(0, 0, 0, n_, [&](reference::machine::certified_row const& row) {
        for (std::size_t c = 0; c < static_cast<std::size_t>(d_); ++c)
          o_[static_cast<std::size_t>(row.i * d_) + c] = static_cast<T>(row.o[c]);
        lse_[static_cast<std::size_t>(row.i)] = static_cast<T>(row.lse);
      });
    });
    reference::gradient_inputs<T> const handed{.d_o = rows_of(d_o_, d_), .o = rows_of(o_, d_), .lse = rows_of(lse_, 1)};
    for (auto const& [words, mode] : {std::pair{"recorded", gradient_mode::recorded}, {"own", gradient_mode::own}}) {
      std::int64_t open = 0, all = 0;
      double const taken = best_of(runs, [&] {
        auto source = reference::gradient_source<T>::make(p, handed, model, claim.gradient_for(any), mode);
        open = all = 0;
        source.value().group(0, 0).each([&](auto const&, reference::gradient_element const& element) {
          double const middle = static_cast<double>(static_cast<T>(element.lower / 2 + element.upper / 2));
          open += reference::verdict_on(element, middle) != reference::gradient_verdict::certified, ++all;
        });
      });
      fmt::print("{:<4} n = m = {:<5} {:<9} {:>9.2f} ms, {:>5.2f} times O ({:.2f} ms); {:.3f} % open\n", name, n_,
                 words, taken * 1e3, taken / of_o, of_o * 1e3,
                 100 * static_cast<double>(open) / static_cast<double>(all));
    }
  }

 private:
  problem::view<T const> rows_of(std::vector<T> const& of, std::int64_t width) const {
    return {.data = of.data(), .shape = {1, 1, n_, width}, .stride = {n_ * width, n_ * width, width}, .present = true};
  }

  std::int64_t n_, d_;
  std::vector<T> q_, k_, v_, d_o_, o_, lse_;
};

}  // namespace

int main(int count, char** words) {
  int const runs = count > 1 ? std::atoi(words[1]) : 20;
  fmt::print("dQ, dK, dV and their bounds beside O and its bound; d = dv = 64, the default contract\n");
  for (std::int64_t const n : {256, 1024}) {
    problem_of_one_head<float>(n, 64).measure("f32", std::min<int>(runs, 20 * 256 / static_cast<int>(n)));
    problem_of_one_head<double>(n, 64).measure("f64", std::min<int>(runs, 20 * 256 / static_cast<int>(n)));
  }
}
