// Dropout with a given mask: probabilities from 0 to 1 − 2⁻¹⁰, and masks that keep all keys, none, one, or drawn ones.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/families/sinks.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {

void add_dropouts(case_list& to) {
  {
    auto random = to.random("dropout", "plain");
    problem_draft draft = gaussian({1, 2, 2, 16, 16, 8, 8}, to.type(), random);
    draft.dropout = 0.25;
    draft.keep = owned_tensor::compact(problem::element_type::u8, {1, 2, 16, 16});
    fill(*draft.keep, [&](auto...) { return random.below(4) != 0 ? 1.0 : 0.0; });
    to.add("dropout", "plain", std::move(draft));
  }
  for (double const p : {0.0, 0.25, 0.5, 0.90625, 1 - 0x1p-10})
    for (char const* const how : {"all", "none", "one", "checkerboard", "drawn", "with-sink", "causal", "by-head"}) {
      std::string const kind = how, name = fmt::format("{}-p{}", how, p);
      if (to.options().quick && p != 0.25 && kind != "drawn") continue;
      auto random = to.random("dropout", name);
      problem_draft draft = gaussian({2, 4, 2, 5, 11, 8, 8}, to.type(), random);
      draft.dropout = p;
      draft.keep = owned_tensor::compact(problem::element_type::u8, {2, kind == "by-head" ? 4 : 1, 5, 11});
      fill(*draft.keep, [&](auto, auto, auto i, auto j) {
        if (kind == "all") return 1.0;
        if (kind == "none") return i == 0 ? 0.0 : 1.0;
        if (kind == "one") return j == i ? 1.0 : 0.0;
        if (kind == "checkerboard") return (i + j) % 2 == 0 ? 1.0 : 0.0;
        return random.below(3) != 0 ? 1.0 : 0.0;
      });
      if (kind == "with-sink") add_sink(draft, 0, [&](auto, auto) { return 2 + random.normal(); });
      if (kind == "causal") draft.band = {6, -1, 0};
      to.add("dropout", name, std::move(draft));
    }
}

}  // namespace attest::audit
