// The steps of a right backward pass, which specimens replace: static functions of a policy.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "problem/backward_call.hpp"
#include "problem/instance.hpp"

namespace attest::zoo {

/// A row of a backward call.
template <class F>
struct backward_place {
  problem::instance<F> const& p;
  problem::backward_views<F> const& views;
  std::int64_t b, h, i;

  problem::sizes const& size() const { return p.size(); }
  std::int64_t kv_head() const { return h / (size().hq / size().hk); }
};

template <class F>
struct honest_backward {
  using place = backward_place<F>;
  static constexpr F infinity = std::numeric_limits<F>::infinity();

  // --- what a query sees ---
  static bool in_band(place const& at, std::int64_t j) {
    problem::band const band = at.p.band(at.b);
    std::int64_t const distance = j - (at.i + band.diagonal);
    return (band.left < 0 || distance >= -band.left) && (band.right < 0 || distance <= band.right);
  }
  static bool attends(place const& at, std::int64_t j) {
    auto const& blocks = at.p.block_mask();
    auto const& of = at.p.parameters();
    return (!at.p.mask().present || at.p.mask()(at.b, at.h, at.i, j) != 0) &&
           (!blocks.present || blocks(at.b, at.h, at.i / of.block_q, j / of.block_k) != 0);
  }
  /// Does the loop of dQ, or of dK and dV, take this pair?
  static bool in_dq(place const&, std::int64_t) { return true; }
  static bool in_dkv(place const&, std::int64_t) { return true; }
  /// Does dK, or dV, take it beside that?
  static bool in_dk(place const&, std::int64_t) { return true; }
  static bool in_dv(place const&, std::int64_t) { return true; }

  // --- weights ---
  static F scale(place const& at) {
    return at.p.scale() ? static_cast<F>(*at.p.scale()) : F(1) / std::sqrt(static_cast<F>(at.size().d));
  }
  static F added_bias(F bias) { return bias; }
  static std::int64_t key_of_bias(std::int64_t j) { return j; }
  static F exp(F x) { return static_cast<F>(std::exp(static_cast<double>(x))); }
  static F lse(place const& at) { return static_cast<F>(at.views.lse(at.b, at.h, at.i, 0)); }
  static F weight_in_dS(F p) { return p; }
  static F weight_in_dV(F p) { return p; }
  static constexpr bool dv_by_maximum = false;       ///< dV takes e^(s − m), m the largest score
  static constexpr bool sums_weights = false;        ///< the weights are e^(s − m)/l, and no LSE is read for them
  static F keeps(place const& at, std::int64_t j) {  ///< 0, or 1/(1 − p)
    if (!at.p.keep().present) return 1;
    return at.p.keep()(at.b, at.h, at.i, j) != 0 ? F(1) / (F(1) - static_cast<F>(at.p.parameters().dropout)) : F(0);
  }

  static F kept_in_dV(place const&, F kept) { return kept; }

  // --- dS ---
  static F const* d_out(place const& at) { return at.p.d_out().row(at.b, at.h, at.i); }
  static F product(F const* d_o, F const* v, std::int64_t dv) {
    F sum = 0;
    for (std::int64_t c = 0; c < dv; ++c) sum += d_o[c] * v[c];
    return sum;
  }
  static place delta_place(place const& at) { return at; }  ///< the row whose Δ is used
  static F const* delta_output(place const& at) { return at.views.o.row(at.b, at.h, at.i); }
  static constexpr bool delta_is_short = false;  ///< Δ leaves out the last column
  static F o_in_delta(F o) { return o; }
  static F delta(F sum) { return sum; }
  static F slope(F t, F) { return F(1) - t * t; }  ///< of the softcap, from t = tanh(x/c) and x/c
  static F slope_in_dK(F slope) { return slope; }
  static constexpr bool delta_of_weights = false;  ///< Δ is Σ P·dP
  static F dS(F weight, F dP, F delta) { return weight * (dP - delta); }
  static F stored_dS(F dS) { return dS; }
  static bool skips(place const&) { return false; }  ///< the row gives nothing
  static constexpr bool leaks_empty_rows = false;    ///< a row without keys has the weights 1/m

  // --- sums ---
  static constexpr bool rows_fall = false;      ///< from the last row to the first
  static constexpr bool scales_at_end = false;  ///< dQ and dK are multiplied by the scale when they are written
  static F scale_of_dQ(F sigma) { return sigma; }
  static F scale_of_dK(F sigma) { return sigma; }
  static std::int64_t key_of_dQ(place const&, std::int64_t j) { return j; }
  static bool adds_head(place const&) { return true; }                       ///< to dK and dV
  static std::int64_t head_of_dkv(place const& at) { return at.kv_head(); }  ///< the head whose dK and dV it adds to
  static bool adds_bias(place const&) { return true; }                       ///< to dBias
  /// The sum in dBias, of a bias with this many heads, through this number.
  static F bias_factor(place const&, std::int64_t) { return 1; }
  static F sink_sign() { return -1; }
  static F sink_weight(place const& at, F t) { return exp(t - lse(at)); }
  static F delta_in_sink(F delta) { return delta; }
  static F stored(F x) { return x; }  ///< a gradient as it is written
  static bool writes_dk(problem::backward_views<F> const&) { return true; }
};

}  // namespace attest::zoo
