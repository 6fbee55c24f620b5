#include "bench/oracle_mpfr.hpp"

#include <mpfr.h>

#include <vector>

namespace attest::bench {

void mpfr_attention(float const* q, float const* k, float const* v, std::int64_t n, std::int64_t m, std::int64_t d,
                    std::int64_t dv, long bits, double* o) {
  auto const made = [&](std::int64_t size) {
    std::vector<mpfr_t> all(static_cast<std::size_t>(size));
    for (auto& x : all) mpfr_init2(x, bits);
    return all;
  };
  auto const converted = [&](float const* from, std::int64_t size) {
    auto all = made(size);
    for (std::int64_t at = 0; at < size; ++at) mpfr_set_flt(all[static_cast<std::size_t>(at)], from[at], MPFR_RNDN);
    return all;
  };
  auto Q = converted(q, n * d), K = converted(k, m * d), V = converted(v, m * dv), weights = made(m);
  auto few = made(4);
  auto& scale = few[0];
  auto& largest = few[1];
  auto& sum = few[2];
  auto& out = few[3];
  mpfr_set_si(scale, static_cast<long>(d), MPFR_RNDN);
  mpfr_rec_sqrt(scale, scale, MPFR_RNDN);
  auto const at = [](std::int64_t index) { return static_cast<std::size_t>(index); };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      auto& w = weights[at(j)];
      mpfr_set_zero(w, 1);
      for (std::int64_t t = 0; t < d; ++t) mpfr_fma(w, Q[at(i * d + t)], K[at(j * d + t)], w, MPFR_RNDN);
      mpfr_mul(w, w, scale, MPFR_RNDN);
      if (j == 0 || mpfr_greater_p(w, largest)) mpfr_set(largest, w, MPFR_RNDN);
    }
    mpfr_set_zero(sum, 1);
    for (auto& w : weights) {
      mpfr_sub(w, w, largest, MPFR_RNDN);
      mpfr_exp(w, w, MPFR_RNDN);
      mpfr_add(sum, sum, w, MPFR_RNDN);
    }
    for (std::int64_t c = 0; c < dv; ++c) {
      mpfr_set_zero(out, 1);
      for (std::int64_t j = 0; j < m; ++j) mpfr_fma(out, weights[at(j)], V[at(j * dv + c)], out, MPFR_RNDN);
      mpfr_div(out, out, sum, MPFR_RNDN);
      o[i * dv + c] = mpfr_get_d(out, MPFR_RNDN);
    }
  }
  for (auto* all : {&Q, &K, &V, &weights, &few})
    for (auto& x : *all) mpfr_clear(x);
}

}  // namespace attest::bench
