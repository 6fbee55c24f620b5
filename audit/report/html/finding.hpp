// One finding on the page of html/page.hpp.
#pragma once

#include <string>

#include "audit/report/report.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {

/// The sentence, the numbers, the pictures, the smallest problem that shows the finding, and the command that
/// reproduces it.
void write_finding(finding const& found, std::size_t number, std::string const& anchor, markup& to);

}  // namespace attest::audit
