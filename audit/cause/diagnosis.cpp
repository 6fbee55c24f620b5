#include "audit/cause/diagnosis.hpp"

#include <cmath>

#include <fmt/format.h>

#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// Is `got` the output of `instead` at this element, up to a thousandth of its distance to the truth?
bool explains(owned_problem const& instead, violation const& wrong) {
  return std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        auto const [b, h, i, c] = wrong.index;
        reference::enclosed_row<128, T> row;
        reference::compiled::enclose_row(p, b, h, i, row);
        auto const exact = reference::compiled::output(p, row, c);
        if (row.kind != reference::row_kind::finite || exact.kind != reference::value_kind::finite) return false;
        double const value = reference::upper(exact.value), difference = std::abs(value - wrong.truth_upper);
        return std::abs(wrong.got - value) <= 1e-3 * difference;
      },
      instead.instance());
}

/// A mistake is committed on a copy of the problem.
bool can_be_diagnosed(owned_problem const& problem) {
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  return problem.rank() == 4 && problem.draft().k.bytes.size() + problem.draft().v.bytes.size() <= most_bytes;
}

}  // namespace

diagnosis diagnose(owned_problem const& problem, contract const& claim, violation const& wrong) {
  if (wrong.output != "o" || !std::isfinite(wrong.got) || !can_be_diagnosed(problem)) return {};
  answered_call const call{problem, {}, claim};
  for (hypothesis const& tried : hypotheses()) {
    if (!tried.plain) continue;
    for (answered_call const& supposed : tried.suppose(call, nullptr))
      if (explains(supposed.problem, wrong))
        return {fmt::format("it equals {}", tried.plain->answer), tried.plain->bug_class};
  }
  return {};
}

}  // namespace attest::audit
