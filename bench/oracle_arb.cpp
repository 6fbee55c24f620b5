#include "bench/oracle_arb.hpp"

// The library's headers are C and convert freely.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <arb.h>
#pragma GCC diagnostic pop

#include <vector>

namespace attest::bench {

void arb_attention(float const* q, float const* k, float const* v, std::int64_t n, std::int64_t m, std::int64_t d,
                   std::int64_t dv, long bits, double* o) {
  auto const converted = [](float const* from, std::int64_t size) {
    arb_ptr const made = _arb_vec_init(size);
    for (std::int64_t at = 0; at < size; ++at) arb_set_d(made + at, static_cast<double>(from[at]));
    return made;
  };
  arb_ptr const Q = converted(q, n * d), K = converted(k, m * d), V = converted(v, m * dv), weights = _arb_vec_init(m);
  arb_t scale, largest, sum, out;
  arb_init(scale), arb_init(largest), arb_init(sum), arb_init(out);
  arb_set_si(scale, d);
  arb_rsqrt(scale, scale, bits);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      arb_dot(weights + j, nullptr, 0, Q + i * d, 1, K + j * d, 1, d, bits);
      arb_mul(weights + j, weights + j, scale, bits);
      if (j == 0 || arf_cmp(arb_midref(weights + j), arb_midref(largest)) > 0) arb_set(largest, weights + j);
    }
    arb_zero(sum);
    for (std::int64_t j = 0; j < m; ++j) {
      arb_sub(weights + j, weights + j, largest, bits);
      arb_exp(weights + j, weights + j, bits);
      arb_add(sum, sum, weights + j, bits);
    }
    for (std::int64_t c = 0; c < dv; ++c) {
      arb_dot(out, nullptr, 0, weights, 1, V + c, dv, m, bits);
      arb_div(out, out, sum, bits);
      o[i * dv + c] = arf_get_d(arb_midref(out), ARF_RND_NEAR);
    }
  }
  arb_clear(scale), arb_clear(largest), arb_clear(sum), arb_clear(out);
  _arb_vec_clear(Q, n * d), _arb_vec_clear(K, m * d), _arb_vec_clear(V, m * dv), _arb_vec_clear(weights, m);
}

}  // namespace attest::bench
