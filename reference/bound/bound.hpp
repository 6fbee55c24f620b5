// The error bound of docs/bound.md: how far a kernel that rounds as `kernel_model` says may be from the exact value.
// Every tolerance in attest is one of these functions.
//
// Section numbers refer to docs/bound.md. All quantities are upper bounds unless their name says otherwise; they are
// sums and products of non-negative doubles, so that one factor at the end covers the rounding of the evaluation (5.5).
//
// bounds_terms.hpp has the quantities of a row, bounds_lanes.inc those of one key or column; this is their evaluation
// in plain doubles, constexpr. reference/machine/ evaluates the same text on SIMD lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "problem/kernel_model.hpp"
#include "reference/bound/facts.hpp"
#include "reference/bound/formulas-inl.hpp"
#include "reference/bound/terms.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

enum class judged_by : std::uint8_t {
  theorem,    ///< hypotheses H0–H4 hold, section 4 gives the bound
  dominance,  ///< only the dominance or hull clause says anything (amendment 1, "Large scores")
  nothing,    ///< outside the hypotheses: counted as not judged
};

/// A bound and the clause it came from. size is infinite where by is nothing.
struct error_bound {
  double size = infinity;
  judged_by by = judged_by::nothing;
  double warning = infinity;  ///< W_c(3), outputs only: errors above it are suspicious, though no theorem forbids them
};

/// |LSÊ − LSE| (amendment 5).
constexpr error_bound log_sum_exp_bound(row_terms const& terms) noexcept {
  if (!terms.judged) return {};
  problem::kernel_model const& model = terms.model;
  double const theorem =
      terms.theorem_holds ? larger(terms.log_upper_side, terms.log_lower_side) + 4 * terms.n * terms.omega_w : infinity;
  double const base = smaller(theorem, terms.log_hull) + terms.gamma_L / (1 - terms.gamma_L);
  if (!(base < infinity)) return {};
  double const u = model.format.u;
  // |ln l̂| ≤ |LSE − m| + |m − M̂| + …, and |m − M̂| is at most max E_j, or what M⁺ and M⁻ leave.
  double const reference = smaller(terms.largest_E, larger(terms.max_above, -terms.max_below));
  double const logged = model.eps_log * (terms.lse_above_max + reference + model.tau + base);
  double const B = (1 + u) * (base + logged) + gamma(model.k_lse, u) * (terms.lse_upper + base) +
                   gamma(model.k_lse - 1, u) * terms.largest_max + 2 * model.format.omega;
  return {rounded_up(B * terms.slack), theorem <= terms.log_hull ? judged_by::theorem : judged_by::dominance};
}

/// How far an output may lie outside the values that it averages ("Large scores: the hull clause").
constexpr double hull_margin(row_terms const& terms, double largest_value) noexcept {
  if (!terms.judged) return infinity;
  problem::kernel_model const& model = terms.model;
  double const gamma_O = scalar::gamma_O_of(terms, terms.R) +
                         (model.merge == problem::split_merge::lse_normalised ? 1.01 * terms.combine_error() : 0);
  double const omega_O = 8 * (terms.n + model.splits) * model.format.omega +
                         (model.omega_p + (model.k_pre > 0 ? model.format.omega : 0)) * 2 * terms.n * largest_value;
  double const margin = (gamma_O + terms.gamma_L + terms.gamma_F) / (1 - terms.gamma_L) * largest_value * (1 + terms.gamma_F) +
                        omega_O + 2 * model.format.omega;
  return rounded_up((margin * (1 + model.u_out) + model.u_out * largest_value + model.omega_out) * terms.slack);
}

/// Everything of section 3 that does not depend on V. Made once per row, then asked per column.
class row_bound {
 public:
  /// Requires  facts.keys not empty
  /// Cost      O(n log n)
  constexpr void evaluate(problem::kernel_model const& model, row_facts const& facts);

  /// Do the hypotheses that do not depend on V hold? Where they do not, a kernel may overflow: nothing is claimed.
  constexpr bool says_anything() const noexcept { return terms_.judged; }

  /// |ô_c − o_c|. value(j) is v_jc in the order of facts.keys, as an element; o encloses o_c.
  template <unsigned W, class Value>
  constexpr error_bound output(ball<W> const& o, Value&& value) const noexcept;

  /// |â_j − π_j| of the key at position `at`; the kernel may form p_j once or twice.
  constexpr error_bound weight(std::size_t at) const noexcept;

  /// How far an output may lie outside [min_j v_jc, max_j v_jc] ("Large scores: the hull clause").
  constexpr double hull_margin(double largest_value) const noexcept;

  /// |LSÊ − LSE|.
  constexpr error_bound log_sum_exp() const noexcept;

  /// |Σ_j â_j − 1| of the weights that a kernel returns, formed in one pass or two: the sum of their own bounds.
  constexpr error_bound row_sum() const noexcept;

 private:
  struct key {
    double E = 0, z = 0, P = 0, eta = 1, share = 1, R = 0, reference_error = 0;
    double t_squared = 0;  ///< section "Warning level"
    bool far = false, flushed = false, dominant = true;
  };

  constexpr void rescales(std::vector<key_facts> const& keys);

  row_terms terms_{};
  row_facts const* facts_ = nullptr;
  std::vector<key> keys_;
  std::vector<double> sorted_;
};

}  // namespace attest::reference

#include "reference/bound/row.hpp"
#include "reference/bound/results.hpp"
