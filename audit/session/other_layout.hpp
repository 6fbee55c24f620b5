// A recorded file whose axes or tensors are in another order than was said: its outputs are right if all of it is read
// so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/cause/cause.hpp"
#include "audit/files/case_file.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// How every element of O is right, if a wrong call is read otherwise.
struct other_reading {
  std::string words;    ///< "in [b, n, h, d] every element is right"
  std::string remedy;   ///< "--layout bnhd", or what to store
  std::string mistake;  ///< "--layout bnhd is missing"
};

/// Reads the first call of the case in each other order of axes and of pools that its shapes fit, then with every
/// repeated head of K and V once. Then it takes q, k, v and o to be in the order of attest's other Python function.
/// Last it reads a call without a band in the other orders of axes under a causal one. Returns the first reading in
/// which no element of O is wrong.
/// Cost      judging the call again for each; nothing above 2²⁶ products
std::optional<other_reading> right_reading(recorded_case const& recorded, contract const& claim);

/// The cause, where this reading makes all failing calls right.
named_cause cause_of(other_reading const& reading, std::int64_t failing);

/// The clause of a finding: "; in [b, n, h, d] every element is right: --layout bnhd".
std::string clause_of(other_reading const& reading);

}  // namespace attest::audit
