// Systematic error: are the errors of an output, each within its bound, all on one side? A systematic error gives a
// warning, and never refutes (docs/read_a_report.md, "Systematic error").
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "audit/judge/sharpness.hpp"
#include "problem/element_type.hpp"

namespace attest::audit {

/// The two ways in which an error has a sign, in units in the last place at the exact value x, of the output's type.
enum class error_sign : std::uint8_t {
  upwards,     ///< (got − x)/ulp(x): below 0 where outputs are too small
  away_from_0  ///< sign(x)·(got − x)/ulp(x): below 0 where they are too near 0, as truncation makes them
};
inline constexpr std::size_t error_signs = 2;

/// Sums of means of signed errors: one mean a row within a call, and one mean a call within an audit.
/// Ensures   the same bits in whatever order means are added and sums are merged: everything is an integer
struct mean_sums {
  std::int64_t count = 0;
  std::array<std::int64_t, error_signs> means{};    ///< by error_sign: Σ x, each rounded, in units of 2⁻¹² ulp
  std::array<std::int64_t, error_signs> squares{};  ///< Σ x², each rounded, in units of 2⁻¹² ulp²

  static constexpr double units = 4096;  ///< in an ulp, and in an ulp²: far finer than what is worth a note

  void add(std::array<double, error_signs> const& x) noexcept;
  void merge(mean_sums const& other) noexcept;
  /// Requires  count > 0
  double mean(error_sign sign) const noexcept;
  friend bool operator==(mean_sums const&, mean_sums const&) = default;
};

/// The signed errors of one output in one row.
struct row_errors {
  std::array<double, error_signs> sums{};
  std::int64_t elements = 0;

  /// A larger error counts as this one. No element outweighs all others, and the mean of errors that are as often above
  /// as below stays 0.
  static constexpr double most_ulp = 16;
  static constexpr std::int64_t most_mean = 16 * 4096, most_square = 256 * 4096;  ///< of one mean, in mean_sums
  static_assert(most_ulp * mean_sums::units == most_mean && most_ulp * most_ulp * mean_sums::units == most_square);

  /// `ulps` is (got − x)/ulp(x).
  void add(double ulps, bool negative) noexcept {
    double const counted = std::clamp(ulps, -most_ulp, most_ulp);
    sums[0] += counted, sums[1] += negative ? -counted : counted;
    ++elements;
  }
};

/// The rows of one output of one call; its squares are not read.
struct call_errors {
  mean_sums rows;
  std::int64_t elements = 0;

  void add(row_errors const& row) noexcept;
  void merge(call_errors const& other) noexcept { rows.merge(other.rows), elements += other.elements; }
};

/// A mean and its standard error, in ulp.
struct mean_error {
  double mean = 0, standard_error = 0;

  /// Is the mean so far from 0, and so large, that a reader should know?
  bool is_systematic() const noexcept;
};

/// The calls of one output and type. Each call counts as one number: the mean over its rows of the mean over the row's
/// elements. Elements of a row share its weights and their sum; rows of a call share its sizes, its scale and the form
/// of its values. Neither elements nor rows are independent observations.
struct systematic_error {
  mean_sums calls;
  std::int64_t rows = 0, elements = 0;

  void add(call_errors const& call) noexcept;
  void merge(systematic_error const& other) noexcept;
  /// Requires  at least 2 calls
  mean_error of(error_sign sign) const noexcept;
  /// Is one of the two means systematic, over enough calls?
  bool is_worth_a_note() const noexcept;
  friend bool operator==(systematic_error const&, systematic_error const&) = default;
};

/// A mean is worth a note beyond 6 standard errors (a chance of 2·10⁻⁹ for a mean of many independent calls) and 0.05
/// ulp in size, over at least 64 calls.
inline constexpr double noted_standard_errors = 6, noted_ulp = 0.05;
inline constexpr std::int64_t noted_calls = 64;

/// An element counts if the truth is known to this part of a unit in the last place, and is a normal number of the
/// output's type. This part is below the units of mean_sums, so that no mean depends on how one processor encloses the
/// truth. A column of O does not count if V holds one number at all keys: the rounding errors of summing a number
/// follow from that number, so that calls which share it (as drawn ones do) are not independent.
inline constexpr double truth_ulp = 0x1p-16;

/// For each output and the element type that it has.
using systematic_table = std::array<std::array<systematic_error, problem::floating_rows.size()>, output_names.size()>;
static_assert(
    [] {
      for (std::size_t at = 0; at < problem::floating_rows.size(); ++at)
        if (problem::floating_rows[at].type != static_cast<problem::element_type>(at)) return false;
      return true;
    }(),
    "the floating types are the first ones of element_type: their values are indices of a systematic_table");

}  // namespace attest::audit
