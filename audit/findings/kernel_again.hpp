// The kernel of an audit, opened once more for questions after the verdict.
#pragma once

#include <chrono>
#include <optional>

#include "audit/asking/options.hpp"
#include "audit/builtin/kernel_spec.hpp"
#include "audit/isolation/kernel_session.hpp"
#include "audit/support/interruption.hpp"

namespace attest::audit {

class kernel_again {
 public:
  /// Requires  `options` outlives this object
  kernel_again(audit_options const& options, std::chrono::steady_clock::time_point until)
      : options_(options), when_{options.stop, until} {}

  interruption const& when() const noexcept { return when_; }
  bool late() const noexcept { return when_.requested(); }

  /// Opened at the first call; nullptr if the kernel does not load.
  kernel_session* session() {
    if (!session_) session_ = open_kernel(options_.kernel, options_.channel, when_, limits_of(options_));
    return *session_ ? &session_->value() : nullptr;
  }

  /// A process that has answered no call.
  std::optional<isolated_kernel> fresh_process() const {
    auto const library = library_of(options_.kernel, options_.channel);
    if (!library) return std::nullopt;
    auto kernel = isolated_kernel::open(library.value(), limits_of(options_));
    return kernel ? std::optional(std::move(kernel).value()) : std::nullopt;
  }

 private:
  audit_options const& options_;
  interruption when_;
  std::optional<problem::result<kernel_session>> session_;
};

}  // namespace attest::audit
