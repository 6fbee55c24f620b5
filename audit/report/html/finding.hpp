// One finding on the page of html_report.hpp.
#pragma once

#include "audit/report/report.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {

/// What is wrong, the numbers, the pictures, the smallest problem that shows it, and the command that does.
void write_finding(finding const& found, std::size_t number, markup& to);

}  // namespace attest::audit
