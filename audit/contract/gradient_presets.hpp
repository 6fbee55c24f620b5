// How an unknown backward kernel of an element type rounds: the gradient models of the presets.
#pragma once

#include "problem/element_type.hpp"
#include "problem/gradient_model.hpp"
#include "problem/kernel_model.hpp"

namespace attest::audit {

/// The gradient model beside a preset for f32 or f64, and so for its kernel model: weights and Δ by either way, exp and
/// tanh within 4 ulp, sums in any order (docs/bound_backward.md, "Presets").
problem::gradient_model unknown_gradient(problem::kernel_model const& forward);

/// The same for 16-bit tensors: a weight may be rounded before it forms dS, dS is rounded once, gradients are sums of
/// f32 that are rounded once, or once for each query head.
/// Requires  the kernel model of a preset for this type: its u_p, omega_p, u_v, u_out, omega_out and out_limit are read
problem::gradient_model narrow_gradient(problem::kernel_model const& forward, bool tensor_core);

}  // namespace attest::audit
