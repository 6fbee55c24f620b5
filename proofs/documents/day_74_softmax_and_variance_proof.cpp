// "Day 74: Scaled Dot Product Attention - Why Do We Scale Self Attention?", second part: histograms, the softmax of
// [5, 10, 7], and why √d. docs/documents.md is the table.
#include "proofs/documents/gaussian_dot_product.hpp"
#include "proofs/worked_example.hpp"
#include "reference/real/sqrt.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/softmax.hpp"
#include "reference/textbook/variance.hpp"

namespace attest::proofs {
namespace {

constexpr number root_3 = number(3) * reference::inverse_sqrt<width>(3);
constexpr number one_over_root_3 = reference::inverse_sqrt<width>(3);

// --- "Results Visualization": histograms of 1000 dot products -------------------------------------------------------

// The fraction outside ±x grows with d: v1·v2 given |v1| is N(0, |v1|²), and |v1| grows with d.
static_assert(prints(outside<1>(6), "0.0024787521766664") && prints(outside<2>(6), "0.0099150087066654"),
              "day74/range-3: holds: the fractions outside -6 to +6 at d = 2 and d = 4; it grows with d, so that "
              "of d = 3 lies between");
static_assert(agrees(outside<50>(10), "0.315", "0.31490947312785715553"),
              "day74/range-100: wrong: 31.5 % of the dot products at d = 100 lie outside -10 to +10");
static_assert(agrees(outside<500>(30), "0.343", "0.34252846638595839570"),
              "day74/range-1000: wrong: 34.3 % of the dot products at d = 1000 lie outside -30 to +30");

/// Standard error of the variance of 1000 products q·k of d N(0, 1) entries: d·√((2 + 6/d)/1000), as E[(q·k)²] = d and
/// E[(q·k)⁴] = 3d² + 6d.
constexpr number standard_error(std::int64_t d) noexcept {
  return number(d) * reference::square_root((number(2) + number(6) / number(d)) / number(1000));
}
static_assert(agrees(standard_error(3), "0.190", "0.1897366596101028") &&
                  agrees(standard_error(100), "4.54", "4.5387222871640869") &&
                  agrees(standard_error(1000), "44.8", "44.7883913531173834"),
              "day74/variance-estimate: answer: d sqrt((2 + 6/d)/1000), the standard error of the variance of 1000 "
              "pairs, at d = 3, 100, 1000");

// --- "Detailed Softmax Comparison with Matrix Example" --------------------------------------------------------------

using matrix = std::array<float, 9>;
constexpr matrix Q{2, 1, 3, 1, 2, 1, 0, 1, 2}, K{1, 0, 2, 2, 1, 0, 1, 3, 1}, printed{5, 10, 7, 6, 5, 3, 4, 7, 2};
static_assert(
    [] {
      auto const product = reference::project<float>(Q, K, 3, 3, 3);
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 3; ++j)
          if (product.is(i, j, printed[static_cast<std::size_t>(3 * i + j)]) == (i == 0 && j == 0)) return false;
      return product.is(0, 0, 7) && !reference::project_transposed<float>(Q, K, 3, 3, 3).is(printed);
    }(),
    "day74/our-matrices: wrong: [[5,10,7],[6,5,3],[4,7,2]] is not QK'; it is Q.K, with 5 for 7 at the start");

static_assert(agrees(exp(number(5)), "148.4", "148.41315910257660"), "day74/exp-5: right: exp(5)");
static_assert(agrees(exp(number(10)), "22026.5", "22026.46579480671652"), "day74/exp-10: right: exp(10)");
static_assert(agrees(exp(number(7)), "1096.6", "1096.63315842845860"), "day74/exp-7: right: exp(7)");
static_assert(agrees(exp(number(5)) + exp(number(10)) + exp(number(7)), "23271.5", "23271.51211233775172"),
              "day74/sum-unscaled: right: exp(5) + exp(10) + exp(7)");

constexpr auto before = reference::softmax(std::array<number, 3>{5, 10, 7});
static_assert(agrees(before[0], "0.006", "0.00637746092244229690"), "day74/unscaled-money: right: 0.006");
static_assert(misprinted(before[1], "0.947", "0.94649912255289355865"), "day74/unscaled-bank: wrong: 0.947 is 0.946");
static_assert(agrees(before[2], "0.047", "0.04712341652466414445"), "day74/unscaled-grows: right: 0.047");
constexpr number hundred(100);
static_assert(agrees(hundred * before[0], "0.6", "0.637746092244229690") &&
                  misprinted(hundred * before[1], "94.7", "94.649912255289355865") &&
                  agrees(hundred * before[2], "4.7", "4.712341652466414445"),
              "day74/unscaled-percent: wrong: 94.7 % is 94.6 %; 0.6 % and 4.7 % are right");

// "Scaled Matrix": 5, 10, 7; 6, 5, 3; 4, 7, 2 over √3. Four of the entries are divided by 1.73 instead.
constexpr number over_root_3(std::int64_t score) noexcept { return number(score) * one_over_root_3; }
constexpr number over_1_73(std::int64_t score) noexcept { return number(score) / printed_number("1.73"); }
static_assert(agrees(over_root_3(5), "2.89", "2.88675134594813") &&
                  agrees(over_root_3(3), "1.73", "1.73205080756888") &&
                  agrees(over_root_3(4), "2.31", "2.30940107675850"),
              "day74/scaled-matrix: right: 5, 3 and 4 over the root of 3");
static_assert(misprinted(over_root_3(10), "5.78", "5.77350269189626") && prints(over_1_73(10), "5.78"),
              "day74/scaled-matrix-10: wrong: 5.78 is 10/1.73");
static_assert(misprinted(over_root_3(7), "4.05", "4.04145188432738") && prints(over_1_73(7), "4.05"),
              "day74/scaled-matrix-7: wrong: 4.05 is 7/1.73");
static_assert(misprinted(over_root_3(6), "3.47", "3.46410161513775") && prints(over_1_73(6), "3.47"),
              "day74/scaled-matrix-6: wrong: 3.47 is 6/1.73");
static_assert(misprinted(over_root_3(2), "1.16", "1.15470053837925") && prints(over_1_73(2), "1.16"),
              "day74/scaled-matrix-2: wrong: 1.16 is 2/1.73");

constexpr std::array<number, 3> printed_scores{printed_number("2.89"), printed_number("5.78"), printed_number("4.05")};
static_assert(agrees(exp(printed_scores[0]), "18.0", "17.99330960155031"), "day74/exp-2.89: right: exp(2.89)");
static_assert(misprinted(exp(printed_scores[1]), "323.6", "323.75919041724275"),
              "day74/exp-5.78: wrong: exp(5.78) is 323.8");
static_assert(agrees(exp(printed_scores[2]), "57.4", "57.39745704544620"), "day74/exp-4.05: right: exp(4.05)");
static_assert(misprinted(exp(printed_scores[0]) + exp(printed_scores[1]) + exp(printed_scores[2]), "399.0",
                         "399.14995706423926"),
              "day74/sum-scaled: wrong: the sum is 399.1");
constexpr auto after_printed = reference::softmax(printed_scores);
constexpr auto after = reference::softmax(std::array<number, 3>{5, 10, 7}, root_3);
static_assert(agrees(after_printed, {"0.045", "0.811", "0.144"},
                     {"0.0450790718703609", "0.8111216967139418", "0.1437992314156973"}),
              "day74/scaled-weights: right: softmax([2.89, 5.78, 4.05])");
static_assert(agrees(after, {"0.045", "0.811", "0.144"},
                     {"0.0452324470037604", "0.8112416938967586", "0.1435258590994809"}),
              "day74/scaled-weights-true: right: softmax([5, 10, 7]/sqrt(3)) prints the same three digits");
static_assert(agrees(hundred * after[0], "4.5", "4.52324470037604") &&
                  agrees(hundred * after[1], "81.1", "81.12416938967586") &&
                  agrees(hundred * after[2], "14.4", "14.35258590994809"),
              "day74/scaled-percent: right: 4.5 %, 81.1 %, 14.4 %");
static_assert(below(before[0], after[0]) && below(after[1], before[1]) && below(before[2], after[2]),
              "day74/more-balanced: right: scaling lowers the largest weight and raises the others");

// --- "Mathematical Derivation: Why √dk?" ----------------------------------------------------------------------------

constexpr std::array<float, 7> tens{10, 20, 30, 40, 50, 60, 70}, ones{1, 2, 3, 4, 5, 6, 7};
static_assert(reference::population_variance(tens).is(400), "day74/variance-tens: right: Var[10..70] = 400");
static_assert(reference::population_variance(ones).is(4), "day74/variance-ones: right: Var[1..7] = 4");
static_assert(reference::population_variance(tens).numerator == 100 * reference::population_variance(ones).numerator,
              "day74/variance-scaling: right: Var(cX) = c^2 Var(X) for c = 1/10, exactly");

static_assert(agrees(reference::inverse_sqrt<width>(2), "0.707", "0.707106781186548") &&
                  agrees(one_over_root_3, "0.577", "0.577350269189626"),
              "day74/inverse-roots: right: 1/sqrt(2) and 1/sqrt(3)");
constexpr number new_2d = printed_number("0.707") * printed_number("0.707") * printed_number("17.33");
constexpr number new_3d = printed_number("0.577") * printed_number("0.577") * printed_number("52.33");
static_assert(agrees(new_2d, "8.66", "8.66238317000000"), "day74/new-variance-2: right: 0.707^2 x 17.33");
static_assert(misprinted(new_3d, "17.44", "17.42217457000000") && prints(printed_number("52.33") / number(3), "17.44"),
              "day74/new-variance-3: wrong: 0.577^2 x 52.33 is 17.42; 52.33/3 is 17.44");
constexpr number of_1d = printed_number("16.33");
static_assert(misprinted(printed_number("8.66") / of_1d, "1.00", "0.53031230863442"),
              "day74/approximately-2: wrong: 8.66 is not about 16.33, but 0.53 of it");
static_assert(misprinted(printed_number("17.44") / of_1d, "1.00", "1.06797305572566"),
              "day74/approximately-3: wrong: 17.44 is 1.07 of 16.33");
static_assert(misprinted(printed_number("17.33") / of_1d, "2.00", "1.06123698714023") &&
                  misprinted(printed_number("52.33") / of_1d, "3.00", "3.20453153704838"),
              "day74/roughly-double: wrong: 17.33 and 52.33 are 1.06 and 3.20 times 16.33, not 2 and 3 times");

}  // namespace
}  // namespace attest::proofs
