// Merges of partial results in float32 as kernels write them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "audit/cases/default_contract.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/merge_form.hpp"
#include "fast/merge.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

using namespace audit;
using problem::element_type;

inline constexpr double empty = -std::numeric_limits<double>::infinity();

/// The numbers of a float32 merge of one row as kernels write it: rising or falling, online or with the maximum first,
/// by exp or exp2, divided at the end or before the sum; each exp is up to 7u off, in drawn directions. The LSE of the
/// parts and of the merge are natural or in base 2.
struct float_merge {
  bool falling, online, by_exp2, weights_first;
  bool in_base_2 = false;

  float exp(float x, std::mt19937_64& random) const {
    float const in_its_base = by_exp2 == in_base_2 ? x : by_exp2 ? x * 1.44269504f : x * 0.693147181f;
    double const exact =
        by_exp2 ? std::exp2(static_cast<double>(in_its_base)) : std::exp(static_cast<double>(in_its_base));
    double const push = x == 0 ? 0 : random() % 2 == 0 ? 0x7p-24 : -0x7p-24;
    return static_cast<float>(exact * (1 + push));
  }

  float log(float x) const { return in_base_2 ? std::log2(x) : std::log(x); }

  void row(std::vector<float> const& lse, std::vector<float> const& o, std::size_t dv, float* out, float& out_lse,
           std::mt19937_64& random) const {
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < lse.size(); ++s)
      if (lse[s] != -HUGE_VALF) order.push_back(s);
    std::fill_n(out, dv, 0.0F), out_lse = -HUGE_VALF;
    if (order.empty()) return;
    if (falling) std::ranges::reverse(order);
    float most = lse[order[0]], sum = 0;
    if (!online)
      for (std::size_t const s : order) most = std::max(most, lse[s]);
    std::vector<float> weights;
    for (std::size_t const s : order) {
      if (lse[s] > most) {
        float const down = exp(most - lse[s], random);
        sum *= down, most = lse[s];
        for (float& w : weights) w *= down;
        for (std::size_t c = 0; c < dv; ++c) out[c] *= down;
      }
      float const weight = exp(lse[s] - most, random);
      sum += weight, weights.push_back(weight);
      if (!weights_first)
        for (std::size_t c = 0; c < dv; ++c) out[c] += weight * o[s * dv + c];
    }
    for (std::size_t n = 0; weights_first && n < order.size(); ++n)
      for (std::size_t c = 0; c < dv; ++c) out[c] += weights[n] / sum * o[order[n] * dv + c];
    for (std::size_t c = 0; !weights_first && c < dv; ++c) out[c] *= 1 / sum;
    out_lse = most + log(sum);
  }
};

/// The numbers of a float32 merge that forms the LSE of partial results on its way. It merges pairs with a division in
/// each, one after the other or as a tree; or it uses weights exp(LSE_s − LSE) and no division, all at once or one
/// after the other; or sigmoids. Sigmoids are o − σ(L_b − L)(o − o_b) with L − log σ(L − L_b) (ring attention), or two
/// sigmoids with max + log(1 + exp(−|L − L_b|)). With `narrow`, O is rounded to bf16 between two merges, and a chain
/// begins with the empty state. Parts that saw nothing are merged as the others, but not by a sigmoid.
struct lse_merge {
  enum class form {
    chain,
    tree,
    undivided,
    undivided_chain,
    sigmoid_chain,
    sigmoid_tree,
    two_sigmoids_chain,
    two_sigmoids_tree
  } how;
  bool narrow = false;
  float_merge numbers{};
  struct state {
    float lse;
    std::vector<float> o;
  };
  bool two_sigmoids() const { return how == form::two_sigmoids_chain || how == form::two_sigmoids_tree; }
  bool one_sigmoid() const { return how == form::sigmoid_chain || how == form::sigmoid_tree; }
  bool in_a_tree() const { return how == form::tree || how == form::sigmoid_tree || how == form::two_sigmoids_tree; }

  state merged_by_sigmoid(state const& a, state const& b, std::mt19937_64& random) const {
    if (a.lse == -HUGE_VALF) return b;
    if (b.lse == -HUGE_VALF) return a;
    float const ahead = a.lse - b.lse, rest = numbers.log(1 + numbers.exp(-std::abs(ahead), random));
    float const of_a = 1 / (1 + numbers.exp(-ahead, random)), of_b = 1 / (1 + numbers.exp(ahead, random));
    state whole{two_sigmoids() ? std::max(a.lse, b.lse) + rest : a.lse - (std::min(0.0F, ahead) - rest), a.o};
    for (std::size_t c = 0; c < a.o.size(); ++c)
      whole.o[c] = two_sigmoids() ? of_a * a.o[c] + of_b * b.o[c] : a.o[c] - of_b * (a.o[c] - b.o[c]);
    return whole;
  }
  /// One part more: by weights that are divided by their sum, or by the distances to the new LSE.
  state merged(state const& a, state const& b, std::mt19937_64& random) const {
    if (one_sigmoid() || two_sigmoids()) return merged_by_sigmoid(a, b, random);
    bool const divides = how == form::chain || how == form::tree;
    float const M = std::max(a.lse, b.lse);
    if (M == -HUGE_VALF) return a;
    float kept = numbers.exp(a.lse - M, random), added = numbers.exp(b.lse - M, random);
    float const sum = kept + added, lse = M + numbers.log(sum);
    if (!divides) kept = numbers.exp(a.lse - lse, random), added = numbers.exp(b.lse - lse, random);
    state whole{lse, a.o};
    for (std::size_t c = 0; c < a.o.size(); ++c) {
      float const weighed = kept * a.o[c] + added * b.o[c];
      whole.o[c] = divides ? weighed / sum : weighed;
    }
    return whole;
  }

  state of(std::vector<state> const& parts, std::size_t from, std::size_t to, std::mt19937_64& random) const {
    if (to - from == 1) return parts[from];
    std::size_t const middle = in_a_tree() ? (from + to) / 2 : to - 1;
    state first = of(parts, from, middle, random), last = of(parts, middle, to, random);
    if (narrow && middle - from > 1) round(first.o);
    if (narrow && to - middle > 1) round(last.o);
    return merged(first, last, random);
  }

  static void round(std::vector<float>& o) {
    owned_tensor one = owned_tensor::compact(element_type::bf16, {1});
    for (float& x : o) store(one, 0, static_cast<double>(x)), x = static_cast<float>(load(one, 0));
  }

  void row(std::vector<float> const& lse, std::vector<float> const& o, std::size_t dv, float* out, float& out_lse,
           std::mt19937_64& random) const {
    state const none{-HUGE_VALF, std::vector<float>(dv)};
    std::vector<state> parts;
    if (narrow && how == form::chain) parts.push_back(none);
    for (std::size_t s = 0; s < lse.size(); ++s)
      parts.push_back(lse[s] == -HUGE_VALF
                          ? none
                          : state{lse[s], std::vector<float>(o.begin() + static_cast<std::ptrdiff_t>(s * dv),
                                                             o.begin() + static_cast<std::ptrdiff_t>((s + 1) * dv))});
    std::fill_n(out, dv, 0.0F), out_lse = -HUGE_VALF;
    if (std::ranges::all_of(parts, [](state const& part) { return part.lse == -HUGE_VALF; })) return;
    if (how != form::undivided) {
      state const whole = of(parts, 0, parts.size(), random);
      std::ranges::copy(whole.o, out), out_lse = whole.lse;
      return;
    }
    float const M = std::ranges::max_element(parts, {}, &state::lse)->lse;
    float l = 0;
    for (state const& part : parts) l += numbers.exp(part.lse - M, random);
    out_lse = M + numbers.log(l);
    for (state const& part : parts) {
      float const weight = numbers.exp(part.lse - out_lse, random);
      for (std::size_t c = 0; c < dv; ++c) out[c] += weight * part.o[c];
    }
  }
};

}  // namespace attest::tests
