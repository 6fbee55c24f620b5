// Exercise E11.1 by hand, with every digit certain: which query attends most uniformly, which is most focused?
//
// Source: Day 11: Scaled Dot-Product Attention, "E11.1 Hand Computation". The document asks; every answer that is
// compared here is proven in proofs/documents/.
#include <array>
#include <cmath>

#include "examples/support/experiment.hpp"
#include "reference/attention/exactly.hpp"
#include "reference/real/sqrt.hpp"

namespace attest::examples {
namespace {

constexpr std::array<float, 6> Q{1, 0, 0, 1, 1, 1}, K{1, 0, 0, 1, 0.5, 0.5}, V = K;
std::vector<std::string> const queries{"query 1", "query 2", "query 3"};

void solve(experiment& e) {
  auto const problem = attention_problem(Q, K, V, 3, 3, 2, 2);
  auto const exact = certify(problem);
  problem::parameters unscaled;
  unscaled.scale = 1;
  auto const raw = certify(attention_problem(Q, K, V, 3, 3, 2, 2, unscaled));

  e.section("1. \"Compute QKᵀ (the raw scores matrix)\"");
  print(raw.S, queries, 1);
  e.rounds(raw.S.row(0), {"1", "0", "0.5"}, "query 1");
  e.rounds(raw.S.row(1), {"0", "1", "0.5"}, "query 2");
  e.rounds(raw.S.row(2), {"1", "1", "1"}, "query 3");

  e.section("2. \"Scale by √d_k = √2 ≈ 1.414\"");
  print(exact.S, queries);
  e.rounds(reference::square_root(number(2)), "1.414", "√2");
  e.rounds(exact.S.row(0), {"0.707106781186547524400844", "0.000000000000000000000000", "0.353553390593273762200422"},
           "query 1");

  e.section("3. \"Apply softmax row-wise to get the attention weight matrix A\"");
  print(exact.A, queries);
  e.rounds(exact.A.row(0), {"0.455527490498799166637496", "0.224606343634800430868588", "0.319866165866400402493916"},
           "query 1");
  e.rounds(exact.A.row(1), {"0.224606343634800430868588", "0.455527490498799166637496", "0.319866165866400402493916"},
           "query 2");
  e.check(reference::weights_are_uniform(exact.rows[2]), "the weights of query 3 are exactly 1/3");

  e.section("4. \"Compute the output AV\"");
  print(exact.O, queries);
  e.rounds(exact.O.row(0), {"0.615460573431999367884454", "0.384539426568000632115546"}, "query 1");
  e.rounds(exact.O.row(1), {"0.384539426568000632115546", "0.615460573431999367884454"}, "query 2");
  auto const half = reference::value_of(0.5f);
  e.check(reference::output_is_exactly(problem, exact.rows[2], 0, half) &&
              reference::output_is_exactly(problem, exact.rows[2], 1, half),
          "the output of query 3 is exactly [0.5, 0.5]");
  double const share = share_of_bound(problem, exact, ask_kernel(problem));
  e.check(share <= 1, fmt::format("the fast kernel's outputs are off by at most {:.2f} of their error bound", share));

  e.section("5. \"Interpret: which query attends most uniformly? Which is most focused?\"");
  e.rounds(exact.entropy[0], "1.058209647905666362243649", "entropy of query 1, nats");
  e.rounds(exact.entropy[1], "1.058209647905666362243649", "entropy of query 2, nats");
  e.rounds(exact.entropy[2], "1.098612288668109691395245", "entropy of query 3, ln 3 nats");
  e.check(reference::certain_sign(exact.entropy[2] - exact.entropy[0]) > 0 &&
              reference::certain_sign(exact.entropy[2] - exact.entropy[1]) > 0,
          "query 3 attends most uniformly");
  e.check(reference::same_scores_in_some_order(exact.rows[0], exact.rows[1]),
          "queries 1 and 2 are the most focused: an exact tie, with the same weights in another order");

  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < 3; ++i)
    rows.push_back({static_cast<double>(i + 1), nearly(exact.A(i, 0)), nearly(exact.A(i, 1)), nearly(exact.A(i, 2)),
                    nearly(exact.entropy[static_cast<std::size_t>(i)])});
  e.table("hand_computation", {"query", "key 1", "key 2", "key 3", "entropy"}, rows);
  e.figure("hand_computation", R"gp(set title "Query 3 attends uniformly; queries 1 and 2 are equally focused"
set style data histograms
set style histogram clustered gap 1
set xlabel "query"
set ylabel "attention weight"
set yrange [0:0.58]
set xrange [-0.6:2.6]
set key outside top center horizontal
unset grid
set grid ytics
set label 1 "entropy 1.0582 nats" at 0,0.5 center
set label 2 "entropy 1.0582 nats" at 1,0.5 center
set label 3 "entropy ln 3 nats" at 2,0.5 center
plot "hand_computation.csv" using 2:xtic(1) title columnheader lt 1 dt 1 fs solid 0.9, \
     "" using 3 title columnheader lt 2 dt 1 fs solid 0.45, "" using 4 title columnheader lt 3 dt 1 fs pattern 5
)gp");
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "Exercise E11.1 by hand, with every digit certain", attest::examples::solve);
}
