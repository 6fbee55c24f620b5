#include "audit/builtin/builtin_sets.hpp"

#include <algorithm>

#include "fast/simd/operations.hpp"

namespace attest::audit {
namespace {

/// Words that cmake/builtin_sets.cmake has for some processor. Highway's target for plain code is EMU128, or SCALAR if
/// the compiler has no vector extensions.
constexpr builtin_set known[]{
    {"avx512", "AVX3"}, {"avx2", "AVX2"}, {"neon", "NEON"}, {"scalar", "EMU128"}, {"scalar", "SCALAR"}};

}  // namespace

std::vector<builtin_set> builtin_sets() {
  std::vector<builtin_set> available;
  for (std::string_view const name : fast::simd_targets())
    if (auto const at = std::ranges::find(known, name, &builtin_set::name); at != std::end(known))
      available.push_back(*at);
  return available;
}

}  // namespace attest::audit
