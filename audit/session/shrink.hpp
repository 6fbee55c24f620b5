// A failing case, made small.
#pragma once

#include <chrono>
#include <functional>

#include "audit/judge/judge_case.hpp"

namespace attest::audit {

/// Asks and judges a case.
using case_runner = std::function<case_result(audit_case const&)>;

struct shrunk_case {
  audit_case asked;
  violation what;  ///< of the class that was looked for
};

/// Fewer batches, heads, queries, keys, dimensions, then no mask, bias, band, scale, then simpler numbers, as long as a
/// violation of the same class stays.
/// Ensures   nothing where the case does not fail that way again (its memory layout mattered, or it fails by chance)
/// Cost      ends at `until`, and after the call under way
std::optional<shrunk_case> shrink(audit_case const& failing, violation const& wrong, case_runner const& run,
                                  std::chrono::steady_clock::time_point until);

}  // namespace attest::audit
