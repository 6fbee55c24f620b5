// Parsing of numbers in text from outside attest. libc++ 19 has no std::from_chars for floating point, so this uses
// strtod, after rejecting what strtod would accept beyond our grammar (leading space, '+', "inf"). Assumes the C
// locale; nothing in attest sets another.
#pragma once

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace attest::audit {

/// The double nearest to a finite decimal number or hex float (0.125, -1e-3, 0x1p-3). Returns nothing for any other
/// text, or if the nearest double is infinite, or is 0 for a number that is not 0.
inline std::optional<double> real_number(std::string_view text) {
  std::string_view const digits = text.substr(text.starts_with('-'));
  if (digits.empty() || std::string_view(".0123456789").find(digits.front()) == digits.npos) return std::nullopt;
  std::string const whole(text);  // strtod needs a terminating 0
  char* end = nullptr;
  errno = 0;
  double const value = std::strtod(whole.c_str(), &end);
  if (end != whole.c_str() + whole.size() || !std::isfinite(value) || (value == 0 && errno == ERANGE))
    return std::nullopt;
  return value;
}

/// Is the text a number other than 0 whose nearest double is 0? real_number returns nothing for it.
inline bool is_too_small(std::string_view text) {
  std::string const whole(text);
  char* end = nullptr;
  errno = 0;
  double const value = std::strtod(whole.c_str(), &end);
  return !real_number(text) && end == whole.c_str() + whole.size() && value == 0 && errno == ERANGE;
}

/// x as a C99 hex float; "nan", "inf", "-inf".
inline std::string hex(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return fmt::format("{:a}", x);
}

/// The number that hex() wrote: a hex float, "nan", "inf" or "-inf". Returns nothing for any other text.
inline std::optional<double> hex_number(std::string_view text) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "-inf") return text == "inf" ? infinity : -infinity;
  bool const hex = text.size() <= 40 && text.substr(text.starts_with('-')).starts_with("0x") &&
                   text.find_first_not_of("0123456789abcdefx.p+-") == text.npos;
  return hex ? real_number(text) : std::nullopt;
}

}  // namespace attest::audit
