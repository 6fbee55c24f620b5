// Reports as JUnit XML, for servers that show tests.
#pragma once

#include <span>
#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// JUnit XML as Jenkins and GitLab read it: for each report a testsuite, with a testcase for each check and one for the
/// verdict.
std::string as_junit(std::span<report const> all);

}  // namespace attest::audit
