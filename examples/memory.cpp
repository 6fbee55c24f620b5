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

/// How often reads find their key: as counted, and as expected from each read's own key and noise.
struct recall_share {
  double found = 0, expected = 0, standard_error = 0;
};

/// The share of reads that give the largest weight to the right one of `pairs` random keys.
///
/// A read of key k asks q = k + noise·z. Another key k' is a draw of N(0, 1), independent of q, so given q its score
/// k'·q is N(0, |q|²). The right key wins against all of them with the chance Φ(k·q/|q|)^(pairs − 1). Reads of one
/// memory share its keys. Hence the standard error is taken from the means of independent memories, and is not below
/// the standard error of independent reads.
recall_share recall_of(std::int64_t pairs, double noise, normal_draws& random) {
  constexpr std::int64_t d = 32, memories = 20, reads = 50;
  recall_share all;
  double squares = 0, variance_of_reads = 0;
  for (std::int64_t one = 0; one < memories; ++one) {
    auto const K = random.normals(pairs * d);
    std::vector<float> Q(static_cast<std::size_t>(reads * d)), V(static_cast<std::size_t>(pairs));
    double right = 0, expected = 0;
    for (std::int64_t i = 0; i < reads; ++i) {
      double score = 0, length = 0;
      for (std::int64_t t = 0; t < d; ++t) {
        auto const key = static_cast<double>(K[static_cast<std::size_t>(i % pairs * d + t)]);
        double const query = key + noise * random.normal();
        Q[static_cast<std::size_t>(i * d + t)] = static_cast<float>(query);
        score += key * query;
        length += query * query;
      }
      double const one_other = std::erfc(-score / std::sqrt(2 * length)) / 2;
      double const chance = std::pow(one_other, static_cast<double>(pairs - 1));
      expected += chance;
      variance_of_reads += chance * (1 - chance);
    }
    auto const weights = ask_kernel(attention_problem(Q, K, V, reads, pairs, d, 1)).A;
    for (std::int64_t i = 0; i < reads; ++i) {
      auto const row = weights.begin() + i * pairs;
      right += std::max_element(row, row + pairs) - row == i % pairs ? 1 : 0;
    }
    all.found += right / (memories * reads);
    all.expected += expected / (memories * reads);
    squares += (right - expected) * (right - expected);
  }
  double const mean = (all.found - all.expected) * reads;
  double const between = (squares - memories * mean * mean) / (memories - 1) * memories;
  all.standard_error = std::sqrt(std::max(between, variance_of_reads)) / (memories * reads);
  return all;
}

void recall(experiment& e) {
  e.section("3. Recall: keys of 32 draws of N(0, 1), queries = key + noise·N(0, 1), 50 reads of each of 20 memories");
  normal_draws random(1);
  std::vector<std::vector<double>> rows;
  for (double const noise : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0}) {
    std::vector<double> row{noise};
    for (std::int64_t const pairs : {10, 100, 1000}) {
      recall_share const share = recall_of(pairs, noise, random);
      e.within_5_standard_errors(share.found, share.expected, share.standard_error,
                                 fmt::format("noise {}, {} pairs", noise, pairs));
      row.insert(row.end(), {share.found, share.expected});
    }
    rows.push_back(row);
  }
  fmt::print(
      "  Expected is the mean of Φ(k·q/|q|)^(pairs − 1): every other key scores N(0, |q|²), whatever its query.\n");
  e.table("memory", {"noise", "10 pairs", "10 expected", "100 pairs", "100 expected", "1000 pairs", "1000 expected"},
          rows);
  e.figure("memory", R"gp(set title "Recall falls with noise, sooner the more pairs are stored (32 dimensions)"
set xlabel "noise (standard deviation, in units of a key's entries)"
set ylabel "share of 1000 reads that find their key"
set yrange [0:1.05]
set key top right
plot for [c=1:3] "memory.csv" using 1:2*c+1 with lines lt c title "", \
     for [c=1:3] "" using 1:2*c with points lt c title columnheader(2*c), \
     NaN with lines lt 5 dt 1 title "lines: expected"
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
