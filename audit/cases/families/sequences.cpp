// Cases of several calls: stale outputs, repeated calls, other numbers of threads, other batch positions, single rows,
// split and merge.
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"
#include "audit/tensors/slice.hpp"

namespace attest::audit {
namespace {

void add_stale(case_list& to) {
  problem::sizes const s{1, 2, 2, 16, 16, 8, 8};
  auto const after_full = [&](char const* name, auto&& make) {
    auto random = to.random("stale", name);
    problem_draft full = gaussian(s, to.type(), random);
    to.add("stale", name, make(random))
        .further.push_back(
            {.is = relation::warm_up, .problem = owned_problem::of_valid(std::move(full)), .says = "the call before"});
  };
  after_full("empty-rows-after-full", [&](random_stream& random) {
    problem_draft draft = gaussian(s, to.type(), random);
    add_mask(draft, 1, 1, s.n, s.m, [](auto, auto, auto i, auto) { return i % 2 == 0; });
    return draft;
  });
  after_full("no-keys-after-full",
             [&](random_stream& random) { return gaussian({1, 2, 2, 16, 0, 8, 8}, to.type(), random); });
  after_full("shorter-after-longer",
             [&](random_stream& random) { return gaussian({1, 2, 2, 3, 3, 8, 8}, to.type(), random); });
  after_full("fewer-queries-after-more",
             [&](random_stream& random) { return gaussian({1, 2, 2, 1, 16, 8, 8}, to.type(), random); });
}

/// The same problem again, with other numbers of threads, and its batch entries and heads alone. If there are more or
/// fewer rows than keys, also one row alone.
void add_determinism(case_list& to, std::string const& name, problem::sizes const& s) {
  auto random = to.random("determinism", name);
  audit_case& added = to.add("determinism", name, gaussian(s, to.type(), random));
  // Two repetitions: state that alternates from call to call shows in one of them.
  added.must_equal(added.problem, "the same call again");
  added.must_equal(added.problem, "the same call once more");
  added.also_with_threads({1, 2, 5});
  auto const part = [&](std::string says, selection const& chosen, std::array<std::int64_t, 3> at) {
    added.further.push_back({.is = relation::same_rows,
                             .problem = *sliced(added.problem, chosen),
                             .says = std::move(says),
                             .at = at,
                             .promised = false});
  };
  selection chosen = selection::all(s);
  chosen.b = {1};
  part("batch entry 1 alone", chosen, {1, 0, 0});
  chosen = selection::all(s);
  chosen.hk = {1};
  std::int64_t const group = s.hq / s.hk;
  part(group == 1 ? "head 1 alone" : fmt::format("heads {} to {} alone", group, 2 * group - 1), chosen, {0, group, 0});
  if (s.n == s.m) return;
  chosen = selection::all(s);
  chosen.n = {5};
  part("query 5 alone", chosen, {0, 0, 5});
}

/// Splits the keys at `cuts`: the outputs of the parts, merged by their LSE, must equal the outputs of the whole.
void add_split(case_list& to) {
  auto const cut = [&](char const* name, problem_draft whole, std::vector<std::int64_t> cuts) {
    audit_case& added = to.add("split-and-merge", name, std::move(whole));
    problem::sizes const& s = added.problem.size();
    cuts.push_back(s.m);
    std::int64_t first = 0;
    for (std::int64_t const last : cuts) {
      selection chosen = selection::all(s);
      chosen.m.clear();
      for (std::int64_t j = first; j < last; ++j) chosen.m.push_back(j);
      added.further.push_back({.is = relation::part,
                               .problem = *sliced(added.problem, chosen),
                               .says = fmt::format("keys {} to {}", first, last),
                               .at = {}});
      first = last;
    }
  };
  auto random = to.random("split-and-merge", "halves");
  problem::sizes const s{1, 2, 2, 40, 40, 8, 8}, odd{1, 2, 1, 4, 40, 8, 6};
  cut("halves", gaussian(s, to.type(), random), {20});
  cut("halves-hq2-hk1-n4-m40-d8-dv6", gaussian(odd, to.type(), random), {20});
  cut("uneven", gaussian(s, to.type(), random), {1, 7, 33});
  cut("far-apart-scores", gaussian(s, to.type(), random, 8), {13, 26});
  problem_draft causal = gaussian({1, 1, 1, 20, 20, 8, 8}, to.type(), random);
  causal.band = {0, -1, 0};
  cut("causal-with-empty-parts", std::move(causal), {10});
  problem_draft masked = gaussian(s, to.type(), random);
  add_mask(masked, 1, 1, s.n, s.m, [&](auto, auto, auto i, auto j) { return i == 1 ? j >= 20 : random.below(3) != 0; });
  cut("masked", std::move(masked), {20});
}

}  // namespace

void add_sequences(case_list& to) {
  add_stale(to);
  add_determinism(to, "square16", {3, 4, 4, 16, 16, 8, 8});
  add_determinism(to, "square64", {2, 2, 2, 64, 64, 64, 64});
  if (!to.options().quick) add_determinism(to, "square130", {2, 2, 2, 130, 130, 8, 8});
  for (std::int64_t const m : {9, 130, 600}) add_determinism(to, fmt::format("keys{}", m), {3, 4, 2, 7, m, 16, 16});
  add_split(to);
}

}  // namespace attest::audit
