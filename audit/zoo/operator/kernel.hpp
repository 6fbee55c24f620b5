// A plain kernel of version 2 of the C interface, whose steps specimens replace. It takes one row at a time with a
// running maximum, in one part of the keys or in several that are merged. Its steps are static functions of a policy P;
// honest_operator has the right ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "audit/zoo/define.hpp"
#include "audit/zoo/unpacked.hpp"
#include "problem/dlpack.hpp"

namespace attest::zoo {

/// A query of a call.
template <class F>
struct operator_place {
  problem::instance<F> const& p;
  std::int64_t b, h, i;
  std::int32_t threads = 0;  ///< of the call; 0: the kernel's choice

  problem::sizes const& size() const { return p.size(); }
  std::int64_t group() const { return size().hq / size().hk; }
  bool paged() const { return p.k().map.table != nullptr; }
  problem::row_map const& pages() const { return p.k().map; }
};

/// Keys first to last − 1 of an entry.
struct key_range {
  std::int64_t first, last;
};

/// Attention of one row over some keys.
template <class F>
struct operator_part {
  F M = -std::numeric_limits<F>::infinity(), l = 0;
  std::vector<F> O{};
  bool nan = false;
};

template <class F>
struct honest_operator {
  using real = F;
  using place = operator_place<F>;
  static constexpr F infinity = std::numeric_limits<F>::infinity();

  // --- the plan ---
  static constexpr std::int64_t splits = 1;  ///< parts of the keys, merged at the end
  static constexpr bool sink_first =
      false;  ///< the sink is in the running maximum from the start; else it joins at the end
  static constexpr enum { on_weights, on_values, on_output } drops_on = on_weights;  ///< place of the dropout factor

  // --- the parts ---
  template <class P>
  static std::int64_t parts(place const&) {
    return P::splits;
  }
  /// The keys of part s of `of`; m is the number of keys of the entry.
  static key_range part(place const&, std::int64_t s, std::int64_t of, std::int64_t m) {
    return {m * s / of, m * (s + 1) / of};
  }
  /// Called on a part before it is merged.
  static void finish(place const&, key_range const&, operator_part<F>&) {}
  /// The weight of a part with the maximum `of` beside the maximum M of both.
  static F part_weight(F of, F M) { return static_cast<F>(std::exp(static_cast<double>(of - M))); }
  static constexpr bool merges_nothing = false;  ///< two parts that saw nothing are merged, too: exp(−∞ − −∞)
  /// The query whose LSE is written.
  static place lse_place(place const& at) { return at; }

  // --- the entry ---
  static std::int64_t keys(place const& at) { return at.p.keys(at.b); }
  static std::int64_t diagonal(place const& at) { return at.p.band(at.b).diagonal; }
  static bool answers(place const&) { return true; }

  // --- what a query sees ---
  static bool in_band(place const& at, std::int64_t j) {
    std::int64_t const distance = j - (at.i + diagonal(at)), left = at.p.band().left, right = at.p.band().right;
    return (left < 0 || distance >= -left) && (right < 0 || distance <= right);
  }
  static bool attends(place const& at, std::int64_t j) {
    return !at.p.mask().present || at.p.mask()(at.b, at.h, at.i, j) != 0;
  }
  static bool is_set(place const& at, std::int64_t j) {
    auto const& blocks = at.p.block_mask();
    auto const& size = at.p.parameters();
    return !blocks.present || blocks(at.b, at.h, at.i / size.block_q, j / size.block_k) != 0;
  }
  template <class P>
  static bool sees(place const& at, std::int64_t j) {
    return P::in_band(at, j) && P::attends(at, j) && P::is_set(at, j);
  }

  // --- rows of K and V ---
  static F const* row(place const& at, problem::view<F const> const& of, std::int64_t j) {
    return of.row(at.b, at.h / at.group(), j);
  }

  // --- scores ---
  static F scale(place const& at) {
    return at.p.scale() ? static_cast<F>(*at.p.scale()) : F(1) / std::sqrt(static_cast<F>(at.size().d));
  }
  static F capped(place const& at, F s) {
    auto const c = static_cast<F>(at.p.softcap());
    return c == 0 ? s : c * static_cast<F>(std::tanh(static_cast<double>(s / c)));
  }
  static F bias(place const& at, std::int64_t j) {
    if (at.p.bias().present) return at.p.bias()(at.b, at.h, at.i, j);
    if (at.p.bias_f32().present) return static_cast<F>(at.p.bias_f32()(at.b, at.h, at.i, j));
    return 0;
  }

  // --- the sink ---
  static std::int64_t sink_head(place const& at) { return at.h; }
  /// The sink; −∞ if there is none.
  template <class P>
  static F sink(place const& at) {
    std::int64_t const h = P::sink_head(at);
    if (at.p.sink().present) return at.p.sink()(at.b, h, 0, 0);
    if (at.p.sink_f32().present) return static_cast<F>(at.p.sink_f32()(at.b, h, 0, 0));
    return -infinity;
  }
  static F sink_score(place const&, F t) { return t; }
  static constexpr int sink_counts = 1;  ///< how often it is added
  /// The sink's share of l, like weights relative to M.
  static F sink_weight(F t, F M) { return static_cast<F>(std::exp(static_cast<double>(t - M))); }

  static constexpr bool sink_behind = false;  ///< the sink multiplies the answer of the keys alone
  /// The factor of that answer, from the LSE of the keys; `whole` is the LSE with the sink.
  static F sink_factor(F t, F lse, F /*whole*/) {
    return F(1) / (F(1) + static_cast<F>(std::exp(static_cast<double>(t - lse))));
  }

  // --- dropout ---
  static bool keeps(place const& at, std::int64_t j) {
    return !at.p.keep().present || at.p.keep()(at.b, at.h, at.i, j) != 0;
  }
  static F factor(place const& at) {
    return at.p.keep().present ? F(1) / (F(1) - static_cast<F>(at.p.parameters().dropout)) : F(1);
  }
  static constexpr bool sums_dropped = true;  ///< l has the weights of dropped keys, too

  // --- results ---
  static F log_sum_exp(place const&, F M, F l, F, F) { return M + static_cast<F>(std::log(static_cast<double>(l))); }
  static F empty_output(place const&) { return 0; }
  static F empty_lse(place const&) { return -infinity; }
};

template <class F, class P>
class operator_kernel {
 public:
  using place = operator_place<F>;
  using part = operator_part<F>;
  static constexpr F infinity = std::numeric_limits<F>::infinity();

  void run(place const& at, problem::outputs<F> const& to) {
    std::int64_t const m = P::keys(at), dv = at.size().dv;
    F const t = P::sink_score(at, P::template sink<P>(at));
    std::vector<part> parts;
    for (std::int64_t s = 0, of = P::template parts<P>(at); s < of; ++s) {
      key_range const keys = P::part(at, s, of, m);
      P::finish(at, keys, parts.emplace_back(over_keys(at, keys, P::sink_first && s == 0 ? t : -infinity)));
    }
    part whole = std::move(parts.front());
    for (std::size_t s = 1; s < parts.size(); ++s) merge(whole, parts[s]);
    F const keys_M = whole.M, keys_l = whole.l;
    bool const sees_none = !whole.nan && (P::sink_first ? sees_no_key(at, m) : keys_M == -infinity);
    F sink_factor = 1, lse_with_sink = 0;
    if (P::sink_behind && !sees_none) {
      F const lse = whole.M + static_cast<F>(std::log(static_cast<double>(whole.l))), top = std::max(lse, t);
      F const other = static_cast<F>(std::exp(static_cast<double>(std::min(lse, t) - top)));
      lse_with_sink = top + static_cast<F>(std::log(static_cast<double>(F(1) + other)));
      sink_factor = P::sink_factor(t, lse, lse_with_sink);
    } else if (!P::sink_first && !sees_none) {
      add_sink(whole, t);
    }
    if (std::isnan(t) || t == infinity) whole.nan = whole.nan || !sees_none;
    F const factor = P::drops_on == P::on_output ? P::factor(at) : F(1);
    for (std::int64_t c = 0; c < dv; ++c)
      to.o(at.b, at.h, at.i, c) = whole.nan   ? std::numeric_limits<F>::quiet_NaN()
                                  : sees_none ? P::empty_output(at)
                                              : whole.O[static_cast<std::size_t>(c)] / whole.l * factor * sink_factor;
    if (place const to_lse = P::lse_place(at); to.lse.present)
      to.lse(to_lse.b, to_lse.h, to_lse.i, 0) = whole.nan   ? std::numeric_limits<F>::quiet_NaN()
                                                : sees_none ? (t != -infinity ? empty_lse(at, t) : P::empty_lse(at))
                                                : P::sink_behind ? lse_with_sink
                                                                 : P::log_sum_exp(at, whole.M, whole.l, keys_M, keys_l);
    if (!to.weights.present) return;
    for (std::int64_t j = 0; j < at.size().m; ++j) {
      bool const seen = j < m && P::template sees<P>(at, j);
      F const weight = !seen || sees_none ? F(0)
                                          : static_cast<F>(std::exp(static_cast<double>(score(at, j) - whole.M))) /
                                                whole.l * sink_factor;
      to.weights(at.b, at.h, at.i, j) = whole.nan ? std::numeric_limits<F>::quiet_NaN() : weight;
    }
  }

 private:
  static bool sees_no_key(place const& at, std::int64_t m) {
    for (std::int64_t j = 0; j < m; ++j)
      if (P::template sees<P>(at, j) && score(at, j) != -infinity) return false;
    return true;
  }
  static F empty_lse(place const& at, F t) { return P::empty_lse(at) == -infinity ? t : P::empty_lse(at); }

  static F score(place const& at, std::int64_t j) {
    F const* const q = at.p.q().row(at.b, at.h, at.i);
    F const* const k = P::row(at, at.p.k(), j);
    F dot = 0;
    for (std::int64_t c = 0; c < at.size().d; ++c) dot += q[c] * k[c];
    return P::capped(at, dot * P::scale(at)) + P::bias(at, j);
  }

  static void add_sink(part& to, F t) {
    for (int n = 0; n < P::sink_counts && t != -infinity; ++n) {
      F const M = t > to.M ? t : to.M;
      F const r = static_cast<F>(std::exp(static_cast<double>(to.M - M)));
      to.l = to.l * r + P::sink_weight(t, M);
      for (F& o : to.O) o *= r;
      to.M = M;
    }
  }

  part over_keys(place const& at, key_range const& keys, F start) {
    part x;
    x.O.assign(static_cast<std::size_t>(at.size().dv), F(0));
    if (start != -infinity) x.M = start, x.l = 1;
    for (std::int64_t j = keys.first; j < keys.last; ++j) {
      if (!P::template sees<P>(at, j)) continue;
      F const s = score(at, j);
      x.nan = x.nan || std::isnan(s) || s == infinity;
      if (s > x.M) {
        F const r = x.M == -infinity ? F(0) : static_cast<F>(std::exp(static_cast<double>(x.M - s)));
        x.l *= r, x.M = s;
        for (F& o : x.O) o *= r;
      }
      F const p = s == -infinity ? F(0) : static_cast<F>(std::exp(static_cast<double>(s - x.M)));
      bool const kept = P::keeps(at, j);
      if (kept || P::sums_dropped) x.l += p;
      if (!kept) continue;
      F const* const v = P::row(at, at.p.v(), j);
      F const factor = P::drops_on == P::on_output ? F(1) : P::factor(at);
      for (std::size_t c = 0; c < x.O.size(); ++c)
        x.O[c] += P::drops_on == P::on_values ? p * (v[c] * factor) : (p * factor) * v[c];
    }
    return x;
  }

  static void merge(part& to, part const& other) {
    to.nan = to.nan || other.nan;
    F const M = other.M > to.M ? other.M : to.M;
    if (M == -infinity && !P::merges_nothing) return;
    auto const weight = [&](F of) {
      bool const is_0 = of == -infinity && !P::merges_nothing;
      return is_0 ? F(0) : P::part_weight(of, M);
    };
    F const a = weight(to.M), b = weight(other.M);
    to.l = to.l * a + other.l * b;
    for (std::size_t c = 0; c < to.O.size(); ++c) to.O[c] = to.O[c] * a + other.O[c] * b;
    to.M = M;
  }
};

/// P as a kernel of attest/kernel.h for f32 and f64, of both versions.
template <template <class> class P>
attest_status run_operator(attest_call const* call) {
  if (call->abi_version != ATTEST_KERNEL_ABI && call->abi_version != ATTEST_KERNEL_ABI_2) return ATTEST_UNSUPPORTED;
  return answered(problem::unpack(*call), [&]<class T>(problem::instance<T> const& p, auto const& unpacked) {
    auto const outputs = problem::make_outputs(p, unpacked.outputs);
    if (!outputs) return ATTEST_UNSUPPORTED;
    operator_kernel<T, P<T>> kernel;
    for (std::int64_t b = 0; b < p.size().b; ++b)
      for (std::int64_t h = 0; h < p.size().hq; ++h)
        for (std::int64_t i = 0; i < p.queries(b); ++i)
          if (operator_place<T> const at{p, b, h, i, call->threads}; P<T>::answers(at)) kernel.run(at, outputs.value());
    return ATTEST_OK;
  });
}

}  // namespace attest::zoo

#define ATTEST_OPERATOR(name, kind, seen_in, description) \
  ATTEST_SPECIMEN_FOR(run_operator, name, honest_operator<F>, kind, seen_in, description, "f32", false, operator_family)
/// The same under a preset that admits a sink behind the keys.
#define ATTEST_OPERATOR_BEHIND(name, kind, seen_in, description)                                            \
  ATTEST_SPECIMEN_FOR(run_operator, name, honest_operator<F>, kind, seen_in, description, "f32-any", false, \
                      operator_family)
