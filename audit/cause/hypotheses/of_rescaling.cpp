// Hypotheses about blocks of keys whose weights and sums stand beside different maxima.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"

namespace attest::audit {
namespace {

/// What a key's score gains: by the largest score before its block, up to the end of its block, and of the row.
using gain = double (*)(double before, double here, double most);

/// Every key of block t weighs e^(s + gain). O, l and the LSE are formed of these weights.
supposition gains(std::int64_t block, bool last_alone, gain of) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m <= block) return {};
    score_table const score(p);
    problem_draft draft = p.draft();
    bool any = false;
    double gained = 0;
    set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      if (j % block == 0) {
        double const before = score.largest(b, h, i, 0, j), here = score.largest(b, h, i, 0, j + block),
                     most = score.largest(b, h, i);
        bool const counts = std::isfinite(here) && std::isfinite(most) && (!last_alone || j + block >= m);
        gained = counts ? of(before, here, most) : 0;
        any |= gained != 0;
      }
      return bias_of(p, b, h, i, j) + gained;
    });
    answered_call known = call;
    known.outputs.weights.reset();
    return any ? with_problem(known, std::move(draft)) : std::vector<answered_call>();
  };
}

/// The weights are e^(s − before), and the sums before them are scaled by e^(before − here).
double beside_old(double before, double here, double) { return std::isfinite(before) ? here - before : 0; }
/// The sums are scaled by 2^(before − here), the weights are e^(s − here).
double in_base_2(double, double here, double most) { return (here - most) * (std::numbers::ln2 - 1); }

/// The sums are scaled by e^(here − before), not e^(before − here).
double inverted(double, double here, double most) { return 2 * (most - here); }

}  // namespace

void add_hypotheses_of_rescaling(hypothesis_list& to) {
  auto const add = adds_problems_to(to);
  for (std::int64_t const block : {1, 8, 16, 32, 64, 128}) {
    add(fmt::format("rescaled-in-base-2-{}", block),
        fmt::format("O and l are rescaled by 2^x where the weights are e^x, in blocks of {} keys", block),
        gains(block, false, in_base_2));
    add(fmt::format("rescaled-inversely-{}", block),
        fmt::format("O and l are multiplied by e^(new - old) when the maximum moves, in blocks of {} keys", block),
        gains(block, false, inverted));
    add(fmt::format("weights-beside-old-maximum-{}", block),
        fmt::format("the weights of a block are formed beside the maximum before it, and O and l are rescaled to the "
                    "new one, in blocks of {} keys",
                    block),
        gains(block, false, beside_old));
    add(fmt::format("last-weights-beside-old-maximum-{}", block),
        fmt::format("the weights of the last block are formed beside the maximum before it, and O and l are rescaled "
                    "to the new one, in blocks of {} keys",
                    block),
        gains(block, true, beside_old));
  }
}

}  // namespace attest::audit
