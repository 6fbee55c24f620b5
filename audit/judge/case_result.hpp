// What a case is judged by, and the result of its judgement as data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/judge/judge_outputs.hpp"

namespace attest::audit {

class wider_claims;

/// What the outputs of a case are judged by.
struct judging_rules {
  contract const* claim = nullptr;
  bool reproducible = false;            ///< outputs may not depend on threads, batch position or the rest of the batch
  bool concurrent = false;              ///< calls that threads of the caller make at the same time must be right, too
  wider_claims const* wider = nullptr;  ///< for judging a failing case again (run_case); null: never again
  thoroughness how = thoroughness::report;

  /// The contracts of the built-in kernel promise it, too.
  bool must_reproduce() const noexcept { return reproducible || claim->builtin; }
};

/// What the kernel answered to one call.
struct call_reply {
  call_form form;
  bool answered = false;  ///< false: it does not support the call
  asked_outputs asked{}, given{};
};

/// The result of one case.
struct case_result {
  judgement judged;
  bool unsupported = false;  ///< the kernel does not support the case, or the file has no outputs for it
  bool hung = false, cut_short = false;
  bool unanswered = false;      ///< a call did not return, for which the kernel may not be to blame
  std::int64_t own_ends = 0;    ///< of judged.failed: calls that ended by what may be a refusal (may_be_refusal)
  std::string refused_sizes{};  ///< "n=2 m=3 d=64" of a call whose sizes the kernel refuses by an end of its own
  std::vector<std::string> observations;
  std::vector<std::string> conventions;  ///< relaxed ones that mattered here
  std::vector<call_reply> replies;       ///< of the calls that the kernel answered or refused
  /// Of a failing case that was judged again: the wider presets under which nothing is wrong.
  std::optional<std::vector<holding_preset>> inside = {};
  double kernel_seconds = 0, oracle_seconds = 0;
};

}  // namespace attest::audit
