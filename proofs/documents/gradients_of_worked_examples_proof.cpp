// Gradients of the two worked examples, "Money Bank Grows" (Day 74) and E11.1 (Day 11), which the documents stop short
// of. docs/documents.md is the table.
#include "proofs/documents/exact_weights.hpp"
#include "proofs/documents/worked_gradients.hpp"
#include "proofs/worked_example.hpp"

namespace attest::proofs {
namespace {

/// dS_j = p_j·(W_j − Σ_i p_i·W_i) is Σ_i W_i·∂p_i/∂s_j with ∂p_i/∂s_j = p_i·(δ_ij − p_j), exactly.
template <std::size_t N>
constexpr bool is_jacobian_product(std::array<std::int64_t, N> const& scores, std::array<std::int64_t, N> const& W) {
  auto const p = exact_softmax(scores);
  exact_weight const delta = weighted_sum(W, p);
  for (std::size_t j = 0; j < N; ++j) {
    exact_weight product = fraction(0, 1);
    for (std::size_t i = 0; i < N; ++i) product = product + W[i] * (p[i] * (fraction(i == j ? 1 : 0, 1) + -1 * p[j]));
    if (!(p[j] * (fraction(W[j], 1) + -1 * delta) == product)) return false;
  }
  return true;
}

// --- Day 74, "Money Bank Grows" ------------------------------------------------------------------------------------
// Of the sum of all outputs: dO is 1 everywhere, and W_j the sum of value j: 6, 4, 3.

constexpr worked_example<3, 3, 3, 3> money{
    .q = {2, 1, 3, 1, 2, 1, 0, 1, 2}, .k = {1, 0, 2, 2, 1, 0, 1, 3, 1}, .v = {2, 1, 3, 1, 2, 1, 0, 1, 2}};
constexpr worked_gradients of_money(money, {1, 1, 1, 1, 1, 1, 1, 1, 1});

static_assert(is_jacobian_product<3>(money.dots(0), {6, 4, 3}) && is_jacobian_product<3>(money.dots(1), {6, 4, 3}) &&
                  is_jacobian_product<3>(money.dots(2), {6, 4, 3}) && exactly(of_money.W(0, 0), 6) &&
                  exactly(of_money.W(0, 1), 4) && exactly(of_money.W(0, 2), 3),
              "day74/jacobian-product: holds: P o (dP - rowsum(P o dP)) is J' dP exactly in each row, dP = [6 4 3]");
static_assert(nearly_sums_to(of_money.dS(0), 0) && nearly_sums_to(of_money.dS(1), 0) &&
                  nearly_sums_to(of_money.dS(2), 0),
              "day74/ds-sums: holds: each row of dS sums to 0, up to 2^-100");
static_assert(of_money.meet_differences(),
              "day74/differences: holds: each number of dQ and dK is as near to a central difference of the loss, step "
              "2^-32, as Taylor says of the derivative");
static_assert(prints(of_money.dQ(0),
                     {"-0.0215542960916447199377", "-1.1826864480702402486692", "0.4301526428428212827859"}),
              "day74/dq-1: holds: dQ row 1");
static_assert(prints(of_money.dQ(1),
                     {"0.0381862762999621853225", "-0.3079005697743751586961", "0.0389897294248547440279"}),
              "day74/dq-2: holds: dQ row 2");
static_assert(prints(of_money.dQ(2),
                     {"-0.0025525779007364964847", "-1.1226150347186436509723", "0.3784593080741087111320"}),
              "day74/dq-3: holds: dQ row 3");
static_assert(prints(of_money.dK(0),
                     {"0.8943726992271700550468", "0.9388570883741826361962", "2.0547845063250910471895"}),
              "day74/dk-1: holds: dK row 1");
static_assert(prints(of_money.dK(1),
                     {"-0.0049223158833272545530", "0.0522656786075431542225", "-0.0315817677764449674601"}),
              "day74/dk-2: holds: dK row 2");
static_assert(prints(of_money.dK(2),
                     {"-0.8894503833438428004938", "-0.9911227669817257904187", "-2.0232027385486460797294"}),
              "day74/dk-3: holds: dK row 3");
static_assert(
    prints(of_money.dV(0), {"0.8456751979459074746615", "0.8456751979459074746615", "0.8456751979459074746615"}) &&
        prints(of_money.dV(1), {"0.2270638421795449733936", "0.2270638421795449733936", "0.2270638421795449733936"}) &&
        prints(of_money.dV(2), {"1.9272609598745475519449", "1.9272609598745475519449", "1.9272609598745475519449"}),
    "day74/dv: holds: each column of dV holds the column sums of A");

// --- Day 11, E11.1 -------------------------------------------------------------------------------------------------

constexpr worked_example<3, 3, 2, 2> e11_1{
    .q = {1, 0, 0, 1, 1, 1}, .k = {1, 0, 0, 1, 0.5, 0.5}, .v = {1, 0, 0, 1, 0.5, 0.5}};
// Scores and W are doubled: whole numbers.
static_assert(is_jacobian_product<3>({2, 0, 1}, {2, 0, 1}) && is_jacobian_product<3>({0, 2, 1}, {0, 2, 1}) &&
                  is_jacobian_product<3>({2, 2, 2}, {2, 2, 2}),
              "day11/e11.1-jacobian-product: holds: P o (dP - rowsum(P o dP)) is J' dP exactly in each row, dO = Q");
static_assert(
    [] {
      for (std::size_t j = 0; j < 3; ++j)
        if (e11_1.v[2 * j] + e11_1.v[2 * j + 1] != 1) return false;
      auto const p = exact_softmax<3>({2, 0, 1});
      return p[0] * (fraction(1, 1) + -1 * weighted_sum<3>({1, 1, 1}, p)) == fraction(0, 1);
    }(),
    "day11/e11.1-sum-of-outputs: holds: each row of V sums to 1, so the sum of all outputs does not depend on Q and K: "
    "dP is exactly 1 everywhere and dS exactly 0");

constexpr worked_gradients of_e11_1(e11_1, e11_1.q);  // dO = Q
static_assert(
    of_e11_1.meet_differences(),
    "day11/e11.1-differences: holds: with dO = Q, each number of dQ and dK is as near to a central difference "
    "of the loss, step 2^-32, as Taylor says of the derivative");
static_assert(prints(of_e11_1.dQ(0), {"0.110805269221999501486097", "-0.110805269221999501486097"}) &&
                  prints(of_e11_1.dQ(1), {"-0.110805269221999501486097", "0.110805269221999501486097"}) &&
                  nearly_equal(of_e11_1.dQ(2), {0, 0}),
              "day11/e11.1-dq: holds: with dO = Q, dQ; row 3 is 0, up to 2^-100");
static_assert(prints(of_e11_1.dK(0), {"0.123862678624316597843049", "-0.097747859819682405129145"}) &&
                  prints(of_e11_1.dK(1), {"-0.097747859819682405129145", "0.123862678624316597843049"}) &&
                  prints(of_e11_1.dK(2), {"-0.026114818804634192713904", "-0.026114818804634192713904"}),
              "day11/e11.1-dk: holds: with dO = Q, dK");
static_assert(prints(of_e11_1.dV(0), {"0.788860823832132499970830", "0.557939676968133764201921"}) &&
                  prints(of_e11_1.dV(1), {"0.557939676968133764201921", "0.788860823832132499970830"}) &&
                  prints(of_e11_1.dV(2), {"0.653199499199733735827249", "0.653199499199733735827249"}),
              "day11/e11.1-dv: holds: with dO = Q, dV");

}  // namespace
}  // namespace attest::proofs
