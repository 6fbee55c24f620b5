// docs/bound_backward.md, sections 3 and 5 for one query row: its keys' gradient terms with radii, and Lemmas 1 to 8.
//
// The numbers of the row come from either tier (row_reader.hpp). All quantities are upper bounds unless their name says
// otherwise, sums and products of non-negative doubles; one factor at the end covers the rounding of the evaluation.
// An exact value x is kept as a midpoint and a radius: x, x_off.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/bound/bound.hpp"
#include "reference/gradient/kinds.hpp"
#include "reference/gradient/terms.hpp"

namespace attest::reference {

/// A number known up to a radius.
struct enclosure {
  double mid = 0, off = 0;
  constexpr double size() const noexcept { return absolute(mid) + off; }
};

/// The midpoint and radius of [low, high], outward.
constexpr enclosure between(double low, double high) noexcept {
  double const mid = low + (high - low) / 2;
  return {mid, rounded_up(larger(high - mid, mid - low))};
}

/// One key of the row that has a weight; a sink is the last.
struct gradient_key {
  std::int64_t j = 0;  ///< sink_index: the sink
  bool dropped = false;
  scalar::key_numbers<double> numbers{};
  enclosure slope{1, 0};               ///< g′_j
  enclosure tanh{};                    ///< t_j, beside a softcap
  double saved_error = infinity;       ///< C_j: the bound of a returned weight; own mode
  enclosure share{0, infinity};        ///< π_j sharper than numbers says, from double words
  enclosure weight{}, product{}, y{};  ///< π_j, W_j, W_j − Δ
  double product_size = 0;             ///< a_j = Σ_c|dO_c·v_jc| (times κ); of a dropped key as if it were kept
  double value_norm = 0;               ///< ‖v_j‖₁
  double E = 0, product_error = 0;     ///< E_j; E^x_j, before the softcap
  double A = 0, piT = 0, zeta = 0;     ///< Lemmas 1, 2
  double P = 0;                        ///< P⁺_j
  double N0 = 0, N = 0, kappa = 0;     ///< Lemmas 3, 6, 7
  double N_beside_N0 = 0;              ///< N_j − N⁰_j
  double dX_beside_delta = 0;          ///< the radius of dX_j without π_jg′_j·(the radius of Δ), which all keys share
  enclosure dS{}, dX{};                ///< dX_j without σ
  double nu = 0, nu_x = 0, error = 0, error_x = 0;  ///< Lemma 8: ν_j, ν^X_j, e^S_j, e^X_j
};

/// One row: what a tier knows of it, then what the lemmas make of it.
struct gradient_row {
  std::int64_t b = 0, h = 0, i = 0;
  gradient_kinds kinds{};
  std::vector<gradient_key> keys;  ///< in index order, the sink last
  std::vector<std::int64_t> without_weight;
  bool has_sink = false;

  // From the tier.
  row_scalars scalars{};
  enclosure lse{};
  bool in_range = false;    ///< H0 of scores
  bool by_theorem = false;  ///< own mode: the forward bound judges the row, O and LSE
  double lse_bound = infinity;
  double row_sum = infinity;           ///< r₁: saved weights whose p_j were formed once sum to 1 within it
  std::vector<enclosure> o;            ///< o_c
  std::vector<double> o_bound;         ///< B_c, own mode
  double dO_norm = 0;                  ///< ‖dO‖₁
  std::vector<double> dO, recorded_o;  ///< as doubles, exactly
  enclosure recorded_lse{};

  // Lemmas 1 to 6.
  enclosure delta{};
  double lambda = 0, growth = 1, r = 0, e_delta = 0, delta_rounding = 0;  ///< λ, e^λ, r, e_Δ, ε_w
  bool alone = false;                                                     ///< its only key has W = Δ: dS is exactly 0
  bool judged = false;

  double n() const noexcept { return static_cast<double>(keys.size()); }
};

/// Runs Lemmas 1 to 8 over a row whose part "From the tier" is set, with every product W_j and a_j.
/// Ensures   kinds.row finite: midpoints and radii of every key enclose the exact numbers; where `judged`, the errors
///           bound what a kernel of the models computes
/// Cost      O(n)
void evaluate(gradient_terms const& terms, gradient_row& row);

}  // namespace attest::reference
