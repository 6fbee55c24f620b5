// Four ways to score a query and a key: what each answers, and what a pair, a row and a whole sequence cost.
//
// Source: Scaled Dot-Product Attention, "Comparison to Alternatives" and "Complexity Analysis"; Day 11: Scaled
// Dot-Product Attention, 11.1.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "examples/support/experiment.hpp"
#include "examples/support/measure.hpp"
#include "examples/support/plain_attention.hpp"
#include "examples/support/random.hpp"
#include "examples/support/scores.hpp"
#include "fast/attention.hpp"
#include "reference/real/outward.hpp"
#include "reference/real/sqrt.hpp"
#include "reference/textbook/scoring/additive.hpp"
#include "reference/textbook/scoring/bilinear.hpp"
#include "reference/textbook/scoring/dot.hpp"
#include "reference/textbook/scoring/scaled_dot.hpp"
#include "reference/textbook/softmax.hpp"

namespace attest::examples {
namespace {

using numbers = std::vector<number>;

numbers exactly(std::vector<float> const& x) {
  numbers result;
  for (float const each : x) result.push_back(number::from(reference::value_of(each)));
  return result;
}

/// `count` draws of N(0, variance).
std::vector<float> draws_of(normal_draws& random, std::int64_t count, double variance) {
  auto result = random.normals(count);
  for (float& each : result) each *= static_cast<float>(std::sqrt(variance));
  return result;
}

template <class T>
std::vector<T> row_of(std::vector<T> const& X, std::int64_t i, std::int64_t d) {
  return {X.begin() + i * d, X.begin() + (i + 1) * d};
}

/// softmax by rows of score(q_i, k_j). Shapes Q [n, d], K [m, d], result [n, m]
template <class Score>
number_matrix weights_by(numbers const& Q, numbers const& K, std::int64_t d, Score const& score) {
  number_matrix A{.rows = static_cast<std::int64_t>(Q.size()) / d, .columns = static_cast<std::int64_t>(K.size()) / d};
  for (std::int64_t i = 0; i < A.rows; ++i) {
    numbers scores;
    for (std::int64_t j = 0; j < A.columns; ++j) scores.push_back(score(row_of(Q, i, d), row_of(K, j, d)));
    for (number const& weight : reference::softmax(scores)) A.entries.push_back(weight);
  }
  return A;
}

bool overlap(number_matrix const& A, number_matrix const& B) {
  return A.entries.size() == B.entries.size() &&
         std::equal(A.entries.begin(), A.entries.end(), B.entries.begin(),
                    [](number const& a, number const& b) { return reference::overlap(a, b); });
}

void compare_weights(experiment& e) {
  constexpr std::int64_t n = 4, m = 6, d = 16;
  e.section("1. Four queries and six keys of 16 draws of N(0, 1); parameters are draws too, nothing is trained");
  normal_draws random(1);
  auto const Q = random.normals(n * d), K = random.normals(m * d), V = random.normals(m);
  numbers const W_q = exactly(draws_of(random, d * d, 1.0 / d)), W_k = exactly(draws_of(random, d * d, 1.0 / d)),
                W = exactly(draws_of(random, d * d, 1.0 / d)), w = exactly(random.normals(d));
  numbers const q = exactly(Q), k = exactly(K);
  auto const bilinear_by = [](numbers const& matrix) {
    return [&matrix](numbers const& a, numbers const& b) { return reference::bilinear(a, matrix, b); };
  };
  double largest_additive = 0;
  std::array<number_matrix, 4> const A{
      weights_by(q, k, d, [](numbers const& a, numbers const& b) { return reference::dot(a, b); }),
      weights_by(q, k, d, [](numbers const& a, numbers const& b) { return reference::scaled_dot(a, b); }),
      weights_by(q, k, d,
                 [&](numbers const& a, numbers const& b) {
                   number const score = reference::additive(w, W_q, a, W_k, b);
                   largest_additive = std::max(largest_additive, reference::upper(reference::absolute(score)));
                   return score;
                 }),
      weights_by(q, k, d, bilinear_by(W))};
  std::vector<std::string> const queries{"query 1", "query 2", "query 3", "query 4"};
  std::array<char const*, 4> const names{"dot, q·k", "scaled dot, q·k/√d", "additive, wᵀtanh(W_q·q + W_k·k)",
                                         "bilinear, qᵀ·W·k"};
  for (std::size_t f = 0; f < A.size(); ++f) {
    fmt::print("  {}\n", names[f]);
    print(A[f], queries, 6);
  }
  problem::parameters unscaled;
  unscaled.scale = 1;
  e.check(overlap(A[0], certify(attention_problem(Q, K, V, n, m, d, 1, unscaled)).A) &&
              overlap(A[1], certify(attention_problem(Q, K, V, n, m, d, 1)).A),
          "dot and scaled dot: the certified attention has the same weights, scale 1 and 1/√16");
  numbers identity(static_cast<std::size_t>(d * d)), quarter = identity, W_q_t_W_k = identity;
  for (std::int64_t s = 0; s < d; ++s) {
    identity[static_cast<std::size_t>(s * d + s)] = 1;
    quarter[static_cast<std::size_t>(s * d + s)] = number(1).scaled_by_power_of_two(-2);
    for (std::int64_t t = 0; t < d; ++t)
      for (std::int64_t r = 0; r < d; ++r) {
        auto const at = [](std::int64_t row, std::int64_t column) {
          return static_cast<std::size_t>(row * d + column);
        };
        W_q_t_W_k[at(s, t)] = W_q_t_W_k[at(s, t)] + W_q[at(r, s)] * W_k[at(r, t)];
      }
  }
  e.check(overlap(weights_by(q, k, d, bilinear_by(identity)), A[0]) &&
              overlap(weights_by(q, k, d, bilinear_by(quarter)), A[1]),
          "bilinear with W = I is the dot product, with W = I/√d the scaled one");
  auto const projected = [](numbers const& by, numbers const& x) {
    numbers result;
    for (std::int64_t r = 0; r < d; ++r) result.push_back(reference::dot(row_of(by, r, d), x));
    return result;
  };
  e.check(overlap(weights_by(q, k, d, bilinear_by(W_q_t_W_k)), weights_by(q, k, d,
                                                                          [&](numbers const& a, numbers const& b) {
                                                                            return reference::dot(projected(W_q, a),
                                                                                                  projected(W_k, b));
                                                                          })),
          "bilinear with W = W_qᵀ·W_k is the dot product of the projections W_q·q and W_k·k");
  number reach{};
  for (number const& each : w) reach = reach + reference::absolute(each);
  e.check(
      largest_additive <= reference::lower(reach),
      fmt::format("tanh is between −1 and 1, so an additive score stays within Σ|w| = {} however long the vectors are: "
                  "here within {:.3f}",
                  fixed(reach, 3), largest_additive));

  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      std::vector<double> row{static_cast<double>(j + 1), static_cast<double>(i + 1)};
      for (number_matrix const& each : A) row.push_back(nearly(each(i, j)));
      rows.push_back(row);
    }
  e.table("scoring_weights", {"key", "query", "dot", "scaled dot", "additive", "bilinear"}, rows);
  e.figure(
      "scoring_weights",
      R"gp(set multiplot layout 2,2 title "The same queries and keys, four scores, four answers (nothing is trained)"
set palette defined (0 "#ffffff", 1 "#0072B2")
set cbrange [0:1]
unset colorbox
unset key
unset grid
set border 15
set tics scale 0
set xrange [0.5:6.5]
set yrange [4.5:0.5]
set size ratio -1
set xtics 1
set ytics 1
set xlabel "key"
set ylabel "query"
array name[4] = ["dot, q·k", "scaled dot, q·k/√d", "additive, wᵀtanh(W_q·q + W_k·k)", "bilinear, qᵀ·W·k"]
do for [f=1:4] {
  set title name[f] noenhanced
  plot "scoring_weights.csv" using 1:2:f+2 with image pixels, \
       "" using 1:2:(sprintf("%.3f", column(f+2))):(column(f+2) > 0.6 ? 0xffffff : 0) \
       with labels font ",10" tc rgb variable
}
unset multiplot
)gp",
      {860, 680});
}

/// The row of the documents' tables, and the multiplications and tanhs of one pair as this file counts them.
struct score_kind {
  char const* name;
  char const* printed;
  std::int64_t (*multiplications)(std::int64_t d);
  bool has_tanh;
};
constexpr std::array<score_kind, 5> kinds{{
    {"dot", "O(d)", [](std::int64_t d) { return d; }, false},
    {"scaled dot", "O(d)", [](std::int64_t d) { return d + 1; }, false},
    {"additive with projections shared", "O(d) + nonlinearity", [](std::int64_t d) { return d; }, true},
    {"additive for each pair anew", "", [](std::int64_t d) { return d * (2 * d + 1); }, true},
    {"bilinear for each pair anew", "O(d²)", [](std::int64_t d) { return d * (d + 1); }, false},
}};

/// The score of one pair by kinds[kind]. Every vector has d numbers, every matrix d·d.
template <class T>
T score_of(std::size_t kind, T const& scale, std::span<T const> w, std::span<T const> W_q, std::span<T const> W_k,
           std::span<T const> q, std::span<T const> k) {
  switch (kind) {
    case 0: return dot_score(q, k);
    case 1: return scaled_dot_score(scale, q, k);
    case 2: return additive_score_of_projections(w, q, k);
    case 3: return additive_score(w, W_q, q, W_k, k);
    default: return bilinear_score(q, W_q, k);
  }
}

void count_a_pair(experiment& e) {
  e.section("2. What one pair costs: multiplications, counted; time, measured (plain loops in float32, one thread)");
  bool formulas = true, same = true;
  for (std::int64_t const d : {4, 8, 16}) {
    normal_draws random(2);
    auto const numbers_of = [&](std::int64_t count) {
      std::vector<counted> result;
      for (number const& x : exactly(random.normals(count))) result.push_back({x});
      return result;
    };
    auto const values_of = [](std::vector<counted> const& x) {
      numbers result;
      for (counted const& each : x) result.push_back(each.value);
      return result;
    };
    auto const w = numbers_of(d), W_q = numbers_of(d * d), W_k = numbers_of(d * d), q = numbers_of(d),
               k = numbers_of(d);
    counted const scale{number(1) / reference::square_root(number(static_cast<int>(d)))};
    numbers const exact_q = values_of(q), exact_k = values_of(k);
    numbers identity(static_cast<std::size_t>(d * d));  // what has been projected already
    for (std::int64_t r = 0; r < d; ++r) identity[static_cast<std::size_t>(r * (d + 1))] = 1;
    std::array<number, kinds.size()> const reference_says{
        reference::dot(exact_q, exact_k), reference::scaled_dot(exact_q, exact_k),
        reference::additive(values_of(w), identity, exact_q, identity, exact_k),
        reference::additive(values_of(w), values_of(W_q), exact_q, values_of(W_k), exact_k),
        reference::bilinear(exact_q, values_of(W_q), exact_k)};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      counted::multiplications = counted::tanhs = 0;
      counted const score = score_of<counted>(kind, scale, w, W_q, W_k, q, k);
      formulas = formulas && counted::multiplications == kinds[kind].multiplications(d) &&
                 counted::tanhs == (kinds[kind].has_tanh ? d : 0);
      same = same && (reference::overlap(score.value, reference_says[kind]));
    }
  }
  e.check(formulas,
          "d, d + 1, d, d(2d + 1) and d(d + 1) multiplications, and d tanhs in the additive ones, at d = 4, 8 and 16");
  e.check(same, "what is timed below computes the scores of the certified library");

  std::vector<double> lengths;
  std::array<std::vector<double>, kinds.size()> nanoseconds;
  std::vector<std::vector<double>> rows;
  float volatile kept = 0;  // so that the compiler leaves no score out
  for (std::int64_t d = 8; d <= 1024; d *= 2) {
    normal_draws random(3);
    auto const w = random.normals(d), W_q = random.normals(d * d), W_k = random.normals(d * d), q = random.normals(d),
               k = random.normals(d);
    lengths.push_back(static_cast<double>(d));
    std::vector<double> row{lengths.back()};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      double const seconds = seconds_of([&] { kept = score_of<float>(kind, 0.5f, w, W_q, W_k, q, k); });
      nanoseconds[kind].push_back(seconds * 1e9);
      row.push_back(nanoseconds[kind].back());
    }
    rows.push_back(row);
  }
  fmt::print("  {:32} {:20} {:>12} {:>12}   time ∝ d^p from d = 64\n", "score", "documents", "ns at 64", "ns at 1024");
  std::vector<std::string> columns{"d"};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    auto const& ns = nanoseconds[kind];
    double const p = fitted_exponent({lengths.begin() + 3, lengths.end()}, {ns.begin() + 3, ns.end()});
    fmt::print("  {:32} {:20} {:12.0f} {:12.0f}   p = {:.2f}\n", kinds[kind].name, kinds[kind].printed, ns[3],
               ns.back(), p);
    columns.push_back(kinds[kind].name);
  }
  fmt::print(
      "  The table counts its rows in two ways. Additive is O(d) only where W_q·q and W_k·k are computed once for "
      "each\n"
      "  query and each key. Shared like that, W·k makes the bilinear score a dot product, O(d) too. For each pair\n"
      "  anew, both are O(d²).\n");
  e.table("scoring_cost", columns, rows);
  e.figure("scoring_cost", R"gp(set title "What is computed for each pair anew costs d², the rest d (log scales)"
set logscale x 2
set logscale y 10
set format y "10^{%T}"
set xlabel "d, numbers in a query"
set ylabel "time of one pair (ns)"
set key top left
plot for [c=2:6] "scoring_cost.csv" using 1:c with linespoints lt c-1 title columnheader(c)
)gp",
           {760, 460});
}

void measure_a_sequence(experiment& e) {
  constexpr std::int64_t d = 64;
  e.section("3. What n tokens cost, n = m, d = 64: plain loops with the whole matrix, and the fast kernel without it");
  constexpr std::array<char const*, 4> steps{"QKᵀ", "softmax", "A·V", "fast kernel: all three"};
  constexpr std::array<char const*, 4> printed{"O(n·m·d)", "O(n·m)", "O(n·m·d)", "O(n·m·d)"};
  std::array<std::vector<double>, 4> milliseconds;
  std::vector<double> lengths, plain_bytes;
  std::vector<std::vector<double>> rows;
  bool counts = true;
  double share = 0;
  fmt::print("  {:>6}  {:>8}  {:>8}  {:>8}  {:>14}   {:>12}  {:>12}\n", "n", "QKᵀ, ms", "softmax", "A·V", "fast kernel",
             "S, A, O, KiB", "O alone, KiB");
  for (std::int64_t n = 64; n <= 1024; n *= 2) {
    plain_attention plain(n, d);
    auto const problem = attention_problem(plain.Q, plain.K, plain.V, n, n, d, d);
    std::vector<float> O(static_cast<std::size_t>(n * d));
    problem::output_tensors<float> tensors;
    tensors.o = {O.data(), problem::rows_layout(problem.size(), problem.rank(), d)};
    auto const outputs = problem::outputs<float>::make(problem, tensors).value();
    auto const ask = [&] {
      if (!fast::attention(problem, outputs)) throw std::runtime_error("the kernel refused the problem");
    };
    ask();
    plain.score();
    plain.normalise();
    plain.average();
    counts = counts && plain.bytes() == 4 * (2 * n * n + n * d);
    if (n == 64) share = share_of_bound(problem, certify(problem), {O, {}});
    lengths.push_back(static_cast<double>(n));
    plain_bytes.push_back(static_cast<double>(plain.bytes()));
    std::vector<double> row{lengths.back()};
    std::array<std::function<void()>, 4> const calls{[&] { plain.score(); }, [&] { plain.normalise(); },
                                                     [&] { plain.average(); }, ask};
    for (std::size_t step = 0; step < calls.size(); ++step) {
      milliseconds[step].push_back(1e3 * seconds_of(calls[step]));
      row.push_back(milliseconds[step].back());
    }
    row.insert(row.end(), {static_cast<double>(plain.bytes()) / 1024, static_cast<double>(4 * n * d) / 1024});
    rows.push_back(row);
    fmt::print("  {:6}  {:8.2f}  {:8.2f}  {:8.2f}  {:14.2f}   {:12}  {:12}\n", n, row[1], row[2], row[3], row[4],
               row[5], row[6]);
  }
  auto const from_256 = [](std::vector<double> const& x) { return std::vector<double>(x.begin() + 2, x.end()); };
  for (std::size_t step = 0; step < steps.size(); ++step)
    fmt::print("  {:22} documents {:10} time ∝ n^{:.2f} from n = 256\n", steps[step], printed[step],
               fitted_exponent(from_256(lengths), from_256(milliseconds[step])));
  fmt::print("  {:22} documents {:10} memory ∝ n^{:.2f} from n = 256\n", "all, plain", "O(n·m)",
             fitted_exponent(from_256(lengths), from_256(plain_bytes)));
  e.check(counts, "S, A and O have 4·(2n² + n·d) bytes, counted: the matrices four times as much for twice the tokens");
  e.check(share <= 1, fmt::format("at n = 64 the fast kernel's outputs are off by at most {:.2f} of their error bound; "
                                  "it keeps O alone",
                                  share));
  e.table("scoring_sequence", {"n", "QKᵀ", "softmax", "A·V", "fast kernel: all three", "plain", "kernel"}, rows);
  e.figure("scoring_sequence",
           R"gp(set multiplot layout 1,2 \
  title "Time and memory of plain loops grow with n², memory of the fast kernel with n (log scales)"
set logscale x 2
set logscale y 10
set format y "10^{%T}"
set xlabel "n, tokens"
set key top left
set ylabel "time (ms), d = 64"
set yrange [0.005:5000]
plot for [c=2:5] "scoring_sequence.csv" using 1:c with linespoints lt c-1 title columnheader(c)
set ylabel "arrays of float32 (KiB)"
set yrange [*:*]
plot "scoring_sequence.csv" using 1:6 with linespoints lt 2 title "S, A and O, plain", \
     "" using 1:7 with linespoints lt 1 title "O, fast kernel"
unset multiplot
)gp",
           {900, 460});
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "Four scores: what they answer, and what a pair and a sequence cost",
                               [](attest::examples::experiment& e) {
                                 attest::examples::compare_weights(e);
                                 attest::examples::count_a_pair(e);
                                 attest::examples::measure_a_sequence(e);
                               });
}
