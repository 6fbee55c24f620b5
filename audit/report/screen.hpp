// A report on one screen: the default text of audit, verify and merge.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "audit/report/report.hpp"

namespace attest::audit {

/// What the terminal can show.
struct screen_form {
  std::size_t columns = 100;  ///< a longer line is wrapped, except inside a word
  bool colour = false;        ///< the word of the verdict has one (ECMA-48)
  std::string called = {};    ///< the words that start the program here, in place of `attest`; empty: the same
};

/// The verdict, its cause or what it is about, what was not asked, and the command that repeats it.
/// Ensures   no character of a name or a sentence commands the terminal; at most 24 lines of 100 columns for
///           each kernel, unless a name or a path is longer than a line
std::string as_screen(report const& kernel_report, screen_form const& form);

/// The screens of several kernels, then a line for each of them.
std::string as_screen(std::span<report const> all, screen_form const& form);

/// Rows of a label and a text, as on the screen of a report. A row without a text is left out.
std::string labelled_rows(std::span<std::pair<std::string_view, std::string_view> const> rows, screen_form const& form);

}  // namespace attest::audit
