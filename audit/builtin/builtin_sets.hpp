// The instruction sets of the built-in kernel, for `--kernel builtin:SET`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attest::audit {

/// An instruction set: its word on the command line, and its name in fast::simd_targets(). libattest_kernel_WORD.so is
/// the built-in kernel restricted to it (builtin_set.cpp).
struct builtin_set {
  std::string_view word, name;
};

/// The instruction sets of this machine, best first.
std::vector<builtin_set> builtin_sets();

}  // namespace attest::audit
