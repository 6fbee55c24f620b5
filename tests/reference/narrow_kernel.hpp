// Online softmax with rounded weights beside a declared reference, and rows that attack it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/attacked_row.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

using problem::weight_reference;

/// How p = exp(s − M) and the rescale r = exp(M − M') are formed, c = log2 e.
enum class exponent {
  difference,  ///< s − M
  fma,         ///< FlashAttention-2: exp2(fma(s, c, −fl(M·c))), exp2((M − M')·c)
  shared,      ///< Triton: exp2(fma(s, c, −fl(M·c))), exp2(fl(M·c) − fl(M'·c))
};

enum class fault { none, last_key_lost, weights_cut, accumulator_cut };

/// Online softmax over blocks of `block` keys in float arithmetic, P rounded to E, l summed before that.
struct narrow_kernel {
  std::int64_t block = 64;
  weight_reference declared = weight_reference::rising;
  exponent by = exponent::difference;
  fault wrong = fault::none;
  bool one_accumulator = true;  ///< declared, where blocks rise or fall

  template <class E>
  problem::kernel_model model(std::int64_t m) const {
    constexpr problem::binary_format format = problem::format_of<E>;
    problem::kernel_model model;
    model.format = problem::formats::f32;
    model.k_qk_base = 1, model.u_qk = 0x1p-24;
    model.eps = 1.01 * 0x1p-24, model.eps_log = 1.01 * 0x1p-24;
    if (by != exponent::difference) {
      model.k_x = 3, model.c_m = 1, model.large_scores = problem::large_scores::unspecified;
      model.eps = 0x1.01p-24 + 0x1p-25;  // c is off by less than u/2
    }
    bool const whole = declared == weight_reference::whole_row;
    model.rescales = whole ? problem::rescale_count::none : problem::rescale_count::per_block;
    model.block = whole ? m : block;
    model.u_p = reference::power_of_two(-format.fraction_bits - 1);
    model.omega_p = reference::power_of_two(format.smallest() - 1);
    model.weight_reference = declared;
    if (one_accumulator) model.accumulator = problem::accumulator::one;
    return model;
  }

  template <class E>
  double answer(written<float> const& problem, generator& random) const {
    auto const m = static_cast<std::int64_t>(problem.v.values.size());
    std::int64_t const wide = declared == weight_reference::whole_row ? m : block;
    std::vector<std::int64_t> blocks;
    for (std::int64_t first = 0; first < m; first += wide) blocks.push_back(first);
    if (declared == weight_reference::falling) std::ranges::reverse(blocks);
    if (declared == weight_reference::own_block) std::ranges::shuffle(blocks, random);
    auto const d = problem.q.values.size();
    float M = -std::numeric_limits<float>::infinity(), l = 0, O = 0;
    for (auto const first : blocks) {
      std::vector<float> scores;
      for (std::int64_t j = first; j < std::min(m, first + wide); ++j) {
        float s = 0;
        for (std::size_t t = 0; t < d; ++t)
          s = s + problem.q.values[t] * problem.k.values[static_cast<std::size_t>(j) * d + t];
        scores.push_back(s * static_cast<float>(*problem.scale));
      }
      float const next = std::max(M, *std::ranges::max_element(scores));
      if (first != blocks.front()) {
        float const r = rescale(M, next);
        l = l * r, O = O * r;
      }
      M = next;
      for (std::size_t at = 0; at < scores.size(); ++at) {
        float const p = exp_of(scores[at], M);
        l = l + p;
        auto const j = static_cast<std::size_t>(first) + at;
        if (wrong == fault::last_key_lost && j + 1 == problem.v.values.size()) continue;
        O = O + rounded<E>(p) * problem.v.values[j];
        if (wrong == fault::accumulator_cut)
          O = std::bit_cast<float>(std::bit_cast<std::uint32_t>(O) & 0xFFFFFFF0U);  // 20 bits are left
      }
    }
    return static_cast<double>(O / l);
  }

 private:
  static constexpr float c = 1.44269504f;

  static float exp2_of(float x) { return static_cast<float>(std::exp2(static_cast<double>(x))); }
  float exp_of(float s, float M) const {
    if (by == exponent::difference) return static_cast<float>(std::exp(static_cast<double>(s - M)));
    return exp2_of(std::fma(s, c, -(M * c)));
  }
  float rescale(float M, float next) const {
    if (by == exponent::difference) return exp_of(M, next);
    return exp2_of(by == exponent::fma ? (M - next) * c : M * c - next * c);
  }
  template <class E>
  float rounded(float p) const {
    auto nearest = audit::nearest_element<E>(static_cast<double>(p));
    if (wrong == fault::weights_cut && audit::as_double(nearest) > static_cast<double>(p)) --nearest.bits;
    return static_cast<float>(audit::as_double(nearest));
  }
};

/// d = 8, V without offset. The families: Gaussian scores; scores that rise along the keys; equal scores; weights
/// beside midpoints of bf16; one heavy key; every sixteenth key at the maximum (an anchor in each block).
inline written<float> narrow_row(int family, std::int64_t m, generator& random) {
  written<float> problem(m, family == 0 ? 8 : 1, 1);
  problem.scale = family == 0 ? 0.35355338 : 1.0;
  for (auto& x : problem.q.values) x = family == 0 ? static_cast<float>(gaussian(random)) : 1.0f;
  for (std::size_t j = 0; j < problem.k.values.size(); ++j) {
    double score = gaussian(random);
    if (family == 1) score = 0.01 * static_cast<double>(j) + 0.3 * uniform(random);
    if (family == 2) score = 0.5;
    if (family == 3) {
      double const midpoint = (2 * static_cast<double>(64 + random() % 64) + 1) * 0x1p-8;
      score = std::log(midpoint) + gaussian(random) * 1e-7;
    }
    if (family == 4) score = j == 3 ? 6 : gaussian(random);
    if (family == 5) score = j % 16 == 5 ? 2 : 2 - 3 * uniform(random);
    problem.k.values[j] = static_cast<float>(score);
  }
  for (auto& x : problem.v.values) x = static_cast<float>(gaussian(random));
  return problem;
}

}  // namespace attest::tests
