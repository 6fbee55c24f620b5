// The values of Q, K and V of large calls.
#pragma once

#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {

/// Every element := spread·x with x nearly N(0, 1): the sum of four uniforms on 16 bits each, |x| < 3.47.
/// Requires  a compact tensor of a floating type
/// Cost      about 2 ns an element
void fill_normal(owned_tensor& to, random_stream& random, double spread);

/// Sets Q, K and V as the form says. Requires  sizes, band, mask and bias that are set, Q = K = V = 0.
void set_values(value_form form, problem_draft& to, random_stream& random);

}  // namespace attest::audit
