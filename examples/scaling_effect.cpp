// One query, ten keys, d_k = 512: what scaling does to the scores, the largest weight and the entropy.
//
// Source: Day 11: Scaled Dot-Product Attention, 11.7, test_scaling_effect. It prints one draw; here stand one draw and
// the means of 1000, and the document's [5, 10, 7] of Day 74 before and after scaling.
#include <algorithm>
#include <cmath>

#include "examples/support/experiment.hpp"
#include "examples/support/random.hpp"
#include "reference/real/sqrt.hpp"
#include "reference/textbook/softmax.hpp"

namespace attest::examples {
namespace {

constexpr std::int64_t keys = 10, d_k = 512, draws_of_mean = 1000;

/// The numbers that the document prints for one draw, in its order.
struct effect {
  double deviation = 0, largest = 0, entropy = 0;
};

/// std as torch computes it: with keys − 1. Entropy in nats, 0·log 0 = 0.
effect effect_of(std::vector<double> const& scores) {
  effect found;
  double mean = 0, top = scores[0], sum = 0;
  for (double const s : scores) mean += s / keys, top = std::max(top, s);
  for (double const s : scores) found.deviation += (s - mean) * (s - mean) / (keys - 1), sum += std::exp(s - top);
  found.deviation = std::sqrt(found.deviation);
  for (double const s : scores) {
    double const weight = std::exp(s - top) / sum;
    found.largest = std::max(found.largest, weight);
    if (weight > 0) found.entropy -= weight * std::log(weight);
  }
  return found;
}

std::vector<double> drawn_scores(normal_draws& draws) {
  auto const q = draws.normals(d_k), k = draws.normals(keys * d_k);
  std::vector<double> scores(keys);
  for (std::size_t j = 0; j < keys; ++j)
    for (std::size_t t = 0; t < d_k; ++t) scores[j] += static_cast<double>(q[t]) * static_cast<double>(k[j * d_k + t]);
  return scores;
}

/// Mean of some draws, and the standard error of that mean from their own spread.
struct estimate {
  double sum = 0, squares = 0;
  void add(double x) { sum += x, squares += x * x; }
  double mean() const { return sum / draws_of_mean; }
  double error() const { return std::sqrt((squares / draws_of_mean - mean() * mean()) / (draws_of_mean - 1)); }
};

void draw(experiment& e) {
  normal_draws draws(1);
  estimate deviation[2], largest[2], entropy[2];
  std::vector<std::vector<double>> rows;
  bool always_lower = true;
  for (std::int64_t n = 0; n < draws_of_mean; ++n) {
    auto scores = drawn_scores(draws);
    effect const unscaled = effect_of(scores);
    for (double& s : scores) s /= std::sqrt(static_cast<double>(d_k));
    effect const scaled = effect_of(scores);
    if (n == 0) {
      e.section("1. One draw, as test_scaling_effect prints it");
      fmt::print(
          "  d_k = {}\n  Score std (unscaled): {:.2f}\n  Score std (scaled):   {:.2f}\n"
          "  Max weight (unscaled): {:.4f}\n  Max weight (scaled):   {:.4f}\n"
          "  Entropy (unscaled): {:.4f}\n  Entropy (scaled):   {:.4f}\n",
          d_k, unscaled.deviation, scaled.deviation, unscaled.largest, scaled.largest, unscaled.entropy,
          scaled.entropy);
    }
    effect const both[2]{unscaled, scaled};
    for (int s = 0; s < 2; ++s)
      deviation[s].add(both[s].deviation), largest[s].add(both[s].largest), entropy[s].add(both[s].entropy);
    always_lower = always_lower && unscaled.entropy < scaled.entropy;
    rows.push_back(
        {unscaled.deviation, scaled.deviation, unscaled.largest, scaled.largest, unscaled.entropy, scaled.entropy});
  }
  e.section("2. The means of 1000 draws, beside an earlier simulation");
  // The expected numbers are printed with three digits: half a unit of the third is part of the difference that is
  // allowed.
  auto const near = [&](estimate const& found, double expected, double half_unit, std::string_view what) {
    e.within_5_standard_errors(found.mean(), expected, found.error() + half_unit / 5, what);
  };
  near(deviation[0], 21.99, 0.005, "score std, unscaled");
  near(deviation[1], 0.972, 0.0005, "score std, scaled");
  near(largest[0], 0.953, 0.0005, "largest weight, unscaled");
  near(largest[1], 0.320, 0.0005, "largest weight, scaled");
  near(entropy[0], 0.116, 0.0005, "entropy, unscaled, nats");
  near(entropy[1], 1.924, 0.0005, "entropy, scaled, nats");
  e.check(always_lower, "in every draw the unscaled entropy is below the scaled one");
  e.check(std::abs(std::sqrt(512.0) - 22.62741699796952) < 1e-12,
          "√512 = 22.62741699796952, the standard deviation of an unscaled score");
  e.table("scaling_effect",
          {"std unscaled", "std scaled", "largest unscaled", "largest scaled", "entropy unscaled", "entropy scaled"},
          rows);
  e.figure("scaling_effect", R"gp(set title "d_k = 512, 10 keys: unscaled, one key has nearly all the weight"
set xlabel "entropy of the weights (nats)"
set ylabel "largest weight"
set xrange [0:2.5]
set yrange [0:1.05]
set arrow 1 from log(10),0 to log(10),1.05 nohead lt 5
set label 1 "ln 10, uniform" at log(10)+0.05,0.9 rotate by 90 right
set key bottom left
plot "scaling_effect.csv" using 5:3 with points lt 2 pt 4 ps 0.4 title "unscaled, 1000 draws", \
     "" using 6:4 with points lt 1 ps 0.4 title "scaled, 1000 draws"
)gp");
}

void three_scores(experiment& e) {
  e.section("3. [5, 10, 7] before and after scaling by 1/√3 (Day 74)");
  std::vector<number> const row{5, 10, 7};
  auto const before = reference::softmax(row), after = reference::softmax(row, reference::square_root(number(3)));
  fmt::print("  before  {} {} {}\n  after   {} {} {}\n", fixed(before[0], 6), fixed(before[1], 6), fixed(before[2], 6),
             fixed(after[0], 6), fixed(after[1], 6), fixed(after[2], 6));
  e.rounds(before, {"0.00637746092244", "0.94649912255289", "0.04712341652466"}, "before");
  e.misprinted(before[1], "0.947", "the largest weight before scaling");
  e.rounds(after, {"0.045", "0.811", "0.144"}, "after, as printed");
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "What scaling does at d_k = 512", [](attest::examples::experiment& e) {
    attest::examples::draw(e);
    attest::examples::three_scores(e);
  });
}
