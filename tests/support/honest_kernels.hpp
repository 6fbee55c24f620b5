// Kernels that round as they say: real float and double arithmetic, each with its own kernel model. The bound of
// docs/bound.md must hold for every one of them on every input. (The honest kernels of audit/zoo/ are others on
// purpose: they answer calls through kernel.h and are judged by presets; these are rows alone, and each says exactly
// how it rounds.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "problem/kernel_model.hpp"
#include "tests/support/problem_maker.hpp"

namespace attest::tests {

/// How a kernel computes one row.
struct honest {
  std::string name;
  int block = 0;              ///< keys per block; 0 = two passes
  bool in_place = false;      ///< O += p·v over all keys, instead of sums inside blocks
  bool fma = false;           ///< dot products and P·V by fused multiply-add
  bool reversed = false;      ///< keys in reverse order
  bool reciprocal = false;    ///< O·(1/l)
  bool normalised = false;    ///< two passes: weights are divided before they meet V
  bool base_2 = false;        ///< exp2(fma(s, c, −fl(m·c))), c = σ·log2 e: the reference point is rounded twice
  bool bf16_weights = false;  ///< P rounded to bf16 before it meets V
  bool flushes = false;       ///< weights below the normal numbers become 0
  double tau = 0;             ///< blocks: the reference stays while no score is more than this above it
  int exp_ulps = 0;           ///< exp is off by up to so many places more than its rounding
};

struct honest_answer {
  std::vector<double> o, weights;
  double lse = 0;
  bool has_lse = true;
};

template <class F>
problem::kernel_model model_of(honest const& how, std::int64_t m, bool has_bias, bool explicit_scale) {
  constexpr bool single = std::is_same_v<F, float>;
  namespace formats = problem::formats;
  problem::kernel_model model;
  model.format = single        ? how.flushes ? formats::f32_flushed : formats::f32
                 : how.flushes ? formats::f64_flushed
                               : formats::f64;
  double const u = model.format.u;
  model.k_qk_base = explicit_scale ? 1 : 3;  // √, ÷, ×
  model.u_qk = u;
  model.e_c = (single ? 3.01 : 4.01) * u;  // ÷, tanh, ×; read with a softcap only
  model.k_add = has_bias ? 1 : 0;
  model.flushes = how.flushes;
  model.eps = (2.0 * how.exp_ulps + (single ? 1.001 : 2) + (how.exp_ulps > 0 ? 1 : 0)) * u;
  if (how.base_2) {
    model.k_x = 2 + 5;  // fma and its products; c takes √, ÷, log2 e, ×, and r's difference one more
    model.c_m = 1;
    model.large_scores = problem::large_scores::unspecified;  // exp2 overflows beyond scores of about 1e9
  }
  model.rescales = how.block == 0 ? problem::rescale_count::none : problem::rescale_count::per_block;
  model.block = how.block == 0 ? m : how.block;
  model.height = how.block == 0 || how.in_place ? problem::sum_height::in_sequence : problem::sum_height::block_local;
  model.tau = how.tau;
  model.k_f = how.reciprocal ? 2 : 1;
  if (how.normalised) model.k_f = 0, model.k_pre = how.reciprocal ? 2 : 1;
  if (how.bf16_weights) model.u_p = 0x1p-8, model.omega_p = 0x1p-134;
  model.eps_log = (single ? 1.001 : 2) * u;
  return model;
}

/// Runs `how` on a row. Every operation below rounds to F (no contraction: -ffp-contract=off).
template <class F>
class honest_run {
 public:
  honest_run(honest const& how, one_row<F> const& problem, std::uint64_t seed)
      : how_(how),
        problem_(problem),
        state_(seed * 2 + 1),
        n_(problem.v.layout.shape[0]),
        d_(problem.k.layout.shape[1]),
        dv_(problem.v.layout.shape[1]) {}

  honest_answer answer() {
    auto const n = static_cast<std::size_t>(n_);
    std::vector<std::size_t> order(n);
    for (std::size_t j = 0; j < n; ++j) order[j] = how_.reversed ? n - 1 - j : j;
    scale_ = problem_.scale ? static_cast<F>(*problem_.scale) : F(1) / std::sqrt(static_cast<F>(d_));
    // With a bias or a softcap the scale comes first, and c is log2 e alone.
    scale_first_ = !how_.base_2 || !problem_.bias.empty() || problem_.softcap > 0;
    c_ = static_cast<F>(1.4426950408889634074);
    if (!scale_first_) c_ = scale_ * c_;
    s_.resize(n);
    for (std::size_t j = 0; j < n; ++j) s_[j] = score(j);
    return how_.block == 0 ? two_passes(order) : online(order);
  }

 private:
  F dot(std::size_t j) const {
    auto const d = static_cast<std::size_t>(d_);
    F sum = 0;
    for (std::size_t t = 0; t < d; ++t) {
      F const q = problem_.q.values[t], k = problem_.k.values[j * d + t];
      sum = how_.fma ? std::fma(q, k, sum) : sum + q * k;
    }
    return sum;
  }
  F score(std::size_t j) const {
    F s = dot(j);
    if (scale_first_) s = s * scale_;
    if (problem_.softcap > 0) {
      auto const cap = static_cast<F>(problem_.softcap);
      s = cap * static_cast<F>(std::tanh(static_cast<double>(s / cap)));
    }
    return problem_.bias.empty() ? s : s + problem_.bias[j];
  }
  F perturbed(F e, F x) {
    if (how_.exp_ulps > 0 && x != 0) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      int const step = static_cast<int>((state_ >> 33) % static_cast<unsigned>(2 * how_.exp_ulps + 1)) - how_.exp_ulps;
      e = e * (1 + static_cast<F>(step) * std::numeric_limits<F>::epsilon());
    }
    return how_.flushes && e < std::numeric_limits<F>::min() ? F(0) : e;
  }
  /// exp(s − M); 1 where they are equal.
  F weight(F s, F M) {
    if (how_.base_2) {
      F const x = std::fma(s, c_, -(M * c_));
      return perturbed(static_cast<F>(std::exp2(static_cast<double>(x))), x);
    }
    F const x = s - M;
    return perturbed(static_cast<F>(std::exp(static_cast<double>(x))), x);
  }
  F rescale(F M, F next) {
    if (how_.base_2) {
      F const x = (M - next) * c_;
      return perturbed(static_cast<F>(std::exp2(static_cast<double>(x))), x);
    }
    return weight(M, next);
  }
  F for_values(F p) const {
    if constexpr (std::is_same_v<F, float>) {
      if (!how_.bf16_weights) return p;
      auto const bits = std::bit_cast<std::uint32_t>(p);  // to nearest even; p ≥ 0 is finite
      return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u);
    } else {
      return p;
    }
  }
  F add(F sum, F p, F v) const { return how_.fma ? std::fma(p, v, sum) : sum + p * v; }
  F value(std::size_t j, std::size_t c) const { return problem_.v.values[j * static_cast<std::size_t>(dv_) + c]; }

  honest_answer finish(F M, F l, std::vector<F> const& O, std::vector<F> const& p) const {
    honest_answer answer;
    F const inverse = F(1) / l;
    for (F const x : O)
      answer.o.push_back(static_cast<double>(how_.normalised ? x : how_.reciprocal ? x * inverse : x / l));
    for (F const x : p) answer.weights.push_back(static_cast<double>(how_.reciprocal ? x * inverse : x / l));
    answer.lse = static_cast<double>(M + static_cast<F>(std::log(static_cast<double>(l))));
    answer.has_lse = !how_.base_2;
    return answer;
  }

  honest_answer two_passes(std::vector<std::size_t> const& order) {
    F const M = *std::max_element(s_.begin(), s_.end());
    F l = 0;
    std::vector<F> p(s_.size()), O(static_cast<std::size_t>(dv_));
    for (auto const j : order) p[j] = weight(s_[j], M), l = l + p[j];
    F const inverse = F(1) / l;
    for (auto const j : order) {
      F const w = how_.normalised ? how_.reciprocal ? p[j] * inverse : p[j] / l : p[j];
      for (std::size_t c = 0; c < O.size(); ++c) O[c] = add(O[c], for_values(w), value(j, c));
    }
    return finish(M, l, O, p);
  }

  honest_answer online(std::vector<std::size_t> const& order) {
    F M = -std::numeric_limits<F>::infinity(), l = 0;
    std::vector<F> O(static_cast<std::size_t>(dv_));
    auto const block = static_cast<std::size_t>(how_.block);
    for (std::size_t first = 0; first < order.size(); first += block) {
      std::size_t const last = std::min(order.size(), first + block);
      F next = M;
      for (std::size_t at = first; at < last; ++at) next = std::max(next, s_[order[at]]);
      if (first > 0 && next - M <= static_cast<F>(how_.tau)) next = M;
      if (next > M && first > 0) {
        F const r = rescale(M, next);
        l = l * r;
        for (F& x : O) x = x * r;
      }
      M = next;
      F sum = 0;
      std::vector<F> part(O.size());
      for (std::size_t at = first; at < last; ++at) {
        auto const j = order[at];
        F const p = weight(s_[j], M);
        F& to = how_.in_place ? l : sum;
        to = to + p;
        for (std::size_t c = 0; c < O.size(); ++c) {
          F& into = how_.in_place ? O[c] : part[c];
          into = add(into, for_values(p), value(j, c));
        }
      }
      if (!how_.in_place) {
        l = l + sum;
        for (std::size_t c = 0; c < O.size(); ++c) O[c] = O[c] + part[c];
      }
    }
    std::vector<F> p(s_.size());
    for (auto const j : order) p[j] = weight(s_[j], M);  // a second pass over the scores
    return finish(M, l, O, p);
  }

  honest how_;
  one_row<F> const& problem_;
  std::uint64_t state_;
  std::int64_t n_, d_, dv_;
  F scale_ = 0, c_ = 0;
  bool scale_first_ = true;
  std::vector<F> s_;
};

/// The variants that the bound is attacked with.
inline std::vector<honest> honest_variants() {
  auto const with = [](std::string name, auto&& change) {
    honest variant;
    variant.name = std::move(name);
    change(variant);
    return variant;
  };
  return {with("two passes", [](honest&) {}),
          with("two passes, weights first", [](honest& h) { h.normalised = true; }),
          with("two passes, weights first by reciprocal, fma",
               [](honest& h) { h.normalised = h.reciprocal = h.fma = true; }),
          with("reciprocal, exp 4 ulp off", [](honest& h) { h.reciprocal = true, h.exp_ulps = 4; }),
          with("online, blocks of 1, in place", [](honest& h) { h.block = 1, h.in_place = true; }),
          with("online, blocks of 1, reversed, exp 4 ulp off",
               [](honest& h) { h.block = 1, h.in_place = h.reversed = true, h.exp_ulps = 4; }),
          with("online, blocks of 3, fma", [](honest& h) { h.block = 3, h.fma = true; }),
          with("online, blocks of 8", [](honest& h) { h.block = 8; }),
          with("online, blocks of 64, reversed", [](honest& h) { h.block = 64, h.reversed = true; }),
          with("online, blocks of 4, flushing", [](honest& h) { h.block = 4, h.flushes = true; }),
          with("lazy rescaling by 5, blocks of 2", [](honest& h) { h.block = 2, h.tau = 5; }),
          with("lazy rescaling by 8, blocks of 1, in place, exp 4 ulp off",
               [](honest& h) { h.block = 1, h.in_place = true, h.tau = 8, h.exp_ulps = 4; }),
          with("base 2, blocks of 4", [](honest& h) { h.block = 4, h.base_2 = h.fma = true; }),
          with("bf16 weights, blocks of 5", [](honest& h) { h.block = 5, h.bf16_weights = true; })};
}

}  // namespace attest::tests
