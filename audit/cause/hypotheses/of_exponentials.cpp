// Hypotheses about exponentials that end: below some x, exp(x) is its value at x.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"

namespace attest::audit {
namespace {

/// exp(x) is e^least where x < least, in weights and, unless they are alone, where O and l are rescaled, in blocks of
/// keys. A score of −∞ has no weight, or, of weights alone, that one.
supposition ends_at(double least, std::int64_t block, bool weights_alone) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m == 0) return {};
    score_table const score(p);
    problem_draft draft = p.draft();
    // Beside a bias of −10³⁰ no score is left in a sum.
    problem_draft bare = draft;
    bare.bias.reset();
    owned_problem const unbiased = p.draft().bias ? owned_problem::of_valid(std::move(bare)) : p;
    score_table const product(unbiased);
    bool any = false;
    std::vector<double> rescaled(static_cast<std::size_t>((m + block - 1) / block));  // ln of what a block is scaled by
    set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      double const s = score(b, h, i, j), most = score.largest(b, h, i);
      if (j == 0) {
        double later = 0, top = most;
        for (std::size_t at = rescaled.size(); at-- > 0;) {
          double const here = score.largest(b, h, i, 0, (static_cast<std::int64_t>(at) + 1) * block);
          double const factor = weights_alone ? here - top : std::max(here - top, least);
          if (std::isfinite(here)) later += factor, top = here;
          rescaled[at] = later;
        }
      }
      double const beside = score.largest(b, h, i, 0, (j / block + 1) * block);
      bool const counts = std::isfinite(s) || (s == -HUGE_VAL && weights_alone && std::isfinite(beside));
      if (!score.visible(b, h, i, j) || !counts || !std::isfinite(most)) return bias_of(p, b, h, i, j);
      double const is = most + std::max(s - beside, least) + rescaled[static_cast<std::size_t>(j / block)];
      if (is - s <= 1e-9) return bias_of(p, b, h, i, j);  // up to the roundings of this sum
      any = true;
      return is - product(b, h, i, j);
    });
    return any ? with_problem(call, std::move(draft)) : std::vector<answered_call>();
  };
}

}  // namespace

void add_hypotheses_of_exponentials(hypothesis_list& to) {
  constexpr std::int64_t whole_row = std::int64_t{1} << 40;
  for (double const least : {-88.0, -87.0, -80.0, -64.0, -50.0, -30.0, -20.0})
    for (std::int64_t const block : {whole_row, std::int64_t{16}, std::int64_t{64}, std::int64_t{128}})
      for (bool const weights_alone : {false, true}) {
        if (block == whole_row && weights_alone) continue;  // nothing is rescaled
        std::string const blocks = block == whole_row ? "" : fmt::format("-{}", block);
        adds_problems_to(to, bug_class::cheap_exp)(
            fmt::format("exp-from-e^{:g}{}{}", least, blocks, weights_alone ? "-in-weights" : ""),
            fmt::format("exp(x) is exp({0:g}) where x is below {0:g}{1}{2}", least,
                        weights_alone ? ", in weights and not where O and l are rescaled" : "",
                        block == whole_row ? "" : fmt::format(", in blocks of {} keys", block)),
            ends_at(least, block, weights_alone));
      }
}

}  // namespace attest::audit
