// Numbers below the smallest normal number that decide the answer: a kernel that reads or writes them as 0 is far off.
#include <cmath>

#include "audit/cases/random.hpp"

namespace attest::audit {

/// With N the smallest normal number: V in [N/4, N/2], for which a kernel that flushes answers 0; K in [−N/2, N/2] with
/// q = 2^-4/N, and Q with such a K, for which flushing makes all scores equal. ‖q‖₁·N stays below 1, so that the bound
/// of a kernel that does not flush is small. Contracts that permit flushing permit it here too.
void add_subnormals(case_list& to) {
  problem::sizes const s{1, 2, 2, 16, 16, 8, 8};
  double const normal = to.limits().smallest_normal, large = 0x1p-4 / normal;
  auto const below_normal = [&](random_stream& random) { return normal * (random.uniform() - 0.5); };
  auto random = to.random("subnormals", "values");
  problem_draft draft = gaussian(s, to.type(), random);
  fill(draft.v, [&](auto...) { return normal * (0.25 + random.uniform() / 4); });
  to.add("subnormals", "values", std::move(draft));
  for (bool const in_keys : {true, false}) {
    char const* const name = in_keys ? "keys" : "queries";
    random = to.random("subnormals", name);
    draft = gaussian(s, to.type(), random);
    draft.scale = 1;
    fill(in_keys ? draft.k : draft.q, [&](auto...) { return below_normal(random); });
    // Each row has signs of its own, so that every row has other scores.
    fill(in_keys ? draft.q : draft.k, [&](auto...) { return random.below(2) ? large : -large; });
    fill(draft.v, [&](auto, auto, auto j, auto c) { return (j >> c & 1) != 0 ? 1.0 : -1.0; });
    to.add("subnormals", name, std::move(draft));
  }
}

}  // namespace attest::audit
