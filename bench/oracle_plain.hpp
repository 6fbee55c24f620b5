// The plain float64 loop that the reference is timed against.
#pragma once

#include <cstdint>

namespace attest::bench {

/// o [n, dv] of f32 inputs, one head, no mask, scale 1/√d: two passes over the keys in float64, libm's exp.
void plain_attention(float const* q, float const* k, float const* v, std::int64_t n, std::int64_t m, std::int64_t d,
                     std::int64_t dv, double* o);

}  // namespace attest::bench
