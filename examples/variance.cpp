// The variance of q·k grows with the dimension: histograms at d = 3, 100 and 1000, and Var(cX) = c²·Var(X).
//
// Source: Day 74: Scaled Dot Product Attention - Why Do We Scale Self Attention?, "Experimental Evidence: Dimension vs
// Variance" and "Mathematical Derivation".
#include "reference/textbook/variance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "examples/support/experiment.hpp"
#include "examples/support/random.hpp"

namespace attest::examples {
namespace {

constexpr std::int64_t pairs = 1000;
constexpr std::array<std::int64_t, 3> dimensions{3, 100, 1000};

/// q·k for 1000 pairs of vectors of d draws of N(0, 1).
std::vector<double> dot_products(std::int64_t d, normal_draws& draws) {
  std::vector<double> products;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    double sum = 0;
    for (std::int64_t t = 0; t < d; ++t) {
      double const q = draws.normal();
      sum += q * draws.normal();
    }
    products.push_back(sum);
  }
  return products;
}

double outside(std::vector<double> const& x, double limit) {
  auto const count = std::count_if(x.begin(), x.end(), [&](double each) { return std::abs(each) > limit; });
  return static_cast<double>(count) / static_cast<double>(x.size());
}

/// The share of 1000 draws that fall where each does with probability p has the standard error √(p(1 − p)/1000).
double error_of_share(double p) { return std::sqrt(p * (1 - p) / static_cast<double>(pairs)); }

void grow(experiment& e) {
  e.section("1. The variance of 1000 dot products");
  normal_draws draws(1);
  std::array<std::vector<double>, 3> products;
  std::vector<std::vector<double>> summary;
  for (std::size_t at = 0; at < 3; ++at) {
    std::int64_t const d = dimensions[at];
    products[at] = dot_products(d, draws);
    auto const size = static_cast<double>(d);
    double const variance = nearly(reference::population_variance(products[at]).enclosure<128>());
    // E[(q·k)²] = d and E[(q·k)⁴] = 3d² + 6d (proofs/documents/), hence Var((q·k)²) = 2d² + 6d.
    double const error = size * std::sqrt((2 + 6 / size) / static_cast<double>(pairs));
    fmt::print("  Dimension {}: Variance = {:.2f}\n", d, variance);
    e.within_5_standard_errors(variance, size, error, fmt::format("variance at d = {}", d));
    summary.push_back({size, variance, error});
  }
  e.section("2. The ranges that the document reads from its histograms");
  double const beyond_6 = outside(products[0], 6), beyond_10 = outside(products[1], 10),
               beyond_30 = outside(products[2], 30);
  // At d = 3 the share lies between the shares at d = 2 and d = 4, which are proven.
  e.check(beyond_6 >= 0.00248 - 5 * error_of_share(0.00248) && beyond_6 <= 0.00992 + 5 * error_of_share(0.00992),
          fmt::format("d = 3, −6 to +6: {:.1f} % lie outside, between 0.25 % and 0.99 % as at d = 2 and 4, within 5 "
                      "standard errors",
                      100 * beyond_6));
  e.within_5_standard_errors(beyond_10, 0.31490947312785715553, error_of_share(0.3149),
                             "erratum: d = 100, \"−10 to +10\" is ±1 standard deviation; the share outside");
  e.within_5_standard_errors(beyond_30, 0.34252846638595839570, error_of_share(0.3425),
                             "erratum: d = 1000, \"−30 to +30\" is less than ±1 standard deviation; the share outside");

  std::vector<std::vector<double>> counts;
  for (double middle = -120; middle <= 120; middle += 2) {
    std::vector<double> row{middle};
    for (auto const& of_dimension : products)
      row.push_back(static_cast<double>(std::count_if(of_dimension.begin(), of_dimension.end(),
                                                      [&](double x) { return x >= middle - 1 && x < middle + 1; })));
    counts.push_back(row);
  }
  e.table("variance_histograms", {"middle", "d = 3", "d = 100", "d = 1000"}, counts);
  e.table("variance", {"d", "variance", "standard error"}, summary);
  e.figure("variance_histograms",
           R"gp(set multiplot layout 3,1 title "The spread of q·k grows like √d: histograms of 1000 pairs in bins of 2"
set ylabel "pairs"
set xrange [-110:110]
set yrange [0:*]
set style fill solid 0.35
unset key
set lmargin 10
set ytics 200
set label 1 "d = 3, σ = 1.73" at graph 0.98,0.85 right
plot "variance_histograms.csv" using 1:2 with boxes lt 1
set ytics 25
set label 1 "d = 100, σ = 10"
plot "variance_histograms.csv" using 1:3 with boxes lt 1
set ytics 10
set label 1 "d = 1000, σ = 31.6"
set xlabel "q·k"
plot "variance_histograms.csv" using 1:4 with boxes lt 1
unset multiplot
)gp",
           {760, 560});
  e.figure("variance", R"gp(set title "The variance of q·k is the dimension (1000 pairs, ±5 standard errors)"
set xlabel "dimension d"
set ylabel "variance of q·k"
set logscale xy
set xrange [2:2000]
set yrange [1:3000]
set key top left
plot x lt 5 title "Var(q·k) = d", "variance.csv" using 1:2:(5*$3) with yerrorbars lt 1 dt 1 title "measured"
)gp");
}

void rescale(experiment& e) {
  e.section("3. Var(cX) = c²·Var(X)");
  constexpr std::array<float, 7> tens{10, 20, 30, 40, 50, 60, 70}, ones{1, 2, 3, 4, 5, 6, 7};
  e.check(reference::population_variance(tens).is(400), "Var[10, 20, …, 70] = 400, exactly");
  e.check(reference::population_variance(ones).is(4),
          "a tenth of the numbers has a hundredth of the variance: 4, exactly");
  e.section("4. \"8.66 ≈ 16.33 ✓\"");
  number const hundred(100);
  for (auto const& [scaled, ratio] : {std::pair{866, "0.53"}, {1744, "1.07"}})
    e.rounds(number(scaled) / number(1633), ratio,
             fmt::format("erratum: \"{:.2f} ≈ 16.33 ✓\": they are not about equal, {:.2f}/16.33", scaled / 100.0,
                         scaled / 100.0));
  e.misprinted(number(577) * number(577) / number(1'000'000) * number(5233) / hundred, "17.44", "0.577² × 52.33");
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "The variance of q·k grows with the dimension",
                               [](attest::examples::experiment& e) {
                                 attest::examples::grow(e);
                                 attest::examples::rescale(e);
                               });
}
