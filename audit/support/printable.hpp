// Text from outside attest (names in files, names of kernels, messages of loaders), made safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attest::audit {

/// `text` as valid UTF-8 without control characters, at most about `limit` bytes.
/// Ensures   bytes that are not UTF-8, control characters (C0, C1, DEL), line separators, code points that are no
///           characters and those that change the direction of text are written as \xNN; text longer than `limit` is
///           cut and ends with "…"
std::string printable(std::string_view text, std::size_t limit = 120);

/// The same for text of several lines: each '\n' stays, and nothing is cut.
std::string printable_lines(std::string_view text);

/// Does printable leave it as it is, where it is not too long?
bool is_printable(std::string_view text);

}  // namespace attest::audit
