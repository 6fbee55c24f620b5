// Softcap: c·tanh(s/c) after the scale, before bias and visibility.
#include <limits>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {

void add_softcap(case_list& to) {
  problem::sizes const s{1, 4, 2, 6, 25, 16, 5};
  auto const capped = [&](double cap, double spread, std::string const& name) {
    auto random = to.random("softcap", name);
    problem_draft made = gaussian(s, to.type(), random, spread);
    made.softcap = cap;
    return made;
  };
  // Scores far below the cap, about it, and far above: tanh is the identity, bends, is flat.
  for (double const cap : {0.5, 2.0, 30.0, 50.0})
    for (double const spread : {0.1, 1.0, 8.0, 64.0}) {
      std::string const name = fmt::format("cap{}-spread{}", cap, spread);
      to.add("softcap", name, capped(cap, spread, name));
    }
  // A bias beyond the cap shows which of the two came first; so does −∞, which a late cap would make −c.
  double const minus_infinity = -std::numeric_limits<double>::infinity();
  for (double const cap : {1.0, 30.0}) {
    auto random = to.random("softcap", "bias");
    problem_draft made = capped(cap, 4, fmt::format("cap{}-bias", cap));
    add_bias(made, 1, s.hq, s.n, s.m, [&](auto...) { return 3 * cap * random.normal(); });
    to.add("softcap", fmt::format("cap{}-bias", cap), made);
    add_bias(made, 1, 1, s.n, s.m, [&](auto...) { return random.below(3) ? random.normal() : minus_infinity; });
    to.add("softcap", fmt::format("cap{}-bias-minus-infinity", cap), made);
    made = capped(cap, 4, fmt::format("cap{}-mask", cap));
    add_mask(made, 1, 1, s.n, s.m, [&](auto...) { return random.below(3) != 0; });
    to.add("softcap", fmt::format("cap{}-mask", cap), made);
    made = capped(cap, 4, fmt::format("cap{}-causal", cap));
    made.band = {s.m - s.n, -1, 0};
    to.add("softcap", fmt::format("cap{}-causal", cap), std::move(made));
  }
  // The scale comes first: with it inside tanh's argument twice, or not at all, the answer is another one.
  for (double const scale : {-0.5, 0.0, 4.0}) {
    problem_draft made = capped(2, 1, fmt::format("scale{}", scale));
    made.scale = scale;
    to.add("softcap", fmt::format("scale{}", scale), std::move(made));
  }
  // Two keys, d = 1: the whole error of tanh shows, near 0 and in the bend.
  for (double const score : {0x1p-12, 0.25, 1.0, 3.0, 9.0}) {
    std::string const name = fmt::format("two-keys-{:.6g}", score);
    problem_draft made = blank({1, 1, 1, 1, 2, 1, 2}, to.type());
    made.scale = 1, made.softcap = 4;
    store(made.q, 0, 1);
    fill(made.k, [&](auto, auto, auto j, auto) { return j == 0 ? score : 0; });
    fill(made.v, [](auto, auto, auto j, auto c) { return c == 0 ? (j == 0 ? 1.0 : 0.0) : (j == 0 ? 1.0 : -1.0); });
    to.add("softcap", name, std::move(made));
  }
  problem_draft huge = capped(30, 1, "huge-scores");
  huge.scale = 1e15;
  to.add("softcap", "huge-scores", std::move(huge));
  auto random = to.random("softcap", "decode");
  problem_draft decode = gaussian({2, 4, 1, 1, 70, 32, 16}, to.type(), random, 2);
  decode.softcap = 15;
  to.add("softcap", "decode", std::move(decode));
}

}  // namespace attest::audit
