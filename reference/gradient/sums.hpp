// docs/bound_backward.md, Lemmas 9 to 13: the bounds of sums over rows and keys.
#pragma once

#include "reference/gradient/row.hpp"

namespace attest::reference {

/// The places of a sum: of dK and dV the rows of each query head that reads the key's head, of dQ the keys.
struct sum_places {
  std::int64_t heads = 1, each = 0;

  /// Groups of at most `size` places, none across heads.
  constexpr double groups_of(std::int64_t size) const noexcept {
    return static_cast<double>(heads * ((each + size - 1) / size));
  }
};

/// Additions on the path of one of `count` terms among `all` places.
constexpr double height_of_sum(problem::gradient_model const& model, double count, sum_places all) noexcept {
  double const chain = larger(0, count - 1);
  if (model.height != problem::sum_height::block_local) return chain;
  return smaller(chain, static_cast<double>(model.block) + all.groups_of(model.block) - 2);
}

/// k_C, k_R: how often a partial sum of `all` places is stored before the last time.
constexpr double stored_parts(sum_places all, std::int64_t part) noexcept {
  return part <= 0 ? 0 : larger(0, all.groups_of(part) - 1);
}

/// What the number of terms makes of one sum: ψ and its absolute part.
struct path_terms {
  double psi = 0;    ///< ψ
  double parts = 0;  ///< k_C or k_R
};

/// ψ_V (Lemma 9): u_p ⊕ u_v ⊕ γ_{h+1+k_dv}(u_acc) ⊕ γ_{k_R}(u_grad) ⊕ Δ_d.
constexpr path_terms path_of_dV(gradient_terms const& terms, double count, sum_places all) noexcept {
  auto const& model = terms.backward;
  double const parts = stored_parts(all, model.part_rows);
  double const h = height_of_sum(model, count, all) + 1 + model.k_dv;
  double const factors = compounded_factors(terms.forward.u_p, terms.forward.u_v);
  double const sums = compounded(factors, gamma_below_quarter(h, terms.u_acc));
  return {compounded(compounded(sums, gamma(parts, model.u_grad)), terms.drop), parts};
}

/// ψ_Q, ψ_K (Lemmas 10, 11): θ ⊕ γ_{h+1+k_scale}(u_acc) ⊕ γ_{k}(u_grad).
constexpr path_terms path_of_dX(gradient_terms const& terms, double count, sum_places all, std::int64_t part) noexcept {
  auto const& model = terms.backward;
  double const parts = stored_parts(all, part);
  double const h = height_of_sum(model, count, all) + 1 + model.k_scale;
  return {compounded(compounded(terms.theta, gamma_below_quarter(h, terms.u_acc)), gamma(parts, model.u_grad)), parts};
}

/// q_j(g′, ψ) with A and P⁺ given (Lemma 8).
constexpr double growth_of_weight(gradient_key const& key, double A, double P, double psi) noexcept {
  double const weight = key.weight.size() * smaller(1, key.slope.size());
  return (A * smaller(1, key.slope.size()) + product(P, key.kappa)) * (1 + psi) + product(psi, weight);
}

/// f_j (Lemma 10): q(|y| + e_Δ) + (πg′ + q)N, with A and P⁺ given.
constexpr double error_of_term(gradient_row const& row, gradient_key const& key, double A, double P,
                               double psi) noexcept {
  double const q = growth_of_weight(key, A, P, psi), weight = key.weight.size() * smaller(1, key.slope.size());
  return product(q, key.y.size() + row.e_delta) + product(weight + q, key.N);
}

/// A result x with bound b, stored in the gradient's format (Lemma 13). `largest` bounds the partial sums before that,
/// `part` says that these are stored too.
constexpr double stored_bound(gradient_terms const& terms, double x, double b, double largest, bool parts) noexcept {
  auto const& model = terms.backward;
  double const bound = b * (1 + model.u_grad) + model.u_grad * x + (b > 0 ? model.omega_grad : 0);
  bool const judged = x + bound < terms.stored && largest < (parts ? terms.stored : terms.limit);
  return judged ? bound : infinity;
}

}  // namespace attest::reference
