// Starts the process of a kernel, or the channel to one, and waits for its greeting.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/isolation/isolated_kernel_state.hpp"
#include "audit/isolation/library_fault.hpp"
#include "audit/isolation/missing_protections.hpp"
#include "audit/support/bounded_text.hpp"
#include "audit/support/descriptor.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {

using problem::error;
using problem::error_code;

/// Waits for the greeting, until the time for loading has passed.
runner_process::received isolated_kernel::state::greeting(std::span<std::byte> hello) {
  // Another process may be at work for another channel first.
  if (kernel.is_process()) {
    passed = time_watch::passed::waiting;
    return process.receive(hello, in(limits.waiting_seconds));
  }
  time_watch watch(process.id(), times(limits.loading_seconds));
  for (;;) {
    auto const received = process.receive(hello, runner_process::clock::now() + observation_interval);
    if (received != runner_process::received::timed_out) return received;
    passed = watch.observe(process_tree(process.id()));
    if (passed != time_watch::passed::nothing) return received;
  }
}

/// Starts a process and waits for its greeting.
std::optional<error> isolated_kernel::state::start() {
  auto const fault = [&](error_code code, std::string reason) {
    return error{code, printable(kernel.path.native(), 400), std::move(reason)};
  };
  auto shared = call_memory::shared();
  if (!shared) return std::move(shared).why();
  memory = std::move(shared).value();
  auto started = kernel.is_process() ? runner_process::attach(kernel.channel, memory.get())
                                     : runner_process::start(runner, kernel, memory.get(), limits.needs);
  if (!started) return std::move(started).why();
  process = std::move(started).value();

  runner::hello_message hello{};
  using enum runner_process::received;
  constexpr double cage_seconds = 60;  // no code of the kernel runs meanwhile: it takes milliseconds, or is broken
  auto received = kernel.is_process() ? greeting(std::as_writable_bytes(std::span(&hello, 1)))
                                      : process.wait_for_cage(in(cage_seconds));
  if (!kernel.is_process() && received == message && process.start_fault() != 0) {
    process.kill();
    return error{error_code::unreadable, "attest-runner",
                 "cannot start a process for the kernel: " + system_reason(process.start_fault())};
  }
  if (!kernel.is_process() && received == message) {
    // Half of the address space is the kernel's own.
    limits.address_bytes = std::min(limits.address_bytes, process.address_bytes() / 2);
    auto const missing = audit::missing_protections(process.faults());
    if (limits.all_protections && !missing.empty()) {
      process.kill();
      return fault(error_code::unsupported,
                   fmt::format("is not loaded: the system forbids {}", fmt::join(missing, ", ")));
    }
    runner::load_message const load{runner::load_magic};
    process.send(std::as_bytes(std::span(&load, 1)));
    received = greeting(std::as_writable_bytes(std::span(&hello, 1)));
  }
  switch (received) {
    case message: break;
    case timed_out:
      process.kill();
      return fault(error_code::unreadable,
                   passed == time_watch::passed::working
                       ? fmt::format("does not finish loading within {} s of processor time", limits.loading_seconds)
                   : passed == time_watch::passed::resting
                       ? fmt::format("does not finish loading, and uses no processor for {} s", limits.resting_seconds)
                       : fmt::format("does not finish loading within {} s", limits.waiting_seconds));
    case closed: {
      auto const end = process.end();
      auto const said = process.said();
      return fault(error_code::unreadable,
                   words(end) + " while it was loaded" + said + remedy_of_closed_folder(kernel.path, said));
    }
    case malformed: process.kill(); return fault(error_code::unreadable, "broke its channel while it was loaded");
  }
  auto text = printable(bounded(hello.text), 200);
  if (hello.magic != runner::hello_magic || hello.state > runner::greeting::no_runner_memory) {
    process.kill();
    return fault(error_code::unreadable, "broke its channel while it was loaded");
  }
  if (hello.state == runner::greeting::ready) {
    name = text.empty() ? printable(kernel.path.filename().native()) : text;
    environment_changed = hello.environment_changed != 0;
    return std::nullopt;
  }
  process.kill();
  if (hello.state == runner::greeting::no_symbol)
    return fault(error_code::missing, fmt::format("does not export '{}'", printable(kernel.symbol)));
  if (hello.state == runner::greeting::no_runner_memory)
    return error{error_code::unreadable, "attest-runner", "has no memory: " + text};
  if (auto const path = printable(kernel.path.native(), 200) + ": "; text.starts_with(path)) text.erase(0, path.size());
  auto const* const failure =
      kernel.is_program() ? "cannot serve its kernel: " : "is not a shared library that can be loaded: ";
  return fault(error_code::unreadable, failure + text + remedy_of_closed_folder(kernel.path, text));
}

}  // namespace attest::audit
