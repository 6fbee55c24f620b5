// Outputs compared with the bound of a preset that is sharper, or wider, than the contract by which they are judged.
// The comparison decides nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attest::audit {

/// The elements of some rows, compared with the bounds of one preset.
struct preset_comparison {
  std::string preset;
  std::int64_t compared = 0, outside = 0;
  /// The largest error in units of the bound. If no element is outside, the error is at most this number; else the
  /// error is at least this number. Infinite if an output is not finite.
  double worst = 0;

  /// Adds an element whose error, in units of the bound, lies in [lower, upper]. If 1 lies between the two ends, the
  /// element is not counted.
  void add(double lower, double upper) noexcept;
  void merge(preset_comparison const& other) noexcept;
};

/// A preset under which nothing of a failing case is wrong.
struct holding_preset {
  std::string name;
  double worst = 0;  ///< the largest error in units of its bound
};

/// Adds `comparison` to the comparison with the same preset. `into` is ordered by name, so that the result does not
/// depend on threads.
void merge(std::vector<preset_comparison>& into, preset_comparison const& comparison);

}  // namespace attest::audit
