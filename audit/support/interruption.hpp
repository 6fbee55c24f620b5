// The two reasons to end work early: a signal of the user, or the end of the time budget.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace attest::audit {

struct interruption {
  std::atomic<bool> const* stop = nullptr;  ///< set by the user; null: none
  std::optional<std::chrono::steady_clock::time_point> until{};

  bool requested() const noexcept {
    return (stop && stop->load()) || (until && std::chrono::steady_clock::now() >= *until);
  }
};

}  // namespace attest::audit
