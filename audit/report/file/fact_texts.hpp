// Facts that a shard writes as text: bits, and tensors' sizes beside their values.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "audit/report/coverage/coverage.hpp"

namespace attest::audit {

/// '.' for a key that is masked, '#' for one that is visible.
std::string marks_of(std::vector<bool> const& masked);
/// Returns what is wrong; nothing if the text has no other characters.
std::string read_marks(std::string const& marks, std::vector<bool>& masked);

/// A hexadecimal digit for every four triples.
std::string digits_of(std::bitset<coverage::triple_count> const& triples);
/// Returns what is wrong; nothing if digits_of writes this text.
std::string read_digits(std::string const& digits, std::bitset<coverage::triple_count>& triples);

/// Has a tensor of this shape so many values, and few enough to list? It has one to five axes; the parts of a merge
/// have [parts, b, hq, n, dv].
bool fit(std::span<std::int64_t const> shape, std::size_t values);

}  // namespace attest::audit
