#include "audit/judge/sharpness.hpp"

#include <cmath>

namespace attest::audit {

void sharpness::merge(sharpness const& other) noexcept {
  if (other.judged == 0) return;
  judged += other.judged, dull += other.dull;
  for (std::size_t at = 0; at < ratios.size(); ++at) ratios[at] += other.ratios[at];
}

std::optional<double> sharpness::quartile(int part) const noexcept {
  if (judged == 0) return std::nullopt;
  std::int64_t seen = 0;
  std::size_t at = 0;
  while ((seen += ratios[at]) * 4 < judged * part) ++at;
  return std::ldexp(1.0, least + 1 + static_cast<int>(at));
}

bool only_dull(sharpness_table const& table, output_kind output) noexcept {
  std::int64_t judged = 0, dull = 0;
  for (sharpness const& of : table[static_cast<std::size_t>(output)]) judged += of.judged, dull += of.dull;
  return judged > 0 && dull == judged;
}

}  // namespace attest::audit
