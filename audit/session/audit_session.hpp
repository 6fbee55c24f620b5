// One audit under way: its cases (take_cases.cpp), its report (run_audit.cpp) and its conditions (name_conditions.cpp).
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/asking/case_pool.hpp"
#include "audit/asking/options.hpp"
#include "audit/asking/plan.hpp"
#include "audit/cases/forms/interface_points.hpp"
#include "audit/condition/question.hpp"
#include "audit/isolation/own_time.hpp"
#include "audit/report/coverage/refusal_pattern.hpp"
#include "audit/session/audit_words.hpp"
#include "audit/session/session.hpp"
#include "audit/support/interruption.hpp"
#include "problem/result.hpp"

namespace attest::audit {

class audit_session final : public session {
 public:
  /// `served` is asked instead of opening the kernel, if it is present.
  audit_session(audit_options const& options, audit_plan const& plan, report& into,
                std::optional<kernel_session> served)
      : session(into, options.waived, {options.findings, run_of(options)}),
        options_(options),
        plan_(plan),
        when_{options.stop,
              options.budget ? std::optional(options.begun + seconds(0.9 * *options.budget)) : std::nullopt},
        pool_(plan, options, when_, std::move(served)),
        points_(options.claim->type) {}

 private:
  using clock = std::chrono::steady_clock;

  static clock::duration seconds(double count) {
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(count));
  }
  /// When so many seconds of own_time will have passed, from now on or since the audit began, if the processors stay as
  /// busy. A budget is by the clock.
  clock::time_point in_own(double count) const { return clock::now() + seconds(count / share()); }
  clock::time_point since_begun_in_own(double count) const {
    if (options_.budget) return options_.begun + seconds(count);
    return clock::now() +
           seconds(std::chrono::duration<double>(options_.begun + seconds(count) - own_time::now()).count() / share());
  }
  double share() const { return options_.budget ? 1 : own_time::share(); }
  std::optional<problem::error> begin() override;
  problem::result<std::optional<judged_case>> next() override;
  void close() override;
  bool interrupted() const override { return options_.interrupted(); }
  bool explains() const override { return !options_.fail_fast && !interrupted(); }
  void name_cause() override;
  void name_conditions() override;
  void save_findings() override;
  void look_at_findings();
  std::string end_of_cases();
  std::int64_t expected_cases(std::int64_t done) const;
  void not_drawn(std::int64_t made);
  void note_replies(std::vector<call_reply> const& replies);
  void note_refused(audit_case const& kernel_case);
  void list_refused_checks();
  /// Takes away the condition of a finding whose smaller call, which is printed, it does not hold for.
  void check_condition(finding& found, audit_case const& smaller);
  void note(audit_case const& kernel_case, bool is_draw, case_result& result);
  void judge_recording(audit_case const& kernel_case);
  std::string why_stopped() const;
  std::string words_of_slowness() const;
  std::vector<std::string> checks_not_asked(std::size_t done) const;
  std::int64_t seconds_of_all(std::size_t done) const;
  bool has_enough() const {
    return options_.enough_failing > 0 && std::ssize(report_.failing) >= options_.enough_failing;
  }
  /// Does the clock decide what is asked? Not with a number of draws, and not in a shard.
  bool may_hurry() const { return plan_.draws && !options_.draws && !options_.part; }
  clock::time_point cause_end() const;
  clock::time_point search_end(double most_seconds, double part_of_budget) const;
  std::string reproducer(audit_case const& kernel_case) const;

  audit_options const& options_;
  audit_plan const& plan_;
  interruption when_;
  case_pool pool_;
  std::optional<asked_case> current_;
  std::size_t done_ = 0;  ///< cases
  std::string stopped_;   ///< why the findings so far end the audit; empty: they do not
  bool incomplete_ = false, hurried_ = false, nothing_to_draw_ = false;
  int hung_ = 0, unanswered_ = 0;     ///< cases
  std::int64_t refused_by_size_ = 0;  ///< cases with a call whose sizes the kernel refuses by an end of its own
  std::string refused_sizes_;         ///< of the first such call
  points_asked points_;               ///< of the cases that were answered
  std::map<finding const*, std::function<bool(call_form const&)>> conditions_;  ///< does it hold for a form?
  std::vector<asked_call> asked_;
  std::vector<judged_form> judged_, judged_passes_;          ///< the first calls of the cases; of backward passes
  std::map<std::string, feature_set, std::less<>> refused_;  ///< by check: the features of its cases that were refused
};

}  // namespace attest::audit
