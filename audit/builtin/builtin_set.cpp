// libattest_kernel_SET.so: the built-in kernel, restricted to one instruction set when it is loaded. Compiled once for
// each word of builtin_sets.cpp, with that word as ATTEST_BUILTIN_SET.
#include <string_view>

#include "audit/builtin/builtin_sets.hpp"
#include "fast/simd/operations.hpp"

namespace attest::audit {
namespace {

/// The audit does not load this library on a machine without the instruction set.
[[maybe_unused]] bool const restricted = [] {
  for (builtin_set const& set : builtin_sets())
    if (set.word == ATTEST_BUILTIN_SET) return fast::use_simd_target(set.name);
  return false;
}();

}  // namespace
}  // namespace attest::audit
