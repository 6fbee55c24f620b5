#include "audit/report/file/fact_texts.hpp"

#include <algorithm>

namespace attest::audit {

std::string marks_of(std::vector<bool> const& masked) {
  std::string marks;
  for (bool const hidden : masked) marks += hidden ? '.' : '#';
  return marks;
}

std::string read_marks(std::string const& marks, std::vector<bool>& masked) {
  masked.clear();
  for (char const mark : marks) masked.push_back(mark == '.');
  return marks_of(masked) == marks ? "" : "has another mark than # and .";
}

std::string digits_of(std::bitset<coverage::triple_count> const& triples) {
  std::string digits;
  for (std::size_t at = 0; at < triples.size(); at += 4) {
    unsigned bits = 0;
    for (std::size_t bit = 0; bit < 4 && at + bit < triples.size(); ++bit)
      bits |= static_cast<unsigned>(triples[at + bit]) << bit;
    digits += "0123456789abcdef"[bits];
  }
  return digits;
}

std::string read_digits(std::string const& digits, std::bitset<coverage::triple_count>& triples) {
  triples.reset();
  for (std::size_t at = 0; at < triples.size() && at / 4 < digits.size(); ++at) {
    auto const bits = std::string_view("0123456789abcdef").find(digits[at / 4]);
    triples[at] = bits != std::string_view::npos && (bits >> at % 4 & 1U) != 0;
  }
  return digits_of(triples) == digits ? "" : "has not a hexadecimal digit for every four triples";
}

bool fit(std::span<std::int64_t const> shape, std::size_t values) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  std::int64_t places = 1, loops = 1;  // a page loops over the other axes even if one is 0
  for (std::int64_t const extent : shape) {
    places = std::min(places * std::min(extent, most), 2 * most);
    loops = std::min(loops * std::clamp<std::int64_t>(extent, 1, most), 2 * most);
  }
  return !shape.empty() && shape.size() <= 5 && places == static_cast<std::int64_t>(values) && loops <= most;
}

}  // namespace attest::audit
