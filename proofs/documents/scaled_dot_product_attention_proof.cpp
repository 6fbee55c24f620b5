// "Scaled Dot-Product Attention" (Definition … Summary): what it states in numbers, and its properties on an example.
// docs/documents.md is the table.
#include "proofs/documents/exact_weights.hpp"
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

// "Visualization": the attention matrix of a sequence of length 4. Its decimals are read as they are printed.
constexpr bool printed_weights(std::array<std::string_view, 4> const& row) {
  number sum_in_hundredths{};
  for (std::string_view const printed : row) {
    reference::decimal<width> const p(printed);
    if (reference::certain_sign(p.digits) <= 0) return false;
    sum_in_hundredths = sum_in_hundredths + p.digits * (number(100) / p.ten_to_places);
  }
  return exactly(sum_in_hundredths, 100);
}
static_assert(printed_weights({".8", ".1", ".05", ".05"}),
              "sdpa/row-1: right: the printed decimals are positive and sum to exactly 1");
static_assert(printed_weights({".1", ".7", ".1", ".1"}),
              "sdpa/row-2: right: the printed decimals are positive and sum to exactly 1");
static_assert(printed_weights({".2", ".2", ".4", ".2"}),
              "sdpa/row-3: right: the printed decimals are positive and sum to exactly 1");
static_assert(printed_weights({".1", ".1", ".2", ".6"}),
              "sdpa/row-4: right: the printed decimals are positive and sum to exactly 1");

// "Step 3: Apply Softmax (Row-wise)" and "Step 4: Weighted Sum of Values", n ≠ m and dv ≠ d.
constexpr worked_example<2, 4, 3, 2> attention{
    .q = {1, 2, -1, 0, 3, 1}, .k = {1, 0, 2, -1, 1, 0, 2, 2, 2, 0, -3, 1}, .v = {1, -4, 0, 8, 5, 2, 3, 3}};
constexpr auto solved = attention.solve();
static_assert(exactly_sums_to_1(attention.dots(0)) && exactly_sums_to_1(attention.dots(1)) &&
                  nearly_sums_to(solved.A[0], 1) && nearly_sums_to(solved.A[1], 1),
              "sdpa/rows-sum: right: every row of A sums to exactly 1, on an example");
static_assert(
    [] {
      for (auto const& row : solved.A)
        for (auto const& weight : row)
          if (reference::certain_sign(weight) <= 0) return false;
      return true;
    }(),
    "sdpa/non-negative: right: every weight of the example is at least 0, in fact above it");
static_assert(
    [] {
      for (auto const& row : solved.O)
        if (!below(number(0), row[0]) || !below(row[0], number(5)) || !below(number(-4), row[1]) ||
            !below(row[1], number(8)))
          return false;
      return true;
    }(),
    "sdpa/convex: right: each output of the example lies inside the range of its values");

// "Geometric Interpretation"
static_assert(exactly(reference::dot(two{3, 4}, two{4, 3}), 24) && exactly(reference::norm(two{3, 4}), 5) &&
                  exactly(reference::norm(two{4, 3}), 5) &&
                  exactly(reference::norm(two{3, 4}) * reference::norm(two{4, 3}) * number(96), 24 * 100) &&
                  prints(reference::cosine(two{3, 4}, two{4, 3}), "0.960000000000000000") &&
                  exactly(reference::cosine(two{3, 4}, two{6, 8}), 1),
              "sdpa/cosine: right: q.k = |q||k|cos on (3,4), (4,3): 24 = 5 x 5 x 0.96; parallel vectors have cosine 1");

// "Softmax Temperature"
constexpr three scores{3, 1, 2};
static_assert(
    [] {
      number const T = reference::square_root(number(4));
      three scaled = scores;  // s/√d_k, with the scale of attention
      for (number& score : scaled) score = score * reference::inverse_sqrt<width>(4);
      for (std::size_t i = 0; i < 3; ++i)
        if (!exactly(scaled[i] * T - scores[i], 0)) return false;
      return exactly(T, 2) && nearly_equal(reference::softmax(scaled), reference::softmax(scores, T));
    }(),
    "sdpa/temperature: right: s/sqrt(d_k) is exactly s/T at T = sqrt(d_k), for d_k = 4, so the softmax is the same; "
    "the two enclosures are equal up to 2^-100");
static_assert(prints(reference::softmax(scores, number(1).scaled_by_power_of_two(20)),
                     {"0.33333", "0.33333", "0.33333"}),
              "sdpa/high-temperature: right: T = 2^20 gives [1/3 1/3 1/3] to 5 digits");
static_assert(prints(reference::softmax(scores, number(1).scaled_by_power_of_two(-6)),
                     {"1.00000000000000000000", "0.00000000000000000000", "0.00000000000000000000"}),
              "sdpa/low-temperature: right: T = 1/64 gives [1 0 0] to 20 digits");

// "Apply mask if provided": 0 blocks.
static_assert(
    [] {
      constexpr std::array<float, 8> q{1, 2, 3, 4, 5, 6, 7, 8};
      constexpr std::array<std::uint8_t, 4> mask{1, 0, 1, 0};  // broadcast over queries
      problem::arguments<float> arguments;
      arguments.q = arguments.k = arguments.v = {q.data(), problem::layout::compact({4, 2})};
      arguments.mask = problem::tensor<std::uint8_t const>{mask.data(), problem::layout::compact({1, 4})};
      reference::enclosed_row<width, float> row;
      enclose_row(problem::instance<float>::make(arguments).value(), 0, 0, 3, row);
      return row.keys.size() == 2 && row.keys[0].j == 0 && row.keys[1].j == 2;
    }(),
    "sdpa/mask: right: where the mask is 0 a key has no weight; a mask broadcasts over the queries");

// "Memory as Attention"
static_assert(
    [] {
      reference::memory<width> store{.d = 2, .dv = 1};
      write(store, two{1, 0}, std::array<number, 1>{7});
      write(store, two{0, 1}, std::array<number, 1>{9});
      auto const dot = [](auto const& q, auto const& k) { return reference::dot(q, k); };
      auto const weight = [](auto const& q, auto const& k) { return exp(reference::scaled_dot(q, k)); };
      constexpr worked_example<1, 2, 2, 1> attended{.q = {2, 1}, .k = {1, 0, 0, 1}, .v = {7, 9}};
      auto const e_1 = exponential_sum::of(2), e_2 = exponential_sum::of(1);  // e^(q·k_j/√2), in units of 1/√2
      exact_weight const normalised{exponential_sum::of(0, 7) * e_1 + exponential_sum::of(0, 9) * e_2, e_1 + e_2};
      return exactly(dot(two{2, 1}, two{1, 0}), 2) && exactly(dot(two{2, 1}, two{0, 1}), 1) &&
             exactly(read(store, two{2, 1}, dot)[0], 2 * 7 + 1 * 9) &&
             normalised == weighted_sum<2>({7, 9}, exact_softmax(attended.dots(0))) &&
             nearly_equal(read_normalised(store, two{2, 1}, weight)[0], attended.solve().O[0][0]);
    }(),
    "sdpa/memory: right: on an example reading is exactly the sum of similarity(q, k_j) v_j; normalised, with "
    "e^(q.k/sqrt(d)), it is exactly attention");

// "Numerical Stability"
static_assert(
    [] {
      auto const far = reference::softmax(three{1003, 1001, 1002}), near = reference::softmax(three{0, -2, -1});
      return exact_softmax<3>({1003, 1001, 1002}) == exact_softmax<3>({0, -2, -1}) && nearly_equal(far, near);
    }(),
    "sdpa/stable: right: softmax([1003, 1001, 1002]) is exactly softmax([0, -2, -1]), the maximum subtracted");
static_assert(
    [] {
      constexpr std::array<std::int64_t, 4> whole{1, 5, -2, 0};
      four const x{whole[0], whole[1], whole[2], whole[3]};
      auto const shape = problem::layout::compact({2, 2});
      auto const along_0 = softmax_along(x, shape, 0), along_last = softmax_along(x, shape, -1);
      // Is line (a, b) of `of` the softmax of that line of x alone, and does that sum to 1?
      auto const is_softmax = [&](four const& of, std::size_t a, std::size_t b) {
        return exactly_sums_to_1<2>({whole[a], whole[b]}) && nearly_sums_to(two{of[a], of[b]}, 1) &&
               nearly_equal(two{of[a], of[b]}, reference::softmax(two{x[a], x[b]}));
      };
      return is_softmax(along_0, 0, 2) && is_softmax(along_0, 1, 3) && is_softmax(along_last, 0, 1) &&
             is_softmax(along_last, 2, 3);
    }(),
    "sdpa/axis: right: along dim = 0 and dim = -1 each line is, up to 2^-100, the softmax of that line, which sums to "
    "exactly 1");

}  // namespace
}  // namespace attest::proofs
