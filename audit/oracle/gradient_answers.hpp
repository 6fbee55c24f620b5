// The gradients of one problem as tensors of a file, for `attest solve` and `attest reference`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/oracle/answer_tensors.hpp"
#include "reference/machine/rounding_tally.hpp"

namespace attest::audit::answers {

/// Adds nothing for a problem without a dO. Names, shapes and axis orders follow the inputs: dq as q.
/// Elements that are NaN or left open by docs/semantics.md are NaN. Elements of no query or key are 0.

/// dq, dk, dv, dbias, dsink correctly rounded to `round`, or to the type of their input. With a contract also dq.bound
/// … in f64: the largest error by which attest judges, +∞ where it judges nothing. Ensures   a zero is +0
/// Cost      double arithmetic, and balls for elements that it does not decide
reference::machine::rounding_tally add_rounded_gradients(problem_file_entry const& from, owned_problem const& problem,
                                                         std::optional<problem::element_type> round,
                                                         contract const* claim, tensors& into);

/// dq.lower, dq.upper, …: f64, rounded outward.
void add_enclosed_gradients(problem_file_entry const& from, tensors& into);

/// One line for each element, with certified significant digits. Adds to `undecided` the elements without them.
/// Requires  digits ≤ most_gradient_digits
std::string gradient_digits(problem_file_entry const& from, int digits, std::int64_t& undecided);
inline constexpr int most_gradient_digits = 1152 * 3 / 10 - 8;

/// The number of elements of all gradients.
std::int64_t count_of_gradients(owned_problem const& problem);

}  // namespace attest::audit::answers
