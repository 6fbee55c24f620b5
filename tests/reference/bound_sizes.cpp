// How large the bound is beside the output that it bounds: for every preset, or the contracts that are named, and n =
// 64, 512, 4096, 16384, 32768 keys, the median of B over the median of |o|, in percent, on Gaussian rows (d = 64, σ =
// 1/8). J is what a judge allows: where weights are known the smaller of B_c (around o_c) and B*_c (around o*_c). L is
// the bound of the LSE. docs/bound.md, section 11, has the tables.
//
//   bound_sizes [MOST [CONTRACT ...]]    rows of at most MOST keys (16384); names of presets, or files
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/contract/contract_file.hpp"
#include "reference/attention/attention.hpp"
#include "reference/bound/bound.hpp"
#include "tests/support/written.hpp"

namespace {

using namespace attest;

/// A sum of twelve uniform numbers: the same on every machine, unlike std::normal_distribution.
double gaussian(std::mt19937_64& random) {
  double sum = -6;
  for (int n = 0; n < 12; ++n) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

double median(std::vector<double> numbers) {
  auto const middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

struct sizes {
  double output = 0, bound = 0, judged = 0, warning = 0, lse = 0;  ///< medians
};

/// The medians over three rows of 16 columns, for every contract of the element type T.
template <class T>
std::map<std::string, sizes> measured(std::vector<audit::contract> const& contracts, std::int64_t keys) {
  constexpr std::int64_t d = 64, dv = 16;
  constexpr int rows = 3;
  std::mt19937_64 random(7);
  std::map<std::string, std::vector<double>> bounds, judged, warnings, lses;
  std::vector<double> outputs;
  for (int at = 0; at < rows; ++at) {
    tests::written<T> problem(keys, d, dv);
    for (auto* tensor : {&problem.q, &problem.k, &problem.v})
      for (T& x : tensor->values) x = tests::element_from<T>(gaussian(random));
    auto const instance = problem.instance();
    reference::enclosed_row<128, T> row;
    reference::enclose_row(instance, 0, 0, 0, row);
    reference::row_facts facts;
    reference::collect_facts(instance, row, facts);
    for (std::int64_t c = 0; c < dv; ++c)
      outputs.push_back(reference::upper_size(reference::output(instance, row, c).value));
    for (auto const& claim : contracts) {
      if (claim.builtin || claim.type != problem::type_of<T>) continue;
      reference::row_bound bound;
      bound.evaluate(claim.fixed, facts);
      lses[claim.name].push_back(bound.log_sum_exp().size);
      for (std::int64_t c = 0; c < dv; ++c) {
        auto const o = reference::output(instance, row, c).value;
        auto const found =
            bound.output(o, [&](std::size_t n) { return reference::value_of(instance.v()(0, 0, row.keys[n].j, c)); });
        bounds[claim.name].push_back(found.size), warnings[claim.name].push_back(found.warning);
        judged[claim.name].push_back(std::min(found.size, found.known_size));
      }
    }
  }
  std::map<std::string, sizes> result;
  for (auto const& [name, all] : bounds) {
    result[name] = {median(outputs), median(all), median(judged[name]), median(warnings[name]), median(lses[name])};
  }
  return result;
}

}  // namespace

int main(int count, char** words) {
  std::int64_t const most = count > 1 ? std::atoll(words[1]) : 16384;
  std::vector<audit::contract> contracts;
  for (int at = 2; at < count; ++at) {
    auto const named = audit::contract_named(words[at]);
    if (!named) return std::fprintf(stderr, "%s\n", named.why().message().c_str()), 2;
    contracts.push_back(named.value());
  }
  if (contracts.empty()) contracts.assign(audit::contracts().begin(), audit::contracts().end());
  for (std::int64_t const n : {64, 512, 4096, 16384, 32768}) {
    if (n > most) break;
    auto all = measured<float>(contracts, n);
    all.merge(measured<double>(contracts, n));
    all.merge(measured<problem::bf16>(contracts, n));
    all.merge(measured<problem::f16>(contracts, n));
    for (auto const& [name, found] : all) {
      auto const percent = [&](double x) { return 100 * x / found.output; };
      std::printf("%-30s n %5lld  |o| %.3g  B/|o| %.3g %%  J/|o| %.3g %%  W/|o| %.3g %%  L %.2g\n", name.c_str(),
                  static_cast<long long>(n), found.output, percent(found.bound), percent(found.judged),
                  percent(found.warning), found.lse);
    }
    std::fflush(stdout);
  }
}
