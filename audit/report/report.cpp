#include "audit/report/report.hpp"

#include <algorithm>

namespace attest::audit {

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
