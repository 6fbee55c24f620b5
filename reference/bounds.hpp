// The error bound of docs/bound.md: how far a kernel that rounds as `kernel_model` says may be from the exact value.
// Every tolerance in attest is one of these functions.
//
// Section numbers refer to docs/bound.md. All quantities are upper bounds unless their name says otherwise; they are
// sums and products of non-negative doubles, so that one factor at the end covers the rounding of the evaluation (5.5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "problem/kernel_model.hpp"
#include "reference/outward.hpp"
#include "reference/row_facts.hpp"

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

/// γ_k(u) = k·u/(1 − k·u); infinity past the pole.
constexpr double gamma(double k, double u) noexcept {
  double const ku = k * u;
  return ku < 1 ? ku / (1 - ku) * (1 + 0x1p-50) : infinity;
}

/// (1 + a)(1 + b) − 1, without cancellation.
constexpr double compounded(double a, double b) noexcept { return (a + b + a * b) * (1 + 0x1p-50); }

/// Everything of section 3 that does not depend on V. Made once per row, then asked per column.
class row_bound {
 public:
  /// Requires  facts.keys not empty
  /// Cost      O(n log n)
  constexpr void evaluate(problem::kernel_model const& model, row_facts const& facts);

  /// Do the hypotheses that do not depend on V hold? Where they do not, a kernel may overflow: nothing is claimed.
  constexpr bool says_anything() const noexcept { return judged_; }

  /// |ô_c − o_c|. value(j) is v_jc in the order of facts.keys, as an element; o encloses o_c.
  template <unsigned W, class Value>
  constexpr error_bound output(ball<W> const& o, Value&& value) const noexcept;

  /// |â_j − π_j| of the key at position `at`; the kernel may form p_j once or twice.
  constexpr error_bound weight(std::size_t at) const noexcept;

  /// How far an output may lie outside [min_j v_jc, max_j v_jc] ("Large scores: the hull clause").
  constexpr double hull_margin(double largest_value) const noexcept;

  /// |LSÊ − LSE|.
  constexpr error_bound log_sum_exp() const noexcept;

  /// |Σ_j â_j − 1| of the weights that a kernel returns: the sum of their own bounds, and never more than the weights
  /// of one common pass allow.
  constexpr error_bound row_sum() const noexcept;

 private:
  struct key {
    double E = 0, z = 0, P = 0, eta = 1, share = 1;
    double t_squared = 0;  ///< section "Warning level"
    double R = 0;
    bool far = false, flushed = false, dominant = true;
  };

  constexpr void rescales(std::vector<key_facts> const& keys);
  constexpr double heights(problem::sum_height height) const noexcept;
  /// A(y) of section 3 with its dominance clause: |ỹ − ȳ| for sizes |y_j − ȳ| given by deviation(j).
  template <class Deviation>
  constexpr double average_error(Deviation&& deviation, bool& by_theorem) const noexcept;

  problem::kernel_model model_{};
  row_facts const* facts_ = nullptr;
  std::vector<key> keys_;
  std::vector<double> sorted_;
  double n_ = 0, R_ = 0, D_lower_ = 0, one_minus_D_ = 1, n_far_ = 0, omega_w_ = 0, e_tau_ = 1, largest_E_ = 0;
  double gamma_L_ = 0, gamma_F_ = 0, height_O_ = 0, merges_O_ = 0, sum_P_ = 0, e_above_ = 0;
  double log_upper_ = 0, log_lower_ = 0, log_hull_ = infinity, slack_ = 1, largest_max_ = 0;
  bool theorem_holds_ = false, judged_ = false;
};

}  // namespace attest::reference

#include "reference/bounds_row.hpp"
#include "reference/bounds_elements.hpp"
