// Asks a kernel, with the outputs that it can give.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include "audit/isolation/isolated_kernel.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// What ends every call early: the user, or the end of the budget.
struct interruption {
  std::atomic<bool> const* stop = nullptr;
  std::optional<std::chrono::steady_clock::time_point> until;

  bool now() const noexcept { return (stop && stop->load()) || (until && std::chrono::steady_clock::now() >= *until); }
};

/// A shared library and the function of attest/kernel.h in it.
struct kernel_library {
  std::filesystem::path path;
  std::string symbol = "attest_attention";
};

/// One isolated kernel and what it has turned out to give. Use one a thread.
class kernel_session {
 public:
  /// Loads the kernel, and asks one small problem of `type` to learn which optional outputs it gives.
  static problem::result<kernel_session> open(kernel_library const& library, problem::element_type type,
                                              interruption const& when, isolation_limits const& limits = {});

  struct reply {
    call_report did;
    owned_outputs answer;  ///< where did.outcome is answered
    double seconds = 0;    ///< inside the kernel, over all attempts
  };

  /// Asks for lse and weights where the kernel gives them; unsupported with them is tried again without.
  problem::result<reply> ask(owned_problem const& asked, std::int32_t threads, placement where);

  isolated_kernel const& kernel() const noexcept { return kernel_; }

 private:
  kernel_session(isolated_kernel kernel, interruption const& when) : kernel_(std::move(kernel)), when_(when) {}

  isolated_kernel kernel_;
  interruption when_;
  bool lse_ = true, weights_ = true;
};

}  // namespace attest::audit
