// Counts the verdicts on elements of gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/judge/judgement.hpp"
#include "reference/gradient/gradients.hpp"

namespace attest::audit {

constexpr output_kind kind_of(reference::gradient which) noexcept {
  return static_cast<output_kind>(static_cast<std::size_t>(which) + static_cast<std::size_t>(output_kind::dq));
}
static_assert(kind_of(reference::gradient::dq) == output_kind::dq &&
              kind_of(reference::gradient::dsink) == output_kind::dsink);

/// One element whose verdict is open.
struct open_element {
  reference::gradient_index at;
  reference::gradient_element truth;
  double got;
};

/// Counts verdicts, and keeps the elements that double arithmetic leaves open.
class gradient_tally {
 public:
  /// Unless the bound `refutes`, a number beyond it is open.
  gradient_tally(std::int64_t keys, bool refutes) : size_class_(size_class_of(keys)), refutes_(refutes) {}

  void take(reference::gradient_index const& at, reference::gradient_element const& truth, double got) {
    reference::gradient_verdict const verdict = verdict_on(truth, got);
    if (verdict == reference::gradient_verdict::undecided) open.push_back({at, truth, got});
    else count(at, truth, got, verdict);
  }

  void count(reference::gradient_index const& at, reference::gradient_element const& truth, double got,
             reference::gradient_verdict verdict) {
    output_kind const kind = kind_of(at.which);
    if (verdict == reference::gradient_verdict::not_judged) {
      found.leave_out(kind, 1,
                      truth.kind == reference::value_kind::unspecified ? not_judged_because::value_left_open
                                                                       : not_judged_because::bound_not_finite);
      return;
    }
    bool const by_bound = truth.kind == reference::value_kind::finite && !truth.no_terms;
    if (by_bound && !refutes_ && verdict == reference::gradient_verdict::refuted) {
      found.leave_out(kind, 1, not_judged_because::gradient_may_flow);
      return;
    }
    if (by_bound) found.count_by_bound(kind, true);
    else found.count_by_rule(kind);
    double const middle = truth.lower / 2 + truth.upper / 2, error = farthest(truth, got);
    double in_bounds = error == 0 ? 0 : error / truth.bound;
    // The verdict may have seen an enclosure narrower than a double.
    if (verdict == reference::gradient_verdict::certified) in_bounds = std::min(in_bounds, 1.0);
    if (by_bound) {
      bool const is_dull = truth.bound >= std::max(std::abs(truth.lower), std::abs(truth.upper));
      found.sharpness[static_cast<std::size_t>(kind)][size_class_].add(truth.bound, middle, is_dull);
      if (std::isfinite(error)) {
        found.max_error_in_bounds = std::max(found.max_error_in_bounds, in_bounds);
        found.max_error = std::max(found.max_error, error);
      }
    }
    if (verdict == reference::gradient_verdict::undecided) ++found.undecided;
    if (verdict == reference::gradient_verdict::refuted)
      refute(at, truth, got, by_bound ? in_bounds : reference::infinity);
  }

  judgement found{};
  std::vector<open_element> open{};

 private:
  static double farthest(reference::gradient_element const& truth, double got) noexcept {
    double const most = std::max(std::abs(got - truth.lower), std::abs(truth.upper - got));
    return most == most ? reference::rounded_up(most) : reference::infinity;
  }

  void refute(reference::gradient_index const& at, reference::gradient_element const& truth, double got,
              double in_bounds) {
    ++found.failed;
    char const* const output = name_of(kind_of(at.which));
    violation wrong{output, {at.b, at.h, at.i, at.x}, got, truth.lower, truth.upper, truth.bound, in_bounds, {}, {}};
    wrong.bug_class = truth.kind != reference::value_kind::finite ? bug_class::nan_swallowed : bug_class::gradient;
    if (!found.keeps(wrong)) return;
    wrong.sentence =
        fmt::format("{}[{}, {}, {}, {}] is {}, {}", output, at.b, at.h, at.i, at.x, got,
                    truth.kind == reference::value_kind::nan ? "expected NaN: an input that it depends on is NaN"
                    : truth.kind == reference::value_kind::not_finite
                        ? "expected NaN or an infinity: an input that it depends on is infinite"
                    : truth.no_terms ? "expected 0: nothing contributes to it"
                                     : words(truth, in_bounds));
    found.add(std::move(wrong));
  }

  static std::string words(reference::gradient_element const& truth, double in_bounds) {
    std::string const value = truth.lower == truth.upper
                                  ? fmt::format("the exact value is {}", truth.lower)
                                  : fmt::format("the exact value lies in [{}, {}]", truth.lower, truth.upper);
    return fmt::format("{}; off by {:.4g} bounds of {:.4g}", value, in_bounds, truth.bound);
  }

  std::size_t size_class_;
  bool refutes_;
};

}  // namespace attest::audit
