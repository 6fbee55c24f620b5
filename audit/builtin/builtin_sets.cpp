#include "audit/builtin/builtin_sets.hpp"

#include <algorithm>

#include "fast/simd/operations.hpp"

namespace attest::audit {
namespace {

/// Plain code is SCALAR where the compiler has no vectors for EMU128.
constexpr builtin_set known[]{{"avx512", "AVX3"}, {"avx2", "AVX2"}, {"scalar", "EMU128"}, {"scalar", "SCALAR"}};

}  // namespace

std::vector<builtin_set> builtin_sets() {
  std::vector<builtin_set> made;
  for (std::string_view const name : fast::simd_targets())
    if (auto const at = std::ranges::find(known, name, &builtin_set::name); at != std::end(known)) made.push_back(*at);
  return made;
}

}  // namespace attest::audit
