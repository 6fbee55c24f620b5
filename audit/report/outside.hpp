// The share of an output that the bound says nothing about. If it is large, the verdict is about the rest only, and
// certifies nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/report/report.hpp"

namespace attest::audit {

/// An output of a check. In a file that attest did not write, each problem is a check of its own.
struct outside_place {
  std::string check;
  std::string_view output;
  outside_share of;
};

/// The output of a check with the largest share outside the hypotheses of the bound; the first if several are equal.
/// Returns nothing if no element is outside.
std::optional<outside_place> most_outside(report const& kernel_report);

/// "99 of 100 elements of o in padded lie outside the hypotheses of the bound (99 %, and --outside allows 1 %)"
std::string outside_words(outside_place const& place, double limit);

}  // namespace attest::audit
