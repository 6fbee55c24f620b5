// The same rows in Arb's balls.
#pragma once

#include <cstdint>

namespace attest::bench {

/// Midpoints of o [n, dv], enclosed at `bits` bits: exact dot products, one scale, exp, sums, division.
void arb_attention(float const* q, float const* k, float const* v, std::int64_t n, std::int64_t m, std::int64_t d,
                   std::int64_t dv, long bits, double* o);

}  // namespace attest::bench
