// A baseline: the causes that are known of a kernel, so that a gate fails on new ones only.
//
//   {"schema": 1, "known": [{"kernel", "contract", "check", "cause"}, …]}
#pragma once

#include <compare>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "audit/report/report.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// One cause in one check. `cause` is the names of the mistakes that explain the input, such as "band-top-left", or
/// "class accuracy" where none does.
struct known_cause {
  std::string kernel, contract, check, cause;
  friend auto operator<=>(known_cause const&, known_cause const&) = default;
};

using baseline = std::set<known_cause>;

/// Reads a baseline. Errors name the key.
problem::result<baseline> parse_baseline(std::string_view text);

/// The text of a file with these causes.
std::string baseline_text(baseline const& known);

/// The causes of the findings of a report that no --waive names.
baseline causes_of(report const& of);

/// Waives the findings whose cause is known, and sets the verdict again. A note counts them, and names known causes
/// of this kernel that did not show.
void apply(baseline const& known, report& to);

/// `known` with the causes of these reports instead of what it knew of their kernels under their contracts.
baseline updated(baseline known, std::span<report const> all);

}  // namespace attest::audit
