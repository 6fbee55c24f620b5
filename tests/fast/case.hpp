// The answer of the kernel to a problem that a test wrote down, on each instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "fast/attention.hpp"
#include "fast/simd/operations.hpp"
#include "tests/support/owned.hpp"
#include "tests/support/property.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

/// While it lives, the kernel uses one instruction set: GENERATE(from_range(fast::simd_targets())) is each of them.
class simd_target {
 public:
  explicit simd_target(std::string_view name) { REQUIRE(fast::use_simd_target(name)); }
  ~simd_target() { fast::use_simd_target(""); }
  simd_target(simd_target const&) = delete;
  simd_target& operator=(simd_target const&) = delete;
};

template <class T>
struct owned_answer {
  owned<T> o, lse, weights;

  bool same_bits_as(owned_answer const& other) const {
    auto const same = [](auto const& a, auto const& b) {
      return a.values.size() == b.values.size() &&
             std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)) == 0;
    };
    return same(o, other.o) && same(lse, other.lse) && same(weights, other.weights);
  }
};

/// The kernel's outputs with `gap` untouched numbers between rows, filled with `canary` before the call.
template <class T>
owned_answer<T> answer_to(written<T> const& asked, fast::options const& how = {.threads = 1}, std::int64_t gap = 0,
                          T canary = T(-77), bool weights = true) {
  auto const problem = asked.instance();
  auto const& s = problem.size();
  owned_answer<T> answer{owned<T>::shaped({s.b, s.hq, s.n, s.dv}, gap, canary),
                         owned<T>::shaped({s.b, s.hq, s.n}, gap, canary),
                         owned<T>::shaped({s.b, s.hq, s.n, s.m}, gap, canary)};
  problem::output_tensors<T> tensors{answer.o.out(), answer.lse.out(), {}};
  if (weights) tensors.weights = answer.weights.out();
  auto outputs = problem::outputs<T>::make(problem, tensors);
  if (!outputs) FAIL(outputs.why().message());
  auto const done = fast::attention(problem, outputs.value(), how);
  if (!done) FAIL(done.why().message());
  return answer;
}

/// The rule of docs/semantics.md, pair by pair.
template <class T>
bool is_visible(problem::instance<T> const& instance, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  auto const [diagonal, left, right] = instance.band(b);
  // Tests that saturate compare with an equal case instead (fast_band_test.cpp has the definition in 128 bits).
  std::int64_t const offset = j - (i + diagonal);
  auto const& p = instance.parameters();
  return j < instance.keys(b) && (!instance.mask() || instance.mask()(b, h, i, j) != 0) &&
         (!instance.block_mask() || instance.block_mask()(b, h, i / p.block_q, j / p.block_k) != 0) &&
         (left < 0 || -left <= offset) && (right < 0 || offset <= right);
}

}  // namespace attest::tests
