#include "audit/report/report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace attest::audit {

std::string kernel_build::words() const {
  std::string const short_claim = claim.substr(0, 16), short_hash = sha256.substr(0, 16);
  if (is_builtin()) return fmt::format("built in, attest {}, {}, claim {}…", version, instructions, short_claim);
  if (sha256.empty()) return fmt::format("{} of a library that could not be read", symbol);
  return fmt::format("{} of a library with SHA-256 {}…", symbol, short_hash);
}

judgement report::total() const {
  judgement sum;
  for (check_result const& row : checks) sum.merge(judgement(row.sum));
  return sum;
}

verdict worst(std::span<report const> all) {
  auto const has = [&](verdict wanted) { return std::ranges::find(all, wanted, &report::verdict) != all.end(); };
  return has(verdict::refuted) ? verdict::refuted : has(verdict::undecided) ? verdict::undecided : verdict::certified;
}

}  // namespace attest::audit
