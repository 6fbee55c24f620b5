// softmax(s/T) from T = 0.01 to 100: from one key to all keys alike, and where its gradient vanishes.
//
// Source: Scaled Dot-Product Attention, "Softmax Temperature" and "Gradient Flow"; Day 11: Scaled Dot-Product
// Attention, 11.4; Scaled Dot-Product Attention: The Math, Step 3, whose scores [2, 1, 0.1] are used.
#include <algorithm>
#include <cmath>

#include "examples/support/experiment.hpp"
#include "reference/real/decimal.hpp"
#include "reference/real/log.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "reference/textbook/softmax.hpp"
#include "reference/textbook/softmax_jacobian.hpp"

namespace attest::examples {
namespace {

number decimal_number(std::string_view printed) {
  reference::decimal<128> const p(printed);
  return p.digits / p.ten_to_places;
}

void cool_and_heat(experiment& e) {
  e.section("1. softmax([2, 1, 0.1]/T)");
  std::vector<number> const scores{2, 1, decimal_number("0.1")};
  e.rounds(reference::softmax(scores), {"0.6590011388859679", "0.2424329707047139", "0.0985658904093182"}, "at T = 1");
  std::vector<std::vector<double>> rows;
  bool rises = true;
  number before = 0;
  // 0.01·10^(k/10) = 10^(k/10 − 2): every tenth of a decade.
  number const ln_10 = reference::log(number(10));
  for (std::int64_t k = 0; k <= 40; ++k) {
    number const T = reference::exp(ln_10 * number(k - 20) / number(10));
    auto const p = reference::softmax(scores, T);
    number const entropy = reference::entropy(p);
    if (k > 0) rises = rises && reference::certain_sign(entropy - before) > 0;
    before = entropy;
    std::vector<double> row{nearly(T)};
    for (number const& weight : p) row.push_back(nearly(weight));
    row.push_back(nearly(entropy));
    for (std::int64_t i = 0; i < 3; ++i) row.push_back(nearly(reference::softmax_jacobian(p, i, i)));
    for (std::int64_t j = 1; j < 3; ++j) row.push_back(nearly(reference::softmax_jacobian(p, 0, j)));
    if (k % 10 == 0)
      fmt::print("  T = {:6.4g}: weights {:.6f} {:.6f} {:.6f}, entropy {:.6f} nats\n", row[0], row[1], row[2], row[3],
                 row[4]);
    rows.push_back(row);
  }
  e.check(rises, "the entropy rises with every step of T, for certain");
  number const ln_3 = reference::log(number(3));
  auto const hot = reference::softmax(scores, number(100));
  // ln m − H(softmax(s)) = ∫ t·Var_t(s) dt over t in [0, 1], where Var_t(s), the variance under softmax(t·s), is at
  // most (max s − min s)²/4.
  number const range = decimal_number("1.9") / number(100), from_uniform = ln_3 - reference::entropy(hot);
  e.check(reference::certain_sign(from_uniform) > 0 &&
              reference::certain_sign(range * range / number(8) - from_uniform) > 0,
          fmt::format("at T = 100 it is below ln 3 by {:.3g}, at most (1.9/100)²/8 nats", nearly(from_uniform)));
  // A key whose score is g·T below the largest has p ≤ e^−g and −p·ln p ≤ g·e^−g; the first key has −p·ln p ≤ 1 − p.
  // So H ≤ Σ (g + 1)·e^−g ≤ 191·Σ e^−g. At 128 bits the enclosure of 1 − p is wider than that; at 256 it is not.
  using wide = reference::ball<256>;
  auto const cold = reference::softmax(std::vector<wide>{2, 1, wide(1) / wide(10)}, wide(1) / wide(100));
  wide most{};
  for (std::int64_t const g : {100, 190}) most = most + wide(191) * reference::exp(wide(-g));
  e.check(reference::certain_sign(most - reference::entropy(cold)) > 0,
          "at T = 0.01 it is below 191·(e^−100 + e^−190) nats, 10⁻⁴¹");
  e.rounds(reference::softmax(std::vector<number>{10, 0, 0}),
           {"0.9999092083843410", "0.0000453958078295", "0.0000453958078295"}, "softmax([10, 0, 0])");

  e.table("temperature",
          {"T", "weight 1", "weight 2", "weight 3", "entropy", "dp1/ds1", "dp2/ds2", "dp3/ds3", "dp1/ds2", "dp1/ds3"},
          rows);
  constexpr std::string_view axes = R"gp(set logscale x
set xlabel "temperature T"
set xrange [0.01:100]
set format x "%g"
)gp";
  e.figure("temperature", std::string(axes) + R"gp(set title "Cold, one key has all the weight; hot, all have the same"
set ylabel "weight, or entropy (nats)"
set yrange [0:1.2]
set key outside right center vertical
plot "temperature.csv" using 1:2 with lines lt 1 title "weight of 2", \
     "" using 1:3 with lines lt 2 title "weight of 1", \
     "" using 1:4 with lines lt 3 title "weight of 0.1", "" using 1:5 with lines lt 4 title "entropy", \
     log(3) lt 5 title "ln 3"
)gp");
  e.figure("temperature_gradient",
           std::string(axes) + R"gp(set title "∂p/∂(s/T) vanishes where one key has all the weight"
set ylabel "entry of the softmax Jacobian"
set yrange [-0.3:0.3]
set key outside right center vertical
plot "temperature.csv" using 1:6 with lines lt 1 title "p_1(1−p_1)", "" using 1:7 with lines lt 2 title "p_2(1−p_2)", \
     "" using 1:8 with lines lt 3 title "p_3(1−p_3)", "" using 1:9 with lines lt 4 title "−p_1p_2", \
     "" using 1:10 with lines lt 5 title "−p_1p_3"
)gp");
}

/// Two statements of the documents that sound alike, told apart on out = Σ p_j·v_j.
void two_gradients(experiment& e) {
  e.section("2. Two statements about gradients");
  std::vector<number> const p = reference::softmax(std::vector<number>{10, 0, 0});
  fmt::print("  \"Gradients flow primarily through the attended position\" is about the values: ∂out/∂v_j = p_j.\n");
  e.rounds(p[0], "0.9999092083843410", "∂out/∂v_1 at softmax([10, 0, 0]), which does not vanish");
  fmt::print("  \"The gradient p_i(1 − p_i) vanishes\" is about the scores: ∂p_i/∂s_j = p_i(δ_ij − p_j).\n");
  e.rounds(reference::softmax_jacobian(p, 0, 0), "0.000090783372541547843314", "∂p_1/∂s_1");
  e.rounds(reference::softmax_jacobian(p, 1, 1), "0.000045393747050142415541", "∂p_2/∂s_2");
  fmt::print("  A saturated row still teaches the value of its key, and hardly which key to attend.\n");
  number sum = 0;
  for (std::int64_t j = 0; j < 3; ++j) sum = sum + reference::softmax_jacobian(p, 0, j);
  e.check(reference::overlap(sum, number(0)), "a row of the Jacobian sums to 0: weight is only moved");
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "softmax(s/T) from T = 0.01 to 100, and its gradients",
                               [](attest::examples::experiment& e) {
                                 attest::examples::cool_and_heat(e);
                                 attest::examples::two_gradients(e);
                               });
}
