// Attention as a memory: pairs are written, and read by the likeness of a query to the keys, also with noise on it.
//
// Source: Scaled Dot-Product Attention, "Memory as Attention".
#include "reference/textbook/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "examples/support/experiment.hpp"
#include "examples/support/random.hpp"
#include "reference/textbook/scoring/dot.hpp"
#include "reference/textbook/scoring/scaled_dot.hpp"

namespace attest::examples {
namespace {

void write_and_read(experiment& e) {
  e.section("1. Four pairs with orthonormal keys; similarity = q·k, not normalised");
  reference::memory<128> memory{.d = 4, .dv = 2};
  std::array<std::array<number, 2>, 4> const values{{{3, 1}, {-2, 5}, {7, 0}, {1, -4}}};
  for (std::size_t j = 0; j < 4; ++j) {
    std::array<number, 4> key{};
    key[j] = 1;
    reference::write(memory, key, values[j]);
  }
  auto const dot = [](auto const& q, auto const& k) { return reference::dot(q, k); };
  bool recalled = true;
  for (std::size_t j = 0; j < 4; ++j) {
    std::array<number, 4> q{};
    q[j] = 1;
    auto const read = reference::read(memory, q, dot);
    for (std::size_t c = 0; c < 2; ++c)
      recalled = recalled && read[c].is_exact() && reference::certain_sign(read[c] - values[j][c]) == 0;
  }
  e.check(recalled, "reading with a key gives exactly its value");

  e.section("2. Normalised, with similarity e^(q·k/√d): that is attention");
  auto const likeness = [](auto const& q, auto const& k) { return reference::exp(reference::scaled_dot(q, k)); };
  std::array<number, 4> const q{1, 0, 0, 0};
  auto const read = reference::read_normalised(memory, q, likeness);
  std::array<float, 4> const Q{1, 0, 0, 0};
  std::array<float, 16> const K{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  std::array<float, 8> const V{3, 1, -2, 5, 7, 0, 1, -4};
  auto const attention = certify(attention_problem(Q, K, V, 1, 4, 4, 2));
  fmt::print("  read {} {}, attention {} {}\n", fixed(read[0], 12), fixed(read[1], 12), fixed(attention.O(0, 0), 12),
             fixed(attention.O(0, 1), 12));
  e.check(reference::overlap(read[0], attention.O(0, 0)) && reference::overlap(read[1], attention.O(0, 1)),
          "the two enclosures agree to 30 digits");
  fmt::print("  A short query reads a mixture: the weight of its key is only e^(1/2)/(e^(1/2) + 3) = {}.\n",
             fixed(attention.A(0, 0), 6));
}

/// The share of reads that give the largest weight to the right one of `pairs` random keys.
double recall_of(std::int64_t pairs, double noise, std::int64_t reads, normal_draws& random) {
  constexpr std::int64_t d = 32;
  auto const K = random.normals(pairs * d);
  std::vector<float> Q(static_cast<std::size_t>(reads * d)), V(static_cast<std::size_t>(pairs));
  for (std::int64_t i = 0; i < reads; ++i)
    for (std::int64_t t = 0; t < d; ++t)
      Q[static_cast<std::size_t>(i * d + t)] = static_cast<float>(
          static_cast<double>(K[static_cast<std::size_t>(i % pairs * d + t)]) + noise * random.normal());
  auto const weights = ask_kernel(attention_problem(Q, K, V, reads, pairs, d, 1)).A;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < reads; ++i) {
    auto const row = weights.begin() + i * pairs;
    right += std::max_element(row, row + pairs) - row == i % pairs ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(reads);
}

void recall(experiment& e) {
  e.section("3. Recall: keys of 32 draws of N(0, 1), queries = key + noise·N(0, 1), 1000 reads");
  constexpr std::int64_t reads = 1000;
  normal_draws random(1);
  std::vector<std::vector<double>> rows;
  double clean = 0, drowned = 0;
  for (double const noise : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 1024.0}) {
    std::vector<double> row{noise};
    for (std::int64_t const pairs : {10, 100, 1000}) row.push_back(recall_of(pairs, noise, reads, random));
    fmt::print("  noise {:6}: {:.3f} of 10 pairs, {:.3f} of 100, {:.3f} of 1000\n", noise, row[1], row[2], row[3]);
    if (noise == 0) clean = row[1];
    if (noise == 1024) drowned = row[1];
    if (noise <= 16) rows.push_back(row);
  }
  // Without noise a read fails only if k_i·k_j > |k_i|²: |k_i|² has mean 32, and k_i·k_j given k_i is N(0, |k_i|²), so
  // for one other key the chance is E[Φ(−|k_i|)] ≤ E[e^(−|k_i|²/2)]/2 = 2^(−d/2)/2 = 2⁻¹⁷.
  // The 100 reads of a key miss together, hence the variance 100·mistakes.
  double const mistakes = 1000 * 9 * std::ldexp(1, -17);
  e.check(1000 * (1 - clean) <= mistakes + 5 * std::sqrt(mistakes * 100),
          "without noise, 10 pairs: no more misses than chance explains, at 5 standard errors");
  // Where noise drowns the keys, each of them is the likeliest as often, up to its length.
  e.check(drowned < clean, fmt::format("with noise 1024 recall falls to {:.3f}", drowned));
  e.table("memory", {"noise", "10 pairs", "100 pairs", "1000 pairs"}, rows);
  e.figure("memory", R"gp(set title "Recall falls with noise, sooner the more pairs are stored (32 dimensions)"
set xlabel "noise (standard deviation, in units of a key's entries)"
set ylabel "share of 1000 reads that find their key"
set yrange [0:1.05]
set key top right
plot for [c=2:4] "memory.csv" using 1:c with linespoints lt c-1 title columnheader(c)
)gp");
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "Attention as a memory that is read by likeness",
                               [](attest::examples::experiment& e) {
                                 attest::examples::write_and_read(e);
                                 attest::examples::recall(e);
                               });
}
