// Facts that a shard writes as text: bits. Also compares the shape of a tensor with its number of values.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "audit/report/coverage/coverage.hpp"

namespace attest::audit {

/// '.' for a masked key, '#' for a visible one.
std::string marks_of(std::vector<bool> const& masked);
/// Returns what is wrong; nothing if the text has no other characters.
std::string read_marks(std::string const& marks, std::vector<bool>& masked);

/// A hexadecimal digit for every four triples.
std::string digits_of(std::bitset<coverage::triple_count> const& triples);
/// Returns what is wrong; nothing if digits_of writes this text.
std::string read_digits(std::string const& digits, std::bitset<coverage::triple_count>& triples);

/// Does a tensor of this shape have so many values, and few enough to list? It has one to five axes; the parts of a
/// merge have [parts, b, hq, n, dv].
bool fit(std::span<std::int64_t const> shape, std::size_t values);

}  // namespace attest::audit
