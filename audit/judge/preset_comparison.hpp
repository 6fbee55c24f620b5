// Outputs beside the bound of a preset that is sharper, or wider, than the contract they are judged by. It decides
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attest::audit {

/// The elements of some rows beside the bounds of one preset.
struct preset_comparison {
  std::string preset;
  std::int64_t compared = 0, outside = 0;
  /// The largest error in units of the bound: a number that it does not exceed where none is outside, else one that it
  /// reaches; infinite where an output is not finite.
  double worst = 0;

  /// Adds an element whose error, in units of the bound, lies in [lower, upper]. One of which the two ends do not
  /// decide whether it is beyond 1 is not compared.
  void add(double lower, double upper) noexcept;
  void merge(preset_comparison const& other) noexcept;
};

/// A preset under which nothing of a failing case is wrong.
struct holding_preset {
  std::string name;
  double worst = 0;  ///< the largest error in units of its bound
};

/// Adds `comparison` to that of the same preset. `into` is ordered by name, so that nothing depends on threads.
void merge(std::vector<preset_comparison>& into, preset_comparison const& comparison);

}  // namespace attest::audit
