// Where the queries and keys of a call lie in a larger call whose sizes and band a domain takes.
#pragma once

#include <cstdint>
#include <string>

#include "audit/cases/domain/call_domain.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The reason why a domain cannot express a case, as an error.
inline problem::error not_in_domain(std::string reason) {
  return {problem::error_code::unsupported, "", std::move(reason)};
}

/// Query i of a call is query rows_before + i of the larger call, and key j is key keys_before + j.
struct placement {
  std::int64_t n = 0, m = 0;  ///< of the larger call
  std::int64_t rows_before = 0, keys_before = 0;
  problem::band band{};  ///< of the larger call, with align = 0
  /// Does the band hide every added key from every query of the call?
  bool band_hides = false;
};

/// The place for a call of rank 4 and these sizes, with the fewest pairs n·m, at first without keys in front. Each
/// query of the call sees the same keys of the call as before. Packed and paged tensors stay as they are. If entries
/// have lengths, added keys lie behind them; `band` is the band of the call then, with its align.
/// Requires  a domain whose axes other than n, m and bands take the call
/// Ensures   an error whose reason says what the domain cannot express
problem::result<placement> placed(problem_draft const& p, problem::sizes const& s, call_domain const& domain);

}  // namespace attest::audit
