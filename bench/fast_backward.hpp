// What a backward call of a benchmark needs beside the problem: O and LSE of the forward pass, dO, and the gradients.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bench/fast_shapes.hpp"
#include "fast/backward.hpp"

namespace attest::bench {

template <class T>
class backward_arrays {
 public:
  /// One backward call. The first one runs the forward pass before it.
  void call(problem::instance<T> const& instance, fast::options const& how) {
    auto const& s = instance.size();
    if (d_o_.empty()) prepare(instance);
    fast::gradients<T> wanted;
    wanted.dq = rows(dq_.data(), s.b, s.hq, s.n, s.d), wanted.dk = rows(dk_.data(), s.b, s.hk, s.m, s.d);
    wanted.dv = rows(dv_.data(), s.b, s.hk, s.m, s.dv);
    fast::backward_inputs<T> given;
    given.d_o = rows<T const>(d_o_.data(), s.b, s.hq, s.n, s.dv);
    given.o = rows<T const>(o_.data(), s.b, s.hq, s.n, s.dv);
    given.lse = rows<problem::lse_element<T> const>(lse_.data(), s.b, s.hq, s.n, 1);
    if (!fast::attention_backward(instance, given, wanted, how)) std::abort();
  }

 private:
  template <class X>
  static problem::view<X> rows(X* data, std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t d) {
    return {data, {b, h, n, d}, {h * n * d, n * d, d}, true, {}};
  }
  static std::size_t count(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t d) {
    return static_cast<std::size_t>(b * h * n * d);
  }

  void prepare(problem::instance<T> const& instance) {
    auto const& s = instance.size();
    normal_numbers draw;
    d_o_.resize(count(s.b, s.hq, s.n, s.dv)), o_.resize(d_o_.size()), lse_.resize(count(s.b, s.hq, s.n, 1));
    dq_.resize(count(s.b, s.hq, s.n, s.d)), dk_.resize(count(s.b, s.hk, s.m, s.d));
    dv_.resize(count(s.b, s.hk, s.m, s.dv));
    for (T& x : d_o_) x = stored<T>(draw());
    problem::outputs<T> outputs;
    outputs.o = rows(o_.data(), s.b, s.hq, s.n, s.dv), outputs.lse = rows(lse_.data(), s.b, s.hq, s.n, 1);
    if (!fast::attention(instance, outputs, {.threads = 1})) std::abort();
  }

  std::vector<T> d_o_, o_, dq_, dk_, dv_;
  std::vector<problem::lse_element<T>> lse_;
};

}  // namespace attest::bench
