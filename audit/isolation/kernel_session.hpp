// A session with one isolated kernel: learns which optional outputs (LSE, weights) it supports and requests only those.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/isolation/isolated_kernel.hpp"
#include "audit/isolation/kernel_library.hpp"
#include "audit/support/interruption.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// One isolated kernel, and the outputs that it supports. Not safe for concurrent calls: use one session a thread.
class kernel_session {
 public:
  /// Loads the kernel and runs it on one small problem of `type` to learn which optional outputs it supports.
  static problem::result<kernel_session> open(kernel_library const& library, problem::element_type type,
                                              interruption const& interrupted, isolation_limits const& limits = {});

  struct run_result {
    call_report report;
    owned_outputs outputs;  ///< set if report.outcome is succeeded
    double seconds = 0;     ///< inside the kernel, summed over all attempts
  };

  /// Runs the kernel once, requesting the outputs of requestable(problem, asks) that it supports. If it reports
  /// UNSUPPORTED, tries again with fewer outputs.
  ///
  /// A hang, or an end by SIGKILL, counts if it is seen twice: the first call with such an end is made again, in a new
  /// process, here and in run_together. If it returns then, it is unanswered, and the next such end counts.
  problem::result<run_result> run(owned_problem const& problem, std::int32_t threads, audit::placement placement,
                                  asked_outputs asks = {}, memory_form const& memory = {});

  /// Runs the kernel several times with the tensors of all calls alive, as isolated_kernel::run_together does.
  problem::result<std::vector<call_answer>> run_together(std::vector<call_of_group> calls, double more_seconds);

  /// Whether a group of calls from several threads hung before.
  bool hung_together() const noexcept { return hung_together_; }

  /// The subset of the outputs asked for that can be requested: weights of at most 2²⁴ elements.
  static asked_outputs requestable(owned_problem const& problem, asked_outputs asks) noexcept;

  isolated_kernel const& kernel() const noexcept { return kernel_; }

  /// From now on `interrupted` ends calls.
  void interrupt_by(interruption const& interrupted) { interruption_ = interrupted; }

 private:
  kernel_session(isolated_kernel kernel, interruption const& interrupted)
      : kernel_(std::move(kernel)), interruption_(interrupted) {}
  problem::result<std::vector<call_answer>> ask(std::span<call_of_group const> calls, double more_seconds);

  isolated_kernel kernel_;
  interruption interruption_;
  bool supports_lse_ = true, supports_weights_ = true, hung_together_ = false, ended_ = false;
};

}  // namespace attest::audit
