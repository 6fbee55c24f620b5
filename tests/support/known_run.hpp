// Runs the kernels of tests/support/known_kernels.hpp on one row. Every operation rounds to float or double as the
// kernel says (no contraction: -ffp-contract=off).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tests/support/known_kernel.hpp"
#include "tests/support/known_merges.hpp"
#include "tests/support/known_scores.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

/// What a kernel answers to a row.
struct row_answer {
  std::vector<double> o, weights{};
  double lse = 0;
};

/// One run of a known kernel on a row. `block` keys are a block, or a part, unless the kernel has blocks of its own.
/// Requires  `kernel`, `row` and `up` live as long
template <class F>
class known_run {
 public:
  known_run(known_kernel const& kernel, written<F> const& row, std::size_t block, directions const& up)
      : kernel_(kernel),
        row_(row),
        math_(kernel.how, up),
        score_(kernel, row, math_),
        block_(kernel.block > 0 ? static_cast<std::size_t>(kernel.block) : block),
        real_(static_cast<std::size_t>(row.v.layout.shape[0])),
        n_(real_ + (kernel.sink == sink_place::column ? 1 : 0)),
        dv_(static_cast<std::size_t>(row.v.layout.shape[1])) {}

  known_run(known_run const&) = delete;  // score_ looks into math_

  row_answer answer() {
    if (!row_.keep.values.empty()) {
      kept_ = math_.add(F(1), -math_.read(row_.dropout));
      factor_ = math_.kept(math_.div(F(1), kept_));
    }
    if (!row_.sink.values.empty()) sink_ = score_.sink();
    scores_.clear();
    for (std::size_t j = 0; j < real_; ++j) scores_.push_back(score_.of(j));
    if (real_ < n_) scores_.push_back(math_.score(sink_));
    c_ = score_.scale_last() ? math_.mul(score_.scale(), score_.log2_e) : score_.log2_e;
    row_answer of_keys = over_keys();
    if (kernel_.reversed) std::reverse(of_keys.weights.begin(), of_keys.weights.end());
    if (kernel_.sink_is_behind()) rescale_by_sink(of_keys);
    return of_keys;
  }

 private:
  row_answer over_keys() {
    switch (kernel_.softmax) {
      case softmax_form::two_passes:
      case softmax_form::normalised: return two_passes();
      case softmax_form::by_lse: return by_lse();
      case softmax_form::flash_attention_1: return flash_attention_1();
      case softmax_form::flash_attention_2:
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
  void rescale_by_sink(row_answer& answer) {
    auto const lse = static_cast<F>(answer.lse);
    F const t = math_.kept(math_.read(row_.sink.values.front())), top = std::max(lse, t);
    F const other = math_.exp(math_.add(std::min(lse, t), -top));
    F const whole = math_.add(top, math_.log(math_.add(1, other)));
    F factor = sink_is(sink_place::by_lse) ? math_.exp(math_.add(lse, -whole))
                                           : math_.div(1, math_.add(1, math_.exp(math_.add(t, -lse))));
    if (kernel_.narrow_factor) factor = math_.narrow(factor);
    for (double& x : answer.o) x = static_cast<double>(math_.narrow(math_.mul(static_cast<F>(x), factor)));
    for (double& x : answer.weights) x = static_cast<double>(math_.narrow(math_.mul(static_cast<F>(x), factor)));
    answer.lse = static_cast<double>(whole);
  }

  using part = known_part<F>;

  F v(std::size_t j, std::size_t c) const {
    if (j == real_) return 0;
    F const x = math_.read(row_.v.values[score_.at(j) * dv_ + c]);
    return kernel_.drops == drop_place::on_v ? math_.narrow(math_.mul(x, factor_)) : x;
  }
  /// P as it meets V.
  F product_weight(F p, std::size_t j) const {
    if (kernel_.drops == drop_place::none || j == real_) return math_.narrow(p);
    if (row_.keep.values[score_.at(j)] == 0) return 0;
    switch (kernel_.drops) {
      case drop_place::on_p: return math_.narrow(math_.mul(p, factor_));
      case drop_place::on_p_twice: return math_.narrow(math_.mul(math_.narrow(p), factor_));
      case drop_place::divided: return math_.narrow(math_.div(p, kept_));
      default: return math_.narrow(p);
    }
  }
  bool sink_is(sink_place place) const { return kernel_.sink == place; }
  /// A sink that comes behind the keys.
  void take_sink(F& M, F& l, std::vector<F>& O) {
    if (sink_is(sink_place::end))
      l = math_.add(l, score_.is_flash_attention_2() ? math_.exp2(math_.add(sink_, -math_.mul(M, c_)))
                                                     : weight(math_.add(sink_, -M)));
    if (!sink_is(sink_place::last)) return;
    F const next = std::max(M, sink_);
    if (next != M) {
      F const r = rescale(math_.add(M, -next));
      l = math_.mul(l, r);
      for (F& x : O) x = math_.mul(x, r);
    }
    M = next, l = math_.add(l, weight(math_.add(sink_, -M)));
  }
  /// s − M; a score of −∞, which is how a stored score may overflow, has the weight 0.
  F below(F s, F M) const { return std::isinf(s) && s < 0 ? s : math_.add(s, -M); }
  /// exp(s − M); of FlashAttention-2, exp2(fma(s, c, −fl(M·c))).
  F key_weight(F s, F M) {
    return score_.is_flash_attention_2() ? math_.exp2(math_.fma(s, c_, -math_.mul(M, c_))) : weight(below(s, M));
  }
  F rescale_to(F M, F next) {
    F const x = math_.add(M, -next);
    return score_.is_flash_attention_2() ? math_.rescale_2(math_.mul(x, c_)) : rescale(x);
  }
  F weight(F x) { return score_.in_base_2() ? math_.exp2(x) : math_.exp(x); }
  F rescale(F x) { return score_.in_base_2() ? math_.rescale_2(x) : math_.rescale(x); }
  F log_sum(F M, F l) { return math_.add(M, score_.in_base_2() ? math_.log2(l) : math_.log(l)); }
  double natural(F lse) const {
    return static_cast<double>(math_.kept(score_.in_base_2() ? math_.mul(lse, F(0.69314718055994530942)) : lse));
  }
  F largest(std::size_t first, std::size_t last) const {
    return *std::max_element(scores_.begin() + static_cast<std::ptrdiff_t>(first),
                             scores_.begin() + static_cast<std::ptrdiff_t>(last));
  }
  /// O += p·v for every column.
  void take(std::vector<F>& O, F p, std::size_t j) const {
    for (std::size_t c = 0; c < dv_; ++c) O[c] = math_.accumulate(p, v(j, c), O[c]);
  }
  void output(row_answer& answer, std::vector<F> const& o) const {
    bool const on_o = kernel_.drops == drop_place::on_o;
    for (F const x : o) answer.o.push_back(static_cast<double>(math_.stored(on_o ? math_.mul(x, factor_) : x)));
  }
  /// x / l, or x·(1/l) where the kernel forms the reciprocal.
  F quotient(F x, F l) const {
    return kernel_.reciprocal || score_.is_flash_attention_2() ? math_.mul(x, math_.div(1, l)) : math_.div(x, l);
  }
  std::vector<F> divided(std::vector<F> O, F l) const {
    for (F& x : O) x = quotient(x, l);
    return O;
  }

  row_answer two_passes() {
    F const M = largest(0, n_);
    F l = 0;
    std::vector<F> p(n_), O(dv_);
    for (std::size_t j = 0; j < n_; ++j) p[j] = weight(below(scores_[j], M)), l = math_.add(l, p[j]);
    F top = M;
    take_sink(top, l, O);  // at the end: M stays
    bool const first = kernel_.softmax == softmax_form::normalised;
    for (std::size_t j = 0; j < n_; ++j) take(O, product_weight(first ? quotient(p[j], l) : p[j], j), j);
    row_answer answer;
    output(answer, first ? O : divided(O, l));
    answer.lse = natural(log_sum(M, l));
    if (!kernel_.returns_weights) return answer;
    for (F const x : std::span(p).first(real_)) {
      F const a = quotient(kernel_.returns_narrow_p && !first ? math_.narrow(x) : x, l);
      answer.weights.push_back(static_cast<double>(math_.stored(a)));
    }
    return answer;
  }

  row_answer by_lse() {
    F const M = largest(0, n_);
    F l = 0;
    for (F const s : scores_) l = math_.add(l, weight(below(s, M)));
    F const lse = log_sum(M, l);
    row_answer answer;
    std::vector<F> O(dv_);
    for (std::size_t j = 0; j < n_; ++j) {
      F const p = weight(math_.add(scores_[j], -lse));
      if (kernel_.returns_weights) answer.weights.push_back(static_cast<double>(p));
      take(O, p, j);
    }
    output(answer, O);
    answer.lse = natural(lse);
    return answer;
  }

  row_answer flash_attention_1() {
    F M = -std::numeric_limits<F>::infinity(), l = 0;
    std::vector<F> o(dv_);
    for (std::size_t first = 0; first < n_; first += block_) {
      std::size_t const last = std::min(n_, first + block_);
      F const block_M = largest(first, last);
      F block_l = 0;
      std::vector<F> block_O(dv_);
      for (std::size_t j = first; j < last; ++j) {
        F const p = weight(below(scores_[j], block_M));
        block_l = math_.add(block_l, p);
        take(block_O, product_weight(p, j), j);
      }
      F const next = std::max(M, block_M), g = rescale(math_.add(block_M, -next));
      F const f = first == 0 ? F(0) : rescale(math_.add(M, -next));
      F const held = math_.mul(f, l), next_l = math_.add(held, math_.mul(g, block_l));
      for (std::size_t c = 0; c < dv_; ++c)
        o[c] = math_.div(math_.add(math_.mul(held, o[c]), math_.mul(g, block_O[c])), next_l);
      M = next, l = next_l;
    }
    row_answer answer;
    output(answer, o);
    answer.lse = natural(log_sum(M, l));
    return answer;
  }

  /// O, l and M of the keys, block by block.
  row_answer online() {
    bool const from_start = sink_is(sink_place::first);
    F M = from_start ? sink_ : -std::numeric_limits<F>::infinity(), l = from_start ? F(1) : F(0);
    std::vector<F> O(dv_);
    for (std::size_t first = 0; first < n_; first += block_) {
      std::size_t const last = std::min(n_, first + block_);
      F next = std::max(M, largest(first, last));
      if (static_cast<double>(largest(first, last) - M) < -kernel_.skips) continue;
      if (first > 0 && static_cast<double>(next - M) <= kernel_.tau) next = M;
      if ((first > 0 || from_start) && next != M) {
        F const r = rescale_to(M, next);
        l = math_.mul(l, r);
        for (F& x : O) x = math_.mul(x, r);
      }
      M = next;
      F block_l = 0;
      std::vector<F> block_O(dv_);
      F& sum = kernel_.sums_blocks ? block_l : l;
      std::vector<F>& products = kernel_.sums_blocks ? block_O : O;
      for (std::size_t j = first; j < last; ++j) {
        F const p = key_weight(scores_[j], M);
        sum = math_.add(sum, p);
        take(products, product_weight(p, j), j);
      }
      if (!kernel_.sums_blocks) continue;
      l = math_.add(l, block_l);
      for (std::size_t c = 0; c < dv_; ++c) O[c] = math_.add(O[c], block_O[c]);
    }
    take_sink(M, l, O);
    row_answer answer;
    output(answer, divided(O, l));
    answer.lse = score_.is_flash_attention_2()
                     ? natural(math_.add(score_.scale_last() ? math_.mul(M, score_.scale()) : M, math_.log(l)))
                     : natural(log_sum(M, l));
    if (!kernel_.returns_weights) return answer;
    std::vector<F> p;  // a second pass over the scores
    for (std::size_t j = 0; j < real_; ++j) p.push_back(key_weight(scores_[j], M));
    for (F const x : divided(p, l)) answer.weights.push_back(static_cast<double>(math_.stored(x)));
    return answer;
  }

  std::size_t parts_of(std::size_t keys) const { return (keys + block_ - 1) / block_; }
  part part_at(std::size_t index) {
    std::size_t const first = index * block_, last = std::min(n_, first + block_);
    bool const with_sink = index == 0 && sink_is(sink_place::first);
    F const M = with_sink ? std::max(sink_, largest(first, last)) : largest(first, last);
    F l = with_sink ? weight(math_.add(sink_, -M)) : F(0);
    std::vector<F> O(dv_), weights;
    for (std::size_t j = first; j < last; ++j) {
      F const p = weight(below(scores_[j], M));
      l = math_.add(l, p);
      take(O, product_weight(p, j), j);
      if (kernel_.returns_weights) weights.push_back(p);
    }
    return {log_sum(M, l), divided(O, l), divided(weights, l)};
  }
  /// The weights are the parts' weights times their shares, or exp(s − LSE).
  row_answer in_natural_units(part const& whole) {
    row_answer answer;
    output(answer, whole.o);
    answer.lse = natural(whole.lse);
    for (std::size_t j = 0; j < whole.weights.size(); ++j)
      answer.weights.push_back(
          static_cast<double>(kernel_.weights_by_lse ? weight(math_.add(scores_[j], -whole.lse)) : whole.weights[j]));
    return answer;
  }

  row_answer split() { return in_natural_units(merged_at_once(false)); }
  row_answer one_level() { return in_natural_units(merged_at_once(true)); }
  part merged_at_once(bool divides) {
    std::vector<part> parts;
    for (std::size_t at = 0; at < parts_of(n_); ++at) parts.push_back(part_at(at));
    F top = parts[0].lse, sum = 0;
    for (part const& each : parts) top = std::max(top, each.lse);
    std::vector<F> factors;
    for (part const& each : parts) factors.push_back(rescale(math_.add(each.lse, -top)));
    for (F const factor : factors) sum = math_.add(sum, factor);
    part whole{log_sum(top, sum), std::vector<F>(dv_), {}};
    for (std::size_t at = 0; at < parts.size(); ++at) {
      F const factor = divides ? factors[at] : weight(math_.add(parts[at].lse, -whole.lse));
      for (std::size_t c = 0; c < dv_; ++c) whole.o[c] = math_.fma(factor, parts[at].o[c], whole.o[c]);
    }
    if (divides) whole.o = divided(whole.o, sum);
    return whole;
  }

  part merged(part const& a, part const& b) {
    if (kernel_.softmax == softmax_form::ring_sigmoid || kernel_.softmax == softmax_form::tree_sigmoids)
      return sigmoid_merge{score_.in_base_2(), kernel_.softmax == softmax_form::tree_sigmoids}.of(math_, a, b);
    F const top = std::max(a.lse, b.lse);
    F const of_a = rescale(math_.add(a.lse, -top)), of_b = rescale(math_.add(b.lse, -top));
    F const sum = math_.add(of_a, of_b);
    part whole{log_sum(top, sum), std::vector<F>(dv_), {}};
    for (std::size_t c = 0; c < dv_; ++c)
      whole.o[c] = kernel_.softmax == softmax_form::tree
                       ? math_.fma(math_.div(of_a, sum), a.o[c], math_.mul(math_.div(of_b, sum), b.o[c]))
                       : math_.div(math_.add(math_.mul(a.o[c], of_a), math_.mul(b.o[c], of_b)), sum);
    return whole;
  }
  row_answer ring() {
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

  known_kernel const& kernel_;
  written<F> const& row_;
  arithmetic<F> math_;
  known_scores<F> score_;
  std::size_t block_, real_, n_, dv_;  ///< n_ counts a sink that is a column
  F c_ = 0, sink_ = 0, kept_ = 1, factor_ = 1;
  std::vector<F> scores_;
};

}  // namespace attest::tests
