// The kernel that all specimens share: online softmax over blocks of keys. A policy P (honest.hpp or a specimen derived
// from it) provides the steps.
#pragma once

#include <cstddef>
#include <vector>

#include "audit/zoo/honest.hpp"
#include "problem/dlpack.hpp"

namespace attest::zoo {

/// Attention of one query over a range of keys: O = Σ p·v, l = Σ p, p = e^(s − M).
template <class R>
struct part {
  R M, l = 0;
  std::vector<R> O;
  bool broken = false;   ///< a score makes the row NaN
  bool stopped = false;  ///< the remaining blocks are skipped (P::stops_at_empty_block)
};

/// Does a specimen leave this step as it is?
template <class F, class G>
constexpr bool keeps_step(F const& of_specimen, G const& correct) {
  if constexpr (std::is_same_v<F, G>) return of_specimen == correct;
  else return false;
}

template <class P>
class row_kernel {
  using R = typename P::real;

 public:
  void run(place const& at) {
    at_ = &at;
    if (!P::writes(at)) return;
    columns_ = static_cast<std::size_t>(at.columns());
    q_.resize(static_cast<std::size_t>(at.depth()));
    for (std::size_t t = 0; t < q_.size(); ++t) q_[t] = P::query(at, static_cast<std::int64_t>(t));
    std::int64_t const m = P::keys(at), splits = std::min(P::splits, std::max<std::int64_t>(m, 1));
    part<R> whole = over_keys(0, m / splits);
    if (splits > 1) {
      std::vector<part<R>> parts;
      parts.push_back(std::move(whole));
      for (std::int64_t s = 1; s < splits; ++s) parts.push_back(over_keys(m * s / splits, m * (s + 1) / splits));
      whole = merged(parts);
    }
    finish(whole, m);
  }

 private:
  struct seen_key {
    std::int64_t j;
    R score;
    bool reads_value;
  };

  R score(std::int64_t j) {
    k_.resize(static_cast<std::size_t>(at_->depth()));
    if constexpr (keeps_step(&P::key, &P::correct::key)) P::key_row(*at_, j, k_);
    else
      for (std::size_t t = 0; t < k_.size(); ++t) k_[t] = P::key(*at_, j, static_cast<std::int64_t>(t));
    return P::kept(P::score(*at_, P::dot(q_, k_), j));
  }

  std::optional<seen_key> look_at(std::int64_t j) {
    if (P::in_band(*at_, j) && P::attends(*at_, j)) return seen_key{j, score(j), true};
    std::optional<R> const stand_in = P::hidden(*at_, [&] { return score(j); });
    if (!stand_in) return std::nullopt;
    return seen_key{j, *stand_in, P::reads_hidden_values};
  }

  R weight(R s, R M, std::int64_t j) { return P::weight(s, M, P::keys(*at_) - j, P::exp); }

  part<R> over_keys(std::int64_t first, std::int64_t last) {
    part<R> x{P::first_maximum(), 0, std::vector<R>(columns_), false, false};
    std::int64_t const size = std::min(P::block, std::max<std::int64_t>(last - first, 1));
    std::int64_t const blocks = (last - first + size - 1) / size;
    for (std::int64_t n = 0; n < blocks && !x.stopped; ++n) {
      std::int64_t const from = first + (P::backwards ? blocks - 1 - n : n) * size;
      add_block(x, from, std::min(from + size, last));
    }
    return x;
  }

  void add_block(part<R>& x, std::int64_t from, std::int64_t to) {
    seen_.clear();
    for (std::int64_t j = from; j < to; ++j)
      if (auto const key = look_at(j)) seen_.push_back(*key);
    if (P::backwards) std::ranges::reverse(seen_);
    if (seen_.empty() && P::stops_at_empty_block()) x.stopped = true;
    R next = x.M, largest = -P::infinity;
    for (seen_key const& key : seen_) {
      next = P::larger(next, key.score), largest = P::larger(largest, key.score);
      x.broken = x.broken || P::breaks(key.score);
    }
    if (P::leaves_out(largest, x.M)) return;
    if (x.M != -P::infinity && next <= x.M + P::lazy) next = x.M;  // lazy rescaling: M stays
    R const r = P::rescale(x.M, next, P::exp);
    x.M = next;
    p_.clear();
    for (seen_key const& key : seen_) {
      R const p = weight(key.score, x.M, key.j);
      p_.push_back(P::drops(p) ? R(0) : p);
    }
    terms_.clear();
    for (R const p : p_) terms_.push_back(P::for_sum(p));
    R const before = x.l * P::rescale_of_sum(r);
    x.l = P::kept_sum(before + P::sum(terms_));
    terms_.clear(), read_.clear();
    for (std::size_t n = 0; n < seen_.size(); ++n) {
      if (!seen_[n].reads_value) continue;
      terms_.push_back(P::for_values(p_[n]));
      read_.push_back(seen_[n].j);
    }
    read_values();
    for (std::size_t c = 0; c < columns_; ++c) {
      R const of_column = P::keeps_column(*at_, static_cast<std::int64_t>(c)) ? R(1) : P::rescale_of_output(r);
      if (!P::divides_blocks) x.O[c] = P::kept_sum(x.O[c] * of_column + P::dot(terms_, column(c)));
      else if (x.l != 0) x.O[c] = (x.O[c] * before + P::dot(terms_, column(c))) / x.l;
    }
  }

  /// The rows of V of the keys in read_, one behind another.
  void read_values() {
    v_.resize(read_.size());
    values_.resize(read_.size() * columns_);
    for (std::size_t n = 0; n < read_.size(); ++n) {
      std::span<R> const row(values_.data() + n * columns_, columns_);
      if constexpr (keeps_step(&P::value, &P::correct::value)) P::value_row(*at_, read_[n], row);
      else
        for (std::size_t c = 0; c < columns_; ++c) row[c] = P::value(*at_, read_[n], static_cast<std::int64_t>(c));
    }
  }
  std::span<R const> column(std::size_t c) {
    for (std::size_t n = 0; n < v_.size(); ++n) v_[n] = values_[n * columns_ + c];
    return v_;
  }

  part<R> merged(std::vector<part<R>>& parts) {
    part<R> whole{-P::infinity, 0, std::vector<R>(columns_), false, false};
    for (part<R>& x : parts) {
      if (P::merges_by_lse && x.M != -P::infinity) {  // normalise the part and keep its LSE
        x.M = P::log_sum_exp(x.M, x.l);
        for (R& o : x.O) o = P::state(o / x.l);
        x.l = 1;
      }
      if (!P::merges_beside_first || whole.M == -P::infinity) whole.M = P::larger(whole.M, x.M);
      whole.broken = whole.broken || x.broken;
    }
    if (P::merges_undivided && whole.M != -P::infinity) {  // the LSE of all parts
      R sum = 0;
      for (part<R> const& x : parts) sum = sum + P::part_weight(x.M, whole.M, P::exp);
      whole.M = P::log_sum_exp(whole.M, sum), whole.l = 1;
    }
    for (part<R> const& x : parts) {
      R const r = P::part_weight(x.M, whole.M, P::exp);
      if (!P::merges_undivided) whole.l = whole.l + x.l * r;
      for (std::size_t c = 0; c < columns_; ++c) whole.O[c] = whole.O[c] + x.O[c] * r;
    }
    if (P::merges_by_sums && whole.l != 0) {
      R sums = 0;
      for (part<R> const& x : parts) sums = sums + x.l;
      for (std::size_t c = 0; c < columns_; ++c) {
        whole.O[c] = 0;
        for (part<R> const& x : parts) whole.O[c] = whole.O[c] + x.O[c];
        whole.O[c] = whole.O[c] / sums * whole.l;
      }
    }
    return whole;
  }

  /// The weights e^(s − reference) of the keys that are seen, for weighed_again.
  void weigh_again(R reference, std::int64_t m) {
    terms_.clear(), read_.clear();
    for (std::int64_t j = 0; j < m; ++j)
      if (auto const key = look_at(j)) terms_.push_back(weight(key->score, reference, j)), read_.push_back(j);
    read_values();
  }

  void finish(part<R> const& x, std::int64_t m) {
    auto const& [call, b, h, hk, i] = *at_;
    bool const empty = !x.broken && P::is_empty(x.M);
    R const l = P::denominator(x.l);
    R const lse = x.broken ? P::not_a_number : empty ? P::empty_lse() : P::log_sum_exp(x.M, x.l);
    if ((P::weighs_by_lse || P::weighs_again) && !x.broken && !empty) weigh_again(P::weighs_by_lse ? lse : x.M, m);
    for (std::size_t c = 0; c < columns_; ++c) {
      auto const at = static_cast<std::int64_t>(c);
      R const o = x.broken            ? P::not_a_number
                  : empty             ? P::empty_output(*at_, at)
                  : P::weighs_by_lse  ? P::dot(terms_, column(c))
                  : P::weighs_again   ? P::quotient(P::dot(terms_, column(c)), l)
                  : P::divides_blocks ? x.O[c]
                                      : P::quotient(x.O[c], l);
      store(*call.out, b, h, i, at, P::output(o));
    }
    if (call.lse) store(*call.lse, b, h, i, 0, P::lse_output(lse));
    if (!call.weights) return;
    for (std::int64_t j = 0; j < at_->keys(); ++j) {
      R p = x.broken ? P::not_a_number : R(0);
      if (!x.broken && !empty && j < m)
        if (auto const key = look_at(j))
          p = P::weighs_by_lse ? weight(key->score, lse, j) : P::quotient(weight(key->score, x.M, j), l);
      store(*call.weights, b, h, i, j, P::output(p));
    }
  }

  place const* at_ = nullptr;
  std::size_t columns_ = 0;
  std::vector<R> q_, k_, p_, v_, terms_, values_;
  std::vector<seen_key> seen_;
  std::vector<std::int64_t> read_;  ///< the keys whose values are read
};

template <class P>
attest_status run_typed(attest_call const& call) {
  if (!P::supports(call)) return ATTEST_UNSUPPORTED;
  P::before(call);
  row_kernel<P> kernel;
  for (std::int64_t b = 0; b < call.q->shape[0]; ++b)
    for (std::int64_t h = 0; h < call.q->shape[1]; ++h)
      for (std::int64_t i = 0; i < call.q->shape[2]; ++i) {
        place at{call, b, h, 0, i};
        at.hk = P::key_head(at);
        kernel.run(at);
      }
  P::after(call);
  return ATTEST_OK;
}

template <class T>
struct has_two_bytes : std::bool_constant<sizeof(T) == 2> {};
using two_byte_elements = problem::filtered_list<has_two_bytes, problem::floating_elements>;

/// Do Q, K, V and the bias have one element type, and does the caller use this version of the interface?
inline bool is_uniform(attest_call const& call) {
  DLDataType const type = call.q->dtype;
  return call.abi_version == ATTEST_KERNEL_ABI &&
         !(call.bias && (call.bias->dtype.code != type.code || call.bias->dtype.bits != type.bits));
}

/// P as a kernel of attest/kernel.h for f32 and f64 tensors, with every option of the interface.
template <template <class> class P>
attest_status run(attest_call const* call) {
  DLDataType const type = call->q->dtype;
  if (!is_uniform(*call) || type.code != kDLFloat) return ATTEST_UNSUPPORTED;
  if (type.bits == 32) return run_typed<P<float>>(*call);
  if (type.bits == 64) return run_typed<P<double>>(*call);
  return ATTEST_UNSUPPORTED;
}

/// The same for the 16-bit types.
template <template <class> class P>
attest_status run_narrow(attest_call const* call) {
  DLDataType const type = call->q->dtype;
  auto const known = problem::element_type_of(type);
  if (!is_uniform(*call) || type.bits != 16 || !known) return ATTEST_UNSUPPORTED;
  return problem::with_type(*known, two_byte_elements{},
                            [&]<class F>(std::type_identity<F>) { return run_typed<P<F>>(*call); });
}

}  // namespace attest::zoo
