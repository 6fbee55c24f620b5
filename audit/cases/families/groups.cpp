// Problems whose calls are made while the tensors of others are in memory: one after the other, or from several threads
// of the caller at the same time.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// Adds a case whose calls are the drafts, made one by one first.
audit_case& add_group(case_list& to, std::string_view check, std::string name, std::int32_t callers,
                      std::vector<problem_draft> calls) {
  audit_case& added = to.add(check, std::move(name), std::move(calls.back()));
  calls.pop_back();
  for (problem_draft& call : calls)
    added.further.push_back({.is = relation::warm_up,
                             .problem = owned_problem::of_valid(std::move(call)),
                             .says = "another call of the group"});
  added.callers = callers;
  return added;
}

/// `count` problems of one size.
std::vector<problem_draft> alike(case_list const& to, random_stream& random, int count,
                                 problem::sizes const& s = {1, 2, 2, 40, 40, 64, 64}) {
  std::vector<problem_draft> calls;
  for (int n = 0; n < count; ++n) calls.push_back(gaussian(s, to.type(), random));
  return calls;
}

/// Problems of m = n keys, each with other numbers.
std::vector<problem_draft> of_sizes(case_list const& to, random_stream& random, std::vector<std::int64_t> const& keys) {
  std::vector<problem_draft> calls;
  for (std::int64_t const m : keys) calls.push_back(gaussian({1, 2, 2, m, m, 64, 64}, to.type(), random));
  return calls;
}

void mask_at_random(problem_draft& to, random_stream& random) {
  std::int64_t const n = to.q.layout.shape[2], m = to.k.layout.shape[2];
  add_mask(to, 1, 1, n, m, [&](auto, auto, auto i, auto j) { return j == i || random.below(2) != 0; });
}

/// This is no multiple of the number of threads, 2 or 4, so that each thread asks every problem.
int problems_for(std::int32_t callers) { return callers + 1; }

void add_concurrent_calls(case_list& to) {
  constexpr std::string_view check = "concurrent-calls";
  for (std::int32_t const callers : {2, 4}) {
    auto const named = [&](char const* form) { return fmt::format("{}-{}-threads", form, callers); };
    auto const draw = [&](char const* form) { return to.random(check, named(form)); };
    int const count = problems_for(callers);
    auto random = draw("plain");
    add_group(to, check, named("plain"), callers, alike(to, random, count));
    random = draw("other-lengths");
    std::vector<std::int64_t> lengths{64, 17, 40, 5, 48};
    lengths.resize(static_cast<std::size_t>(count));
    add_group(to, check, named("other-lengths"), callers, of_sizes(to, random, lengths));
    if (to.options().quick) continue;
    random = draw("causal");
    std::vector<problem_draft> causal = alike(to, random, count);
    for (problem_draft& call : causal) call.band = {0, -1, 0};
    add_group(to, check, named("causal"), callers, std::move(causal));
    random = draw("masked");
    std::vector<problem_draft> masked = alike(to, random, count);
    for (problem_draft& call : masked) mask_at_random(call, random);
    add_group(to, check, named("masked"), callers, std::move(masked));
    random = draw("one-query");
    add_group(to, check, named("one-query"), callers, alike(to, random, count, {1, 8, 8, 1, 130, 64, 64}));
    random = draw("one-thread-each");
    audit_case& single = add_group(to, check, named("one-thread-each"), callers, alike(to, random, count));
    single.threads = 1;
    for (further_call& call : single.further) call.threads = 1;
  }
}

void add_earlier_outputs(case_list& to) {
  constexpr std::string_view check = "earlier-outputs";
  auto random = to.random(check, "plain");
  add_group(to, check, "plain", 1, alike(to, random, 3));
  random = to.random(check, "growing-and-shrinking");
  add_group(to, check, "growing-and-shrinking", 1, of_sizes(to, random, {5, 17, 64, 40}));
  random = to.random(check, "one-query");
  add_group(to, check, "one-query", 1, alike(to, random, 3, {1, 8, 8, 1, 130, 64, 64}));
  random = to.random(check, "masked-then-none");
  std::vector<problem_draft> calls = alike(to, random, 2);
  mask_at_random(calls.front(), random);
  add_group(to, check, "masked-then-none", 1, std::move(calls));
}

}  // namespace

void add_groups(case_list& to) {
  add_earlier_outputs(to);
  add_concurrent_calls(to);
}

}  // namespace attest::audit
