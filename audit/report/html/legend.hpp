// Which symbol stands for which kernel on the page of html/page.hpp.
#pragma once

#include <span>
#include <string>

#include "audit/report/report.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {

/// A list of the kernels with their symbols. `extra` is added to the class of the list.
void write_legend(std::span<report const> all, std::string const& extra, markup& to);

}  // namespace attest::audit
