// What a kernel supports: each feature by itself and each two together, found by asking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/cases/forms/call_form.hpp"
#include "audit/contract/contract.hpp"
#include "audit/isolation/isolated_kernel.hpp"
#include "audit/isolation/kernel_library.hpp"
#include "problem/result.hpp"

namespace attest::audit {

enum class capability : std::uint8_t {
  supported,  ///< the answer is right
  refused,    ///< ATTEST_UNSUPPORTED
  ignored,    ///< ATTEST_OK, and the answer is right for the same call without one of its features
  wrong,      ///< ATTEST_OK, and it is neither
  no_answer,  ///< a crash, a hang, a broken promise or another status
};
inline constexpr char const* capability_names[]{"supported", "refused", "ignored", "wrong", "no answer"};

struct kernel_capabilities {
  struct row {
    std::string name;  ///< "plain", "causal", "causal+sink", "mask-b11m"
    capability is;
  };
  std::vector<std::string> exports;  ///< functions of attest/kernel.h that the library exports; empty for a program
  std::vector<row> rows;             ///< the plain call, each feature followed by its pairs, the shapes
};

/// Asks the cases of support_cases: one small call each, O alone, judged by the contract.
/// Ensures   an error if the kernel cannot be loaded
/// Cost      348 calls; half a second if they are fast
problem::result<kernel_capabilities> capabilities_of(kernel_library const& library, contract const& claim,
                                                     isolation_limits const& limits);

}  // namespace attest::audit
