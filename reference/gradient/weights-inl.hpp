// docs/bound_backward.md, Lemmas 1 and 2: the weights of a row, formed again from its LSE or saved by the forward pass.
#pragma once

#include "reference/gradient/row.hpp"

namespace attest::reference::gradient_detail {

constexpr double or_infinite(double x) { return x == x ? x : infinity; }

/// What underflows in the evaluation itself.
inline constexpr double least = 0x1p-1070;

/// 1 + 2⁻⁴⁰: more than the rounding of any sum of 2¹⁰ terms, or of 2⁸ operations.
inline double slack_of(gradient_row const& row) { return 1 + (16 * row.n() + 1024) * 0x1p-53; }

/// π_j and L of the mode. Local: π_j := e^{s_j − L̂} = π_j·e^{L − L̂}, L := L̂. exp_upper is within 2⁻⁴⁰ relative.
struct weights_of_mode {
  enclosure lse{};
  double shift = 0;  ///< ≥ L − L̂, ≥ |L − L̂| below
  double moved = 0;
};

inline weights_of_mode take_mode(gradient_terms const& terms, gradient_row& row) {
  weights_of_mode found{row.lse, 0, 0};
  for (auto& key : row.keys) {
    key.weight = between(key.numbers.weight_lower, key.numbers.weight_upper);
    if (key.share.off < key.weight.off) key.weight = key.share;
  }
  if (terms.mode != gradient_mode::local) return found;
  double const high = rounded_up(rounded_up(row.lse.mid - row.recorded_lse.mid) + row.lse.off + row.recorded_lse.off);
  double const low = -rounded_up(rounded_up(row.recorded_lse.mid - row.lse.mid) + row.lse.off + row.recorded_lse.off);
  double const above = exp_upper(high), below = larger(0, exp_upper(low) * (1 - 0x1p-39) - 0x1p-1073);
  for (auto& key : row.keys)
    key.weight = between(rounded_down(key.numbers.weight_lower * below), rounded_up(key.numbers.weight_upper * above));
  found.lse = row.recorded_lse;
  found.shift = high, found.moved = larger(absolute(high), absolute(low));
  return found;
}

/// Lemma 1: λ.
inline double error_of_lse(gradient_terms const& terms, gradient_row const& row, weights_of_mode const& at) {
  auto const& model = terms.backward;
  double const size = at.lse.size();
  double handed = 0;  // λ_f
  if (terms.mode == gradient_mode::own) handed = row.lse_bound;
  if (terms.mode == gradient_mode::recorded)
    handed =
        rounded_up(absolute(row.recorded_lse.mid - row.lse.mid) + row.recorded_lse.off + row.lse.off) * (1 + 0x1p-50);
  double const first = model.u_lse * size + (1 + model.u_lse) * handed;
  return (first + product(terms.gamma_l, size + first) + 2 * (1 + model.c_l) * terms.forward.format.omega) *
         (1 + 0x1p-48);
}

/// Lemma 1: z_j, T_j, ζ_j, A_j of weights exp(ŝ_j − L̂).
inline void weights_from_lse(gradient_terms const& terms, weights_of_mode const& at, gradient_row& row) {
  auto const& model = terms.backward;
  auto const& format = terms.forward.format;
  row.lambda = error_of_lse(terms, row, at);
  row.growth = exp_upper(row.lambda);
  double const constant = log_loss_upper(terms.eps) + log_loss_upper(model.u_pd) + (model.k_x + 1) * format.omega;
  for (auto& key : row.keys) {
    // |s_j − L| = −x_j + ln Z
    double const apart =
        rounded_up(row.scalars.lse_above_max - key.numbers.x_lower + at.moved) + key.E + row.lambda;  // ρ_j
    double const z = (key.E + terms.gamma_x * apart + constant) * (1 + 0x1p-48);
    double const reach = (apart * (1 + terms.gamma_x) + (model.k_x + 1) * format.omega) * (1 + 0x1p-50);  // ρ⁺_j
    double const pi = key.weight.size();
    auto const grown = [&](double by) {  // ≥ π_j(e^by − 1)
      if (by < 1) return pi * exp_less_one_upper(by) + least;
      return exp_upper(rounded_up(rounded_up(key.numbers.x_upper + at.shift) + by)) / row.scalars.normaliser_lower *
                 (1 + 0x1p-50) +
             least;
    };
    double piT = grown(z), A = grown((row.lambda + z) * (1 + 0x1p-50));
    if (reach > smaller(model.x0, format.h0_limit / 64)) piT = larger(piT, pi), A = larger(A, pi);
    key.zeta = (reach > format.far ? 2 * format.omega_w * (1 + model.u_pd) : 0) + model.omega_pd;
    key.piT = piT, key.A = A + key.zeta;
  }
}

/// Lemma 2: weights that the forward pass saved, within C_j of π_j, rounded once more. λ = 0, and all of it is ζ_j.
/// A sink's weight that is not saved is taken as π.
inline void weights_from_saved(gradient_terms const& terms, gradient_row& row) {
  auto const& model = terms.backward;
  for (auto& key : row.keys) {
    double const saved = key.j == sink_index && !(key.saved_error < infinity) ? 0 : key.saved_error;
    double const error = or_infinite(saved * (1 + model.u_pd) + model.u_pd * key.weight.size() + model.omega_pd);
    if (terms.from_lse) key.A = larger(key.A, error), key.piT = larger(key.piT, error);
    else key.A = key.piT = error, key.zeta = 0;
  }
  if (!terms.from_lse) row.lambda = 0, row.growth = 1;
}

/// Lemma 2: r of weights whose p_j were formed once.
inline double row_sum_of_saved(gradient_terms const& terms, gradient_row const& row) {
  auto const& model = terms.backward;
  return (row.row_sum * (1 + model.u_pd) + model.u_pd + row.n() * model.omega_pd) * slack_of(row);
}

}  // namespace attest::reference::gradient_detail
