// What an honest kernel behind kernel.h does at every step. A design overrides how, a mutant gets one step wrong;
// kernel.hpp calls the steps in order. (tests/support/honest_kernels.hpp has others on purpose: rows without an
// interface, each with the model of its own rounding, for the bound alone.)
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "audit/zoo/memory.hpp"

namespace attest::zoo {

/// F is the type of the tensors, R the arithmetic between loading and storing them.
template <class F, class R = F>
struct honest {
  using real = R;
  static constexpr R infinity = std::numeric_limits<R>::infinity();
  static constexpr R not_a_number = std::numeric_limits<R>::quiet_NaN();

  // --- the plan ---
  static constexpr std::int64_t block = 16;  ///< keys between two looks at the maximum
  static constexpr std::int64_t splits = 1;  ///< parts of the keys, merged at the end
  static constexpr bool backwards = false;   ///< keys from the last to the first
  static constexpr R lazy = 0;               ///< the maximum may lag by this much before O and l are rescaled
  static constexpr bool merges_by_lse = false;

  static void before(attest_call const&) {}
  static void after(attest_call const&) {}
  /// Keys that are looked at.
  static std::int64_t keys(place const& at) { return at.keys(); }
  static std::int64_t key_head(place const& at) { return at.h / (at.query_heads() / at.key_heads()); }

  // --- what a query sees ---
  static bool in_band(place const& at, std::int64_t j) {
    return zoo::in_band(at.i, j, at.call.diagonal, at.call.left, at.call.right);
  }
  static bool attends(place const& at, std::int64_t j) {
    return !at.call.mask || load<std::uint8_t>(*at.call.mask, at.b, at.h, at.i, j) != 0;
  }
  /// The score of a key that the query does not see; none: the key takes no part.
  template <class Score>
  static std::optional<R> hidden(place const&, Score&&) {
    return std::nullopt;
  }
  /// Does V of a hidden key with a score take part?
  static constexpr bool reads_hidden_values = false;
  static bool stops_at_empty_block() { return false; }

  // --- scores: s = cap(σ·(q·k)) + bias ---
  static R query(place const& at, std::int64_t t) { return read<F, R>(*at.call.q, at.b, at.h, at.i, t); }
  static R key(place const& at, std::int64_t j, std::int64_t t) { return read<F, R>(*at.call.k, at.b, at.hk, j, t); }
  static R value(place const& at, std::int64_t j, std::int64_t c) { return read<F, R>(*at.call.v, at.b, at.hk, j, c); }
  static R bias(place const& at, std::int64_t j) { return read<F, R>(*at.call.bias, at.b, at.h, at.i, j); }

  /// Σ a_t·b_t
  static R dot(std::span<R const> a, std::span<R const> b) {
    R sum = 0;
    for (std::size_t t = 0; t < a.size(); ++t) sum = sum + a[t] * b[t];
    return sum;
  }
  static R scale(place const& at) {
    return at.explicit_scale() ? static_cast<R>(at.call.scale) : R(1) / std::sqrt(static_cast<R>(at.depth()));
  }
  static R softcap(place const& at, R s) {
    auto const c = static_cast<R>(at.call.softcap);
    return c == 0 ? s : c * static_cast<R>(std::tanh(static_cast<double>(s / c)));
  }
  static R score(place const& at, R product, std::int64_t j) {
    R const s = softcap(at, product * scale(at));
    return at.call.bias ? s + bias(at, j) : s;
  }
  /// A score as it is kept until its weight is formed.
  static R kept(R s) { return s; }

  // --- weights: p = e^(s − M) ---
  static R first_maximum() { return -infinity; }
  static R larger(R a, R b) { return b > a ? b : a; }
  /// Does this score make the whole row NaN?
  static bool breaks(R s) { return std::isnan(s) || s == infinity; }
  /// x ≤ 0. `tail` counts the keys from this one to the last.
  static R exp(R x, [[maybe_unused]] std::int64_t tail) { return static_cast<R>(std::exp(static_cast<double>(x))); }
  /// e^(s − M), also where both are −∞.
  static R weight(R s, R M, std::int64_t tail, R (*exp)(R, std::int64_t)) {
    return s == -infinity ? R(0) : exp(s - M, tail);
  }
  /// What l and O are multiplied with when the maximum moves from `old` to M.
  static R rescale(R old, R M, R (*exp)(R, std::int64_t)) { return old == -infinity ? R(0) : exp(old - M, 0); }
  /// A weight as it meets V, and as l adds it up.
  static R for_values(R p) { return p; }
  static R for_sum(R p) { return p; }
  /// A weight that is dropped altogether.
  static bool drops(R) { return false; }

  // --- sums ---
  static R sum(std::span<R const> terms) {
    R total = 0;
    for (R const x : terms) total = total + x;
    return total;
  }
  /// The running O or l after another block.
  static R kept_sum(R x) { return x; }
  /// How a part is weighed when parts are merged: e^(M_part − M).
  static R part_weight(R M_part, R M, R (*exp)(R, std::int64_t)) { return rescale(M_part, M, exp); }

  // --- results ---
  static R quotient(R O, R l) { return O / l; }
  static R denominator(R l) { return l; }
  static R log_sum_exp(R M, R l) { return M + static_cast<R>(std::log(static_cast<double>(l))); }
  static bool is_empty(R M) { return M == -infinity; }
  static R empty_output([[maybe_unused]] place const& at, [[maybe_unused]] std::int64_t c) { return 0; }
  static R empty_lse() { return -infinity; }
  static bool writes(place const&) { return true; }
  /// As the tensors hold them.
  static F output(R x) { return stored_as<F>(x); }
  static auto lse_output(R x) { return static_cast<std::conditional_t<std::is_floating_point_v<F>, F, float>>(x); }
};

/// F in memory, double in between.
template <class F>
using honest_in_double = honest<F, double>;

/// bf16 or f16 in memory, float in between; O and weights are rounded to F once. LSE is a float.
template <class F>
struct honest_narrow : honest<F, float> {
  static float narrowed(float x) { return static_cast<float>(audit::number(stored_as<F>(x))); }
};

}  // namespace attest::zoo
