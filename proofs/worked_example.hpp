// A worked example of a source document, solved by the reference at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "reference/attention/exactly.hpp"
#include "reference/real/decimal.hpp"

namespace attest::proofs {

/// Bits of the enclosures: they hold every printed digit and 24 more, in addition to the rounding.
inline constexpr unsigned width = 128;
using number = reference::ball<width>;

/// Q [N, D], K [M, D], V [M, DV], row-major, in numbers that f32 holds exactly.
template <std::size_t N, std::size_t M, std::size_t D, std::size_t DV>
struct worked_example {
  std::array<float, N * D> q{};
  std::array<float, M * D> k{};
  std::array<float, M * DV> v{};
  std::optional<double> scale{};  ///< none = 1/√D, 1 = the unscaled softmax(QKᵀ)

  constexpr problem::instance<float> instance() const {
    problem::arguments<float> arguments;
    arguments.q = {q.data(), problem::layout::compact({N, D})};
    arguments.k = {k.data(), problem::layout::compact({M, D})};
    arguments.v = {v.data(), problem::layout::compact({M, DV})};
    arguments.scale = scale;
    return problem::instance<float>::make(arguments).value();
  }

  struct solution {
    std::array<std::array<number, M>, N> A{};   ///< weights
    std::array<std::array<number, DV>, N> O{};  ///< outputs
    std::array<std::array<number, M>, N> S{};   ///< scaled scores
    std::array<number, N> entropy{};
  };

  constexpr reference::enclosed_row<width, float> row(std::int64_t i) const {
    reference::enclosed_row<width, float> enclosed;
    reference::enclose_row(instance(), 0, 0, i, enclosed);
    return enclosed;
  }

  constexpr solution solve() const {
    solution solved;
    for (std::size_t i = 0; i < N; ++i) {
      auto const enclosed = row(static_cast<std::int64_t>(i));
      for (std::size_t j = 0; j < M; ++j) {
        solved.A[i][j] = reference::weight(enclosed, j);
        solved.S[i][j] = enclosed.max_score + enclosed.keys[j].below_max;
      }
      for (std::size_t c = 0; c < DV; ++c)
        solved.O[i][c] = reference::output(instance(), enclosed, static_cast<std::int64_t>(c)).value;
      solved.entropy[i] = reference::entropy(enclosed);
    }
    return solved;
  }

  // Exact questions, decided by integers and the Lindemann–Weierstrass theorem (reference/attention/exactly.hpp).

  /// q_i·k_j = value, exactly. `value` is halves: E11.1 has 0.5.
  constexpr bool dot_is(std::int64_t i, std::size_t j, float value) const {
    auto const at = row(i).keys[j].score;
    reference::element const x = reference::value_of(value);
    reference::integer<reference::dot_bits<float>> expected = x.significand;
    expected <<= static_cast<unsigned>(x.exponent - reference::dot_exponent<float>);
    return at.dot == expected && at.bias.significand == 0;
  }
  /// q_i·k_j for every j, exactly. Requires whole numbers.
  constexpr std::array<std::int64_t, M> dots(std::int64_t i) const {
    std::array<std::int64_t, M> whole{};
    auto const enclosed = row(i);
    for (std::size_t j = 0; j < M; ++j)
      whole[j] =
          static_cast<std::int64_t>(reference::shifted(enclosed.keys[j].score.dot, reference::dot_exponent<float>));
    return whole;
  }
  /// O_ic = value, exactly.
  constexpr bool output_is(std::int64_t i, std::int64_t c, float value) const {
    return reference::output_is_exactly(instance(), row(i), c, reference::value_of(value));
  }
  /// Every weight of row i is exactly 1/M.
  constexpr bool uniform(std::int64_t i) const {
    auto const enclosed = row(i);
    return enclosed.keys.size() == M && reference::weights_are_uniform(enclosed);
  }
  /// Rows i and other have the same weights in some order, hence exactly the same entropy.
  constexpr bool equally_focused(std::int64_t i, std::int64_t other) const {
    return reference::same_scores_in_some_order(row(i), row(other));
  }
};

/// x rounds to the printed decimal.
constexpr bool prints(number const& x, std::string_view printed) noexcept {
  return reference::rounds_to(x, printed) == reference::decision::yes;
}

/// Each number of a row rounds to the decimal printed at its place.
template <std::size_t C>
constexpr bool prints(std::array<number, C> const& row, std::array<std::string_view, C> const& printed) noexcept {
  for (std::size_t c = 0; c < C; ++c)
    if (!prints(row[c], printed[c])) return false;
  return true;
}

/// The number that a document prints, and at least 12 decimal places more.
constexpr bool agrees(number const& x, std::string_view printed, std::string_view longer) noexcept {
  return longer.size() >= printed.size() + 12 && prints(x, printed) && prints(x, longer);
}
template <std::size_t C>
constexpr bool agrees(std::array<number, C> const& row, std::array<std::string_view, C> const& printed,
                      std::array<std::string_view, C> const& longer) noexcept {
  for (std::size_t c = 0; c < C; ++c)
    if (!agrees(row[c], printed[c], longer[c])) return false;
  return true;
}

/// What a document prints is wrong in its last place: x certainly does not round to it, but to `truth`.
constexpr bool misprinted(number const& x, std::string_view printed, std::string_view truth) noexcept {
  return truth.size() >= printed.size() + 12 && reference::rounds_to(x, printed) == reference::decision::no &&
         prints(x, truth);
}

/// A decimal such as "2.89", exactly as far as a ball can hold it.
constexpr number printed_number(std::string_view printed) noexcept {
  reference::decimal<width> const p(printed);
  return p.digits / p.ten_to_places;
}

/// x = value, and the enclosure is exact.
constexpr bool exactly(number const& x, std::int64_t value) noexcept {
  return x.is_exact() && reference::certain_sign(x - number(value)) == 0;
}

/// a and b differ by at most 2^−100, and may be equal. Equality itself is decided by the exact questions above and by
/// proofs/documents/exact_weights.hpp.
constexpr bool nearly_equal(number const& a, number const& b) noexcept {
  number const gap = a - b;
  return overlap(a, b) && gap.upper_size() <= reference::magnitude::power_of_two(-100);
}
template <std::size_t C>
constexpr bool nearly_equal(std::array<number, C> const& a, std::array<number, C> const& b) noexcept {
  for (std::size_t c = 0; c < C; ++c)
    if (!nearly_equal(a[c], b[c])) return false;
  return true;
}

/// Σ row is `value` or differs from it by at most 2^−100.
template <std::size_t C>
constexpr bool nearly_sums_to(std::array<number, C> const& row, std::int64_t value) noexcept {
  number sum{};
  for (number const& x : row) sum = sum + x;
  return nearly_equal(sum, number(value));
}

/// a < b for certain.
constexpr bool below(number const& a, number const& b) noexcept { return reference::certain_sign(b - a) > 0; }

}  // namespace attest::proofs
