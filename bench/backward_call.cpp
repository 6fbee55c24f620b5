// The backward pass of the fast kernel as one C function on dense f32 arrays, for bench/peers.py.
#include <cstdint>

#include "fast/backward.hpp"

namespace {

using namespace attest;

template <class X>
problem::view<X> rows(X* data, std::int64_t h, std::int64_t n, std::int64_t d) {
  return {data, {1, h, n, d}, {h * n * d, n * d, d}, true, {}};
}

}  // namespace

/// [1, h, n, d] for Q, O, dO, dQ and [1, hk, m, d] for K, V, dK, dV, without gaps; LSE [1, h, n].
/// Returns  0, or 1 for sizes that are no problem
extern "C" [[gnu::visibility("default")]] int attest_bench_backward(std::int64_t h, std::int64_t hk, std::int64_t n,
                                                                    std::int64_t m, std::int64_t d, int causal,
                                                                    int threads, float const* q, float const* k,
                                                                    float const* v, float const* o, float const* lse,
                                                                    float const* d_o, float* dq, float* dk, float* dv) {
  using problem::layout;
  problem::arguments<float> asked;
  asked.q = {q, layout::compact({1, h, n, d})};
  asked.k = {k, layout::compact({1, hk, m, d})}, asked.v = {v, layout::compact({1, hk, m, d})};
  if (causal != 0) asked.band.right = 0;
  auto const instance = problem::instance<float>::make(asked);
  if (!instance) return 1;
  fast::gradients<float> wanted;
  wanted.dq = rows(dq, h, n, d), wanted.dk = rows(dk, hk, m, d), wanted.dv = rows(dv, hk, m, d);
  auto const done = fast::attention_backward<float>(
      instance.value(), {rows(d_o, h, n, d), rows(o, h, n, d), rows(lse, h, n, 1)}, wanted, {.threads = threads});
  return done ? 0 : 1;
}
