// How much the bounds of an audit say: for each output and size of row, how many elements are dull (docs/bound.md,
// section 8), and how large the bounds are relative to the exact values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "audit/tensors/owned_outputs.hpp"

namespace attest::audit {

/// Rows by their number of keys m.
struct size_class {
  std::int64_t most = 0;  ///< m of its largest rows
  char const* name = "";
};
inline constexpr std::array<size_class, 4> size_classes{
    size_class{64, "1-64"}, {512, "65-512"}, {4096, "513-4096"}, {INT64_MAX, "4097-"}};
constexpr std::size_t size_class_of(std::int64_t m) noexcept {
  std::size_t at = 0;
  while (size_classes[at].most < m) ++at;
  return at;
}

/// The exponent field of |x|: 0 for 0 and subnormals, 2047 for ∞ and NaN, else ⌊log₂|x|⌋ + 1023.
constexpr int exponent_field(double x) noexcept {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff);
}

/// The elements of one output in rows of one size class that were judged by a bound.
struct sharpness {
  std::int64_t judged = 0, dull = 0;
  /// How many have ⌊log₂(bound/|exact|)⌋ = least + index; the first and last count include everything beyond. A ratio
  /// to an exact 0 is in the last.
  static constexpr int least = -60;
  std::array<std::int64_t, 64> ratios{};

  void add(double bound, double exact, bool is_dull) noexcept {
    ++judged;
    dull += is_dull;
    int const exponent = exponent_field(bound / exact) - 1023;
    ++ratios[static_cast<std::size_t>(std::clamp(exponent - least, 0, static_cast<int>(ratios.size()) - 1))];
  }
  void merge(sharpness const& other) noexcept;
  /// A power of two that is at least the ratio of `part` quarters of the elements; none without elements.
  std::optional<double> quartile(int part) const noexcept;
};

/// For each output and size class.
using sharpness_table = std::array<std::array<sharpness, size_classes.size()>, output_names.size()>;

/// Was this output judged by bounds, all of them dull?
bool only_dull(sharpness_table const& table, output_kind output) noexcept;

}  // namespace attest::audit
