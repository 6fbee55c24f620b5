// Softcap: c·tanh(s/c) after the scale, before bias and visibility.
#include <limits>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {

void add_softcap(case_list& to) {
  problem::sizes const s{1, 2, 2, 16, 16, 8, 8}, odd{1, 4, 2, 6, 25, 16, 5};
  auto const capped = [&](double cap, double spread, std::string const& name, problem::sizes const& size) {
    auto random = to.random("softcap", name);
    problem_draft draft = gaussian(size, to.type(), random, spread);
    draft.softcap = cap;
    return draft;
  };
  // Scores far below the cap, near it, and far above: tanh is nearly the identity there, bends, or is flat.
  for (double const cap : {0.5, 2.0, 30.0, 50.0, 150.0})
    for (double const spread : {0.1, 1.0, 8.0, 64.0}) {
      std::string const name = fmt::format("cap{}-spread{}", cap, spread);
      to.add("softcap", name, capped(cap, spread, name, s));
      if (spread == 1) to.add("softcap", name + named_sizes(odd), capped(cap, spread, name, odd));
    }
  to.add("softcap", "cap2-d64", capped(2, 4, "cap2-d64", {1, 2, 2, 16, 16, 64, 64}));
  // A bias larger than the cap shows whether it was added before or after the cap. So does −∞, which a cap would turn
  // into −c.
  double const minus_infinity = -std::numeric_limits<double>::infinity();
  for (double const cap : {1.0, 30.0}) {
    auto random = to.random("softcap", "bias");
    problem_draft draft = capped(cap, 4, fmt::format("cap{}-bias", cap), s);
    add_bias(draft, 1, s.hq, s.n, s.m, [&](auto...) { return 3 * cap * random.normal(); });
    to.add("softcap", fmt::format("cap{}-bias", cap), draft);
    add_bias(draft, 1, 1, s.n, s.m, [&](auto...) { return random.below(3) ? random.normal() : minus_infinity; });
    to.add("softcap", fmt::format("cap{}-bias-minus-infinity", cap), draft);
    draft = capped(cap, 4, fmt::format("cap{}-mask", cap), s);
    add_mask(draft, 1, 1, s.n, s.m, [&](auto...) { return random.below(3) != 0; });
    to.add("softcap", fmt::format("cap{}-mask", cap), draft);
    draft = capped(cap, 4, fmt::format("cap{}-causal", cap), s);
    draft.band = {s.m - s.n, -1, 0};
    to.add("softcap", fmt::format("cap{}-causal", cap), std::move(draft));
    std::string const variant = fmt::format("cap{}-causal{}", cap, named_sizes(odd));
    draft = capped(cap, 4, variant, odd);
    draft.band = {odd.m - odd.n, -1, 0};
    to.add("softcap", variant, std::move(draft));
  }
  // The scale is applied once, before the softcap: if it is applied twice or not at all, the result differs.
  for (double const scale : {-0.5, 0.0, 4.0}) {
    problem_draft draft = capped(2, 1, fmt::format("scale{}", scale), s);
    draft.scale = scale;
    to.add("softcap", fmt::format("scale{}", scale), std::move(draft));
  }
  // Two keys, d = 1: O shows the full error of tanh, both near 0 and in the bend.
  for (double const score : {0x1p-12, 0.25, 1.0, 3.0, 9.0}) {
    std::string const name = fmt::format("two-keys-{:.6g}", score);
    problem_draft draft = blank({1, 1, 1, 1, 2, 1, 2}, to.type());
    draft.scale = 1, draft.softcap = 4;
    store(draft.q, 0, 1);
    fill(draft.k, [&](auto, auto, auto j, auto) { return j == 0 ? score : 0; });
    fill(draft.v, [](auto, auto, auto j, auto c) { return c == 0 ? (j == 0 ? 1.0 : 0.0) : (j == 0 ? 1.0 : -1.0); });
    to.add("softcap", name, std::move(draft));
  }
  problem_draft huge = capped(30, 1, "huge-scores", s);
  huge.scale = 1e15;
  to.add("softcap", "huge-scores", std::move(huge)).beyond = true;
  auto random = to.random("softcap", "decode");
  problem_draft decode = gaussian({2, 4, 1, 1, 70, 32, 16}, to.type(), random, 2);
  decode.softcap = 15;
  to.add("softcap", "decode", std::move(decode));
}

}  // namespace attest::audit
