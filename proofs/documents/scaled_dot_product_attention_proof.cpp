// "Scaled Dot-Product Attention" (Definition … Summary): what it states in numbers, and its properties on an example.
// docs/documents.md is the table.
#include "proofs/worked_example.hpp"
#include "reference/textbook/cosine.hpp"
#include "reference/textbook/memory.hpp"
#include "reference/textbook/scoring/scaled_dot.hpp"
#include "reference/textbook/softmax_axis.hpp"

namespace attest::proofs {
namespace {

using two = std::array<number, 2>;
using three = std::array<number, 3>;
using four = std::array<number, 4>;

// "Visualization": the attention matrix of a sequence of length 4, in hundredths.
static_assert(80 + 10 + 5 + 5 == 100, "sdpa/row-1: right: .8 .1 .05 .05 sums to 1");
static_assert(10 + 70 + 10 + 10 == 100, "sdpa/row-2: right: .1 .7 .1 .1 sums to 1");
static_assert(20 + 20 + 40 + 20 == 100, "sdpa/row-3: right: .2 .2 .4 .2 sums to 1");
static_assert(10 + 10 + 20 + 60 == 100, "sdpa/row-4: right: .1 .1 .2 .6 sums to 1");

// "Step 3: Apply Softmax (Row-wise)" and "Step 4: Weighted Sum of Values", n ≠ m and dv ≠ d.
constexpr worked_example<2, 4, 3, 2> attention{
    .q = {1, 2, -1, 0, 3, 1}, .k = {1, 0, 2, -1, 1, 0, 2, 2, 2, 0, -3, 1}, .v = {1, -4, 0, 8, 5, 2, 3, 3}};
constexpr auto solved = attention.solve();
static_assert(sums_to(solved.A[0], 1) && sums_to(solved.A[1], 1), "sdpa/rows-sum: right: every row of A sums to 1");
static_assert([] {
  for (auto const& row : solved.A)
    for (auto const& weight : row)
      if (reference::certain_sign(weight) <= 0) return false;
  return true;
}(), "sdpa/non-negative: right: every weight is at least 0, here above it");
static_assert([] {
  for (auto const& row : solved.O)
    if (!below(number(0), row[0]) || !below(row[0], number(5)) || !below(number(-4), row[1]) ||
        !below(row[1], number(8)))
      return false;
  return true;
}(), "sdpa/convex: right: each output lies inside the range of its values");

// "Geometric Interpretation"
static_assert(exactly(reference::dot(two{3, 4}, two{4, 3}), 24) && exactly(reference::norm(two{3, 4}), 5) &&
                  exactly(reference::norm(two{4, 3}), 5) &&
                  prints(reference::cosine(two{3, 4}, two{4, 3}), "0.960000000000000000") &&
                  exactly(reference::cosine(two{3, 4}, two{6, 8}), 1),
              "sdpa/cosine: right: q.k = |q||k|cos on (3,4), (4,3): 24 = 5 x 5 x 0.96; parallel vectors have cosine 1");

// "Softmax Temperature"
constexpr three scores{3, 1, 2};
static_assert([] {
  auto const by_division = reference::softmax(three{number(3) / number(2), number(1) / number(2), number(1)});
  auto const by_temperature = reference::softmax(scores, number(2));  // T = √4
  for (std::size_t i = 0; i < 3; ++i)
    if (!overlap(by_division[i], by_temperature[i])) return false;
  return true;
}(), "sdpa/temperature: right: softmax(s/sqrt(d_k)) = softmax at T = sqrt(d_k), for d_k = 4");
static_assert(prints(reference::softmax(scores, number(1).scaled_by_power_of_two(20)),
                     {"0.33333", "0.33333", "0.33333"}),
              "sdpa/high-temperature: right: T = 2^20 gives [1/3 1/3 1/3] to 5 digits");
static_assert(prints(reference::softmax(scores, number(1).scaled_by_power_of_two(-6)),
                     {"1.00000000000000000000", "0.00000000000000000000", "0.00000000000000000000"}),
              "sdpa/low-temperature: right: T = 1/64 gives [1 0 0] to 20 digits");

// "Apply mask if provided": 0 blocks.
static_assert([] {
  constexpr std::array<float, 8> q{1, 2, 3, 4, 5, 6, 7, 8};
  constexpr std::array<std::uint8_t, 4> mask{1, 0, 1, 0};  // broadcast over queries
  problem::arguments<float> arguments;
  arguments.q = arguments.k = arguments.v = {q.data(), problem::layout::compact({4, 2})};
  arguments.mask = problem::tensor<std::uint8_t const>{mask.data(), problem::layout::compact({1, 4})};
  reference::enclosed_row<width, float> row;
  enclose_row(problem::instance<float>::make(arguments).value(), 0, 0, 3, row);
  return row.keys.size() == 2 && row.keys[0].j == 0 && row.keys[1].j == 2;
}(), "sdpa/mask: right: where the mask is 0 a key has no weight; a mask broadcasts over the queries");

// "Memory as Attention"
static_assert([] {
  reference::memory<width> store{.d = 2, .dv = 1};
  write(store, two{1, 0}, std::array<number, 1>{7});
  write(store, two{0, 1}, std::array<number, 1>{9});
  auto const dot = [](auto const& q, auto const& k) { return reference::dot(q, k); };
  auto const weight = [](auto const& q, auto const& k) { return exp(reference::scaled_dot(q, k)); };
  auto const attended = worked_example<1, 2, 2, 1>{.q = {2, 1}, .k = {1, 0, 0, 1}, .v = {7, 9}}.solve();
  return exactly(read(store, two{2, 1}, dot)[0], 2 * 7 + 1 * 9) &&
         overlap(read_normalised(store, two{2, 1}, weight)[0], attended.O[0][0]);
}(), "sdpa/memory: right: reading is the sum of similarity(q, k_j) v_j; normalised, with e^(q.k/sqrt(d)), attention");

// "Numerical Stability"
static_assert([] {
  auto const far = reference::softmax(three{1003, 1001, 1002}), near = reference::softmax(scores);
  for (std::size_t i = 0; i < 3; ++i)
    if (!overlap(far[i], near[i])) return false;
  return true;
}(), "sdpa/stable: right: subtracting the maximum leaves softmax as it is");
static_assert([] {
  four const x{1, 5, -2, 0};
  auto const shape = problem::layout::compact({2, 2});
  auto const along_0 = softmax_along(x, shape, 0), along_last = softmax_along(x, shape, -1);
  return sums_to(two{along_0[0], along_0[2]}, 1) && sums_to(two{along_0[1], along_0[3]}, 1) &&
         sums_to(two{along_last[0], along_last[1]}, 1) && sums_to(two{along_last[2], along_last[3]}, 1);
}(), "sdpa/axis: right: stable_softmax(x, dim) sums to 1 along dim, whichever it is");

}  // namespace
}  // namespace attest::proofs
