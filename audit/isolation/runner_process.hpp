// One attest-runner: started, spoken to, ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "problem/result.hpp"

namespace attest::audit {

/// A file descriptor that closes itself.
class owned_descriptor {
 public:
  explicit owned_descriptor(int number = -1) noexcept : number_(number) {}
  owned_descriptor(owned_descriptor&& other) noexcept : number_(other.release()) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept;
  ~owned_descriptor();

  int get() const noexcept { return number_; }
  int release() noexcept;

 private:
  int number_;
};

/// How a process ended.
struct process_end {
  enum class kind { exited, signalled, killed } how = kind::killed;  ///< killed: by us, because it did not end itself
  int code = 0;                                                      ///< the exit code or the signal
};

class runner_process {
 public:
  using clock = std::chrono::steady_clock;

  /// Starts `runner` for `library`; it shares `memory` with us.
  static problem::result<runner_process> start(std::filesystem::path const& runner,
                                               std::filesystem::path const& library, std::string const& symbol,
                                               int memory);

  /// False where the process is gone. Never raises SIGPIPE.
  bool send(std::span<std::byte const> message) noexcept;

  enum class received { message, malformed, closed, timed_out };

  /// Waits for one message of exactly message.size() bytes.
  received receive(std::span<std::byte> message, clock::time_point deadline) noexcept;

  /// The process has sent something, or is gone, though nothing was asked.
  bool stirs() const noexcept;

  /// Waits up to a second for the end of a process that closed its channel, else kills it (and what it started).
  process_end end() noexcept;

  /// Kills it at once.
  process_end kill() noexcept;

  runner_process() = default;
  runner_process(runner_process&& other) noexcept;
  runner_process& operator=(runner_process&& other) noexcept;
  ~runner_process();

  bool alive() const noexcept { return process_ > 0; }

  /// The process, and the group of all that it starts. Requires alive().
  int id() const noexcept { return process_; }

 private:
  process_end reap(clock::duration patience) noexcept;

  int process_ = 0;
  owned_descriptor channel_;
};

}  // namespace attest::audit
