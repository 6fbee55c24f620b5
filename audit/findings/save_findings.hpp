// Findings, shrunk and saved as files that reproduce them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "audit/asking/options.hpp"
#include "audit/cases/case.hpp"
#include "audit/findings/findings_folder.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

using case_finder = std::function<std::optional<audit_case>(std::string_view check, std::string_view name)>;

/// Is told of each finding that was shrunk, with its smaller case.
using told_of_shrunk = std::function<void(finding& of, audit_case const& smaller)>;

/// Draws and shrinks the first finding of every check and class, and writes the problem with the kernel's outputs into
/// `folder`; the reproducer becomes `--replay FILE`. A finding that cannot be shrunk (a hang, a race, a memory
/// layout) is written as it is and keeps its reproducer. Every other finding gets a reason why it has no pictures.
/// `find` makes a case anew by its check and name. What is shrunk stays in the domain. A case of more than 64 MiB is
/// not written. Cost      ends soon after `until`
void save_findings(
    audit_options const& options, case_finder const& find, std::chrono::steady_clock::time_point until,
    findings_folder& folder, report& into, call_domain const& domain = {},
    told_of_shrunk const& shrunk = [](auto&...) {});

}  // namespace attest::audit
