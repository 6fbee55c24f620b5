// Keeps other processes of the same user out of the memory of this one.
#pragma once

#include <utility>

namespace attest::audit {

/// While one of these objects lives, this process is not dumpable. No other process of its user can open its
/// /proc/PID/mem, trace it or read it with process_vm_readv, and it leaves no core file. The last object restores the
/// earlier state, for debuggers, leak checkers, and programs that attest is a part of.
/// Source    prctl(2), PR_SET_DUMPABLE
class hidden_memory {
 public:
  hidden_memory() noexcept = default;  ///< holds nothing
  static hidden_memory begin() noexcept;
  hidden_memory(hidden_memory&& other) noexcept : holds_(std::exchange(other.holds_, false)) {}
  hidden_memory& operator=(hidden_memory&& other) noexcept {
    std::swap(holds_, other.holds_);
    return *this;
  }
  ~hidden_memory();

 private:
  bool holds_ = false;
};

}  // namespace attest::audit
