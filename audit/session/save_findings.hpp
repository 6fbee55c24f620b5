// Findings, shrunk and saved as files that reproduce them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "audit/cases/case.hpp"
#include "audit/report/report.hpp"
#include "audit/session/options.hpp"

namespace attest::audit {

using case_finder = std::function<std::optional<audit_case>(std::string_view check, std::string_view name)>;

/// FOLDER/CHECK-CLASS-CASE.safetensors, so that shards with the same folder do not overwrite each other's files.
std::filesystem::path file_for(std::filesystem::path const& folder, finding const& of);

/// Draws and shrinks the first finding of every check and class, and writes the problem with the kernel's outputs into
/// options.findings; the reproducer becomes `--replay FILE`. A finding that cannot be shrunk (a hang, a race, a memory
/// layout) is written as it is and keeps its reproducer. Every other finding gets a reason why it has no pictures.
/// `find` makes a case anew by its check and name. A case of more than 64 MiB is not written.
/// Cost      ends soon after `until`
void save_findings(audit_options const& options, case_finder const& find, std::chrono::steady_clock::time_point until,
                   report& into);

}  // namespace attest::audit
