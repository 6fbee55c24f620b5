// "Day 74: Scaled Dot Product Attention - Why Do We Scale Self Attention?": "Money Bank Grows" and its variances.
// day_74_softmax_and_variance_proof.cpp holds the rest of the document, docs/documents.md the table.
//
// From the printed Q and K; W_V = I, so V = E, which is the printed Q:
// Q = V = [2 1 3; 1 2 1; 0 1 2], K = [1 0 2; 2 1 0; 1 3 1], d_k = 3.
#include "proofs/worked_example.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/variance.hpp"

namespace attest::proofs {
namespace {

using matrix = std::array<float, 9>;
constexpr matrix E{2, 1, 3, 1, 2, 1, 0, 1, 2}, W_Q{1, 0, 1, 0, 1, 0, 1, 1, 1}, W_K{1, 1, 0, 0, 1, 1, 1, 0, 1},
    W_V{1, 0, 0, 0, 1, 0, 0, 0, 1}, printed_Q{2, 1, 3, 1, 2, 1, 0, 1, 2}, printed_K{1, 0, 2, 2, 1, 0, 1, 3, 1};

constexpr worked_example<3, 3, 3, 3> scaled{.q = printed_Q, .k = printed_K, .v = E};
constexpr worked_example<3, 3, 3, 3> unscaled{.q = printed_Q, .k = printed_K, .v = E, .scale = 1.0};
constexpr auto solved = scaled.solve();
constexpr auto without_scale = unscaled.solve();

// Step 2: "Generate Q, K, V Matrices"
constexpr auto project(matrix const& W) { return reference::project<float>(E, W, 3, 3, 3); }
constexpr auto project_transposed(matrix const& W) { return reference::project_transposed<float>(E, W, 3, 3, 3); }
constexpr matrix Q_of_W{5, 4, 5, 2, 3, 2, 2, 3, 2}, K_of_W{5, 3, 4, 2, 3, 3, 2, 1, 3};
constexpr matrix Q_of_WT{5, 1, 6, 2, 2, 4, 2, 1, 3}, K_of_WT{3, 4, 5, 3, 3, 2, 1, 3, 2};

static_assert(!project(W_Q).is(printed_Q) && !project_transposed(W_Q).is(printed_Q) && printed_Q == E,
              "day74/query-matrix: wrong: neither E.W_Q nor E.W_Q' is the printed Q, which is E itself");
static_assert(!project(W_K).is(printed_K) && !project_transposed(W_K).is(printed_K),
              "day74/key-matrix: wrong: neither E.W_K nor E.W_K' is the printed K");
static_assert(project(W_Q).is(Q_of_W) && project(W_K).is(K_of_W), "day74/true-projections: answer: E.W_Q and E.W_K");
static_assert(project_transposed(W_Q).is(Q_of_WT) && project_transposed(W_K).is(K_of_WT),
              "day74/true-projections-transposed: answer: E.W_Q' and E.W_K'");
static_assert(project(W_V).is(E) && project_transposed(W_V).is(E), "day74/value-matrix: holds: W_V = I, so V = E");

constexpr bool nearly_one_hot(matrix const& q, matrix const& k) {
  auto const solution = worked_example<3, 3, 3, 3>{.q = q, .k = k, .v = E}.solve();
  for (auto const& row : solution.A)
    if (!below(printed_number("0.98"), row[0])) return false;  // the first key in every row
  return true;
}
static_assert(nearly_one_hot(Q_of_W, K_of_W) && nearly_one_hot(Q_of_WT, K_of_WT),
              "day74/true-projections-one-hot: holds: with true projections the scaled attention still gives one key "
              "more than 0.98 in every row");

// Step 3: "Result: [[8, 5, 8], [3, 4, 8], [4, 1, 5]]"
static_assert(scaled.dot_is(0, 0, 8) && scaled.dot_is(0, 1, 5) && scaled.dot_is(0, 2, 8) &&
                  2 * 1 + 1 * 0 + 3 * 2 == 8 && 2 * 2 + 1 * 1 + 3 * 0 == 5 && 2 * 1 + 1 * 3 + 3 * 1 == 8,
              "day74/qk-1: right: QK' row 1 is [8 5 8]");
static_assert(scaled.dot_is(1, 0, 3) && scaled.dot_is(1, 1, 4) && scaled.dot_is(1, 2, 8) &&
                  1 * 1 + 2 * 0 + 1 * 2 == 3 && 1 * 2 + 2 * 1 + 1 * 0 == 4 && 1 * 1 + 2 * 3 + 1 * 1 == 8,
              "day74/qk-2: right: QK' row 2 is [3 4 8]");
static_assert(scaled.dot_is(2, 0, 4) && scaled.dot_is(2, 1, 1) && scaled.dot_is(2, 2, 5) &&
                  0 * 1 + 1 * 0 + 2 * 2 == 4 && 0 * 2 + 1 * 1 + 2 * 0 == 1 && 0 * 1 + 1 * 3 + 2 * 1 == 5,
              "day74/qk-3: right: QK' row 3 is [4 1 5]");

// Step 4: "Divide each element by √3 = 1.73"
static_assert(agrees(number(3) * reference::inverse_sqrt<width>(3), "1.73", "1.73205080756888"),
              "day74/sqrt-3: right: the square root of 3 is about 1.73");
static_assert(agrees(solved.S[0], {"4.62", "2.89", "4.62"},
                     {"4.6188021535170061160732", "2.8867513459481288225457", "4.6188021535170061160732"}),
              "day74/scaled-1: right: scaled matrix, row 1");
static_assert(agrees(solved.S[1], {"1.73", "2.31", "4.62"},
                     {"1.7320508075688772935274", "2.3094010767585030580366", "4.6188021535170061160732"}),
              "day74/scaled-2: right: scaled matrix, row 2");
static_assert(agrees(solved.S[2], {"2.31", "0.58", "2.89"},
                     {"2.3094010767585030580366", "0.5773502691896257645091", "2.8867513459481288225457"}),
              "day74/scaled-3: right: scaled matrix, row 3");

// Step 5: "Variance Analysis"
constexpr matrix scores{8, 5, 8, 3, 4, 8, 4, 1, 5};
constexpr number population = reference::population_variance(scores).enclosure<width>();
constexpr number sample = reference::sample_variance(scores).enclosure<width>();
constexpr number third = number(1) / number(3);  // Var(S/√3) = Var(S)/3, exactly
constexpr auto scaled_scores = [] {
  std::array<number, 9> all{};
  for (std::size_t i = 0; i < 9; ++i) all[i] = solved.S[i / 3][i % 3];
  return all;
}();

/// whole + root·√3
struct with_root_3 {
  std::int64_t whole = 0, root = 0;
  friend constexpr with_root_3 operator+(with_root_3 const& a, with_root_3 const& b) noexcept {
    return {a.whole + b.whole, a.root + b.root};
  }
  friend constexpr with_root_3 operator-(with_root_3 const& a, with_root_3 const& b) noexcept {
    return {a.whole - b.whole, a.root - b.root};
  }
  friend constexpr with_root_3 operator*(with_root_3 const& a, with_root_3 const& b) noexcept {
    return {a.whole * b.whole + 3 * a.root * b.root, a.whole * b.root + a.root * b.whole};
  }
  friend constexpr bool operator==(with_root_3 const&, with_root_3 const&) noexcept = default;
};
/// Σ (9x − Σx)² over x = s·√3 of the nine scores s: since s/√3 = x/3, it is 9²·3²·Σ (deviation of s/√3)², exactly.
constexpr with_root_3 deviations_of_scaled_scores = [] {
  with_root_3 total, sum;
  for (float const s : scores) total = total + with_root_3{0, static_cast<std::int64_t>(s)};
  for (float const s : scores) {
    with_root_3 const deviation = with_root_3{9, 0} * with_root_3{0, static_cast<std::int64_t>(s)} - total;
    sum = sum + deviation * deviation;
  }
  return sum;
}();

static_assert(reference::population_variance(scores).is(440, 81) && reference::sample_variance(scores).is(55, 9),
              "day74/variance-exact: answer: the variance of the nine scores is 440/81 (population), 55/9 (sample)");
static_assert(misprinted(population, "6.89", "5.43209876543210") && misprinted(sample, "6.89", "6.11111111111111"),
              "day74/variance: wrong: 6.89 is neither variance of the nine scores");
static_assert(misprinted(population * third, "2.30", "1.81069958847737") &&
                  misprinted(sample * third, "2.30", "2.03703703703704") &&
                  prints(printed_number("6.89") * third, "2.30"),
              "day74/variance-scaled: wrong: 2.30 is neither variance of the scaled scores, but 6.89/3");
static_assert(deviations_of_scaled_scores == with_root_3{81 * 9 * 9 * 440 / (3 * 81), 0} &&
                  deviations_of_scaled_scores == with_root_3{81 * 9 * 8 * 55 / (3 * 9), 0} &&
                  nearly_equal(reference::population_variance(scaled_scores), population* third) &&
                  nearly_equal(reference::sample_variance(scaled_scores), sample* third),
              "day74/variance-rule: right: Var(cX) = c^2 Var(X) exactly, 440/81/3 and 55/9/3, for the nine scores and "
              "c = 1/sqrt(3)");

// Weights, outputs and entropies, which the document does not print.
static_assert(prints(solved.A[0], {"0.4593643523237516994303", "0.0812712953524966011395", "0.4593643523237516994303"}),
              "day74/weights-1: answer: A row 1 (money)");
static_assert(prints(solved.A[1], {"0.0482712552991206431870", "0.0859861747239341855746", "0.8657425699769451712384"}),
              "day74/weights-2: answer: A row 2 (bank)");
static_assert(prints(solved.A[2], {"0.3380395903230351320442", "0.0598063721031141866795", "0.6021540375738506812762"}),
              "day74/weights-3: answer: A row 3 (grows)");
static_assert(scaled.output_is(0, 0, 1),
              "day74/output-exact: answer: O[1][1] is exactly 1: the two keys with score 8 average 2 and 0");
static_assert(prints(solved.O[0], {"1.0000000000000000000000", "1.0812712953524966011395", "2.3780930569712550982908"}),
              "day74/output-1: answer: O row 1");
static_assert(prints(solved.O[1], {"0.1825286853221754719485", "1.0859861747239341855746", "1.9622850805751864576124"}),
              "day74/output-2: answer: O row 2");
static_assert(prints(solved.O[2], {"0.7358855527491844507680", "1.0598063721031141866795", "2.2782332182199209453647"}),
              "day74/output-3: answer: O row 3");
static_assert(prints(solved.entropy,
                     {"0.9186776006460869452096", "0.4820913536164049349537", "0.8405261386372747843222"}),
              "day74/entropy-scaled: answer: entropies with scaling");
static_assert(prints(without_scale.A[0],
                     {"0.4878555511603683965411", "0.0242888976792632069179", "0.4878555511603683965411"}),
              "day74/unscaled-weights-1: answer: unscaled A row 1");
static_assert(prints(without_scale.A[1],
                     {"0.0065732631853090830303", "0.0178679818703045021105", "0.9755587549443864148592"}),
              "day74/unscaled-weights-2: answer: unscaled A row 2");
static_assert(prints(without_scale.A[2],
                     {"0.2653879287722419303338", "0.0132128869537894153953", "0.7213991842739686542710"}),
              "day74/unscaled-weights-3: answer: unscaled A row 3");
static_assert(prints(without_scale.entropy,
                     {"0.7906026117044921955486", "0.1290831335465860738009", "0.6448021178548700502836"}),
              "day74/entropy-unscaled: answer: entropies without scaling");
static_assert(
    [] {
      for (auto const& row : without_scale.A)
        for (auto const& weight : row)
          if (reference::rounds_to(weight, "0.95") != reference::decision::no) return false;
      return true;
    }(),
    "day74/extreme-softmax: wrong: no unscaled weight is about 0.95");
static_assert(below(without_scale.entropy[0], solved.entropy[0]) &&
                  below(without_scale.entropy[1], solved.entropy[1]) &&
                  below(without_scale.entropy[2], solved.entropy[2]),
              "day74/more-even: right: scaling raises the entropy of every row");

}  // namespace
}  // namespace attest::proofs
