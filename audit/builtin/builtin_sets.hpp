// The instruction sets of the built-in kernel, for `--kernel builtin:SET`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attest::audit {

/// A word of ours for an instruction set, and what fast::simd_targets() calls it. libattest_kernel_WORD.so is the
/// built-in kernel held to it (builtin_set.cpp).
struct builtin_set {
  std::string_view word, name;
};

/// Those that this machine has, best first.
std::vector<builtin_set> builtin_sets();

}  // namespace attest::audit
