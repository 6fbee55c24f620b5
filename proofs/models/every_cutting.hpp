// Every mask of a form and every cutting of its rows and keys into blocks: the blocked backward against the
// derivative.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proofs/models/attention_form.hpp"
#include "proofs/models/blocked_backward.hpp"
#include "proofs/models/formal_attention.hpp"

namespace attest::proofs {

/// How many masks, cuttings and schedules were tried, and how many of them are not the derivative.
struct backward_tally {
  std::int64_t tried = 0, wrong = 0;
  friend constexpr bool operator==(backward_tally const&, backward_tally const&) noexcept = default;
};

/// 2^(rows−1) cuttings of the rows, 2^(m−1) of the keys, three schedules.
constexpr std::int64_t cuttings(attention_form const& form) noexcept {
  return std::int64_t{3} << (form.rows() - 1 + form.m - 1);
}

constexpr void try_cuttings(attention_form const& form, backward_tally& found) {
  formal_attention const problem(form);
  formal_gradients const wanted = problem.derivatives();
  blocked_backward const backward(problem, problem.tensors());
  for (std::uint64_t queries = 0; queries >> (form.rows() - 1) == 0; ++queries)
    for (std::uint64_t keys = 0; keys >> (form.m - 1) == 0; ++keys)
      for (schedule const how : {schedule::one_pass, schedule::parts, schedule::two_passes}) {
        ++found.tried;
        if (!(backward.run(cutting(form.rows(), queries), cutting(form.m, keys), how) == wanted)) ++found.wrong;
      }
}

/// All masks; or each of `masks`.
constexpr backward_tally try_masks(attention_form form) {
  backward_tally found;
  for (form.mask = 0; form.mask < form.masks(); ++form.mask) try_cuttings(form, found);
  return found;
}
template <std::size_t count>
constexpr backward_tally try_masks(attention_form form, std::uint64_t const (&masks)[count]) {
  backward_tally found;
  for (std::uint64_t const mask : masks) form.mask = mask, try_cuttings(form, found);
  return found;
}

/// Is the blocked backward the derivative, for every mask, cutting and schedule? Or for the masks that are named?
constexpr bool always_the_derivative(attention_form const& form) {
  return try_masks(form) == backward_tally{static_cast<std::int64_t>(form.masks()) * cuttings(form), 0};
}
template <std::size_t count>
constexpr bool always_the_derivative(attention_form const& form, std::uint64_t const (&masks)[count]) {
  return try_masks(form, masks) == backward_tally{static_cast<std::int64_t>(count) * cuttings(form), 0};
}

/// For every mask: if one key's K and V, or one row's Q and dO, are garbage, is every gradient right that does not
/// depend on them: dQ of the rows that do not see the key, or of the other rows; dK and dV of the keys that none of the
/// other rows sees?
constexpr bool garbage_reaches_only_what_sees_it(attention_form form) {
  for (form.mask = 0; form.mask < form.masks(); ++form.mask) {
    formal_attention const problem(form);
    formal_gradients const wanted = problem.derivatives();
    for (std::size_t bad = 0; bad < form.m + form.rows(); ++bad) {
      formal_tensors given = problem.tensors();
      bool const key = bad < form.m;
      std::size_t const at = key ? bad : bad - form.m;
      for (std::size_t t = 0; t < form.d; ++t) (key ? given.k : given.q)[at * form.d + t] = polynomial::garbage();
      for (std::size_t c = 0; c < form.dv; ++c) (key ? given.v : given.dO)[at * form.dv + c] = polynomial::garbage();
      auto const touched = [&](std::size_t r) { return key ? form.visible(r, at) : r == at; };
      // Without cuts all rows and keys are one tile, where garbage could spread furthest.
      auto const found =
          blocked_backward(problem, given).run(cutting(form.rows(), 0), cutting(form.m, 0), schedule::one_pass);
      for (std::size_t r = 0; r < form.rows(); ++r)
        for (std::size_t t = 0; t < form.d; ++t)
          if (!touched(r) && !(found.dQ[r * form.d + t] == wanted.dQ[r * form.d + t])) return false;
      for (std::size_t j = 0; j < form.m; ++j) {
        bool reached = false;
        for (std::size_t r = 0; r < form.rows(); ++r) reached = reached || (touched(r) && form.visible(r, j));
        for (std::size_t t = 0; t < form.d; ++t)
          if (!reached && !(found.dK[j * form.d + t] == wanted.dK[j * form.d + t])) return false;
        for (std::size_t c = 0; c < form.dv; ++c)
          if (!reached && !(found.dV[j * form.dv + c] == wanted.dV[j * form.dv + c])) return false;
      }
    }
  }
  return true;
}

/// For every mask and row: is Δ from O the same as Δ from the weights?
constexpr bool deltas_agree(attention_form form) {
  for (form.mask = 0; form.mask < form.masks(); ++form.mask) {
    formal_attention const problem(form);
    blocked_backward const backward(problem, problem.tensors());
    for (std::size_t r = 0; r < form.rows(); ++r)
      if (!(backward.delta(r) == backward.delta_of_weights(r))) return false;
  }
  return true;
}

/// For every mask and row: is Σ_j dS_rj, the sink's among them, (1 − R_r·D_r)·Δ_r? It is 0, since R_r = 1/D_r.
constexpr bool rows_of_dS_sum_to_0(attention_form form) {
  for (form.mask = 0; form.mask < form.masks(); ++form.mask) {
    formal_attention const problem(form);
    blocked_backward const backward(problem, problem.tensors());
    for (std::size_t r = 0; r < form.rows(); ++r)
      if (!(backward.row_sum(r) == (polynomial(1) - problem.share(r)) * backward.delta(r))) return false;
  }
  return true;
}

}  // namespace attest::proofs
