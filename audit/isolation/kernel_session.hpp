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
#include "audit/tensors/some_gradients.hpp"

namespace attest::audit {

/// One isolated kernel, and the outputs that it supports. Not safe for concurrent calls: use one session a thread.
class kernel_session {
 public:
  /// Loads the kernel. Its first answers teach which optional outputs it supports: every call of it can be judged.
  static problem::result<kernel_session> open(kernel_library const& library, interruption const& interrupted,
                                              isolation_limits const& limits = {});

  struct run_result {
    call_report report;
    owned_outputs outputs;  ///< set if report.outcome is succeeded
    double seconds = 0;     ///< inside the kernel, summed over all attempts
  };

  /// Runs the kernel once, requesting the outputs of requestable(problem, asks) that it supports. If it reports
  /// UNSUPPORTED, asks for O alone. If it answers that, tries again with one more output. A backward pass that does is
  /// asked for dQ, dK and dV alone; and, until the kernel has given all three, for dQ, or dK and dV, or one of them.
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

  /// Does its backward pass read the O and LSE that it is handed? True until it says otherwise.
  bool reads_forward() const noexcept { return reads_forward_; }

  /// From now on calls ask for outputs by this rule.
  void ask_by(outputs_rule const& rule) { rule_ = rule; }

  /// From now on `interrupted` ends calls.
  void interrupt_by(interruption const& interrupted) { interruption_ = interrupted; }

 private:
  problem::result<run_result> run_pass(owned_problem const& problem, call_request const& request);
  kernel_session(isolated_kernel kernel, interruption const& interrupted, outputs_rule const& rule)
      : kernel_(std::move(kernel)), interruption_(interrupted), rule_(rule) {}
  problem::result<std::vector<call_answer>> ask(std::span<call_of_group const> calls, double more_seconds);

  /// An optional output is supported if an answer had it, or until a few answers had to do without it.
  struct learned_output {
    bool given = false;
    int missing = 0;
    bool is_supported() const { return given || missing < 4; }
    void learn(bool has) { given = given || has, missing += !has; }
  };

  /// Which of dQ, dK and dV a kernel gives: all, until it refused them together and answered some alone.
  struct learned_gradients {
    std::optional<gradient_set> some{};
    bool gives_all = false;
    int searched = 0;
    /// A kernel that takes few calls refuses many before it answers one.
    bool is_open() const { return !some && !gives_all && searched < 256; }
  };

  isolated_kernel kernel_;
  interruption interruption_;
  outputs_rule rule_;
  learned_gradients gradients_;
  learned_output lse_, weights_;
  bool hung_together_ = false, ended_ = false, reads_forward_ = true;
};

}  // namespace attest::audit
