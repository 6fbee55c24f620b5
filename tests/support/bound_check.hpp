// One honest answer against the bound: the worst error/bound of each kind of result. Above 1 the theorem is false.
#pragma once

#include "audit/judge/element_value.hpp"
#include "reference/attention/attention.hpp"
#include "reference/bound/bound.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/known_kernels.hpp"
#include "tests/support/known_models.hpp"
#include "tests/support/known_run.hpp"

namespace attest::tests {

/// Largest error/bound seen, of each kind.
struct ratios {
  double output = 0, weight = 0, lse = 0, row_sum = 0, hull = 0;
  double known = 0;    ///< of outputs, beside the weights that the contract's rounding gives
  double warning = 0;  ///< of outputs: error/W_c, which may pass 1 without refuting
  int judged = 0, by_theorem = 0;

  double worst() const { return std::max({output, known, weight, lse, row_sum, hull}); }
  void merge(ratios const& other) {
    output = std::max(output, other.output), weight = std::max(weight, other.weight), lse = std::max(lse, other.lse);
    row_sum = std::max(row_sum, other.row_sum), hull = std::max(hull, other.hull);
    known = std::max(known, other.known), warning = std::max(warning, other.warning);
    judged += other.judged, by_theorem += other.by_theorem;
  }
};

/// The exact row and what the bound needs of it. Made once, then asked for every kernel.
template <class F>
class bound_check {
 public:
  explicit bound_check(written<F> problem) : problem_(std::move(problem)), p_(problem_.instance()) {
    reference::compiled::enclose_row(p_, 0, 0, 0, row_);
    if (row_.kind == reference::row_kind::finite) reference::compiled::collect_facts(p_, row_, facts_);
  }
  bound_check(bound_check const&) = delete;  // p_ looks into problem_
  reference::enclosed_row<128, F> const& row() const { return row_; }
  bool finite() const { return row_.kind == reference::row_kind::finite; }
  reference::row_facts const& facts() const { return facts_; }
  reference::ball<128> output(std::int64_t c = 0) const { return reference::compiled::output(p_, row_, c).value; }
  reference::row_bound bound(problem::kernel_model const& model) const {
    reference::row_bound bound;
    reference::compiled::evaluate(bound, model, facts_);
    return bound;
  }
  reference::error_bound output_bound(reference::row_bound const& bound, std::int64_t c = 0) const {
    return reference::compiled::output_bound(bound, p_, row_, c, output(c));
  }

  /// |got − exact|, from below by less than 2^−30 of it.
  static double error(double got, reference::ball<128> const& exact) {
    auto const gap = reference::ball<128>::from(reference::value_of(got)) - exact;
    return reference::lower(gap.lower_size());
  }

  ratios judge(problem::kernel_model const& model, row_answer const& got) const {
    ratios found;
    auto const bound = this->bound(model);
    auto const ratio = [](double miss, reference::error_bound const& allowed) {
      return allowed.by == reference::judged_by::nothing || miss == 0 ? 0 : miss / allowed.size;
    };
    for (std::size_t c = 0; c < got.o.size(); ++c) {
      auto const column = static_cast<std::int64_t>(c);
      auto const exact = output(column);
      auto const allowed = reference::compiled::output_bound(bound, p_, row_, column, exact);
      if (allowed.by == reference::judged_by::nothing) continue;
      if (reference::explained_by_overflow(model, allowed, reference::lower(exact), reference::upper(exact), got.o[c]))
        continue;
      ++found.judged;
      found.by_theorem += allowed.by == reference::judged_by::theorem;
      if (!std::isfinite(got.o[c])) return found.output = reference::infinity, found;
      double const miss = error(got.o[c], exact);
      found.output = std::max(found.output, ratio(miss, allowed));
      // Section 5, Theorem (known weights).
      if (allowed.known_size < reference::infinity)
        found.known = std::max(found.known, std::abs(got.o[c] - allowed.known_center) / allowed.known_size);
      if (miss > 0) found.warning = std::max(found.warning, miss / allowed.warning);
      double lowest = reference::infinity, highest = -reference::infinity;
      if (row_.has_sink() || p_.keep().present) lowest = highest = 0;
      for (auto const& key : row_.real_keys()) {
        double const v = audit::as_double(p_.v()(0, 0, key.j, column)) * facts_.kept_factor;
        lowest = std::min(lowest, v), highest = std::max(highest, v);
      }
      double const outside = std::max({lowest - got.o[c], got.o[c] - highest, 0.0});
      if (outside > 0)
        found.hull = std::max(found.hull, outside / bound.hull_margin(std::max(std::abs(lowest), std::abs(highest))));
    }
    auto const allowed = bound.log_sum_exp();
    found.lse = std::isfinite(got.lse) ? ratio(error(got.lse, reference::compiled::log_sum_exp(row_)), allowed)
                : allowed.by == reference::judged_by::nothing ? 0
                                                              : reference::infinity;
    if (got.weights.empty()) return found;
    reference::ball<128> sum(-1);
    if (row_.has_sink()) sum = sum + reference::compiled::weight(row_, row_.keys.size() - 1);
    for (std::size_t at = 0; at < row_.real_keys().size(); ++at) {
      double const a = got.weights[static_cast<std::size_t>(row_.keys[at].j)];
      sum = sum + reference::ball<128>::from(reference::value_of(a));
      found.weight = std::max(found.weight, ratio(error(a, reference::compiled::weight(row_, at)), bound.weight(at)));
    }
    found.row_sum = ratio(reference::upper_size(sum), bound.row_sum());
    return found;
  }

 private:
  written<F> problem_;
  problem::instance<F> p_;
  reference::enclosed_row<128, F> row_{};
  reference::row_facts facts_{};
};

/// A kernel's answer to the row, under the model of that kernel.
template <class F>
ratios judge(known_kernel const& kernel, written<F> const& row, bound_check<F> const& check, std::size_t block,
             directions const& up) {
  return check.judge(model_of(kernel, row, static_cast<std::int64_t>(block)),
                     known_run(kernel, row, block, up).answer());
}

/// Any order, any blocking, plain merging.
inline problem::kernel_model black_box_f32() { return audit::find_contract("f32")->fixed; }

}  // namespace attest::tests
