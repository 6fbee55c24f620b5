// Sequences of calls of one kernel, as a program for conversations makes them. Every answer is judged.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

constexpr std::int64_t most_keys = 64;

/// Rows first … first + count − 1 of a tensor [b, h, rows, c].
owned_tensor rows_of(owned_tensor const& from, std::int64_t first, std::int64_t count) {
  auto const& shape = from.layout.shape;
  owned_tensor part = owned_tensor::compact(from.type, {shape[0], shape[1], count, shape[3]});
  fill(part, [&](auto b, auto h, auto i, auto c) { return load(from, offset_of(from, b, h, first + i, c)); });
  return part;
}

/// The last `queries` tokens of the first `keys` ones of a conversation.
problem_draft turn(problem_draft const& conversation, std::int64_t queries, std::int64_t keys) {
  problem_draft draft;
  draft.scale = conversation.scale;
  draft.q = rows_of(conversation.q, keys - queries, queries);
  draft.k = rows_of(conversation.k, 0, keys), draft.v = rows_of(conversation.v, 0, keys);
  return draft;
}

/// Adds the calls in their order: the last is the case's own, the earlier ones are its warm-ups.
void add_sequence(case_list& to, std::string const& name, std::vector<problem_draft> calls) {
  audit_case& added = to.add("sequences", name, std::move(calls.back()));
  calls.pop_back();
  for (std::size_t at = 0; at < calls.size(); ++at) {
    auto const& shape = calls[at].k.layout.shape;
    added.further.push_back({.is = relation::warm_up,
                             .problem = owned_problem::of_valid(calls[at]),
                             .says = fmt::format("call {} before it, with {} keys", calls.size() - at, shape[2])});
  }
}

}  // namespace

void add_conversations(case_list& to) {
  std::vector<std::int64_t> const rising{1, 2, 8, 15, 16, 17, 33, most_keys};
  std::vector<std::int64_t> there_and_back = rising;
  there_and_back.insert(there_and_back.end(), rising.rbegin() + 1, rising.rend());
  auto const conversation = [&](random_stream& random, std::int64_t heads = 2) {
    return gaussian({1, heads, heads, most_keys, most_keys, 8, 8}, to.type(), random);
  };
  auto const causal = [](problem_draft draft) {
    draft.band = {draft.k.layout.shape[2] - draft.q.layout.shape[2], -1, 0};
    return draft;
  };
  auto const masked = [](problem_draft draft, random_stream& random) {
    std::int64_t const n = draft.q.layout.shape[2], m = draft.k.layout.shape[2];
    add_mask(draft, 1, 1, n, m, [&](auto, auto, auto i, auto j) { return j == i || random.below(2) != 0; });
    return draft;
  };

  for (bool const with_causal : {false, true}) {
    std::string const name = with_causal ? "prompts-there-and-back-causal" : "prompts-there-and-back";
    auto random = to.random("sequences", name);
    problem_draft const talk = conversation(random);
    std::vector<problem_draft> calls;
    for (std::int64_t const keys : there_and_back)
      calls.push_back(with_causal ? causal(turn(talk, keys, keys)) : turn(talk, keys, keys));
    add_sequence(to, name, std::move(calls));
  }
  {
    auto random = to.random("sequences", "decoding-there-and-back");
    problem_draft const talk = conversation(random);
    std::vector<problem_draft> calls;
    for (std::int64_t const keys : there_and_back) calls.push_back(turn(talk, 1, keys));
    add_sequence(to, "decoding-there-and-back", std::move(calls));
  }
  {
    auto random = to.random("sequences", "one-query-many-one");
    problem_draft const talk = conversation(random);
    std::vector<problem_draft> calls;
    for (std::int64_t const queries : {1, 33, 1}) calls.push_back(turn(talk, queries, 33));
    add_sequence(to, "one-query-many-one", std::move(calls));
  }
  for (bool const masked_first : {true, false}) {
    std::string const name = masked_first ? "mask-then-none" : "none-then-mask";
    auto random = to.random("sequences", name);
    problem_draft const talk = conversation(random);
    problem_draft const with = masked(turn(talk, 17, 17), random), without = turn(talk, 17, 17);
    add_sequence(to, name, masked_first ? std::vector{with, without} : std::vector{without, with});
  }
  {
    // One key, another conversation of the same sizes, and back to the first.
    auto random = to.random("sequences", "two-conversations");
    problem_draft const one = conversation(random), other = conversation(random);
    std::vector<problem_draft> calls;
    for (std::int64_t const keys : {1, 16, 33})
      for (problem_draft const* const talk : {&one, &other, &one}) calls.push_back(turn(*talk, keys, keys));
    add_sequence(to, "two-conversations", std::move(calls));
  }
  {
    auto random = to.random("sequences", "other-head-counts");
    std::vector<problem_draft> calls;
    for (std::int64_t const heads : {2, 8, 1, 4, 2}) calls.push_back(turn(conversation(random, heads), 16, 16));
    add_sequence(to, "other-head-counts", std::move(calls));
  }
}

}  // namespace attest::audit
