// The same rows in MPFR, which rounds but does not enclose.
#pragma once

#include <cstdint>

namespace attest::bench {

void mpfr_attention(float const* q, float const* k, float const* v, std::int64_t n, std::int64_t m, std::int64_t d,
                    std::int64_t dv, long bits, double* o);

}  // namespace attest::bench
