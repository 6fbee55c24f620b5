// A plain attest_attention_backward whose steps specimens replace: row by row, weights from the LSE and Δ from dO and O
// as they were handed over. A policy P has its steps. Its forward pass is right.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "audit/zoo/backward/honest_backward.hpp"
#include "audit/zoo/define.hpp"
#include "audit/zoo/honest.hpp"
#include "audit/zoo/unpacked.hpp"
#include "problem/backward_call.hpp"

namespace attest::zoo {

/// The backward pass of one call.
template <class F, class P>
class backward_kernel {
 public:
  using place = backward_place<F>;

  backward_kernel(problem::instance<F> const& p, problem::backward_views<F> const& views) : p_(p), views_(views) {}

  void run() {
    clear();
    problem::sizes const& s = p_.size();
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0, n = p_.queries(b); i < n; ++i) row({p_, views_, b, h, P::rows_fall ? n - 1 - i : i});
    write();
  }

 private:
  static constexpr F infinity = P::infinity;

  bool sees(place const& at, std::int64_t j) const { return P::in_band(at, j) && P::attends(at, j); }

  F bias(place const& at, std::int64_t key) const {
    std::int64_t const j = P::key_of_bias(key);
    if (p_.bias().present) return p_.bias()(at.b, at.h, at.i, j);
    return p_.bias_f32().present ? static_cast<F>(p_.bias_f32()(at.b, at.h, at.i, j)) : F(0);
  }

  struct pair {
    F score, over_cap = 0, tanh = 0;
  };
  pair scored(place const& at, std::int64_t j) const {
    F const *const q = p_.q().row(at.b, at.h, at.i), *const k = p_.k().row(at.b, at.kv_head(), j);
    F const c = static_cast<F>(p_.softcap());
    pair found{};
    F x = 0;
    for (std::int64_t t = 0; t < p_.size().d; ++t) x += q[t] * k[t];
    x *= P::scale(at);
    if (c > 0) found.over_cap = x / c, found.tanh = static_cast<F>(std::tanh(static_cast<double>(x / c)));
    found.score = (c > 0 ? c * found.tanh : x) + P::added_bias(bias(at, j));
    return found;
  }

  /// The largest score of a key that the row sees, or of the sink.
  F maximum(place const& at) const {
    F most = -infinity;
    if (p_.sink().present) most = static_cast<F>(p_.sink()(at.b, at.h, 0, 0));
    if (p_.sink_f32().present) most = static_cast<F>(p_.sink_f32()(at.b, at.h, 0, 0));
    for (std::int64_t j = 0; j < p_.keys(at.b); ++j)
      if (sees(at, j)) most = std::max(most, scored(at, j).score);
    return most;
  }

  F delta_of(place const& at) const {
    F sum = 0;
    F const *const d_o = P::d_out(at), *const o = P::delta_output(at);
    std::int64_t const dv = p_.size().dv, columns = P::delta_is_short && dv > 1 ? dv - 1 : dv;
    for (std::int64_t c = 0; c < columns; ++c) sum += d_o[c] * P::o_in_delta(o[c]);
    return P::delta(sum);
  }

  /// l = Σ e^(s − most), the sink among its terms.
  F sum_of_weights(place const& at, F most) const {
    F sum = 0;
    if (p_.sink().present) sum = P::exp(static_cast<F>(p_.sink()(at.b, at.h, 0, 0)) - most);
    if (p_.sink_f32().present) sum = P::exp(static_cast<F>(p_.sink_f32()(at.b, at.h, 0, 0)) - most);
    for (std::int64_t j = 0; j < p_.keys(at.b); ++j)
      if (sees(at, j)) sum += P::exp(scored(at, j).score - most);
    return sum;
  }

  /// Σ P·dP
  template <class Weight>
  F sum_of_products(place const& at, Weight const& weight_of) const {
    F sum = 0;
    for (std::int64_t j = 0; j < p_.keys(at.b); ++j) {
      if (!sees(at, j)) continue;
      F const kept = P::keeps(at, j), weight = weight_of(scored(at, j).score);
      F const* const v = p_.v().row(at.b, at.kv_head(), j);
      sum += weight * (kept == 0 ? F(0) : P::product(P::d_out(at), v, p_.size().dv) * kept);
    }
    return sum;
  }

  void row(place const& at) {
    problem::sizes const& s = p_.size();
    std::int64_t const g = at.kv_head(), m = p_.keys(at.b), d = s.d, dv = s.dv;
    if (P::skips(at)) return;
    F const lse = P::lse(at), sigma = P::scale(at);
    bool some = false;
    for (std::int64_t j = 0; j < m && !some; ++j) some = sees(at, j);
    bool const empty = !some || lse == -infinity;
    if (empty && (!P::leaks_empty_rows || some)) return;
    F const most = P::sums_weights ? maximum(at) : F(0), sum = P::sums_weights ? sum_of_weights(at, most) : F(1);
    auto const weight_of = [&](F score) {
      return score == -infinity && lse == lse ? F(0)
             : P::sums_weights                ? P::exp(score - most) / sum
                                              : P::exp(score - lse);
    };
    F const delta = empty ? F(0) : P::delta_of_weights ? sum_of_products(at, weight_of) : delta_of(P::delta_place(at));
    F const in_dV = P::dv_by_maximum && !empty ? P::exp(lse - maximum(at)) : F(1);
    F const of_dQ = P::scales_at_end ? F(1) : P::scale_of_dQ(sigma),
            of_dK = P::scales_at_end ? F(1) : P::scale_of_dK(sigma);
    F const *const q = p_.q().row(at.b, at.h, at.i), *const d_o = P::d_out(at);
    for (std::int64_t j = 0; j < m; ++j) {
      if (!empty && !sees(at, j)) continue;
      F const* const v = p_.v().row(at.b, g, j);
      auto const [score, over_cap, tanh] = scored(at, j);
      F const weight = empty ? F(1) / static_cast<F>(m) : weight_of(score);
      F const kept = P::keeps(at, j);
      F const dP = kept == 0 ? F(0) : P::product(d_o, v, dv) * kept;
      F const dS = P::stored_dS(P::dS(P::weight_in_dS(weight), dP, delta));
      F const slope = p_.softcap() > 0 ? P::slope(tanh, over_cap) : F(1), dX = dS * slope;
      if (P::in_dq(at, j)) {
        F const* const key = p_.k().row(at.b, g, P::key_of_dQ(at, j));
        for (std::int64_t t = 0; t < d; ++t) of_q(at.b, at.h, at.i)[t] += of_dQ * dX * key[t];
      }
      if (P::in_dkv(at, j) && P::adds_head(at)) {
        std::int64_t const to = P::head_of_dkv(at);
        F const dX_of_K = p_.softcap() > 0 ? dS * P::slope_in_dK(slope) : dS;
        for (std::int64_t t = 0; t < d && P::in_dk(at, j); ++t) of_k(at.b, to, j)[t] += of_dK * dX_of_K * q[t];
        if (kept != 0 && P::in_dv(at, j))
          for (std::int64_t e = 0; e < dv; ++e)
            of_v(at.b, to, j)[e] += P::weight_in_dV(weight) * in_dV * P::kept_in_dV(at, kept) * d_o[e];
      }
      if (P::adds_bias(at)) add_bias(at, j, dS);
    }
    add_sink(at, delta);
  }

  void add_bias(place const& at, std::int64_t j, F dS) {
    auto const add = [&](auto const& view) {
      if (!view.present) return;
      auto const index = [&](std::size_t axis, std::int64_t of) { return view.shape[axis] == 1 ? 0 : of; };
      bias_sums_[bias_at(view, index(0, at.b), index(1, at.h), index(2, at.i), j)] +=
          dS * P::bias_factor(at, view.shape[1]);
    };
    add(views_.dbias), add(views_.dbias_f32);
  }
  template <class View>
  static std::size_t bias_at(View const& view, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(((b * view.shape[1] + h) * view.shape[2] + i) * view.shape[3] + j);
  }

  void add_sink(place const& at, F delta) {
    auto const add = [&](auto const& view, auto const& sink) {
      if (!view.present) return;
      F const t = static_cast<F>(sink(at.b, at.h, 0, 0));
      std::int64_t const b = view.shape[0] == 1 ? 0 : at.b;
      if (t != -infinity)
        sink_sums_[static_cast<std::size_t>(b * view.shape[1] + at.h)] +=
            P::sink_sign() * P::sink_weight(at, t) * P::delta_in_sink(delta);
    };
    if (p_.sink().present) add(views_.dsink, p_.sink());
    if (p_.sink_f32().present) add(views_.dsink_f32, p_.sink_f32());
  }

  F* of_q(std::int64_t b, std::int64_t h, std::int64_t i) {
    problem::sizes const& s = p_.size();
    return q_sums_.data() + ((b * s.hq + h) * s.n + i) * s.d;
  }
  F* of_k(std::int64_t b, std::int64_t g, std::int64_t j) {
    problem::sizes const& s = p_.size();
    return k_sums_.data() + ((b * s.hk + g) * s.m + j) * s.d;
  }
  F* of_v(std::int64_t b, std::int64_t g, std::int64_t j) {
    problem::sizes const& s = p_.size();
    return v_sums_.data() + ((b * s.hk + g) * s.m + j) * s.dv;
  }

  void clear() {
    problem::sizes const& s = p_.size();
    auto const count = [](auto... sizes) { return static_cast<std::size_t>((sizes * ...)); };
    q_sums_.assign(count(s.b, s.hq, s.n, s.d), F(0));
    k_sums_.assign(count(s.b, s.hk, s.m, s.d), F(0)), v_sums_.assign(count(s.b, s.hk, s.m, s.dv), F(0));
    auto const shared = [&](auto const& a, auto const& b, std::vector<F>& sums) {
      auto const& n = a.present ? a.shape : b.shape;
      sums.assign(count(n[0], n[1], n[2], n[3]), F(0));
    };
    shared(views_.dbias, views_.dbias_f32, bias_sums_), shared(views_.dsink, views_.dsink_f32, sink_sums_);
  }

  void write() {
    problem::sizes const& s = p_.size();
    auto const copy = [](F const* from, F* to, std::int64_t count, F factor = 1) {
      for (std::int64_t t = 0; t < count; ++t) to[t] = P::stored(factor * from[t]);
    };
    F const factor = P::scales_at_end ? P::scale({p_, views_, 0, 0, 0}) : F(1);
    for (std::int64_t b = 0; b < s.b; ++b) {
      for (std::int64_t h = 0; views_.dq.present && h < s.hq; ++h)
        for (std::int64_t i = 0; i < p_.queries(b); ++i) copy(of_q(b, h, i), views_.dq.row(b, h, i), s.d, factor);
      for (std::int64_t g = 0; g < s.hk; ++g)
        for (std::int64_t j = 0; j < p_.keys(b); ++j) {
          if (views_.dk.present && P::writes_dk(views_)) copy(of_k(b, g, j), views_.dk.row(b, g, j), s.d, factor);
          if (views_.dv.present) copy(of_v(b, g, j), views_.dv.row(b, g, j), s.dv);
        }
    }
    auto const write_shared = [](auto const& view, std::vector<F> const& sums) {
      if (!view.present) return;
      auto const& [b, h, i, columns] = view.shape;
      for (std::int64_t row = 0; row < b * h * i; ++row)
        for (std::int64_t j = 0; j < columns; ++j)
          view.row(row / (h * i), row / i % h, row % i)[j] = static_cast<std::remove_reference_t<decltype(*view.data)>>(
              sums[static_cast<std::size_t>(row * columns + j)]);
    };
    write_shared(views_.dbias, bias_sums_), write_shared(views_.dbias_f32, bias_sums_);
    write_sinks(views_.dsink), write_sinks(views_.dsink_f32);
  }
  template <class View>
  void write_sinks(View const& view) {
    for (std::int64_t b = 0; view.present && b < view.shape[0]; ++b)
      for (std::int64_t h = 0; h < view.shape[1]; ++h)
        *view.row(b, h, 0) = static_cast<std::remove_reference_t<decltype(*view.data)>>(
            sink_sums_[static_cast<std::size_t>(b * view.shape[1] + h)]);
  }

  problem::instance<F> const& p_;
  problem::backward_views<F> const& views_;
  std::vector<F> q_sums_, k_sums_, v_sums_, bias_sums_, sink_sums_;
};

/// P as attest_attention_backward for f32 and f64.
template <template <class> class P>
attest_status run_backward(attest_call const* call) {
  return answered(problem::unpack_backward(*call), []<class T>(problem::instance<T> const& p, auto const& unpacked) {
    auto const views = problem::make_backward_views(p, unpacked);
    if (!views || !views.value().o.present || !views.value().lse.present) return ATTEST_UNSUPPORTED;
    backward_kernel<T, P<T>>(p, views.value()).run();
    return ATTEST_OK;
  });
}

/// The attention of a library with a backward pass.
template <class F>
struct attention_beside_backward : honest<F> {};

}  // namespace attest::zoo

/// A specimen whose attention is right and whose backward pass is `name`, in the symbols zoo_NAME and
/// zoo_NAME_backward.
#define ATTEST_BACKWARD(name, kind, seen_in, description)                                                \
  namespace attest::zoo {                                                                                \
  template <class F>                                                                                     \
  struct name;                                                                                           \
  }                                                                                                      \
  extern "C" ATTEST_EXPORT attest_status zoo_##name(attest_call const* call) {                           \
    return attest::zoo::run<attest::zoo::attention_beside_backward>(call);                               \
  }                                                                                                      \
  extern "C" ATTEST_EXPORT attest_status zoo_##name##_backward(attest_call const* call) {                \
    return attest::zoo::run_backward<attest::zoo::name>(call);                                           \
  }                                                                                                      \
  namespace attest::zoo {                                                                                \
  [[maybe_unused]] static bool const registered_##name =                                                 \
      register_specimen({#name, kind, seen_in, description, zoo_##name, "f32", false, backward_family}); \
  }                                                                                                      \
  template <class F>                                                                                     \
  struct attest::zoo::name : honest_backward<F>
