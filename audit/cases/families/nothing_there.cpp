// Problems in which a size is 0.
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {

/// The call follows a full call of the same form, so that an answer that is not written shows the earlier one.
void add_nothing_there(case_list& to) {
  struct nothing {
    char const* name;
    problem::sizes s;
  };
  problem::sizes const full{2, 2, 2, 8, 8, 8, 8};
  auto const in_form = [&](problem::sizes const& s, std::string_view form, random_stream& random) {
    problem_draft draft = gaussian(s, to.type(), random);
    if (form == "causal") draft.band = {0, -1, 0};
    if (form == "mask")
      add_mask(draft, 1, 1, s.n, s.m, [](auto, auto, auto i, auto j) { return i == j || j % 2 == 0; });
    if (form == "padding") add_mask(draft, s.b, 1, 1, s.m, [](auto, auto, auto, auto j) { return j < 5; });
    if (form == "bias") add_bias(draft, 1, s.hq, s.n, s.m, [&](auto...) { return random.normal(); });
    return draft;
  };
  for (auto const& [what, s] :
       {nothing{"no-batch", {0, 2, 2, 8, 8, 8, 8}}, nothing{"no-heads", {2, 0, 0, 8, 8, 8, 8}},
        nothing{"no-dimensions", {2, 2, 2, 8, 8, 0, 8}}, nothing{"no-columns", {2, 2, 2, 8, 8, 8, 0}},
        nothing{"no-queries", {2, 2, 2, 0, 8, 8, 8}}, nothing{"no-keys", {2, 2, 2, 8, 0, 8, 8}},
        nothing{"no-tokens", {2, 2, 2, 0, 0, 8, 8}}})
    for (std::string_view const form : {"plain", "causal", "mask", "padding", "bias"}) {
      std::string const name = fmt::format("{}-{}", what, form);
      auto random = to.random("nothing-there", name);
      to.add("nothing-there", name, in_form(s, form, random))
          .further.push_back({.is = relation::warm_up,
                              .problem = owned_problem::of_valid(in_form(full, form, random)),
                              .says = "the call before, in which nothing is missing"});
    }
}

}  // namespace attest::audit
