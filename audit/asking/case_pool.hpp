// Asks the cases of a plan, by several kernels at once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "audit/asking/own_refusals.hpp"
#include "audit/asking/plan.hpp"
#include "audit/asking/slow_pace.hpp"
#include "audit/isolation/kernel_session.hpp"
#include "audit/judge/case_result.hpp"
#include "audit/judge/wider_claims.hpp"

namespace attest::audit {

/// A case that was asked, and its result.
struct asked_case {
  planned_case plan;
  std::optional<audit_case> made;  ///< always present if there is a result
  problem::result<case_result> result;
};

/// Cases start in the order of the plan, the fixed part first and then the draws, and are taken in that order. The
/// production shapes and the draws wait until all cases before them are done, since those show the kernel's limits.
class case_pool {
 public:
  using clock = std::chrono::steady_clock;

  /// `served` is asked instead of opening the kernel, if it is present.
  case_pool(audit_plan const& plan, audit_options const& options, interruption const& when,
            std::optional<kernel_session> served = {});
  ~case_pool() { close(); }

  /// Opens the kernels. Returns the error of the first kernel that does not open.
  std::optional<problem::error> start();
  /// Waits for case `at` ≥ 0 of the plan; draws follow the fixed part. Returns nothing if the case is not asked.
  std::optional<asked_case> wait(std::size_t at);
  void close();

  /// Sets the time after which no case is asked or judged.
  void end_by(clock::time_point when) { end_ = when; }
  /// Begins no further draw.
  void end_draws() { draws_ended_ = true; }

  /// The limits by which production shapes and draws were made. Requires that one of them was asked, or close().
  shape_limits const& limits() const { return limits_; }
  /// The functions whose calls are drawn, by the cases that show what the kernel supports. Requires as limits().
  drawn_functions const& drawn() const { return drawn_; }
  /// The wider presets by which failing cases are judged again.
  wider_claims& wider() { return wider_; }
  std::string name() const { return name_; }
  bool loading_changes_environment() const { return loading_changes_environment_; }
  std::vector<std::string> const& missing_protections() const { return missing_protections_; }

 private:
  bool enough() const { return when_.requested() || clock::now() >= end_.load(); }
  void work();
  /// Is there a case `at` that may begin now? Requires the lock.
  bool may_begin(std::size_t at) const;
  /// Requires  a case `at` of the fixed part of a slow kernel
  slow_pace pace(std::size_t at) const;
  void note_support(asked_case const& asked);
  void measure(kernel_session& kernel, std::unique_lock<std::mutex>& lock);

  audit_plan const& plan_;
  audit_options const& options_;
  interruption when_;
  wider_claims wider_;
  std::atomic<clock::time_point> end_ = clock::time_point::max();
  std::atomic<bool> draws_ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::optional<asked_case>> asked_;  ///< one for each case that has begun
  std::vector<std::thread> workers_;
  std::size_t finished_ = 0, done_before_shapes_ = 0;
  clock::time_point first_turn_done_{};  ///< of a slow kernel; read after it only
  enum class limits_state : std::uint8_t { unknown, being_measured, known } limits_state_ = limits_state::unknown;
  shape_limits limits_;
  own_refusals refusals_;
  drawn_functions drawn_{.attention = false, .backward = false};
  std::optional<kernel_session> served_;
  int opened_ = 0;
  bool closed_ = false;
  std::optional<problem::error> fault_;
  std::string name_;
  bool loading_changes_environment_ = false;
  std::vector<std::string> missing_protections_;
};

}  // namespace attest::audit
