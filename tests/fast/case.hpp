// Small attention problems that own their memory, the plainest possible answer to them, and how to run the kernel.
// The certified reference judges the kernel elsewhere; here the truth is a two-pass loop in long double.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "fast/attention.hpp"
#include "fast/simd/operations.hpp"
#include "tests/support/owned.hpp"
#include "tests/support/property.hpp"

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

template <class T>
struct owned_case : problem::parameters {
  owned<T> q, k, v;
  std::optional<owned<std::uint8_t>> mask;
  std::optional<owned<T>> bias;
  std::optional<owned<float>> bias_f32;

  owned_case(problem::sizes const& s, std::uint64_t seed, std::int64_t gap = 0)
      : q(owned<T>::shaped({s.b, s.hq, s.n, s.d}, gap, nan())),
        k(owned<T>::shaped({s.b, s.hk, s.m, s.d}, gap, nan())),
        v(owned<T>::shaped({s.b, s.hk, s.m, s.dv}, gap, nan())) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (auto* tensor : {&q, &k, &v}) tensor->each([&](T& x, auto...) { x = static_cast<T>(normal(random)); });
    if (s.d == 0) scale = 1;
  }

  static T nan() { return std::numeric_limits<T>::quiet_NaN(); }

  problem::instance<T> instance() const {
    problem::arguments<T> asked;
    asked.q = q.in(), asked.k = k.in(), asked.v = v.in();
    if (mask) asked.mask = mask->in();
    if (bias) asked.bias = bias->in();
    if (bias_f32) asked.bias_f32 = bias_f32->in();
    static_cast<problem::parameters&>(asked) = *this;
    auto made = problem::instance<T>::make(asked);
    if (!made) FAIL(made.why().message());
    return made.value();
  }

  /// Outputs with `gap` untouched numbers between rows, filled with `canary` before the call.
  owned_answer<T> run(fast::options const& how = {.threads = 1}, std::int64_t gap = 0, T canary = T(-77),
                      bool weights = true) const {
    auto const asked = instance();
    auto const& s = asked.size();
    owned_answer<T> made{owned<T>::shaped({s.b, s.hq, s.n, s.dv}, gap, canary),
                         owned<T>::shaped({s.b, s.hq, s.n}, gap, canary),
                         owned<T>::shaped({s.b, s.hq, s.n, s.m}, gap, canary)};
    problem::output_tensors<T> tensors{made.o.out(), made.lse.out(), {}};
    if (weights) tensors.weights = made.weights.out();
    auto given = problem::outputs<T>::make(asked, tensors);
    if (!given) FAIL(given.why().message());
    auto const done = fast::attention(asked, given.value(), how);
    if (!done) FAIL(done.why().message());
    return made;
  }
};

/// The rule of docs/semantics.md, pair by pair.
template <class T>
bool is_visible(problem::instance<T> const& asked, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  auto const& [diagonal, left, right] = asked.band();
  // Tests that saturate compare with an equal case instead (fast_band_test.cpp has the definition in 128 bits).
  std::int64_t const offset = j - (i + diagonal);
  return (!asked.mask() || asked.mask()(b, h, i, j) != 0) && (left < 0 || -left <= offset) &&
         (right < 0 || offset <= right);
}

struct plain_row {
  std::vector<long double> o, weights;
  long double lse = -std::numeric_limits<long double>::infinity();
  long double largest_score = 0;
};

/// One row, two passes, long double.
template <class T>
plain_row plain_attention(problem::instance<T> const& asked, std::int64_t b, std::int64_t h, std::int64_t i) {
  auto const& s = asked.size();
  std::int64_t const kv = h / (s.hq / s.hk);
  long double const scale =
      asked.scale() ? static_cast<long double>(*asked.scale()) : 1 / std::sqrt(static_cast<long double>(s.d));
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  plain_row made{std::vector<long double>(static_cast<std::size_t>(s.dv)),
                 std::vector<long double>(static_cast<std::size_t>(s.m)), -infinity, 0};
  std::vector<long double> scores(static_cast<std::size_t>(s.m), -infinity);
  long double m = -infinity, l = 0;
  for (std::int64_t j = 0; j < s.m; ++j) {
    if (!is_visible(asked, b, h, i, j)) continue;
    long double dot = 0;
    for (std::int64_t t = 0; t < s.d; ++t)
      dot += static_cast<long double>(asked.q()(b, h, i, t)) * static_cast<long double>(asked.k()(b, kv, j, t));
    long double score = scale * dot;
    auto const cap = static_cast<long double>(asked.softcap());
    if (cap != 0) score = cap * std::tanh(score / cap);
    if (asked.bias()) score += static_cast<long double>(asked.bias()(b, h, i, j));
    if (asked.bias_f32()) score += static_cast<long double>(asked.bias_f32()(b, h, i, j));
    scores[static_cast<std::size_t>(j)] = score;
    m = std::max(m, score);
    if (std::isfinite(score)) made.largest_score = std::max(made.largest_score, std::abs(score));
  }
  if (m == -infinity) return made;
  for (auto const score : scores) l += std::exp(score - m);
  for (std::int64_t j = 0; j < s.m; ++j) {
    auto const at = static_cast<std::size_t>(j);
    made.weights[at] = std::exp(scores[at] - m) / l;
    if (scores[at] != -infinity)
      for (std::int64_t c = 0; c < s.dv; ++c)
        made.o[static_cast<std::size_t>(c)] += made.weights[at] * static_cast<long double>(asked.v()(b, kv, j, c));
  }
  made.lse = m + std::log(l);
  return made;
}

}  // namespace attest::tests
