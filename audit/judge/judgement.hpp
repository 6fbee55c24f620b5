// The result of judging elements: counts, the largest errors, the worst violations.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/cases/bug_class.hpp"
#include "audit/judge/preset_comparison.hpp"
#include "audit/judge/sharpness.hpp"
#include "audit/judge/systematic_error.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {

/// What the class of a violation rests on.
enum class class_basis : std::uint8_t {
  seen,   ///< what is wrong shows it
  row,    ///< its row fits a plain mistake, and may fit others
  check,  ///< nothing but its check suggests it
};

inline constexpr char const* class_basis_names[]{"seen", "row", "check"};

/// A class before the cause is known, and what it rests on.
struct judged_class {
  audit::bug_class is{};
  class_basis basis{};
  friend auto operator<=>(judged_class const&, judged_class const&) = default;
};

/// An element that is certainly wrong.
struct violation {
  std::string output;                   ///< "o", "lse" or "weights"
  std::array<std::int64_t, 4> index{};  ///< [b, h, i, c or j]; the last is 0 for lse
  double got = 0, truth_lower = 0, truth_upper = 0, bound = 0;
  double error_in_bounds = 0;                 ///< |got − truth|/bound; infinity where an exact rule is broken
  std::optional<audit::bug_class> bug_class;  ///< none: the class of the case's check
  std::string sentence;                       ///< what is wrong, for a person
  std::size_t call = 0;                       ///< index of its call: 0 is the first call, n > 0 is further[n − 1]
  std::int32_t callers =
      0;  ///< threads that called at the same time, other calls alive; 0: the call was made by itself
  std::vector<std::string> picture = {};  ///< of the visibility probe: lines that show expected and read keys
  class_basis basis = class_basis::seen;

  row_index row() const noexcept { return {index[0], index[1], index[2]}; }
};

/// Gives each violation of a case without a class `by_check`, the class of the check, as a suspicion. A finite
/// number in the place of another shows no crash, no lost NaN, and nothing of how exp or a sum was formed: its class is
/// accuracy. The class of an LSE is lse unless O is wrong too.
void suspect(std::vector<violation>& wrong, bug_class by_check);

/// Have both the same class, or classes that the cause may replace?
inline bool is_of_class(violation const& a, violation const& b) noexcept {
  return a.basis == b.basis && (a.basis != class_basis::seen || a.bug_class == b.bug_class);
}

/// Why an element is not judged.
enum class not_judged_because : std::uint8_t {
  outside_hypotheses,  ///< of the bound: the row is outside H0 or H4, or a factor that may be flushed meets an infinity
  bound_not_finite,    ///< the theorem bounds the row, but gives no finite bound for this element
  format_overflows,    ///< the answer is no number, and an honest kernel's answer may pass the largest output
  value_left_open,     ///< docs/semantics.md, or the contract, leaves the value open
  gradient_may_flow,   ///< beyond its bound, which holds if no gradient flows through parts (HB7): the verdict is open
};
inline constexpr std::array<char const*, 5> not_judged_names{
    "outside_hypotheses", "bound_not_finite", "format_overflows", "value_left_open", "gradient_may_flow"};

/// Does the bound say nothing about the element, although the element has one right value?
constexpr bool is_outside(not_judged_because why) noexcept {
  return why == not_judged_because::outside_hypotheses || why == not_judged_because::bound_not_finite ||
         why == not_judged_because::gradient_may_flow;
}

/// Of one output: the number of elements that were judged, and of elements that the bound says nothing about.
struct outside_share {
  std::int64_t judged = 0, outside = 0;

  /// outside/(judged + outside); 0 if there is no element.
  double share() const noexcept {
    return outside == 0 ? 0 : static_cast<double>(outside) / static_cast<double>(judged + outside);
  }
  void add(outside_share const& other) noexcept { judged += other.judged, outside += other.outside; }
};

/// Counts and the largest errors of elements that were judged.
struct tally {
  std::int64_t by_theorem = 0, by_dominance = 0,
               by_rule = 0;  ///< judged: by the theorem, by Clause D, by an exact rule (0, NaN, −∞)
  std::array<outside_share, output_names.size()> shares{};  ///< of each output
  std::int64_t suspicious = 0;  ///< above the warning level of the bound; this refutes nothing
  /// Over the elements that passed or failed with a finite error: in units of the bound, in ulps, |got − truth| itself.
  double max_error_in_bounds = 0, max_ulp = 0, max_error = 0;

  void count_by_bound(output_kind kind, bool by_theorem_itself) noexcept {
    ++(by_theorem_itself ? by_theorem : by_dominance), ++share_of(kind).judged;
  }
  void count_by_rule(output_kind kind) noexcept { ++by_rule, ++share_of(kind).judged; }
  outside_share& share_of(output_kind kind) noexcept { return shares[static_cast<std::size_t>(kind)]; }
};

/// The elements of the outputs of one or more calls.
struct judgement : tally {
  std::array<std::int64_t, not_judged_names.size()> left_out{};  ///< not judged, by not_judged_because
  std::int64_t undecided = 0;                                    ///< the last refinement still overlaps the bound
  std::int64_t failed = 0;
  std::int64_t not_certified = 0;  ///< of rows that were not judged exactly, because enough other rows are wrong
  std::int64_t exist = 0;         ///< elements of the outputs that were returned; fewer were judged if rows are sampled
  sharpness_table sharpness{};    ///< of the elements judged by a bound
  systematic_table systematic{};  ///< of the rows that the machine tier certified
  std::array<std::int64_t, output_names.size()> returned{};  ///< for each output, the calls that returned it
  std::vector<preset_comparison> beside;                     ///< some rows compared with the bounds of sharper presets
  std::vector<violation> violations;  ///< the worst, worst first: `kept`, or as many as there are kinds (output, class)

  static constexpr std::size_t kept = 16;

  std::int64_t judged() const noexcept { return by_theorem + by_dominance + by_rule; }
  std::int64_t not_judged() const noexcept;
  /// Gradients beyond a bound that may not be theirs (HB7).
  std::int64_t may_flow() const noexcept {
    return left_out[static_cast<std::size_t>(not_judged_because::gradient_may_flow)];
  }
  std::int64_t judged_by_bound() const noexcept { return by_theorem + by_dominance; }
  std::int64_t dull() const noexcept;
  void leave_out(output_kind kind, std::int64_t elements, not_judged_because why) noexcept {
    left_out[static_cast<std::size_t>(why)] += elements;
    if (is_outside(why)) share_of(kind).outside += elements;
  }
  /// Would add() keep this violation? Its sentence may still be missing.
  bool keeps(violation const& found) const;
  void add(violation&& found);
  void add(tally const& other) noexcept;
  void merge(judgement&& other);
};

}  // namespace attest::audit
