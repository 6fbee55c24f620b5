#include "audit/support/printable.hpp"

#include <cstdint>

namespace attest::audit {
namespace {

/// The length of the well-formed UTF-8 sequence that `text` begins with, or 0; `point` is its code point.
/// Source  The Unicode Standard, table 3-7
std::size_t sequence_length(std::string_view text, std::uint32_t& point) {
  auto const byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  std::uint32_t const first = byte(0);
  if (first < 0x80) return point = first, 1;
  std::size_t const length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  point = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    point = (point << 6) | (byte(i) & 0x3F);
  }
  bool const overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  bool const surrogate = point >= 0xD800 && point <= 0xDFFF;
  return overlong || surrogate || point > 0x10FFFF ? 0 : length;
}

bool is_unsafe(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) ||                   // C0, DEL, C1
         point == 0x061C || point == 0x200E || point == 0x200F ||             // direction marks
         (point >= 0x2028 && point <= 0x202E) ||                              // line separators, embeddings, overrides
         (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF ||           // isolates, byte order mark
         (point & 0xFFFE) == 0xFFFE || (point >= 0xFDD0 && point <= 0xFDEF);  // noncharacters; XML forbids two of them
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  constexpr char digits[] = "0123456789abcdef";
  std::string written;
  while (!text.empty()) {
    if (written.size() >= limit) return written + "…";
    std::uint32_t point = 0;
    std::size_t length = sequence_length(text, point);
    if (length != 0 && !is_unsafe(point)) {
      written += text.substr(0, length);
    } else {
      if (length == 0) length = 1;
      for (char const c : text.substr(0, length)) {
        auto const value = static_cast<unsigned char>(c);
        written += {'\\', 'x', digits[value >> 4], digits[value & 15]};
      }
    }
    text.remove_prefix(length);
  }
  return written;
}

std::string printable_lines(std::string_view text) {
  std::string written;
  for (;;) {
    auto const end = text.find('\n');
    written += printable(text.substr(0, end), text.npos);
    if (end == text.npos) return written;
    written += '\n';
    text.remove_prefix(end + 1);
  }
}

bool is_printable(std::string_view text) {
  std::uint32_t point = 0;
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(length))
    if ((length = sequence_length(text, point)) == 0 || is_unsafe(point)) return false;
  return true;
}

}  // namespace attest::audit
