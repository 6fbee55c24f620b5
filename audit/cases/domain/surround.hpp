// A call inside a larger one: its queries, keys and columns at their places, further ones around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/cases/domain/place.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// How added keys are kept from changing the answers of the queries that were there.
enum class hiding : std::uint8_t {
  nothing,  ///< no key is added
  band,     ///< the causal edge
  mask,     ///< the mask of the call, or its lengths of keys
  scores,   ///< a column of their own: 1 in Q and far below 0 in K, so that their weights are below 2⁻¹⁴⁹
  open,     ///< they are keys like the others, and change the answers
};

/// Everything that the calls of one case have in common after the fit.
struct surroundings {
  placement at{};
  std::int64_t d = 0, dv = 0;  ///< of the larger call
  hiding by = hiding::nothing;
  double depth = 0;               ///< of hiding::scores: the entry of K is −depth
  std::optional<double> scale{};  ///< of the larger call
  double times = 1;               ///< each element of Q is multiplied by it
  bool copies_only = false;     ///< added numbers are copies of numbers of the call, and added columns of Q and K are 0
  bool without_values = false;  ///< every tensor is 0: only its sizes count
  std::string name;             ///< of the case: the same name draws the same added numbers
};

/// The largest depth that hiding::scores needs: 130 below the least of the rows' largest scores, over the scale.
/// Requires  a dense problem of rank 4. Cost  b·hq·n·m·d multiplications
double depth_of(owned_problem const& problem, double scale);

/// The larger call. If it has fewer columns of V, V is 0. `like` is the first call of the case: added rows have the
/// size of its rows. V gets further columns: copies of columns ±, and fresh ones; where a key holds a NaN or an
/// infinity, all of them do. Requires  a valid problem of rank 4. Packed, paged: sizes n and m that stay
problem_draft surrounded(problem_draft const& p, problem_draft const& like, surroundings const& by);

}  // namespace attest::audit
