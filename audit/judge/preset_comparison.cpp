#include "audit/judge/preset_comparison.hpp"

#include <algorithm>

namespace attest::audit {

void preset_comparison::add(double lower, double upper) noexcept {
  bool const inside = upper <= 1, beyond = lower > 1;
  if (inside == beyond) return;  // undecided, or NaN
  ++compared;
  outside += beyond;
  worst = std::max(worst, beyond ? lower : upper);
}

void preset_comparison::merge(preset_comparison const& other) noexcept {
  compared += other.compared, outside += other.outside;
  worst = std::max(worst, other.worst);
}

void merge(std::vector<preset_comparison>& into, preset_comparison const& comparison) {
  if (comparison.compared == 0) return;
  auto const at = std::ranges::lower_bound(into, comparison.preset, {}, &preset_comparison::preset);
  if (at != into.end() && at->preset == comparison.preset) at->merge(comparison);
  else into.insert(at, comparison);
}

}  // namespace attest::audit
