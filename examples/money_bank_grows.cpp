// "money bank grows", from three word vectors to three contextual ones, and where the document's own numbers are wrong.
//
// Source: Day 74: Scaled Dot Product Attention - Why Do We Scale Self Attention?, "Step-by-Step Matrix Calculation
// Example". Every number that is compared here is proven in proofs/documents/.
#include <array>

#include "examples/support/experiment.hpp"
#include "reference/attention/exactly.hpp"
#include "reference/real/decimal.hpp"
#include "reference/real/sqrt.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/softmax.hpp"
#include "reference/textbook/variance.hpp"

namespace attest::examples {
namespace {

using matrix = std::array<float, 9>;
std::vector<std::string> const words{"money", "bank", "grows"};

constexpr matrix E{2, 1, 3, 1, 2, 1, 0, 1, 2};
constexpr matrix W_Q{1, 0, 1, 0, 1, 0, 1, 1, 1}, W_K{1, 1, 0, 0, 1, 1, 1, 0, 1}, W_V{1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr matrix Q{2, 1, 3, 1, 2, 1, 0, 1, 2}, K{1, 0, 2, 2, 1, 0, 1, 3, 1};  // as the document prints them

problem::instance<float> attention_of(matrix const& q, matrix const& k, matrix const& v, std::optional<double> scale) {
  problem::parameters chosen;
  chosen.scale = scale;
  return attention_problem(q, k, v, 3, 3, 3, 3, chosen);
}

/// The scores QKᵀ. Requires whole numbers: floats hold them exactly.
matrix scores_of(matrix const& q, matrix const& k) {
  matrix S{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t t = 0; t < 3; ++t) S[3 * i + j] += q[3 * i + t] * k[3 * j + t];
  return S;
}

void print_whole(matrix const& X) {
  for (std::size_t i = 0; i < 3; ++i)
    fmt::print("  {:6} {:3} {:3} {:3}\n", words[i], X[3 * i], X[3 * i + 1], X[3 * i + 2]);
}

void project(experiment& e) {
  e.section("1. Embeddings become queries and keys: Q = E·W_Q, or with the other convention E·W_Qᵀ");
  matrix const Q_plain{5, 4, 5, 2, 3, 2, 2, 3, 2}, K_plain{5, 3, 4, 2, 3, 3, 2, 1, 3};
  matrix const Q_transposed{5, 1, 6, 2, 2, 4, 2, 1, 3}, K_transposed{3, 4, 5, 3, 3, 2, 1, 3, 2};
  print_whole(E);
  auto const plain = [](matrix const& W) { return reference::project<float>(E, W, 3, 3, 3); };
  auto const transposed = [](matrix const& W) { return reference::project_transposed<float>(E, W, 3, 3, 3); };
  e.check(plain(W_Q).is(Q_plain) && plain(W_K).is(K_plain),
          "X·W gives Q = [5 4 5; 2 3 2; 2 3 2], K = [5 3 4; 2 3 3; 2 1 3], exactly");
  e.check(transposed(W_Q).is(Q_transposed) && transposed(W_K).is(K_transposed),
          "X·Wᵀ gives Q = [5 1 6; 2 2 4; 2 1 3], K = [3 4 5; 3 3 2; 1 3 2], exactly");
  e.check(plain(W_V).is(E) && transposed(W_V).is(E), "W_V is the identity, so V = E with both");
  e.check(!plain(W_Q).is(Q) && !transposed(W_Q).is(Q) && Q == E,
          "erratum: the printed Q comes from neither; it is E itself");
  e.check(!plain(W_K).is(K) && !transposed(W_K).is(K), "erratum: the printed K comes from neither");
  for (auto const& [q, k, how] :
       {std::tuple{Q_plain, K_plain, "X·W"}, std::tuple{Q_transposed, K_transposed, "X·Wᵀ"}}) {
    auto const true_attention = certify(attention_of(q, k, E, {}));
    bool one_hot = true;
    for (std::int64_t i = 0; i < 3; ++i) {
      double largest = 0;
      for (double const weight : nearly(true_attention.A.row(i))) largest = std::max(largest, weight);
      one_hot = one_hot && largest > 0.98;
    }
    e.check(one_hot,
            fmt::format("with {} one key has more than 0.98 of the weight in every row, although it is scaled", how));
  }
  fmt::print("  Scaling keeps the variance at 1 for independent entries of variance 1; these are neither.\n");
}

void multiply(experiment& e) {
  e.section("2. Nine dot products, QKᵀ, from the printed Q and K");
  matrix const S = scores_of(Q, K);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      fmt::print("  q_{:5} · k_{:5} = {}×{} + {}×{} + {}×{} = {}\n", words[i], words[j], Q[3 * i], K[3 * j],
                 Q[3 * i + 1], K[3 * j + 1], Q[3 * i + 2], K[3 * j + 2], S[3 * i + j]);
  e.check(S == matrix{8, 5, 8, 3, 4, 8, 4, 1, 5}, "QKᵀ = [8 5 8; 3 4 8; 4 1 5], as printed");
}

void scale(experiment& e) {
  e.section("3. Scaled by 1/√3");
  auto const exact = certify(attention_of(Q, K, E, {}));
  print(exact.S, words);
  e.rounds(exact.S.row(0), {"4.6188021535", "2.8867513459", "4.6188021535"}, "money");
  e.rounds(exact.S.row(1), {"1.7320508076", "2.3094010768", "4.6188021535"}, "bank");
  e.rounds(exact.S.row(2), {"2.3094010768", "0.5773502692", "2.8867513459"}, "grows");
  matrix const S = scores_of(Q, K);
  auto const population = reference::population_variance(S);
  auto const sample = reference::sample_variance(S);
  e.check(population.is(440, 81) && sample.is(55, 9), "the variance of the nine scores is 440/81, of a sample 55/9");
  e.misprinted(population.enclosure<128>(), "6.89", "the variance");
  e.misprinted(sample.enclosure<128>(), "6.89", "the sample variance");
  e.misprinted(reference::population_variance(exact.S.entries), "2.30", "the variance after scaling");
  e.misprinted(reference::sample_variance(exact.S.entries), "2.30", "the sample variance after scaling");
  e.rounds(reference::population_variance(exact.S.entries), "1.81069958847737", "population variance, scaled");
}

void attend(experiment& e) {
  auto const scaled = certify(attention_of(Q, K, E, {}));
  auto const unscaled = certify(attention_of(Q, K, E, 1));
  e.section("4. Softmax without scaling: A = softmax(QKᵀ)");
  print(unscaled.A, words);
  e.rounds(unscaled.A.row(0), {"0.4878555511603684", "0.0242888976792632", "0.4878555511603684"}, "money");
  e.rounds(unscaled.A.row(1), {"0.0065732631853091", "0.0178679818703045", "0.9755587549443864"}, "bank");
  e.rounds(unscaled.A.row(2), {"0.2653879287722419", "0.0132128869537894", "0.7213991842739687"}, "grows");
  bool none = true;
  for (number const& weight : unscaled.A.entries)
    none = none && reference::rounds_to(weight, "0.95") == reference::decision::no;
  e.check(none, "erratum: \"some ≈ 0.95\": no weight rounds to 0.95");

  e.section("5. Softmax with scaling: A = softmax(QKᵀ/√3)");
  print(scaled.A, words);
  e.rounds(scaled.A.row(0), {"0.4593643523237517", "0.0812712953524966", "0.4593643523237517"}, "money");
  e.rounds(scaled.A.row(1), {"0.0482712552991206", "0.0859861747239342", "0.8657425699769452"}, "bank");
  e.rounds(scaled.A.row(2), {"0.3380395903230351", "0.0598063721031142", "0.6021540375738507"}, "grows");
  e.rounds(unscaled.entropy, {"0.7906026117044922", "0.1290831335465861", "0.6448021178548701"},
           "entropy before, nats");
  e.rounds(scaled.entropy, {"0.9186776006460869", "0.4820913536164049", "0.8405261386372748"}, "entropy after, nats");

  e.section("6. Contextual embeddings, A·V");
  print(scaled.O, words);
  e.check(reference::output_is_exactly(attention_of(Q, K, E, {}), scaled.rows[0], 0, reference::value_of(1.0f)),
          "the first number is exactly 1");
  e.rounds(scaled.O.row(0), {"1.0000000000000000", "1.0812712953524966", "2.3780930569712551"}, "money");
  e.rounds(scaled.O.row(1), {"0.1825286853221755", "1.0859861747239342", "1.9622850805751865"}, "bank");
  e.rounds(scaled.O.row(2), {"0.7358855527491845", "1.0598063721031142", "2.2782332182199209"}, "grows");
  auto const problem = attention_of(Q, K, E, {});
  double const share = share_of_bound(problem, scaled, ask_kernel(problem));
  e.check(share <= 1, fmt::format("the fast kernel's outputs are off by at most {:.2f} of their error bound", share));

  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      rows.push_back(
          {static_cast<double>(j), static_cast<double>(i), nearly(unscaled.A(i, j)), nearly(scaled.A(i, j))});
  e.table("money_bank_grows", {"key", "query", "unscaled", "scaled"}, rows);
  e.figure("money_bank_grows",
           R"gp(set multiplot layout 1,2 title "Scaling shares out the weight: the largest falls in every row"
set palette defined (0 "#ffffff", 1 "#0072B2")
set cbrange [0:1]
unset colorbox
unset key
unset grid
set border 0
set tics scale 0
set xrange [-0.5:2.5]
set yrange [2.5:-0.5]
set size ratio -1
set xtics ("money" 0, "bank" 1, "grows" 2)
set ytics ("money" 0, "bank" 1, "grows" 2)
set xlabel "key"
set ylabel "query"
set title "softmax(QKᵀ)"
plot "money_bank_grows.csv" using 1:2:3 with image pixels, \
     "" using 1:2:(sprintf("%.4f", $3)):($3 > 0.5 ? 0xffffff : 0) with labels tc rgb variable
set title "softmax(QKᵀ/√3)"
plot "money_bank_grows.csv" using 1:2:4 with image pixels, \
     "" using 1:2:(sprintf("%.4f", $4)):($4 > 0.5 ? 0xffffff : 0) with labels tc rgb variable
unset multiplot
)gp",
           {760, 400});
}

/// "Detailed Softmax Comparison with Matrix Example": the softmax of [5, 10, 7].
void compare(experiment& e) {
  e.section("7. \"Our matrices\": the row [5, 10, 7] that the document goes on with");
  matrix const printed{5, 10, 7, 6, 5, 3, 4, 7, 2};
  auto const product = reference::project<float>(Q, K, 3, 3, 3);
  e.check(scores_of(Q, K) != printed && !product.is(printed) && product.is(0, 0, 7) && product.is(0, 1, 10),
          "erratum: [5 10 7; 6 5 3; 4 7 2] is not QKᵀ; it is Q·K, with 5 for 7 at the start");
  std::vector<number> const row{5, 10, 7};
  number const root_3 = reference::square_root(number(3));
  auto const before = reference::softmax(row), after = reference::softmax(row, root_3);
  e.rounds(before, {"0.00637746092244", "0.94649912255289", "0.04712341652466"}, "before scaling");
  e.misprinted(before[1], "0.947", "the largest weight");
  e.rounds(after, {"0.04523244700376", "0.81124169389676", "0.14352585909948"}, "after scaling");
  for (auto const& [score, wrong] : {std::pair{10, "5.78"}, {7, "4.05"}, {6, "3.47"}, {2, "1.16"}})
    e.misprinted(number(score) / root_3, wrong, fmt::format("{}/√3 (divided by 1.73)", score));
  number const hundred(100);
  number const from_289 = reference::exp(number(289) / hundred), from_578 = reference::exp(number(578) / hundred),
               from_405 = reference::exp(number(405) / hundred);
  e.misprinted(from_578, "323.6", "exp(5.78)");
  e.misprinted(from_289 + from_578 + from_405, "399.0", "the sum of the three");
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "\"money bank grows\", from three word vectors to three contextual ones",
                               [](attest::examples::experiment& e) {
                                 attest::examples::project(e);
                                 attest::examples::multiply(e);
                                 attest::examples::scale(e);
                                 attest::examples::attend(e);
                                 attest::examples::compare(e);
                               });
}
