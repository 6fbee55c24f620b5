// The run of a drawn kernel (drawn_kernel.hpp) on one row, in float arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "problem/element_type.hpp"
#include "tests/support/drawn_arithmetic.hpp"
#include "tests/support/drawn_kernel.hpp"
#include "tests/support/drawn_sums.hpp"
#include "tests/support/known_run.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

/// One run on a row.
/// Requires  `kernel`, `row` and `up` live as long
class drawn_run : drawn_arithmetic {
 public:
  drawn_run(drawn_kernel const& kernel, written<float> const& row, directions const& up)
      : drawn_arithmetic(kernel, up), row_(row), dv_(static_cast<std::size_t>(row.v.layout.shape[1])) {}

  row_answer answer() {
    form_scores();
    if (!row_.keep.values.empty()) {
      float const p = static_cast<float>(row_.dropout);
      factor_ = 1.0F / (w_.rounds_rate ? 1.0F - p : static_cast<float>(1 - row_.dropout));
    }
    if (!row_.sink.values.empty())
      sink_ = w_.stores_scores ? narrowed(row_.sink.values[0], type::f16) : row_.sink.values[0];
    std::vector<part> parts;
    for (std::int64_t at = 0; at < w_.parts(); ++at)
      if (part found = part_of(at); found.any) parts.push_back(std::move(found));
    if (parts.empty()) return {};
    part whole = w_.is_raw() ? merged_raw(parts) : merged_by_lse(parts);
    row_answer answer;
    if (w_.divides_first)
      form_again(whole.O, [&](std::size_t j) { return narrowed(share(weight(s_[j], whole.M), whole.l), w_.narrow); });
    if (w_.by_lse) form_again(whole.O, [&](std::size_t j) { return narrowed(exp(s_[j] - whole.lse), w_.narrow); });
    if (w_.again && w_.is_raw()) {
      form_again(whole.O, [&](std::size_t j) { return narrowed(weight(s_[j], whole.M), w_.narrow); });
      for (float& x : whole.O) x = share(x, whole.l);
    }
    if (w_.drop == drawn_drop::on_o)
      for (float& x : whole.O) x *= factor_;
    if (w_.sink == drawn_sink::behind && !row_.sink.values.empty()) rescale_by_sink(whole);
    for (float const x : whole.O) answer.o.push_back(static_cast<double>(narrowed(x, w_.out)));
    answer.lse = static_cast<double>(whole.lse);
    for (std::size_t j = 0; w_.returns_weights && j < s_.size(); ++j) {
      float p = seen(j) ? weight(s_[j], whole.M) : 0;
      if (w_.returns_narrow && !w_.divides_first) p = narrowed(p, w_.narrow);
      float const returned = w_.divides_first ? narrowed(share(p, whole.l), w_.narrow) : p / whole.l;
      answer.weights.push_back(static_cast<double>(narrowed(returned, w_.out)));
    }
    return answer;
  }

 private:
  static constexpr float nothing = -std::numeric_limits<float>::infinity();
  struct part {
    float M = nothing, l = 0, lse = nothing;
    std::vector<float> O{};
    bool any = false;
  };
  using indices = std::vector<std::size_t>;

  bool seen(std::size_t j) const { return row_.mask.values.empty() || row_.mask.values[j] != 0; }

  /// Adds key j, whose weight is p.
  void add(float& l, std::vector<float>& O, float p, std::size_t j) const {
    float const narrow = narrowed(p, w_.narrow);
    l += w_.shared ? narrow : p;
    add_value(O, narrow, w_.shared ? narrow : p, j);
  }
  void add_value(std::vector<float>& O, float narrow, float p, std::size_t j) const {
    if (!row_.keep.values.empty()) {
      if (row_.keep.values[j] == 0) return;
      if (w_.drop == drawn_drop::on_p) narrow = narrowed(p * factor_, w_.narrow);
    }
    if (w_.has_unit()) {
      pending_.emplace_back(narrow, j);
      if (pending_.size() == products_a_step(w_.products)) add_pending(O);
      return;
    }
    for (std::size_t c = 0; c < dv_; ++c) O[c] = sum(narrow, row_.v.values[j * dv_ + c], O[c]);
  }
  /// The values that a matrix unit has not added yet.
  void add_pending(std::vector<float>& O) const {
    for (std::size_t c = 0; c < dv_ && !pending_.empty(); ++c) {
      std::vector<double> products;
      for (auto const& [p, j] : pending_)
        products.push_back(static_cast<double>(p) * static_cast<double>(row_.v.values[j * dv_ + c]));
      O[c] = step_of_unit(O[c], products.data(), products.size(), w_.products);
    }
    pending_.clear();
  }
  /// A second pass over all keys: O = Σ p_j v_j with p_j = weight(j).
  template <class Weight>
  void form_again(std::vector<float>& O, Weight&& weight) const {
    O.assign(dv_, 0);
    for (std::size_t j = 0; j < s_.size(); ++j)
      if (seen(j)) {
        float const p = weight(j);
        add_value(O, p, p, j);
      }
    add_pending(O);
  }

  // --- scores
  void form_scores() {
    auto const d = static_cast<std::size_t>(w_.d);
    auto const scale = static_cast<float>(*row_.scale), cap = static_cast<float>(row_.softcap);
    for (std::size_t j = 0; j < static_cast<std::size_t>(w_.keys); ++j) {
      float a = sum_of_products(w_.products, row_.q.values.data(), &row_.k.values[j * d], d);
      if (scale != 1) a *= scale;
      if (cap > 0) {
        float const y = a / cap, e = std::exp(2 * std::abs(y));
        a = cap * std::copysign(e > 1e30F ? 1 : 1 - 2 / (e + 1), y);
      }
      if (!row_.bias.values.empty()) a += row_.bias.values[j];
      s_.push_back(w_.stores_scores ? narrowed(a, type::f16) : a);
    }
  }

  // --- one part
  part part_of(std::int64_t number) const {
    std::int64_t const S = w_.parts(), B = w_.blocks();
    std::vector<std::int64_t> mine(static_cast<std::size_t>((number + 1) * B / S - number * B / S));
    std::iota(mine.begin(), mine.end(), number * B / S);
    if (w_.order == block_order::falling) std::reverse(mine.begin(), mine.end());
    std::mt19937_64 random(static_cast<std::uint64_t>(number) + 7);
    if (w_.order == block_order::drawn) std::shuffle(mine.begin(), mine.end(), random);
    std::vector<part> lanes;
    for (std::int64_t lane = 0; lane < w_.lanes; ++lane) {
      part p;
      p.O.assign(dv_, 0);
      if (number == 0 && lane == 0 && w_.sink == drawn_sink::first && sink_ > nothing)
        p.M = sink_, p.l = 1, p.any = true;
      std::vector<indices> blocks;
      for (std::int64_t const block : mine) {
        blocks.emplace_back();
        for (std::int64_t j = block * w_.block; j < std::min(w_.keys, (block + 1) * w_.block); ++j)
          if (j % w_.lanes == lane) blocks.back().push_back(static_cast<std::size_t>(j));
      }
      if (w_.two_passes) {
        indices all;
        for (indices const& block : blocks) all.insert(all.end(), block.begin(), block.end());
        blocks = {all};
      }
      for (indices const& block : blocks) take(p, block);
      if (p.any) lanes.push_back(std::move(p));
    }
    if (lanes.empty()) return {};
    part whole = joined(lanes);
    if (w_.again && !w_.is_raw()) {
      auto const of_part = [&](std::size_t j) {
        return std::find(mine.begin(), mine.end(), static_cast<std::int64_t>(j) / w_.block) != mine.end();
      };
      form_again(whole.O, [&](std::size_t j) { return of_part(j) ? narrowed(weight(s_[j], whole.M), w_.narrow) : 0; });
    }
    return whole;
  }
  float top_of(indices const& keys) const {
    float top = nothing;
    for (std::size_t const j : keys)
      if (seen(j)) top = std::max(top, s_[j]);
    return top;
  }
  void take(part& p, indices const& keys) const {
    float const top = top_of(keys);
    if (w_.skips && p.any && static_cast<double>(top) - static_cast<double>(p.M) < -w_.x0) return;
    float M = std::max(p.M, top);
    if (M == nothing) return;
    if (p.any && static_cast<double>(M) - static_cast<double>(p.M) <= w_.tau) M = p.M;
    bool const rescales = p.any && (M != p.M || w_.rounds_rescales);
    float const r = rescales ? rescale(p.M, M) : 1;
    float l = 0;
    std::vector<float> O(dv_, 0.0F);
    bool const apart = w_.divides_blocks || w_.sums_blocks;
    if (!w_.divides_blocks && rescales) {
      p.l *= r;
      for (float& x : p.O) x *= r;
    }
    std::vector<float>& sums = apart ? O : p.O;
    std::vector<float> in_pairs;
    for (std::size_t const j : keys)
      if (seen(j)) {
        float alone = 0;
        add(w_.sums_l_in_pairs ? alone : apart ? l : p.l, sums, weight(s_[j], M), j);
        if (w_.sums_l_in_pairs) in_pairs.push_back(alone);
      }
    if (w_.sums_l_in_pairs) (apart ? l : p.l) += sum_in_pairs(std::move(in_pairs));
    add_pending(sums);
    if (w_.divides_blocks) {
      float const held = rescales ? p.l * r : p.l, all = held + l;
      if (all == 0) return;
      for (std::size_t c = 0; c < dv_; ++c) p.O[c] = (held * p.O[c] + O[c]) / all;
      p.l = all;
    } else if (apart) {
      p.l += l;
      for (std::size_t c = 0; c < dv_; ++c) p.O[c] = sum(1, O[c], p.O[c]);
    }
    p.M = M, p.any = true;
  }

  // --- merges
  /// States added raw, one after the other.
  part joined(std::vector<part> const& parts) const {
    part all = parts.front();
    for (std::size_t at = 1; at < parts.size(); ++at) {
      part next = parts[at];
      float const M = std::max(all.M, next.M);
      for (part* one : {&all, &next}) {
        if (one->M == M && !w_.rounds_rescales) continue;
        float const r = rescale(one->M, M);
        one->l *= r;
        for (float& x : one->O) x *= r;
      }
      all.l += next.l, all.M = M;
      for (std::size_t c = 0; c < dv_; ++c) all.O[c] += next.O[c];
    }
    return all;
  }
  part merged_raw(std::vector<part> const& parts) {
    part all = joined(parts);
    if (w_.sink == drawn_sink::end && sink_ > nothing) all.l += weight(sink_, all.M);
    all.lse = all.M + log(all.l);
    for (float& x : all.O)
      if (!w_.divides_blocks) x = share(x, all.l);
    return all;
  }
  void store(part& state) const {
    for (float& x : state.O)
      if (w_.narrow_states) x = narrowed(x, type::bf16);
  }
  part merged_by_lse(std::vector<part>& parts) {
    using problem::split_merge;
    for (part& p : parts) {
      p.lse = p.M + log(p.l);
      for (float& x : p.O)
        if (!w_.divides_blocks) x = share(x, p.l);
      store(p);
    }
    if (w_.merge == split_merge::lse_normalised || (w_.merge == split_merge::lse && !w_.pairwise))
      return at_once(parts);
    part all = parts.front();
    for (std::size_t at = 1; at < parts.size(); ++at) {
      part const& next = parts[at];
      float const top = std::max(all.lse, next.lse);
      if (w_.merge == split_merge::lse) {
        float const a = exp(all.lse - top), b = exp(next.lse - top), l = a + b;
        for (std::size_t c = 0; c < dv_; ++c) all.O[c] = (a * all.O[c] + b * next.O[c]) / l;
        all.lse = top + log(l);
      } else {
        float const share = 1 / (1 + exp(-(next.lse - all.lse))), l = 1 + exp(-std::abs(all.lse - next.lse));
        for (std::size_t c = 0; c < dv_; ++c) all.O[c] -= share * (all.O[c] - next.O[c]);
        all.lse = top + log(l);
      }
      if (at + 1 < parts.size()) store(all);
    }
    return all;
  }
  part at_once(std::vector<part> const& parts) {
    part all;
    all.O.assign(dv_, 0);
    for (part const& p : parts) all.M = std::max(all.M, p.lse);
    std::vector<float> c;
    for (part const& p : parts) c.push_back(exp(p.lse - all.M)), all.l += c.back();
    all.lse = all.M + log(all.l);
    bool const divided = w_.merge == problem::split_merge::lse;
    for (std::size_t at = 0; at < parts.size(); ++at) {
      float const x = divided ? c[at] : exp(parts[at].lse - all.lse);
      for (std::size_t k = 0; k < dv_; ++k) all.O[k] += x * parts[at].O[k];
    }
    for (float& x : all.O)
      if (divided) x /= all.l;
    return all;
  }
  void rescale_by_sink(part& keys) {
    float const factor = 1 / (1 + exp(sink_ - keys.lse)), top = std::max(sink_, keys.lse);
    for (float& x : keys.O) x = narrowed(x, w_.out) * factor;
    keys.lse = top + log(1 + exp(std::min(sink_, keys.lse) - top));
  }

  written<float> const& row_;
  std::size_t dv_;
  mutable std::vector<std::pair<float, std::size_t>> pending_{};
  std::vector<float> s_;
  float factor_ = 1, sink_ = nothing;
};

}  // namespace attest::tests
