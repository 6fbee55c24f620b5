// One process of attest-runner: starts it (start_runner.cpp), exchanges messages with it, ends it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "audit/isolation/hidden_memory.hpp"
#include "audit/isolation/kernel_library.hpp"
#include "audit/isolation/kernel_needs.hpp"
#include "audit/isolation/owned_descriptor.hpp"
#include "audit/isolation/runner/protections.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// How a process ended.
struct process_end {
  enum kind_of_end { exited, signalled, killed } kind = killed;  ///< killed: by us, because it did not end by itself
  int code = 0;                                                  ///< the exit code or the signal
};

/// "SIGSEGV", or "signal 77".
std::string signal_text(int signal);

/// How a process ended, as a clause: "crashed with SIGSEGV", "exited with code 0".
std::string words(process_end const& end);

class runner_process {
 public:
  using clock = std::chrono::steady_clock;
  enum class received { message, malformed, closed, timed_out };

  /// Starts `runner` to load a library, or to become a program that serves a kernel. The process gets the file
  /// descriptor `memory`, which it shares with this one, and the seccomp filter; its standard output and error are a
  /// pipe to this process.
  static problem::result<runner_process> start(std::filesystem::path const& runner, kernel_library const& kernel,
                                               int memory, kernel_needs const& needs);

  /// A channel to a process that serves already, through the socket `control`: it gets the other end and `memory`. That
  /// process is not ours: end and kill close the channel, and do not end it.
  static problem::result<runner_process> attach(int control, int memory);

  /// Waits until the runner has put on the protections that the system permits. No code of the kernel runs before that.
  received wait_for_cage(clock::time_point deadline) noexcept;

  /// Why the runner has no process for the kernel; 0 if it has one. Requires wait_for_cage() == message.
  int start_fault() const noexcept { return start_fault_; }

  /// The address space that the system gives at once to a process without a kernel, or more. Requires wait_for_cage()
  /// == message.
  std::uint64_t address_bytes() const noexcept { return address_bytes_; }

  /// The answer of the system to each protection. Requires wait_for_cage() == message.
  runner::protection_faults const& faults() const noexcept { return faults_; }

  /// The last line printed on standard output or error, as a clause: " after it said 'no memory'". If a sanitizer
  /// printed a summary, that line is taken instead. Empty if nothing was printed. Control characters are left out.
  /// Ensures   all output counts once the process has ended (end, kill)
  std::string said() const;

  /// Sends one message. False if the process has ended. Never raises SIGPIPE.
  bool send(std::span<std::byte const> message) noexcept;

  /// Waits for one message of exactly message.size() bytes.
  received receive(std::span<std::byte> message, clock::time_point deadline) noexcept;

  /// True if there is a message to receive, or the process has closed its channel.
  bool has_unread_input() const noexcept;

  /// Waits up to ten seconds for the end of a process that closed its channel because it ends. Then kills it, and all
  /// processes that it started.
  process_end end() noexcept;

  /// Kills the process and all processes that it started, at once.
  process_end kill() noexcept;

  runner_process() = default;
  runner_process(runner_process&& other) noexcept;
  runner_process& operator=(runner_process&& other) noexcept;
  ~runner_process();

  bool alive() const noexcept { return process_ > 0 || attached_; }

  /// The id of the kernel's process. Requires wait_for_cage() == message.
  int id() const noexcept { return kernel_; }

 private:
  process_end reap(clock::duration patience) noexcept;

  bool wait_for_input(clock::time_point deadline) noexcept;
  void drain() noexcept;
  bool is_closed() const noexcept;

  bool attached_ = false;  ///< the process is not a child of this one
  int process_ = 0;        ///< our child: ends as the kernel's process does, which dies with it
  int kernel_ = 0;
  int start_fault_ = 0;
  std::uint64_t address_bytes_ = 0;
  owned_descriptor channel_, printed_;
  hidden_memory hidden_;  ///< hides the memory of this process while the other one lives
  runner::protection_faults faults_{};
  std::string text_;  ///< the end of the printed output
};

}  // namespace attest::audit
