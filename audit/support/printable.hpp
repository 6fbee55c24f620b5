// Text from outside attest (names in files, names of kernels, messages of loaders), made safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attest::audit {

/// `text` as valid UTF-8 without control characters, at most about `limit` bytes.
/// Ensures   unsafe characters are written as \xNN: bytes that are not UTF-8, control characters (C0, C1, DEL), line
///           separators, noncharacters and characters that change the direction of text. Text longer than `limit` is
///           cut and ends with "…"
std::string printable(std::string_view text, std::size_t limit = 120);

/// The same for text of several lines: each '\n' stays, and nothing is cut.
std::string printable_lines(std::string_view text);

/// Does printable leave it as it is, if it is not too long?
bool is_printable(std::string_view text);

}  // namespace attest::audit
