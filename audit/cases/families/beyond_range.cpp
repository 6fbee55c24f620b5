// Numbers beyond the promises of every contract, where users meet an overflow first. The kernel's answers are reported.
#include <cmath>

#include "audit/cases/random.hpp"

namespace attest::audit {

/// "values": V near L·2^(c−7) in column c, where L is 0.3 times the largest number. Then sums of unnormalised weights
/// times V overflow, while the answer does not. "products": q·k near 2^(e−8+i) in row i, where 2^e is above the largest
/// number. The scale makes ordinary scores of these products.
void add_beyond_range(case_list& to) {
  problem::sizes const s{1, 1, 1, 16, 16, 8, 8};
  auto random = to.random("beyond-range", "values");
  problem_draft draft = gaussian(s, to.type(), random);
  fill(draft.v, [&](auto, auto, auto, auto c) {
    return std::ldexp(to.limits().largest * 0.3 * (1 - random.uniform() / 16), static_cast<int>(c) - 7);
  });
  to.add("beyond-range", "values", std::move(draft)).reads = reading::range;
  random = to.random("beyond-range", "products");
  draft = gaussian(s, to.type(), random);
  int const e = problem::row_of(to.type()).format.above_largest(), half = e / 2;
  draft.scale = std::ldexp(1.0, -e);
  fill(draft.q,
       [&](auto, auto, auto i, auto t) { return t == 0 ? std::ldexp(1.0, half - 8 + static_cast<int>(i)) : 0; });
  fill(draft.k, [&](auto, auto, auto, auto t) { return t == 0 ? std::ldexp(2 * random.uniform() - 1, half) : 0; });
  to.add("beyond-range", "products", std::move(draft)).reads = reading::range;
}

}  // namespace attest::audit
