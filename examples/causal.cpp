// Causal masking: each position sees itself and what came before, by a mask and by a band, also where n ≠ m.
//
// Source: Day 11: Scaled Dot-Product Attention, 11.8 "Causal (Autoregressive) Masking".
#include <algorithm>
#include <array>
#include <cmath>

#include "examples/support/causal_mask.hpp"
#include "examples/support/experiment.hpp"
#include "examples/support/random.hpp"

namespace attest::examples {
namespace {

void demonstrate(experiment& e) {
  e.section("1. create_causal_mask(4): 1 = attend, 0 = block");
  auto const mask = create_causal_mask(4);
  for (std::size_t i = 0; i < 4; ++i)
    fmt::print("  {} {} {} {}\n", mask[4 * i], mask[4 * i + 1], mask[4 * i + 2], mask[4 * i + 3]);
  e.check(mask == std::vector<std::uint8_t>{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1},
          "[1 0 0 0; 1 1 0 0; 1 1 1 0; 1 1 1 1], as printed");

  e.section("2. Q = K = V = 4 tokens of 64 draws of N(0, 1)");
  normal_draws random(1);
  auto const X = random.normals(4 * 64);
  problem::arguments<float> arguments;
  arguments.q = arguments.k = arguments.v = {X.data(), problem::layout::compact({4, 64})};
  arguments.mask = problem::tensor<std::uint8_t const>{mask.data(), problem::layout::compact({4, 4})};
  auto const by_mask = problem::instance<float>::make(arguments).value();
  arguments.mask.reset();
  arguments.band.right = 0;
  auto const by_band = problem::instance<float>::make(arguments).value();
  auto const exact = certify(by_mask);
  print(exact.A, {"token 0", "token 1", "token 2", "token 3"}, 6);
  bool upper_is_zero = true;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = i + 1; j < 4; ++j)
      upper_is_zero = upper_is_zero && exact.A(i, j).is_exact() && nearly(exact.A(i, j)) == 0;
  e.check(upper_is_zero, "\"upper triangle should be zero\": exactly");
  e.check(exact.A(0, 0).is_exact() && reference::certain_sign(exact.A(0, 0) - number(1)) == 0,
          "row 0 is exactly [1, 0, 0, 0]");
  auto const from_mask = ask_kernel(by_mask), from_band = ask_kernel(by_band);
  e.check(from_mask.A[0] == 1 && from_mask.A[1] == 0 && from_mask.A[2] == 0 && from_mask.A[3] == 0,
          "also as the fast kernel computes it");
  e.check(from_mask.A == from_band.A && from_mask.O == from_band.O,
          "the mask and the band (keys up to the query's own) give the kernel's same bits");
  double const share = share_of_bound(by_mask, exact, from_mask);
  e.check(share <= 1, fmt::format("the fast kernel's outputs are off by at most {:.2f} of their error bound", share));
}

/// The weights of Q = K = 0: 1/(visible keys) at each visible key.
std::vector<float> uniform_weights(std::int64_t n, std::int64_t m, bool bottom_right) {
  std::vector<float> const zeros(static_cast<std::size_t>(std::max(n, m)));
  problem::arguments<float> arguments;
  arguments.q = {zeros.data(), problem::layout::compact({n, 1})};
  arguments.k = arguments.v = {zeros.data(), problem::layout::compact({m, 1})};
  arguments.band.right = 0;
  arguments.band.diagonal = bottom_right ? m - n : 0;
  return ask_kernel(problem::instance<float>::make(arguments).value()).A;
}

void align(experiment& e) {
  e.section("3. More keys than queries: where does the diagonal end?");
  constexpr std::int64_t n = 4, m = 7;
  auto const top_left = uniform_weights(n, m, false), bottom_right = uniform_weights(n, m, true);
  bool left_fits = true, right_fits = true;
  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      auto const at = static_cast<std::size_t>(i * m + j);
      left_fits = left_fits && (top_left[at] > 0) == (j <= i);
      right_fits = right_fits && (bottom_right[at] > 0) == (j <= i + m - n);
      rows.push_back({static_cast<double>(j), static_cast<double>(i), static_cast<double>(top_left[at]),
                      static_cast<double>(bottom_right[at])});
    }
  e.check(left_fits, "top left: query i sees keys 0 to i");
  e.check(right_fits,
          "bottom right: query i sees keys 0 to i + m − n, so that the last query sees all, as in decoding");
  e.table("causal", {"key", "query", "top left", "bottom right"}, rows);
  e.figure(
      "causal",
      R"gp(set multiplot layout 1,2 title "Causal, 4 queries and 7 keys: two alignments, two answers (equal scores)"
set palette defined (0 "#ffffff", 1 "#0072B2")
set cbrange [0:1]
unset colorbox
unset key
unset grid
set border 15
set tics scale 0
set xrange [-0.5:6.5]
set yrange [3.5:-0.5]
set size ratio -1
set xtics 1
set ytics 1
set xlabel "key"
set ylabel "query"
set title "top left: the diagonal begins at (0, 0)"
plot "causal.csv" using 1:2:3 with image pixels, \
     "" using 1:2:(sprintf("%.2f", $3)):($3 > 0.6 ? 0xffffff : 0) with labels font ",10" tc rgb variable
set title "bottom right: it ends at (3, 6)"
plot "causal.csv" using 1:2:4 with image pixels, \
     "" using 1:2:(sprintf("%.2f", $4)):($4 > 0.6 ? 0xffffff : 0) with labels font ",10" tc rgb variable
unset multiplot
)gp",
      {860, 360});
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "Causal masking: each position sees itself and what came before",
                               [](attest::examples::experiment& e) {
                                 attest::examples::demonstrate(e);
                                 attest::examples::align(e);
                               });
}
