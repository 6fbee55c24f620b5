// What explains wrong answers, in their sentences and classes. No verdict rests on it: the judge has counted before.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "audit/cause/common_factor.hpp"
#include "audit/judge/judge_case.hpp"

namespace attest::audit {

/// Explains the wrong elements of one call: the known mistake that they equal, the sum of the weights of their row, or
/// that the call would pass f32-any.
class call_explainer {
 public:
  /// Requires  what judge_by_law() takes; all of it outlives this object
  call_explainer(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                 std::span<row_index const> rows)
      : problem_(problem), outputs_(outputs), claim_(claim), rows_(rows) {}

  /// Adds to the sentence of a violation that was found in these outputs, and gives it a class if it has none.
  void explain(violation& wrong);

 private:
  void explain_gradient(violation& wrong, output_kind kind);
  bool would_pass_f32_any(violation const& worst);
  std::optional<common_factor> const& factor_of_row(violation const& wrong);

  owned_problem const& problem_;
  owned_outputs const& outputs_;
  contract const& claim_;
  std::span<row_index const> rows_;
  std::optional<bool> passes_f32_any_;
  std::map<row_index, std::optional<common_factor>> factors_;  ///< by row
  std::map<output_kind, std::string> gradient_mistakes_;
};

/// Explains what judge_by_law() found in one call.
void explain_call(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                  std::span<row_index const> rows, judgement& found);

/// judge_case(), and what explains what it found.
void judge_and_explain(audit_case const& kernel_case, case_outputs const& outputs, judging_rules const& rules,
                       case_result& into);

}  // namespace attest::audit
