// Suggestions for mistyped words, counted nouns, and quoting for a shell.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/support/printable.hpp"

namespace attest::audit {

/// The number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
/// Source  Damerau 1964, restricted (optimal string alignment)
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// ", did you mean 'masks'?" for the known word at the least edit distance; empty if that distance is above a third of
/// the word's letters (and above 1).
template <class Words>
std::string did_you_mean(std::string_view word, Words const& known) {
  if (word.size() > 100) return "";
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (std::string_view const candidate : known) {
    if (candidate.size() > 100) continue;
    if (std::size_t const distance = edit_distance(word, candidate); distance < least)
      least = distance, nearest = candidate;
  }
  return nearest.empty() ? "" : ", did you mean '" + std::string(nearest) + "'?";
}

/// "1 key", "2 keys"
inline std::string counted(std::int64_t n, char const* one, char const* several) {
  return std::to_string(n) + ' ' + (n == 1 ? one : several);
}

/// `text` quoted as one argument of a shell command. Bytes that printable() would change stand in $'…' as \xNN, which
/// bash, zsh and busybox know: the pasted text is the name itself, and a terminal shows it safely.
inline std::string shell_word(std::string_view text) {
  bool const plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+,:=@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  if (!is_printable(text)) {
    // Whole characters that are safe stay; the others are escaped byte by byte.
    std::string escaped = "$'";
    for (std::string_view rest = text; !rest.empty();) {
      std::size_t length = 1;
      while (length < 4 && length < rest.size() && !is_printable(rest.substr(0, length))) ++length;
      if (!is_printable(rest.substr(0, length))) {
        constexpr char digits[] = "0123456789abcdef";
        auto const byte = static_cast<unsigned char>(rest[0]);
        escaped += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
        length = 1;
      } else {
        if (rest[0] == '\'' || rest[0] == '\\') escaped += '\\';
        escaped += rest.substr(0, length);
      }
      rest.remove_prefix(length);
    }
    return escaped + "'";
  }
  std::string quoted = "'";
  for (char const c : text) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace attest::audit
