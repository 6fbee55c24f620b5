#include "audit/judge/judgement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace attest::audit {
namespace {

/// Larger errors first; equal errors by output and index, so that the order does not depend on threads.
bool worse(violation const& a, violation const& b) {
  if (a.error_in_bounds != b.error_in_bounds) return a.error_in_bounds > b.error_in_bounds;
  return std::tie(a.output, a.index) < std::tie(b.output, b.index);
}

bool is_alike(violation const& a, violation const& b) { return a.output == b.output && a.bug_class == b.bug_class; }

/// Is there an earlier, thus worse, violation of the same output and class?
bool has_worse_of_its_kind(std::vector<violation> const& ordered, std::size_t at) {
  auto const end = ordered.begin() + static_cast<std::ptrdiff_t>(at);
  return std::any_of(ordered.begin(), end, [&](violation const& other) { return is_alike(other, ordered[at]); });
}

bool is_finite_for_finite(violation const& wrong) {
  return problem::output_named(wrong.output) && std::isfinite(wrong.got) && std::isfinite(wrong.truth_lower) &&
         std::isfinite(wrong.truth_upper);
}

/// Is it about a step that a finite number does not show?
bool is_unseen_step(bug_class which) {
  using enum bug_class;
  constexpr std::array steps{crash, nan_swallowed, cheap_exp, low_precision, fast_math};
  return std::ranges::find(steps, which) != steps.end();
}

}  // namespace

void suspect(std::vector<violation>& wrong, bug_class by_check) {
  bool const wrong_o = std::ranges::find(wrong, "o", &violation::output) != wrong.end();
  for (violation& v : wrong) {
    if (v.bug_class) continue;
    if (v.output == "lse" && !wrong_o) {
      v.bug_class = bug_class::lse;
      continue;
    }
    v.bug_class = is_unseen_step(by_check) && is_finite_for_finite(v) ? bug_class::accuracy : by_check;
    v.basis = class_basis::check;
  }
}

bool judgement::keeps(violation const& found) const {
  auto const at = std::ranges::upper_bound(violations, found, worse);
  bool const first_of_its_kind =
      std::none_of(violations.begin(), at, [&](violation const& other) { return is_alike(other, found); });
  if (violations.size() < kept || first_of_its_kind) return true;
  // It is dropped itself, unless a less bad one goes in its place.
  for (auto after = at; after != violations.end(); ++after)
    if (is_alike(*after, found) ||
        has_worse_of_its_kind(violations, static_cast<std::size_t>(after - violations.begin())))
      return true;
  return false;
}

void judgement::add(violation&& found) {
  violations.insert(std::ranges::upper_bound(violations, found, worse), std::move(found));
  if (violations.size() <= kept) return;
  // Every dropped violation has a worse one of its kind, and `kept` better placed ones, in whatever order they come.
  for (std::size_t at = violations.size(); at-- > 0;)
    if (has_worse_of_its_kind(violations, at)) {
      violations.erase(violations.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
}

std::int64_t judgement::not_judged() const noexcept {
  return std::accumulate(left_out.begin(), left_out.end(), std::int64_t{0});
}

std::int64_t judgement::dull() const noexcept {
  std::int64_t sum = 0;
  for (auto const& of_output : sharpness)
    for (audit::sharpness const& of : of_output) sum += of.dull;
  return sum;
}

void judgement::add(tally const& other) noexcept {
  by_theorem += other.by_theorem, by_dominance += other.by_dominance, by_rule += other.by_rule;
  for (std::size_t output = 0; output < shares.size(); ++output) shares[output].add(other.shares[output]);
  suspicious += other.suspicious;
  max_error_in_bounds = std::max(max_error_in_bounds, other.max_error_in_bounds);
  max_ulp = std::max(max_ulp, other.max_ulp);
  max_error = std::max(max_error, other.max_error);
}

void judgement::merge(judgement&& other) {
  add(static_cast<tally const&>(other));
  for (std::size_t why = 0; why < left_out.size(); ++why) left_out[why] += other.left_out[why];
  for (std::size_t output = 0; output < returned.size(); ++output) returned[output] += other.returned[output];
  for (preset_comparison const& comparison : other.beside) audit::merge(beside, comparison);
  undecided += other.undecided;
  failed += other.failed;
  not_certified += other.not_certified;
  exist += other.exist;
  for (std::size_t output = 0; output < sharpness.size(); ++output)
    for (std::size_t size = 0; size < sharpness[output].size(); ++size)
      sharpness[output][size].merge(other.sharpness[output][size]);
  for (std::size_t output = 0; output < systematic.size(); ++output)
    for (std::size_t type = 0; type < systematic[output].size(); ++type)
      systematic[output][type].merge(other.systematic[output][type]);
  for (violation& wrong : other.violations) add(std::move(wrong));
}

}  // namespace attest::audit
