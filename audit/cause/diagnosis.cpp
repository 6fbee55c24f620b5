#include "audit/cause/diagnosis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/cause/fit.hpp"
#include "audit/cause/hypotheses/changes.hpp"
#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/tensors/elements.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

/// The output at this index in double arithmetic, which is no truth. Requires  rank 4, and no weight that is dropped
double estimated_output(owned_problem const& p, violation const& wrong) {
  auto const [b, h, i, c] = wrong.index;
  problem_draft const& draft = p.draft();
  problem::sizes const& s = p.size();
  std::int64_t const hk = reference::key_head(s, h);
  double const sigma = sigma_of(p);
  double most = draft.sink ? sink_of(draft, b, h) : -HUGE_VAL, sum = draft.sink ? 1 : 0, output = 0;
  for (std::int64_t j = 0; j < s.m; ++j) {
    if (!sees(p, b, h, i, j)) continue;
    double product = 0;
    for (std::int64_t t = 0; t < s.d; ++t)
      product += load(draft.q, offset_of(draft.q, b, h, i, t)) * load(draft.k, offset_of(draft.k, b, hk, j, t));
    double const score = capped(product * sigma, draft.softcap) + bias_of(p, b, h, i, j);
    double const above = std::max(score, most), kept = std::exp(most - above), weight = std::exp(score - above);
    sum = sum * kept + weight, most = above;
    output = output * kept + weight * load(draft.v, offset_of(draft.v, b, hk, j, c));
  }
  return output / sum;
}

/// Is `got` nearer to the output of `instead` than a quarter of its distance to the truth, which is above the bound? An
/// estimate that is not nearer than half of it spares the exact row.
bool explains(owned_problem const& instead, violation const& wrong) {
  if (!instead.draft().keep) {
    double const estimated = estimated_output(instead, wrong), difference = std::abs(estimated - wrong.truth_upper);
    if (std::isfinite(estimated) && !(std::abs(wrong.got - estimated) <= difference / 2)) return false;
  }
  return std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        auto const [b, h, i, c] = wrong.index;
        reference::enclosed_row<128, T> row;
        reference::compiled::enclose_row(p, b, h, i, row);
        auto const exact = reference::compiled::output(p, row, c);
        if (row.kind != reference::row_kind::finite || exact.kind != reference::value_kind::finite) return false;
        double const value = reference::upper(exact.value), difference = std::abs(value - wrong.truth_upper);
        return difference > wrong.bound && std::abs(wrong.got - value) <= difference / 4;
      },
      instead.instance());
}

/// A mistake is committed on a copy of the problem.
bool can_be_diagnosed(owned_problem const& problem) {
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  return problem.rank() == 4 && problem.draft().k.bytes.size() + problem.draft().v.bytes.size() <= most_bytes;
}

}  // namespace

diagnosis diagnose(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                   violation const& wrong) {
  if (wrong.output != "o" || !std::isfinite(wrong.got) || !can_be_diagnosed(problem)) return {};
  answered_call const call = of_rank_4(problem, {.o = outputs.o}, claim);
  for (hypothesis const& tried : hypotheses()) {
    if (!tried.plain) continue;
    for (answered_call const& supposed : tried.suppose(call, nullptr))
      if (double worst = 0; explains(supposed.problem, wrong) && fit_of_row({supposed}, wrong, worst) == fit::certified)
        return {problem.size().dv == 1
                    ? fmt::format("it equals {}", tried.plain)
                    : fmt::format("all {} outputs of its row equal {}", problem.size().dv, tried.plain),
                tried.bug_class};
  }
  return {};
}

void keep_answer_of(std::string_view mistake, std::string& sentence) {
  hypothesis const* const named = find_hypothesis(mistake);
  constexpr std::string_view fits = " fits one mistake: ";
  if (std::size_t const at = sentence.find(fits); named && at != std::string::npos) {
    std::size_t const begin = sentence.rfind(';', at), said = at + fits.size(),
                      end = std::min(sentence.find(';', said), sentence.size());
    if (sentence.substr(said, end - said) != named->sentence) sentence.erase(begin, end - begin);
  }
  if (!named || !named->plain) return;
  std::string_view const own = named->plain;
  for (std::string_view const verb : {"; it equals ", " outputs of its row equal "}) {
    std::size_t const at = sentence.find(verb);
    if (at == std::string::npos) continue;
    std::size_t const begin = sentence.rfind(';', at), answer = at + verb.size(),
                      end = std::min(sentence.find(';', answer), sentence.size());
    if (std::string_view(sentence).substr(answer, end - answer) != own) sentence.erase(begin, end - begin);
  }
}

}  // namespace attest::audit
