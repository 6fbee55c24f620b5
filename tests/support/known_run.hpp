// Runs the kernels of tests/support/known_kernels.hpp on one row. Every operation rounds to float as the kernel says
// (no contraction: -ffp-contract=off).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tests/support/honest_kernels.hpp"
#include "tests/support/known_kernels.hpp"
#include "tests/support/known_merges.hpp"

namespace attest::tests {

/// One run of a known kernel on a row. `block` keys are a block, or a part.
class known_run {
 public:
  known_run(known_kernel const& kernel, one_row<float> const& row, std::size_t block, directions const& up)
      : kernel_(kernel),
        row_(row),
        math_(kernel.how, up),
        block_(block),
        real_(static_cast<std::size_t>(row.v.layout.shape[0])),
        n_(real_ + (kernel.sink == sink_place::column ? 1 : 0)),
        d_(static_cast<std::size_t>(row.k.layout.shape[1])),
        dv_(static_cast<std::size_t>(row.v.layout.shape[1])) {}

  honest_answer answer() {
    scale_ = row_.scale ? math_.read(*row_.scale)
                        : math_.kept(math_.div(1.0f, math_.kept(std::sqrt(static_cast<float>(d_)))));
    // As PyTorch forms it: in double, rounded once.
    root_ = math_.read(std::sqrt(row_.scale ? *row_.scale : 1 / std::sqrt(static_cast<double>(d_))));
    if (!row_.keep.empty()) {
      kept_ = math_.add(1.0f, -math_.read(row_.dropout));
      factor_ = math_.kept(math_.div(1.0f, kept_));
    }
    if (!row_.sink.empty()) sink_ = sink_score();
    scores_.clear();
    for (std::size_t j = 0; j < real_; ++j) scores_.push_back(math_.score(score(j)));
    if (real_ < n_) scores_.push_back(math_.score(sink_));
    honest_answer of_keys = over_keys();
    if (kernel_.sink_is_behind()) rescale_by_sink(of_keys);
    return of_keys;
  }

 private:
  honest_answer over_keys() {
    switch (kernel_.softmax) {
      case softmax_form::two_passes:
      case softmax_form::normalised: return two_passes();
      case softmax_form::by_lse: return by_lse();
      case softmax_form::flash_attention_1: return flash_attention_1();
      case softmax_form::flash_attention_2: return flash_attention_2();
      case softmax_form::online: return online();
      case softmax_form::split: return split();
      case softmax_form::one_level: return one_level();
      case softmax_form::ring:
      case softmax_form::ring_sigmoid: return ring();
      case softmax_form::tree:
      case softmax_form::tree_sigmoids: return in_natural_units(tree(0, parts_of(n_)));
    }
    return {};
  }

  /// The factor of a sink behind the keys, on O and on weights that may be stored in a narrower type.
  void rescale_by_sink(honest_answer& answer) {
    auto const lse = static_cast<float>(answer.lse);
    float const t = math_.kept(math_.read(row_.sink.front())), top = std::max(lse, t);
    float const other = math_.exp(math_.add(std::min(lse, t), -top));
    float const whole = math_.add(top, math_.log(math_.add(1, other)));
    float factor = sink_is(sink_place::by_lse) ? math_.exp(math_.add(lse, -whole))
                                               : math_.div(1, math_.add(1, math_.exp(math_.add(t, -lse))));
    if (kernel_.narrow_factor) factor = math_.narrow(factor);
    for (double& x : answer.o) x = static_cast<double>(math_.narrow(math_.mul(static_cast<float>(x), factor)));
    for (double& x : answer.weights) x = static_cast<double>(math_.narrow(math_.mul(static_cast<float>(x), factor)));
    answer.lse = static_cast<double>(whole);
  }

  using part = known_part;

  float q(std::size_t t) const { return math_.read(row_.q.values[t]); }
  float k(std::size_t j, std::size_t t) const { return math_.read(row_.k.values[j * d_ + t]); }
  float v(std::size_t j, std::size_t c) const {
    if (j == real_) return 0;
    float const x = math_.read(row_.v.values[j * dv_ + c]);
    return kernel_.drops == drop_place::on_v ? math_.narrow(math_.mul(x, factor_)) : x;
  }
  /// P as it meets V.
  float product_weight(float p, std::size_t j) const {
    if (kernel_.drops == drop_place::none || j == real_) return math_.narrow(p);
    if (row_.keep[j] == 0) return 0;
    switch (kernel_.drops) {
      case drop_place::on_p: return math_.narrow(math_.mul(p, factor_));
      case drop_place::on_p_twice: return math_.narrow(math_.mul(math_.narrow(p), factor_));
      case drop_place::divided: return math_.narrow(math_.div(p, kept_));
      default: return math_.narrow(p);
    }
  }
  /// t in the unit of the scores; of FlashAttention-2, in base 2.
  float sink_score() const {
    float const t = math_.kept(math_.read(row_.sink.front()));
    bool const base_2 = in_base_2() || kernel_.softmax == softmax_form::flash_attention_2;
    return base_2 ? math_.mul(t, math_.kept(log2_e)) : t;
  }
  bool sink_is(sink_place place) const { return kernel_.sink == place; }
  /// A sink that comes behind the keys.
  void take_sink(float& M, float& l, std::vector<float>& O) {
    if (sink_is(sink_place::end)) l = math_.add(l, weight(math_.add(sink_, -M)));
    if (!sink_is(sink_place::last)) return;
    float const next = std::max(M, sink_);
    if (next != M) {
      float const r = rescale(math_.add(M, -next));
      l = math_.mul(l, r);
      for (float& x : O) x = math_.mul(x, r);
    }
    M = next, l = math_.add(l, weight(math_.add(sink_, -M)));
  }
  float bias(std::size_t j) const { return row_.bias.empty() ? 0.0f : math_.read(row_.bias[j]); }
  bool in_base_2() const { return kernel_.scores == score_form::base_2; }

  float dot(std::size_t j, float first, float q_factor, float k_factor) const {
    float sum = first;
    for (std::size_t t = 0; t < d_; ++t) {
      float const a = q_factor == 1 ? q(t) : math_.kept(math_.mul(q(t), q_factor));
      float const b = k_factor == 1 ? k(j, t) : math_.kept(math_.mul(k(j, t), k_factor));
      sum = math_.accumulate(a, b, sum);
    }
    return math_.kept(sum);
  }

  float score(std::size_t j) {
    // FlashAttention-2 multiplies by σ inside the argument of exp2 unless something comes between.
    if (kernel_.softmax == softmax_form::flash_attention_2 && scale_last()) return dot(j, 0, 1, 1);
    switch (kernel_.scores) {
      case score_form::folded: return with_bias(j, capped(dot(j, 0, scale_, 1)));
      case score_form::root: return with_bias(j, capped(dot(j, 0, root_, root_)));
      case score_form::bias_first: return dot(j, bias(j), scale_, 1);
      case score_form::base_2: return math_.mul(dot(j, 0, 1, 1), math_.kept(math_.mul(scale_, math_.kept(log2_e))));
      case score_form::plain: break;
    }
    return with_bias(j, capped(math_.kept(math_.mul(dot(j, 0, 1, 1), scale_))));
  }
  bool scale_last() const { return row_.bias.empty() && row_.softcap == 0; }
  float with_bias(std::size_t j, float s) const { return row_.bias.empty() ? s : math_.add(s, bias(j)); }
  float capped(float s) {
    if (row_.softcap == 0) return s;
    auto const c = math_.read(row_.softcap);
    float const y = math_.kept(math_.div(s, c)), size = std::abs(y);
    float t = 0;
    if (kernel_.tanh == tanh_form::from_above) {
      t = math_.add(math_.div(2, math_.add(1, math_.exp(-2 * size))), -1);
    } else {
      float const e = math_.exp(2 * size);
      t = kernel_.tanh == tanh_form::from_below ? math_.add(1, -math_.div(2, math_.add(e, 1)))
          : std::isinf(e)                       ? 1.0f
                                                : math_.div(math_.add(e, -1), math_.add(e, 1));
    }
    return math_.kept(math_.mul(c, std::copysign(math_.kept(t), y)));
  }

  /// s − M; a score of −∞, which is how a stored score may overflow, has the weight 0.
  float below(float s, float M) const { return std::isinf(s) && s < 0 ? s : math_.add(s, -M); }
  float weight(float x) { return in_base_2() ? math_.exp2(x) : math_.exp(x); }
  float rescale(float x) { return in_base_2() ? math_.rescale_2(x) : math_.rescale(x); }
  float log_sum(float M, float l) { return math_.add(M, in_base_2() ? math_.log2(l) : math_.log(l)); }
  double natural(float lse) const {
    return static_cast<double>(math_.kept(in_base_2() ? math_.mul(lse, 0.693147180559945309417f) : lse));
  }
  float largest(std::size_t first, std::size_t last) const {
    return *std::max_element(scores_.begin() + static_cast<std::ptrdiff_t>(first),
                             scores_.begin() + static_cast<std::ptrdiff_t>(last));
  }
  /// O += p·v for every column.
  void take(std::vector<float>& O, float p, std::size_t j) const {
    for (std::size_t c = 0; c < dv_; ++c) O[c] = math_.accumulate(p, v(j, c), O[c]);
  }
  void output(honest_answer& answer, std::vector<float> const& o) const {
    bool const on_o = kernel_.drops == drop_place::on_o;
    for (float const x : o) answer.o.push_back(static_cast<double>(math_.narrow(on_o ? math_.mul(x, factor_) : x)));
  }
  std::vector<float> divided(std::vector<float> O, float l) const {
    for (float& x : O) x = math_.div(x, l);
    return O;
  }

  honest_answer two_passes() {
    float const M = largest(0, n_);
    float l = 0;
    std::vector<float> p(n_), O(dv_);
    for (std::size_t j = 0; j < n_; ++j) p[j] = weight(below(scores_[j], M)), l = math_.add(l, p[j]);
    float top = M;
    take_sink(top, l, O);  // at the end: M stays
    bool const first = kernel_.softmax == softmax_form::normalised;
    for (std::size_t j = 0; j < n_; ++j) take(O, product_weight(first ? math_.div(p[j], l) : p[j], j), j);
    honest_answer answer;
    output(answer, first ? O : divided(O, l));
    answer.lse = natural(log_sum(M, l));
    if (!kernel_.returns_weights) return answer;
    for (float const x : std::span(p).first(real_)) {
      float const a = math_.div(kernel_.returns_narrow_p && !first ? math_.narrow(x) : x, l);
      answer.weights.push_back(static_cast<double>(math_.narrow(a)));
    }
    return answer;
  }

  honest_answer by_lse() {
    float const M = largest(0, n_);
    float l = 0;
    for (float const s : scores_) l = math_.add(l, weight(below(s, M)));
    float const lse = log_sum(M, l);
    honest_answer answer;
    std::vector<float> O(dv_);
    for (std::size_t j = 0; j < n_; ++j) {
      float const p = weight(math_.add(scores_[j], -lse));
      if (kernel_.returns_weights) answer.weights.push_back(static_cast<double>(p));
      take(O, p, j);
    }
    output(answer, O);
    answer.lse = natural(lse);
    return answer;
  }

  honest_answer flash_attention_1() {
    float M = -std::numeric_limits<float>::infinity(), l = 0;
    std::vector<float> o(dv_);
    for (std::size_t first = 0; first < n_; first += block_) {
      std::size_t const last = std::min(n_, first + block_);
      float const block_M = largest(first, last);
      float block_l = 0;
      std::vector<float> block_O(dv_);
      for (std::size_t j = first; j < last; ++j) {
        float const p = weight(below(scores_[j], block_M));
        block_l = math_.add(block_l, p);
        take(block_O, product_weight(p, j), j);
      }
      float const next = std::max(M, block_M), g = rescale(math_.add(block_M, -next));
      float const f = first == 0 ? 0.0f : rescale(math_.add(M, -next));
      float const held = math_.mul(f, l), next_l = math_.add(held, math_.mul(g, block_l));
      for (std::size_t c = 0; c < dv_; ++c)
        o[c] = math_.div(math_.add(math_.mul(held, o[c]), math_.mul(g, block_O[c])), next_l);
      M = next, l = next_l;
    }
    honest_answer answer;
    output(answer, o);
    answer.lse = natural(log_sum(M, l));
    return answer;
  }

  honest_answer flash_attention_2() {
    float const c = scale_last() ? math_.mul(scale_, log2_e) : log2_e;
    float M = -std::numeric_limits<float>::infinity(), l = 0;
    std::vector<float> O(dv_);
    for (std::size_t first = 0; first < n_; first += block_) {
      std::size_t const last = std::min(n_, first + block_);
      float const next = std::max(M, largest(first, last));
      if (first > 0 && next != M) {
        float const r = math_.rescale_2(math_.mul(math_.add(M, -next), c));
        l = math_.mul(l, r);
        for (float& x : O) x = math_.mul(x, r);
      }
      M = next;
      float const Mc = math_.mul(M, c);
      for (std::size_t j = first; j < last; ++j) {
        float const p = math_.exp2(math_.fma(scores_[j], c, -Mc));
        l = math_.add(l, p);
        take(O, product_weight(p, j), j);
      }
    }
    if (sink_is(sink_place::end)) l = math_.add(l, math_.exp2(math_.add(sink_, -math_.mul(M, c))));
    float const inverse = math_.div(1, l);
    for (float& x : O) x = math_.mul(x, inverse);
    honest_answer answer;
    output(answer, O);
    answer.lse = natural(math_.add(scale_last() ? math_.mul(M, scale_) : M, math_.log(l)));
    return answer;
  }

  honest_answer online() {
    bool const from_start = sink_is(sink_place::first);
    float M = from_start ? sink_ : -std::numeric_limits<float>::infinity(), l = from_start ? 1.0f : 0.0f;
    std::vector<float> O(dv_);
    for (std::size_t first = 0; first < n_; first += block_) {
      std::size_t const last = std::min(n_, first + block_);
      float const next = std::max(M, largest(first, last));
      if (static_cast<double>(largest(first, last) - M) < -kernel_.skips) continue;
      if ((first > 0 || from_start) && next != M) {
        float const r = rescale(math_.add(M, -next));
        l = math_.mul(l, r);
        for (float& x : O) x = math_.mul(x, r);
      }
      M = next;
      for (std::size_t j = first; j < last; ++j) {
        float const p = weight(below(scores_[j], M));
        l = math_.add(l, p);
        take(O, product_weight(p, j), j);
      }
    }
    take_sink(M, l, O);
    honest_answer answer;
    output(answer, divided(O, l));
    answer.lse = natural(log_sum(M, l));
    return answer;
  }

  std::size_t parts_of(std::size_t keys) const { return (keys + block_ - 1) / block_; }
  part part_at(std::size_t index) {
    std::size_t const first = index * block_, last = std::min(n_, first + block_);
    bool const with_sink = index == 0 && sink_is(sink_place::first);
    float const M = with_sink ? std::max(sink_, largest(first, last)) : largest(first, last);
    float l = with_sink ? weight(math_.add(sink_, -M)) : 0.0f;
    std::vector<float> O(dv_), weights;
    for (std::size_t j = first; j < last; ++j) {
      float const p = weight(below(scores_[j], M));
      l = math_.add(l, p);
      take(O, product_weight(p, j), j);
      if (kernel_.returns_weights) weights.push_back(p);
    }
    return {log_sum(M, l), divided(O, l), divided(weights, l)};
  }
  /// The weights are the parts' weights times their shares, or exp(s − LSE).
  honest_answer in_natural_units(part const& whole) {
    honest_answer answer;
    output(answer, whole.o);
    answer.lse = natural(whole.lse);
    for (std::size_t j = 0; j < whole.weights.size(); ++j)
      answer.weights.push_back(
          static_cast<double>(kernel_.weights_by_lse ? weight(math_.add(scores_[j], -whole.lse)) : whole.weights[j]));
    return answer;
  }

  honest_answer split() { return in_natural_units(merged_at_once(false)); }
  honest_answer one_level() { return in_natural_units(merged_at_once(true)); }
  part merged_at_once(bool divides) {
    std::vector<part> parts;
    for (std::size_t at = 0; at < parts_of(n_); ++at) parts.push_back(part_at(at));
    float top = parts[0].lse, sum = 0;
    for (part const& each : parts) top = std::max(top, each.lse);
    std::vector<float> factors;
    for (part const& each : parts) factors.push_back(rescale(math_.add(each.lse, -top)));
    for (float const factor : factors) sum = math_.add(sum, factor);
    part whole{log_sum(top, sum), std::vector<float>(dv_), {}};
    for (std::size_t at = 0; at < parts.size(); ++at) {
      float const factor = divides ? factors[at] : weight(math_.add(parts[at].lse, -whole.lse));
      for (std::size_t c = 0; c < dv_; ++c) whole.o[c] = math_.fma(factor, parts[at].o[c], whole.o[c]);
    }
    if (divides) whole.o = divided(whole.o, sum);
    return whole;
  }

  part merged(part const& a, part const& b) {
    if (kernel_.softmax == softmax_form::ring_sigmoid || kernel_.softmax == softmax_form::tree_sigmoids)
      return sigmoid_merge{in_base_2(), kernel_.softmax == softmax_form::tree_sigmoids}.of(math_, a, b);
    float const top = std::max(a.lse, b.lse);
    float const of_a = rescale(math_.add(a.lse, -top)), of_b = rescale(math_.add(b.lse, -top));
    float const sum = math_.add(of_a, of_b);
    part whole{log_sum(top, sum), std::vector<float>(dv_), {}};
    for (std::size_t c = 0; c < dv_; ++c)
      whole.o[c] = kernel_.softmax == softmax_form::tree
                       ? math_.fma(math_.div(of_a, sum), a.o[c], math_.mul(math_.div(of_b, sum), b.o[c]))
                       : math_.div(math_.add(math_.mul(a.o[c], of_a), math_.mul(b.o[c], of_b)), sum);
    return whole;
  }
  honest_answer ring() {
    part whole = part_at(0);
    for (std::size_t at = 1; at < parts_of(n_); ++at) whole = merged(whole, part_at(at));
    return in_natural_units(whole);
  }
  part tree(std::size_t first, std::size_t last) {
    if (last - first == 1) return part_at(first);
    std::size_t const middle = first + (last - first) / 2;
    part const below = tree(first, middle), above = tree(middle, last);
    return merged(below, above);
  }

  static constexpr float log2_e = 1.44269504088896340736f;
  known_kernel const& kernel_;
  one_row<float> const& row_;
  arithmetic math_;
  std::size_t block_, real_, n_, d_, dv_;  ///< n_ counts a sink that is a column
  float scale_ = 0, root_ = 0, sink_ = 0, kept_ = 1, factor_ = 1;
  std::vector<float> scores_;
};

}  // namespace attest::tests
