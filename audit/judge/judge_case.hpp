// A case and its answers, judged: each answer against the truth, and all of them against each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/judge/judge_outputs.hpp"

namespace attest::audit {

/// What a case's answers are judged by.
struct judging_rules {
  contract const* claim = nullptr;
  bool reproducible = false;  ///< answers may not depend on threads, batch position, company

  /// The built-in kernel's own claims promise it, too.
  bool must_reproduce() const noexcept { return reproducible || claim->builtin; }
};

/// What became of one case.
struct case_result {
  judgement judged;
  bool unsupported = false;  ///< the kernel, or the file, does not answer
  bool hung = false, cut_short = false;
  std::vector<std::string> observations;
  std::vector<std::string> conventions;  ///< relaxed ones that mattered here
  double kernel_seconds = 0, oracle_seconds = 0;
};

/// Requires  problems and answers that fit each other (calls_fault answers nothing)
void judge_case(audit_case const& each, answers const& given, judging_rules const& rules, case_result& into);

/// Judges one answer, by the contract's conventions, with diagnoses.
judgement judge_call(owned_problem const& asked, owned_outputs const& answer, contract const& claim);

}  // namespace attest::audit
