// The error bound of docs/bound.md: how far a kernel that rounds as `kernel_model` says may be from the exact value.
// Every tolerance in attest is one of these functions.
//
// Sections, lemmas, corollaries, clauses, E1 to E10 and known gaps G1 to G15 refer to docs/bound.md. Its section 12
// leads from each symbol to its function here. All quantities are upper bounds unless their name says otherwise; they
// are sums and products of non-negative doubles, so that one factor at the end covers the rounding of the evaluation
// (E1).
//
//   facts.hpp         section 1, E2: what is known of one row
//   terms.hpp         section 3 for a row, in stages; H0 and H4 of section 2
//   formulas-inl.hpp  section 3 for a key
//   weight_formulas-inl.hpp  theorem T2 for one result; Corollary W of section 6
//   known_formulas-inl.hpp  section 5, the theorem of known weights for a key and a column
//   column_formulas-inl.hpp  section 3 for a column; section 5, section 9
//   known_weights.hpp  section 5, the theorem of weights that are known
//   row.hpp           section 3 over the keys of a row, in its order; R_j
//   results.hpp       sections 5 to 7: Theorem, Corollaries W, R, L, Clause H
//
// This is the evaluation in plain doubles, constexpr; reference/machine/ evaluates the same text on SIMD lanes
// (section 8).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "problem/kernel_model.hpp"
#include "reference/bound/column_formulas-inl.hpp"
#include "reference/bound/facts.hpp"
#include "reference/bound/known_weights.hpp"
#include "reference/bound/terms.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

enum class judged_by : std::uint8_t {
  theorem,    ///< H0 to H4 hold and A^T, or Λ_T, is the smallest entry (sections 5, 6)
  dominance,  ///< A^H, A^D, η_j or Λ_H is smaller, or they alone say anything (section 7)
  nothing,    ///< outside the hypotheses: counted as not judged (E10)
};

/// A bound and what it came from. size is infinite where by is nothing.
struct error_bound {
  double size = infinity;
  judged_by by = judged_by::nothing;
  double warning = infinity;    ///< W_c of section 9, outputs only: errors above it are suspicious, never refuted
  double unrounded = infinity;  ///< outputs only: B_c before the output rounding (section 5, Output format)
  /// Outputs only, where a sink may multiply O of the keys (T2): how far that O may reach before it is stored, upwards
  /// and downwards; else 0.
  double keys_above = 0, keys_below = 0;
  bool dull = false;  ///< section 8: it admits an answer that is wrong in a plain way
  /// Outputs only: |ô_c − known_center| ≤ known_size, too, where weights are known (section 5); else infinite.
  double known_center = 0, known_size = infinity;
};

/// Section 5, Output format: `got` is an infinity that an honest answer rounds to, or what a factor makes of one, an
/// infinity or NaN. Requires o_c in [lowest, highest]
constexpr bool explained_by_overflow(problem::kernel_model const& model, error_bound const& bound, double lowest,
                                     double highest, double got) noexcept;

/// Corollary L: |LSÊ − LSE|; the second one as if the sink were a term.
constexpr error_bound log_sum_exp_bound(row_terms const& terms) noexcept;
constexpr error_bound log_sum_exp_of_term(row_terms const& terms) noexcept;
/// What T2 asks of the keys alone, whose terms are given: λ and H_c.
constexpr void bound_by_keys_alone(row_terms& terms, row_terms const& keys, sink_numbers const& sink) noexcept;

/// The bounds of one row: section 3 is evaluated once, then each result is asked for.
class row_bound {
 public:
  /// Everything of section 3 that does not depend on V.
  /// Requires  facts.keys not empty
  /// Cost      O(n log n)
  constexpr void evaluate(problem::kernel_model const& model, row_facts const& facts);

  /// E10: H0 and the first part of H4, as far as they do not depend on V. Where they fail nothing is claimed.
  constexpr bool says_anything() const noexcept { return terms_.judges(); }
  /// Beside a cutoff x0 of the model: may the kernel leave the key out, so that it does not read its V? (Any key where
  /// the row is not judged.)
  constexpr bool may_leave_out(std::size_t at) const noexcept {
    return terms_.model.x0 < infinity && (!terms_.judged || keys_[at].flushed);
  }
  /// What the evaluation found, for tests and reports.
  constexpr row_terms const& terms() const noexcept { return terms_; }

  /// Theorem: |ô_c − o_c|. value(j) is v_jc in the order of facts.keys, as an element, 0 of a sink; o encloses o_c.
  /// With dropout, v_jc is 0 of a dropped key, and o encloses (1 − p)·o_c.
  template <unsigned W, class Value>
  constexpr error_bound output(ball<W> const& o, Value&& value) const noexcept;

  /// Corollary W: |â_j − π_j| of the key at position `at`; the kernel may form p_j once or twice.
  constexpr error_bound weight(std::size_t at) const noexcept;

  /// Clause H: how far an output may lie outside [min_j v_jc, max_j v_jc]. With a sink or dropout the interval is the
  /// hull of 0 and all v_jc/(1 − p). largest_value is the largest size of these values.
  constexpr double hull_margin(double largest_value) const noexcept;

  /// Corollary L: |LSÊ − LSE|.
  constexpr error_bound log_sum_exp() const noexcept;

  /// Corollary R: |Σ_j â_j − 1| of the weights that a kernel returns, formed in one pass or two; with a sink |Σ_j â_j −
  /// (1 − π_⊥)| over the keys.
  constexpr error_bound row_sum() const noexcept;

 private:
  /// E_j, z_j, P_j, η_j, share_j, R_j, κ_j; share_j·Γ¹_j; U^L_j; γ_j and its variance (section 9); is the key far, is
  /// it flushed, is it in J.
  struct key {
    double E = 0, z = 0, P = 0, eta = 1, share = 1, R = 0, reference_error = 0, shared = 0, lse_error = 0;
    double group = 1, variance = 0;
    bool far = false, flushed = false, dominant = true;
  };

  // The stages of terms_ (terms.hpp), each with what it finds of the keys.
  constexpr score_terms scores_of(constant_terms const& terms);
  constexpr reference_terms references_of(score_terms const& terms) const;
  constexpr double rescales_of(constant_terms const& terms);
  constexpr weight_terms weights_of(rescale_terms const& terms);
  constexpr row_terms sums_of(weight_terms const& terms);
  constexpr void find_lse_weights();
  constexpr std::size_t real_keys() const noexcept { return keys_.size() - (facts_->has_sink ? 1 : 0); }

  template <class Value>
  constexpr error_bound output_around(double mid, double width, Value&& value) const noexcept;
  /// T2: the column of the keys alone, and how far its O may reach upwards and downwards before it is stored.
  struct column_of_keys {
    scalar::column_alone<double> column{infinity, infinity, infinity, false, false};
    double above = 0, below = 0;
  };
  template <class Value>
  constexpr column_of_keys output_alone(Value&& value) const noexcept;

  /// Section 5, Theorem T2, from the bounds of the keys alone.
  constexpr void rescale(problem::kernel_model const& model, row_facts const& facts);
  constexpr void evaluate_term(problem::kernel_model const& model, row_facts const& facts);
  /// Section 5, Theorem (known weights), from what evaluate has found.
  constexpr void find_known(row_facts const& facts);

  row_terms terms_{};
  row_facts const* facts_ = nullptr;
  std::vector<key> keys_;
  std::vector<double> sorted_;
  known_weights known_;
  std::vector<row_bound> alone_;  ///< of the keys without the sink, where T2 is asked: one element
};

}  // namespace attest::reference

#include "reference/bound/results.hpp"
#include "reference/bound/row.hpp"
