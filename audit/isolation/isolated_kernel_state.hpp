// The state of isolated_kernel, for the sources that define its functions: isolated_kernel.cpp calls the kernel,
// start_kernel.cpp starts its process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/isolation/call_memory.hpp"
#include "audit/isolation/isolated_kernel.hpp"
#include "audit/isolation/owned_descriptor.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "audit/isolation/runner_process.hpp"
#include "audit/isolation/time_watch.hpp"
#include "audit/support/interruption.hpp"

namespace attest::audit {

struct isolated_kernel::state {
  kernel_library kernel;
  std::filesystem::path runner;
  isolation_limits limits;
  owned_descriptor memory;
  runner_process process;
  std::string name;
  bool environment_changed = false;
  std::uint64_t sequence = 0;
  std::optional<std::string> exceeded;           ///< the limit that ended the last wait, if one did
  std::uint64_t tensor_bytes = 0;                ///< the most that a call of this process could touch
  runner_process::clock::time_point observed{};  ///< when the process was last observed
  std::optional<call_memory> last;               ///< the memory of the last call, if it was not one of a group
  bool cut_short = false;                        ///< the caller ended the last wait
  time_watch::passed passed{};                   ///< the limit of time that ended the last wait, if one did
  std::string passed_words;

  static runner_process::clock::time_point in(double seconds) {
    return runner_process::clock::now() +
           std::chrono::duration_cast<runner_process::clock::duration>(std::chrono::duration<double>(seconds));
  }
  /// The interval at which the process is observed from outside while it works.
  static constexpr auto observation_interval = std::chrono::milliseconds(50);
  /// In less time, no kernel takes gigabytes of memory or starts hundreds of threads.
  static constexpr auto short_call = std::chrono::milliseconds(1);

  std::optional<problem::error> start();
  runner_process::received greeting(std::span<std::byte> hello);
  std::vector<broken_promise> broken_between_calls();
  time_limits times(double working) const { return {working, limits.resting_seconds, limits.waiting_seconds}; }
  problem::result<std::vector<call_answer>> call(std::span<call_memory> plans, call_request const& request,
                                                 double seconds);
  runner_process::received wait(std::span<std::byte> reply, call_request const& request, double seconds,
                                runner_process::clock::time_point sent);
  problem::result<call_answer> answer(call_memory& plan, runner::reply_message const& reply, double waited);
  static bool is_over(call_request const& request) { return interruption{request.stop, request.until}.requested(); }
  call_report kill_for(call_outcome outcome, std::string sentence);
  call_report without_reply(std::span<call_memory const> plans, std::uint64_t first, runner_process::received received);
};

}  // namespace attest::audit
