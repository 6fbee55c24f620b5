// Values at keys that a query may not see yet: NaN, infinity and the largest number, apart in K and in V.
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {

/// Four heads. In heads 0 and 1 the poison lies in one key: key 1, or a drawn one. In heads 2 and 3 it lies in all keys
/// from a drawn one on, or from the last one on. Queries before the poison answer as if it were not there. Queries that
/// see it answer NaN, an infinity, or by scores or values that are too large to be judged.
void add_causal_poison(case_list& to) {
  struct form {
    char const* name;
    std::int64_t n, m, diagonal;
  };
  struct payload {
    char const* name;
    double value;
  };
  for (auto const& [form_name, n, m, diagonal] :
       {form{"causal-square", 24, 24, 0}, form{"causal-square-65", 65, 65, 0}, form{"causal-top-left", 8, 24, 0},
        form{"causal-bottom-right", 8, 24, 16}, form{"causal-one-query", 1, 24, 0}}) {
    if (to.options().quick && m > 24) continue;
    for (auto const& [payload_name, value] :
         {payload{"nan", std::numeric_limits<double>::quiet_NaN()},
          payload{"inf", std::numeric_limits<double>::infinity()}, payload{"huge", to.limits().largest}})
      for (bool const in_v : {false, true}) {
        std::string const name = fmt::format("{}-{}-in-{}", form_name, payload_name, in_v ? "v" : "k");
        auto random = to.random("poison", name);
        problem_draft draft = gaussian({1, 4, 4, n, m, 8, 8}, to.type(), random);
        draft.band = {diagonal, -1, 0};
        std::array const first{std::int64_t{1}, 1 + random.below(m - 1), 1 + random.below(m - 1), m - 1};
        owned_tensor& poisoned = in_v ? draft.v : draft.k;
        for (std::int64_t h = 0; h < 4; ++h) {
          std::int64_t const from = first[static_cast<std::size_t>(h)], to_key = h < 2 ? from + 1 : m;
          for (std::int64_t j = from; j < to_key; ++j)
            for (std::int64_t c = 0; c < 8; ++c) store(poisoned, offset_of(poisoned, 0, h, j, c), value);
        }
        to.add("poison", name, std::move(draft)).beyond = value == to.limits().largest;
      }
  }
}

}  // namespace attest::audit
