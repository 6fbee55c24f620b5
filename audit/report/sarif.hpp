// A report as SARIF 2.1.0 (OASIS, 2020), which code hosts show beside a change.
#pragma once

#include <span>
#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// One run a kernel. A result is a finding: its rule is the class, its location the kernel or the file that was judged.
/// Its fingerprint says check, class and cause: the same fault under other numbers is the same result.
/// A waived finding is suppressed. An undecided report has one result, of the rule "undecided".
std::string as_sarif(std::span<report const> all);

}  // namespace attest::audit
