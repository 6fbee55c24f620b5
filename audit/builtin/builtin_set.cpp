// libattest_kernel_SET.so: the built-in kernel, held to one instruction set from the moment it is loaded. Compiled once
// for each word of builtin_sets.cpp, with that word as ATTEST_BUILTIN_SET.
#include <string_view>

#include "audit/builtin/builtin_sets.hpp"
#include "fast/simd/operations.hpp"

namespace attest::audit {
namespace {

/// The audit does not load it where the machine has no such set.
[[maybe_unused]] bool const held = [] {
  for (builtin_set const& each : builtin_sets())
    if (each.word == ATTEST_BUILTIN_SET) return fast::use_simd_target(each.name);
  return false;
}();

}  // namespace
}  // namespace attest::audit
