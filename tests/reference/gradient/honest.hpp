// Honest forward and backward kernels in float32, with storage in bf16 or f16: every rounding is a real one. Each knows
// the models that describe it.
#pragma once

#include <cmath>
#include <functional>

#include "tests/reference/gradient/drawn.hpp"

namespace attest::tests {

/// How a kernel computes.
struct honest_kernel {
  bool saved = false;                      ///< weights p/l of the forward pass, else exp(s − LSE)
  bool from_weights = false;               ///< Δ = Σ p·dP, else Σ dO·O
  bool delta_first = false;                ///< −Δ is the accumulator's first value
  bool expanded = false;                   ///< dS = p·dP − p·Δ
  bool scale_first = false;                ///< σ·dS before the products
  bool reverse = false, pairwise = false;  ///< order of sums
  bool pairwise_forward = false;           ///< l and O by pairs, whatever the other sums do
  bool base_2 = false;                     ///< exponents by exp2
  problem::binary_format low{};            ///< P and dS before their products, O and gradients: {} for f32
  bool low_weights = false;                ///< the weight that forms dS is rounded to `low` too
  bool low_heads = false;                  ///< each head's dK and dV is rounded before heads are added
  std::int64_t part = 0;                   ///< partial gradients are rounded after so many keys or rows
  // Mistakes.
  bool rounds_dS = false;  ///< dS in bf16, which the model does not say

  bool stores_low() const { return low.fraction_bits > 0; }
  float stored(float x) const {
    return stores_low() ? static_cast<float>(audit::rounded_to(static_cast<double>(x), low)) : x;
  }
};

struct honest_answer {
  std::vector<double> dq, dk, dv, dbias, dsink, o, lse;
};

/// The models of a kernel for a case: as sharp as its roundings allow.
struct honest_models {
  problem::kernel_model forward;
  problem::gradient_model backward;
};
inline honest_models models_of(honest_kernel const& k, gradient_case const& c) {
  constexpr double u = 0x1p-24, e = u * (1 + 0x1p-20);
  honest_models m;
  auto& f = m.forward;
  f.format = problem::formats::f32;
  f.k_qk_base = 2, f.k_add = c.bias.empty() ? 0 : 1, f.e_c = 6 * u;
  f.rescales = problem::rescale_count::none, f.eps = e, f.eps_log = e, f.k_lse = 1, f.k_f = 1, f.k_t = 0;
  f.k_x = k.base_2 && k.saved ? 3 : 1, f.sink_form = problem::sink_form::term;
  auto& b = m.backward;
  using problem::backward_delta, problem::backward_weights;
  b.weights = k.saved ? backward_weights::saved : backward_weights::lse;
  b.delta = k.from_weights ? backward_delta::weights : backward_delta::output;
  b.one_pass = k.saved, b.same_terms = k.from_weights;
  b.k_x = k.base_2 ? 3 : 1;
  b.delta_first = k.delta_first, b.k_dp_base = k.delta_first ? 1 : 0;
  b.k_e = k.expanded ? 1 : 0, b.k_ds = 2 + (c.parameters.softcap > 0 ? 1 : 0) + (k.scale_first ? 2 : 0);
  b.k_scale = k.scale_first ? 0 : 2;
  if (k.stores_low()) {
    double const u16 = std::ldexp(1.0, -1 - k.low.fraction_bits), w16 = std::ldexp(0.5, k.low.smallest());
    f.u_p = u16, f.omega_p = w16, f.u_out = u16, f.omega_out = w16;
    f.p_normalised = k.saved ? problem::normalised_first::yes : problem::normalised_first::no;
    b.u_ds = u16, b.omega_ds = w16, b.u_grad = u16, b.omega_grad = w16;
    if (k.low_weights) b.u_pd = u16, b.omega_pd = w16;
    if (k.low_heads) b.u_head = u16, b.omega_head = w16;
    b.part_keys = b.part_rows = k.part;
    b.stored_limit = f.out_limit = k.low.exponent_bits == 5 ? 65504 : 0x1.fep127;
  }
  if (k.saved) f.k_pre = 1;
  return m;
}

/// Runs the kernel. Sums are chains over `list`, in order, in reverse or by pairs.
class honest_run {
 public:
  honest_run(honest_kernel const& kernel, gradient_case const& c) : k(kernel), c_(c) {}

  honest_answer operator()() {
    auto const& s = c_.size;
    answer.dq.resize(size(s.b * s.hq * s.n * s.d)), answer.dk.resize(size(s.b * s.hk * s.m * s.d));
    answer.dv.resize(size(s.b * s.hk * s.m * s.dv)), answer.dbias.resize(c_.bias.size());
    answer.dsink.resize(c_.sink.size()), answer.o.resize(size(s.b * s.hq * s.n * s.dv));
    answer.lse.assign(size(s.b * s.hq * s.n), -INFINITY);
    bias_terms.resize(c_.bias.size()), sink_terms.resize(c_.sink.size());
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t g = 0; g < s.hk; ++g) group(b, g);
    for (std::size_t at = 0; at < bias_terms.size(); ++at) answer.dbias[at] = k.stored(sum(bias_terms[at]));
    for (std::size_t at = 0; at < sink_terms.size(); ++at) answer.dsink[at] = k.stored(sum(sink_terms[at]));
    return answer;
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  static float at(std::vector<double> const& x, std::int64_t i) { return static_cast<float>(x[size(i)]); }

  float sum_forward(std::vector<float> const& list) const { return sum(list, k.pairwise || k.pairwise_forward); }
  float sum(std::vector<float> const& list) const { return sum(list, k.pairwise); }
  float sum(std::vector<float> list, bool by_pairs) const {
    if (list.empty()) return 0;
    if (k.reverse) std::reverse(list.begin(), list.end());
    if (by_pairs)
      while (list.size() > 1) {
        std::vector<float> next;
        for (std::size_t n = 0; n + 1 < list.size(); n += 2) next.push_back(list[n] + list[n + 1]);
        if (list.size() % 2 != 0) next.push_back(list.back());
        list = next;
      }
    float total = list[0];
    for (std::size_t n = 1; n < list.size(); ++n) total += list[n];
    return total;
  }
  /// The sum, stored in the gradient's format after every `part` terms.
  float summed(std::vector<float> const& list, float factor) const {
    if (k.part == 0) return k.stored(sum(list) * factor);
    float total = 0;
    for (std::size_t n = 0; n < list.size(); n += size(k.part)) {
      std::vector<float> const some(
          list.begin() + static_cast<std::ptrdiff_t>(n),
          list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), n + size(k.part))));
      float const one = sum(some) * factor;
      total = k.stored(n == 0 ? one : total + one);
    }
    return total;
  }
  float exp_of(float x) const {
    constexpr float log2e = 1.44269504088896341F;
    if (!k.base_2) return static_cast<float>(std::exp(static_cast<double>(x)));
    return static_cast<float>(std::exp2(static_cast<double>(x * log2e)));
  }

  void group(std::int64_t b, std::int64_t g) {
    auto const& s = c_.size;
    std::int64_t const heads = s.hq / s.hk;
    std::int64_t const keys = c_.k_lengths.empty() ? s.m : c_.k_lengths[size(b)];
    std::int64_t const queries = c_.q_lengths.empty() ? s.n : c_.q_lengths[size(b)];
    float const sigma =
        c_.parameters.scale ? static_cast<float>(*c_.parameters.scale) : 1 / std::sqrt(static_cast<float>(s.d));
    auto const cap = static_cast<float>(c_.parameters.softcap);
    float const kept = 1 / (1 - static_cast<float>(c_.parameters.dropout));
    // [head][key·width + column]: the terms of dK and dV.
    std::vector<std::vector<std::vector<float>>> dk(size(heads)), dv(size(heads));
    for (auto& list : dk) list.resize(size(s.m * s.d));
    for (auto& list : dv) list.resize(size(s.m * s.dv));
    for (std::int64_t h = g * heads; h < (g + 1) * heads; ++h)
      for (std::int64_t i = 0; i < queries; ++i) {
        std::int64_t const row = (b * s.hq + h) * s.n + i;
        std::vector<std::int64_t> js;
        std::vector<float> score, slope;
        for (std::int64_t j = 0; j < keys; ++j) {
          auto const& band = c_.parameters.band;
          if (band.right >= 0 && j - (i + band.diagonal) > band.right) continue;
          if (!c_.mask.empty() && c_.mask[size(row * s.m + j)] == 0) continue;
          if (!c_.bias.empty() && std::isinf(at(c_.bias, bias_at(b, h, i, j)))) continue;
          std::vector<float> products;
          for (std::int64_t t = 0; t < s.d; ++t)
            products.push_back(at(c_.q, row * s.d + t) * at(c_.k, ((b * s.hk + g) * s.m + j) * s.d + t));
          float x = sum(products) * sigma, slope_of = 1;
          if (cap > 0) {
            auto const t = static_cast<float>(std::tanh(static_cast<double>(x / cap)));
            x = cap * t, slope_of = 1 - t * t;
          }
          if (!c_.bias.empty()) x += at(c_.bias, bias_at(b, h, i, j));
          js.push_back(j), score.push_back(x), slope.push_back(slope_of);
        }
        if (js.empty()) continue;
        bool const sink = !c_.sink.empty() && !std::isinf(at(c_.sink, h));
        if (sink) score.push_back(at(c_.sink, h));
        std::size_t const n = js.size();
        float const most = *std::max_element(score.begin(), score.end());
        std::vector<float> p, P, dP;
        for (float const x : score) p.push_back(exp_of(x - most));
        float const l = sum_forward(p), lse = most + static_cast<float>(std::log(static_cast<double>(l)));
        answer.lse[size(row)] = static_cast<double>(lse);
        auto const value = [&](std::size_t at_key, std::int64_t e) {
          return ((b * s.hk + g) * s.m + js[at_key]) * s.dv + e;
        };
        auto const factor = [&](std::size_t at_key) {
          if (c_.keep.empty()) return 1.0F;
          return c_.keep[size(row * s.m + js[at_key])] != 0 ? kept : 0.0F;
        };
        for (std::size_t a = 0; a < score.size(); ++a) P.push_back(k.saved ? p[a] / l : exp_of(score[a] - lse));
        std::vector<float> o;
        for (std::int64_t e = 0; e < s.dv; ++e) {
          std::vector<float> terms;
          for (std::size_t a = 0; a < n; ++a)
            terms.push_back(k.stored((k.saved ? P[a] : p[a]) * factor(a)) * at(c_.v, value(a, e)));
          o.push_back(k.stored(k.saved ? sum_forward(terms) : sum_forward(terms) / l));
          answer.o[size(row * s.dv + e)] = static_cast<double>(o.back());
        }
        for (float& x : P) x = k.low_weights ? k.stored(x) : x;
        float delta = 0;
        if (!k.from_weights) {
          std::vector<float> terms;
          for (std::int64_t e = 0; e < s.dv; ++e) terms.push_back(at(c_.d_o, row * s.dv + e) * o[size(e)]);
          delta = sum(terms);
        }
        bool const first = k.delta_first && !k.from_weights && c_.keep.empty();
        for (std::size_t a = 0; a < n; ++a) {
          std::vector<float> terms;
          if (first) terms.push_back(-delta);
          for (std::int64_t e = 0; e < s.dv; ++e) terms.push_back(at(c_.d_o, row * s.dv + e) * at(c_.v, value(a, e)));
          dP.push_back(sum(terms) * (c_.keep.empty() ? 1 : factor(a)));
        }
        if (k.from_weights) {
          std::vector<float> terms;
          for (std::size_t a = 0; a < n; ++a) terms.push_back(P[a] * dP[a]);
          delta = sum(terms);
        }
        std::vector<std::vector<float>> dq(size(s.d));
        for (std::size_t a = 0; a < n; ++a) {
          float const y = first ? dP[a] : dP[a] - delta;
          float const dS = k.expanded && !first ? P[a] * dP[a] - P[a] * delta : P[a] * y;
          float dX = cap > 0 ? dS * slope[a] : dS;
          if (k.scale_first) dX *= sigma;
          dX = k.stored(dX);
          if (k.rounds_dS)
            dX = static_cast<float>(audit::rounded_to(static_cast<double>(dX), problem::format_of<problem::bf16>));
          if (!c_.bias.empty()) bias_terms[size(bias_at(b, h, i, js[a]))].push_back(k.stored(dS));
          for (std::int64_t t = 0; t < s.d; ++t) {
            dq[size(t)].push_back(dX * at(c_.k, ((b * s.hk + g) * s.m + js[a]) * s.d + t));
            dk[size(h - g * heads)][size(js[a] * s.d + t)].push_back(dX * at(c_.q, row * s.d + t));
          }
          for (std::int64_t e = 0; e < s.dv; ++e)
            dv[size(h - g * heads)][size(js[a] * s.dv + e)].push_back(k.stored(P[a] * factor(a)) *
                                                                      at(c_.d_o, row * s.dv + e));
        }
        if (sink) sink_terms[size(h)].push_back(P[n] * -delta);
        for (std::int64_t t = 0; t < s.d; ++t)
          answer.dq[size(row * s.d + t)] = static_cast<double>(summed(dq[size(t)], k.scale_first ? 1 : sigma));
      }
    add_heads(dk, s.d, k.scale_first ? 1 : sigma, (b * s.hk + g) * s.m * s.d, answer.dk);
    add_heads(dv, s.dv, 1, (b * s.hk + g) * s.m * s.dv, answer.dv);
  }

  void add_heads(std::vector<std::vector<std::vector<float>>> const& heads, std::int64_t width, float factor,
                 std::int64_t first, std::vector<double>& to) const {
    for (std::int64_t place = 0; place < c_.size.m * width; ++place) {
      std::vector<float> all, parts;
      for (auto const& head : heads) {
        auto const& list = head[size(place)];
        all.insert(all.end(), list.begin(), list.end());
        parts.push_back(k.stored(sum(list) * factor));
      }
      float const x = k.low_heads && heads.size() > 1 ? k.stored(sum(parts)) : summed(all, factor);
      to[size(first + place)] = static_cast<double>(x);
    }
  }
  std::int64_t bias_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    auto const& t = c_.bias_shape;
    return (((t[0] == 1 ? 0 : b) * t[1] + (t[1] == 1 ? 0 : h)) * t[2] + (t[2] == 1 ? 0 : i)) * t[3] + j;
  }

  honest_kernel k;
  gradient_case const& c_;
  honest_answer answer;
  std::vector<std::vector<float>> bias_terms, sink_terms;
};

/// The place of an element of dQ, dK or dV in its row-major tensor.
inline std::size_t place_of(problem::sizes const& s, reference::gradient_index const& at) {
  bool const of_q = at.which == reference::gradient::dq;
  std::int64_t const heads = of_q ? s.hq : s.hk, rows = of_q ? s.n : s.m,
                     columns = at.which == reference::gradient::dv ? s.dv : s.d;
  return static_cast<std::size_t>(((at.b * heads + at.h) * rows + at.i) * columns + at.x);
}

}  // namespace attest::tests
