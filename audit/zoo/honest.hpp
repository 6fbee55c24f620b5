// The steps of a correct attention kernel, as static functions that a specimen may override: an honest design does a
// step differently, a mutant does it wrongly. kernel.hpp calls the steps in order. (The kernels of
// tests/support/known_kernels.hpp are separate on purpose: they compute single rows without the C interface, each with
// a model of its rounding, to test the bound alone.)
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
  using correct = honest;
  static constexpr R infinity = std::numeric_limits<R>::infinity();
  static constexpr R not_a_number = std::numeric_limits<R>::quiet_NaN();

  // --- the plan ---
  static constexpr std::int64_t block = 16;  ///< keys between two updates of the maximum
  static constexpr std::int64_t splits = 1;  ///< parts into which the keys are split; merged at the end
  static constexpr bool backwards = false;   ///< keys from the last to the first
  static constexpr R lazy =
      0;  ///< τ of lazy rescaling: O and l are rescaled only if a score exceeds the maximum in use by more
  static constexpr bool merges_by_lse = false;
  static constexpr bool merges_undivided = false;     ///< by exp(LSE_s − LSE), beside merges_by_lse
  static constexpr bool merges_by_sums = false;       ///< a mistake: O is Σ O_s/Σ l_s of the parts, the LSE is right
  static constexpr bool merges_beside_first = false;  ///< a mistake: by the maximum of the first part, not of all
  static constexpr bool divides_blocks = false;       ///< O is divided by l after every block
  static constexpr bool weighs_by_lse = false;        ///< O is formed in a second pass, of the weights exp(s − LSE)
  static constexpr bool weighs_again = false;         ///< O is formed in a second pass, of the weights exp(s − M)

  /// False: the kernel answers UNSUPPORTED.
  static bool supports(attest_call const&) { return true; }
  static void before(attest_call const&) {}
  static void after(attest_call const&) {}
  /// How many keys the kernel reads: keys 0 … keys(at) − 1.
  static std::int64_t keys(place const& at) { return at.keys(); }
  static std::int64_t key_head(place const& at) { return at.h / (at.query_heads() / at.key_heads()); }

  // --- what a query sees ---
  static bool in_band(place const& at, std::int64_t j) {
    return zoo::in_band(at.i, j, at.call.diagonal, at.call.left, at.call.right);
  }
  static bool attends(place const& at, std::int64_t j) {
    return !at.call.mask || load<std::uint8_t>(*at.call.mask, at.b, at.h, at.i, j) != 0;
  }
  /// The score of a hidden key, which mask or band excludes; none: the key is skipped.
  template <class Score>
  static std::optional<R> hidden(place const&, Score&&) {
    return std::nullopt;
  }
  /// Is the row of V of a hidden key read and multiplied by its weight?
  static constexpr bool reads_hidden_values = false;
  static bool stops_at_empty_block() { return false; }
  /// Is a block left out, its V unread, whose largest score is this, beside the maximum M so far?
  static bool leaves_out([[maybe_unused]] R largest, [[maybe_unused]] R M) { return false; }

  // --- scores: s = cap(σ·(q·k)) + bias ---
  static R query(place const& at, std::int64_t t) { return read<F, R>(*at.call.q, at.b, at.h, at.i, t); }
  static R key(place const& at, std::int64_t j, std::int64_t t) { return read<F, R>(*at.call.k, at.b, at.hk, j, t); }
  static R value(place const& at, std::int64_t j, std::int64_t c) { return read<F, R>(*at.call.v, at.b, at.hk, j, c); }
  /// Rows of K and V, if key() and value() are not overridden.
  static void key_row(place const& at, std::int64_t j, std::span<R> to) { read_row<F>(*at.call.k, at.b, at.hk, j, to); }
  static void value_row(place const& at, std::int64_t j, std::span<R> to) {
    read_row<F>(*at.call.v, at.b, at.hk, j, to);
  }
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
  /// The score as it is stored until its weight is computed.
  static R kept(R s) { return s; }

  // --- weights: p = e^(s − M) ---
  static R first_maximum() { return -infinity; }
  static R larger(R a, R b) { return b > a ? b : a; }
  /// Does this score make the whole row NaN?
  static bool breaks(R s) { return std::isnan(s) || s == infinity; }
  /// e^x for x ≤ 0. `tail` is the number of keys from this one to the last, itself included.
  static R exp(R x, [[maybe_unused]] std::int64_t tail) { return static_cast<R>(std::exp(static_cast<double>(x))); }
  /// e^(s − M), also where both are −∞.
  static R weight(R s, R M, std::int64_t tail, R (*exp)(R, std::int64_t)) {
    return s == -infinity ? R(0) : exp(s - M, tail);
  }
  /// The factor of l and O when the maximum changes from `old` to M.
  static R rescale(R old, R M, R (*exp)(R, std::int64_t)) { return old == -infinity ? R(0) : exp(old - M, 0); }
  /// That factor as it meets l, and as it meets O.
  static R rescale_of_sum(R r) { return r; }
  static R rescale_of_output(R r) { return r; }
  /// A mistake: is this column of O not rescaled?
  static bool keeps_column(place const&, [[maybe_unused]] std::int64_t c) { return false; }
  /// The weight as it is multiplied by V, and as it is added to l.
  static R for_values(R p) { return p; }
  static R for_sum(R p) { return p; }
  /// Is this weight replaced by 0?
  static bool drops(R) { return false; }

  // --- sums ---
  static R sum(std::span<R const> terms) {
    R total = 0;
    for (R const x : terms) total = total + x;
    return total;
  }
  /// The running O or l after another block.
  static R kept_sum(R x) { return x; }
  /// O of a finished part, before it is merged by LSE.
  static R state(R o) { return o; }
  /// The factor of a part when parts are merged: e^(M_part − M).
  static R part_weight(R M_part, R M, R (*exp)(R, std::int64_t)) { return rescale(M_part, M, exp); }

  // --- results ---
  static R quotient(R O, R l) { return O / l; }
  static R denominator(R l) { return l; }
  static R log_sum_exp(R M, R l) { return M + static_cast<R>(std::log(static_cast<double>(l))); }
  static bool is_empty(R M) { return M == -infinity; }
  static R empty_output([[maybe_unused]] place const& at, [[maybe_unused]] std::int64_t c) { return 0; }
  static R empty_lse() { return -infinity; }
  static bool writes(place const&) { return true; }
  /// Conversions to the types of the output tensors.
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
