// Makes a failing case smaller.
#pragma once

#include <chrono>
#include <functional>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// Runs and judges a case.
using case_runner = std::function<case_result(audit_case const&)>;

struct shrunk_case {
  audit_case small;
  violation what;  ///< of the same class as the first
};

/// Shrinks a case as long as it has a violation of the same class: fewer batch entries, heads, queries, keys and
/// columns, then no mask, bias and band and simple parameters, then simpler numbers. A case in the domain stays in it.
/// Ensures   nothing if the case does not fail in this way again: its memory layout matters, or it fails by chance
/// Cost      ends at `until`, or after the call that is then under way
std::optional<shrunk_case> shrink(audit_case const& failing, violation const& wrong, case_runner const& run,
                                  std::chrono::steady_clock::time_point until, call_domain const& domain = {});

}  // namespace attest::audit
