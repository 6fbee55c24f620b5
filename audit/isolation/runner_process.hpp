// One process of attest-runner: starts it, exchanges messages with it, ends it.
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
  enum kind_of_end { exited, signalled, killed } kind = killed;  ///< killed: by us, because it did not end by itself
  int code = 0;                                                  ///< the exit code or the signal
};

class runner_process {
 public:
  using clock = std::chrono::steady_clock;

  /// Starts `runner` to load `library`. The process gets the file descriptor `memory`, which it shares with this one.
  static problem::result<runner_process> start(std::filesystem::path const& runner,
                                               std::filesystem::path const& library, std::string const& symbol,
                                               int memory);

  /// Sends one message. False where the process has ended. Never raises SIGPIPE.
  bool send(std::span<std::byte const> message) noexcept;

  enum class received { message, malformed, closed, timed_out };

  /// Waits for one message of exactly message.size() bytes.
  received receive(std::span<std::byte> message, clock::time_point deadline) noexcept;

  /// True if there is a message to receive, or the process has closed its channel.
  bool has_unread_input() const noexcept;

  /// Waits up to a second for the end of a process that closed its channel, then kills it; kills its process group too.
  process_end end() noexcept;

  /// Kills the process and its group at once.
  process_end kill() noexcept;

  runner_process() = default;
  runner_process(runner_process&& other) noexcept;
  runner_process& operator=(runner_process&& other) noexcept;
  ~runner_process();

  bool alive() const noexcept { return process_ > 0; }

  /// The id of the process, and of the process group of everything that it starts. Requires alive().
  int id() const noexcept { return process_; }

 private:
  process_end reap(clock::duration patience) noexcept;

  int process_ = 0;
  owned_descriptor channel_;
};

}  // namespace attest::audit
