// Backward passes of chosen numbers: a call whose gradients show what a kernel rounds inside, to which type.
#pragma once

#include "audit/cause/score_rows.hpp"

namespace attest::audit {

/// One query of each head has a dO, 1 in one column, and every score is exact. So dV shows the weights p̂_j, and dK the
/// numbers dS_j = p̂_j(v_j − Δ̂), up to a power of two. A step is confirmed if all elements are what it predicts, up to
/// roundings of float32, or of float64, and a right kernel's are not: gradients, weights, dS, Δ or the LSE in a format
/// of 16 bits. Without such a step: the largest error of a weight e^(s − LSE).
/// `shapes` are tried until one is answered. The calls hand over O and LSE.
/// Cost      one small backward pass
seen_arithmetic read_gradient_arithmetic(problem::element_type type, std::span<problem::sizes const> shapes,
                                         problem_asker const& ask);

/// The step of an exponential that is off in the backward pass.
inline constexpr char const* step_of_gradient_exp = "gradient-exp-to";

}  // namespace attest::audit
