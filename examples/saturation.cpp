// Exercise E11.2: without scaling, entropy falls towards 0 as d_k grows from 1 to 1024; with scaling it does not.
//
// Source: Day 11: Scaled Dot-Product Attention, "E11.2 Saturation Demonstration". Each draw is a query and ten keys of
// 1,024 numbers; smaller d_k are prefixes of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "examples/support/experiment.hpp"
#include "examples/support/random.hpp"
#include "fast/attention.hpp"

namespace attest::examples {
namespace {

constexpr std::int64_t draws = 1000, keys = 10, largest_d = 1024;

/// The weights [draws, keys] of the fast kernel from the first d numbers of each vector: strides step over the rest.
std::vector<float> weights_of(std::vector<float> const& Q, std::vector<float> const& K, std::int64_t d, bool scaled) {
  std::vector<float> const V(static_cast<std::size_t>(keys), 1.0f);
  problem::arguments<float> arguments;
  arguments.q = {Q.data(), problem::layout::compact({draws, 1, largest_d})};
  arguments.k = {K.data(), problem::layout::compact({draws, keys, largest_d})};
  arguments.v = {V.data(), problem::layout::compact({draws, keys, 1})};
  arguments.q.layout.shape[2] = arguments.k.layout.shape[2] = d;
  arguments.v.layout.stride[0] = 0;  // the values do not matter here: all draws share them
  if (!scaled) arguments.scale = 1;
  return ask_kernel(problem::instance<float>::make(arguments).value()).A;
}

/// −Σ p·ln p in nats with 0·ln 0 = 0, as reference/textbook/distribution_entropy.hpp defines it.
double entropy_of(std::span<float const> weights) {
  double sum = 0;
  for (float const p : weights)
    if (p > 0) sum -= static_cast<double>(p) * std::log(static_cast<double>(p));
  return sum;
}

/// The formula as Day 11 writes it, weights * weights.log(), in float32.
float naive_entropy_of(std::span<float const> weights) {
  float sum = 0;
  for (float const p : weights) sum -= p * std::log(p);
  return sum;
}

/// Mean, standard error of the mean, and the range that holds the middle 90 % of the draws.
struct summary {
  double mean = 0, error = 0, low = 0, high = 0;

  /// With the 95 % confidence band of the mean.
  std::vector<double> columns() const { return {mean, low, high, mean - 1.96 * error, mean + 1.96 * error}; }
};
summary summary_of(std::vector<double> x) {
  summary found;
  auto const count = static_cast<double>(x.size());
  found.mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
  double squares = 0;
  for (double const each : x) squares += (each - found.mean) * (each - found.mean);
  found.error = std::sqrt(squares / (count - 1) / count);
  std::sort(x.begin(), x.end());
  found.low = x[x.size() / 20], found.high = x[x.size() - 1 - x.size() / 20];
  return found;
}

/// Entropies of an earlier simulation, unscaled and scaled, printed with three decimal places.
struct earlier {
  std::int64_t d = 0;
  double unscaled = 0, scaled = 0;
};
constexpr std::array<earlier, 6> simulated{{{1, 2.018, 2.018},
                                            {4, 1.446, 1.954},
                                            {16, 0.760, 1.936},
                                            {64, 0.347, 1.924},
                                            {256, 0.170, 1.931},
                                            {1024, 0.081, 1.929}}};

void saturate(experiment& e) {
  normal_draws random(1);
  auto const Q = random.normals(draws * largest_d), K = random.normals(draws * keys * largest_d);
  std::vector<std::vector<double>> rows;
  std::vector<summary> unscaled_by_d;
  std::int64_t naive_nan = 0;
  bool ours_finite = true;
  e.section("Means of 1000 draws: entropy in nats, and the largest of ten weights");
  fmt::print("     d_k   entropy unscaled   scaled   largest unscaled   scaled\n");
  for (std::int64_t d = 1; d <= largest_d; d *= 2) {
    std::vector<double> row{static_cast<double>(d)};
    std::array<summary, 2> entropy, largest;
    for (bool const scaled : {false, true}) {
      auto const weights = weights_of(Q, K, d, scaled);
      std::vector<double> entropies, most;
      for (std::size_t n = 0; n < draws; ++n) {
        std::span<float const> const of_draw(weights.data() + n * keys, keys);
        entropies.push_back(entropy_of(of_draw));
        most.push_back(static_cast<double>(*std::max_element(of_draw.begin(), of_draw.end())));
        ours_finite = ours_finite && std::isfinite(entropies.back());
        if (d == largest_d && !scaled && std::isnan(naive_entropy_of(of_draw))) ++naive_nan;
      }
      entropy[scaled] = summary_of(entropies), largest[scaled] = summary_of(most);
      for (summary const& s : {entropy[scaled], largest[scaled]})
        for (double const number : s.columns()) row.push_back(number);
    }
    unscaled_by_d.push_back(entropy[0]);
    fmt::print("  {:6}   {:16.3f}   {:6.3f}   {:16.3f}   {:6.3f}\n", d, entropy[0].mean, entropy[1].mean,
               largest[0].mean, largest[1].mean);
    rows.push_back(row);
    for (earlier const& known : simulated)
      if (known.d == d)
        // Half a unit of the third place belongs to the printed number. The other simulation has draws of its own.
        for (bool const scaled : {false, true})
          e.within_5_standard_errors(entropy[scaled].mean, scaled ? known.scaled : known.unscaled,
                                     entropy[scaled].error + 0.0005 / 5,
                                     fmt::format("entropy at d_k = {}, {}", d, scaled ? "scaled" : "unscaled"));
  }
  e.section("What the exercise asks to show");
  bool falls = true;
  for (std::size_t at = 1; at < unscaled_by_d.size(); ++at)
    falls = falls && unscaled_by_d[at].mean < unscaled_by_d[at - 1].mean;
  e.check(falls, "without scaling, the mean entropy falls with every doubling of d_k");
  e.section("0·log 0 in float32");
  e.check(naive_nan > 0,
          fmt::format("Day 11's weights * weights.log() is NaN in {} of 1000 unscaled draws at d_k = 1024: "
                      "a weight is 0 there",
                      naive_nan));
  e.check(ours_finite, "with 0·log 0 = 0 the entropy of every draw is finite");

  std::vector<std::string> columns{"d_k"};
  for (char const* const scaled : {"unscaled", "scaled"})
    for (char const* const what : {"entropy", "largest"})
      for (char const* const which : {"mean", "low", "high", "mean low", "mean high"})
        columns.push_back(fmt::format("{} {} {}", what, scaled, which));
  e.table("saturation", columns, rows);
  constexpr std::string_view axes = R"gp(set logscale x 2
set xlabel "d_k"
set xrange [1:1024]
set style fill transparent solid 0.2 noborder
)gp";
  e.figure(
      "saturation_entropy",
      std::string(axes) +
          R"gp(set title "Unscaled, entropy collapses as d_k grows (bands: 90 % of draws; 95 % confidence of the mean)"
set ylabel "entropy of ten weights (nats)"
set yrange [0:2.4]
set key outside bottom center horizontal
plot "saturation.csv" using 1:3:4 with filledcurves lt 2 title "", "" using 1:13:14 with filledcurves lt 1 title "", \
     "" using 1:5:6 with filledcurves lt 2 fs transparent solid 0.5 title "", \
     "" using 1:15:16 with filledcurves lt 1 fs transparent solid 0.5 title "", \
     "" using 1:12 with linespoints lt 1 title "scaled, mean", \
     "" using 1:2 with linespoints lt 2 title "unscaled, mean", \
     log(10) lt 5 title "ln 10, uniform"
)gp");
  e.figure(
      "saturation_largest",
      std::string(axes) +
          R"gp(set title "Unscaled, one key of ten takes the weight (bands: 90 % of draws; 95 % confidence of the mean)"
set ylabel "largest of ten weights"
set yrange [0:1.05]
set key outside bottom center horizontal
plot "saturation.csv" using 1:8:9 with filledcurves lt 2 title "", "" using 1:18:19 with filledcurves lt 1 title "", \
     "" using 1:10:11 with filledcurves lt 2 fs transparent solid 0.5 title "", \
     "" using 1:20:21 with filledcurves lt 1 fs transparent solid 0.5 title "", \
     "" using 1:7 with linespoints lt 2 title "unscaled, mean", \
     "" using 1:17 with linespoints lt 1 title "scaled, mean", \
     0.1 lt 5 title "1/10, uniform"
)gp");
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "Exercise E11.2: entropy against d_k, with and without scaling",
                               attest::examples::saturate);
}
