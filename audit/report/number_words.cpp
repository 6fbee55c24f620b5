#include "audit/report/number_words.hpp"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace attest::audit {

std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string plural(std::int64_t count, std::string_view noun, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", plural(count, noun), count == 1 ? one : several);
}

std::string in_bounds(double x) { return std::abs(x) < 1e5 ? fmt::format("{:.4f}", x) : fmt::format("{:.4g}", x); }

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace attest::audit
