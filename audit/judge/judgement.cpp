#include "audit/judge/judgement.hpp"

#include <algorithm>
#include <tuple>

namespace attest::audit {
namespace {

/// Larger errors first; equal errors by output and index, so that the order does not depend on threads.
bool worse(violation const& a, violation const& b) {
  if (a.error_in_bounds != b.error_in_bounds) return a.error_in_bounds > b.error_in_bounds;
  return std::tie(a.output, a.index) < std::tie(b.output, b.index);
}

}  // namespace

void judgement::add(violation&& found) {
  auto const at = std::ranges::upper_bound(violations, found, worse);
  if (at == violations.end() && violations.size() >= kept) return;
  violations.insert(at, std::move(found));
  if (violations.size() > kept) violations.pop_back();
}

void judgement::merge(judgement&& other) {
  by_theorem += other.by_theorem;
  by_dominance += other.by_dominance;
  by_rule += other.by_rule;
  not_judged += other.not_judged;
  suspicious += other.suspicious;
  undecided += other.undecided;
  failed += other.failed;
  max_error_in_bounds = std::max(max_error_in_bounds, other.max_error_in_bounds);
  max_ulp = std::max(max_ulp, other.max_ulp);
  max_error = std::max(max_error, other.max_error);
  for (violation& wrong : other.violations) add(std::move(wrong));
}

}  // namespace attest::audit
