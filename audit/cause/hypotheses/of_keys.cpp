// Hypotheses about keys that are lost or counted twice, about blocks of keys, and about heads.
#include <cmath>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

/// Key j is read where `kept` says so, and seen where it was.
using kept_keys = std::function<bool(owned_problem const&, std::int64_t j)>;
supposition reads_only(problem_question concerned, kept_keys kept) {
  return [concerned = std::move(concerned), kept = std::move(kept)](
             answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    problem::sizes const& s = call.problem.size();
    if (!concerned(call.problem) || s.b * s.hq * s.n > (std::int64_t{1} << 27) / std::max<std::int64_t>(s.m, 1))
      return {};
    problem_draft draft = call.problem.draft();
    bool const banded = draft.band.left >= 0 || draft.band.right >= 0;
    if (banded || (draft.mask && !is_small(call.problem))) {
      show(draft, s,
           [&](auto b, auto h, auto i, auto j) { return kept(call.problem, j) && sees(call.problem, b, h, i, j); });
    } else {
      auto const shape = draft.mask ? draft.mask->layout.shape : std::array<std::int64_t, 4>{1, 1, 1, s.m};
      owned_tensor mask = owned_tensor::compact(problem::element_type::u8, {shape[0], shape[1], shape[2], s.m});
      fill(mask, [&](auto b, auto h, auto i, auto j) {
        return kept(call.problem, j) && (!draft.mask || element(*draft.mask, b, h, i, j) != 0) ? 1.0 : 0.0;
      });
      draft.mask = std::move(mask);
    }
    return with_problem(call, std::move(draft));
  };
}

/// The product with V leaves out the keys that are not `kept`: their values count as 0, and their weights as they are.
supposition multiplies_only(problem_question concerned, kept_keys kept) {
  return [concerned = std::move(concerned), kept = std::move(kept)](
             answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    problem::sizes const& s = call.problem.size();
    if (!concerned(call.problem) || s.b * s.hk * s.m * s.dv > (std::int64_t{1} << 27)) return {};
    problem_draft draft = call.problem.draft();
    owned_tensor const& v = call.problem.draft().v;
    draft.v = owned_tensor::compact(v.type, {s.b, s.hk, s.m, s.dv});
    fill(draft.v, [&](auto b, auto h, auto j, auto c) {
      return kept(call.problem, j) ? load(v, offset_of(v, b, h, j, c)) : 0.0;
    });
    return with_problem(call, std::move(draft));
  };
}

/// Key `which(m)` counts twice: a copy of it stands behind the last key. Its weight is the sum of both.
supposition counts_twice(std::function<std::int64_t(std::int64_t m)> which) {
  return [which = std::move(which)](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    std::int64_t const m = call.problem.size().m;
    if (m == 0 || call.problem.size().b * call.problem.size().hq * call.problem.size().n * m > (1 << 23)) return {};
    std::int64_t const key = which(m);
    if (key < 0 || key >= m) return {};
    auto const& weights = call.outputs.weights;
    further_keys copy = copies_of(call.problem, {key});
    copy.weight = [&](auto b, auto h, auto i, auto j) {
      std::int64_t const from = j == m ? key : j;
      return load(*weights, offset_of(*weights, b, h, i, from)) * (from == key ? 0.5 : 1);
    };
    return with_further_keys(call, copy);
  };
}

/// The first key of each block except the first counts twice.
supposition shares_keys(std::int64_t block) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    if (!is_small(call.problem) || call.problem.size().m <= block) return {};
    std::vector<std::int64_t> firsts;
    for (std::int64_t j = block; j < call.problem.size().m; j += block) firsts.push_back(j);
    return with_further_keys(call, copies_of(call.problem, std::move(firsts)));
  };
}

/// Query head h reads head `head(sizes, h)` of K and V.
supposition reads_heads(problem_question concerned,
                        std::function<std::int64_t(problem::sizes const&, std::int64_t)> head) {
  return [concerned = std::move(concerned), head = std::move(head)](
             answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    problem::sizes const& s = call.problem.size();
    if (s.hq == 0 || !concerned(call.problem)) return {};
    problem_draft draft = call.problem.draft();
    auto const spread = [&](owned_tensor const& from, std::int64_t width) {
      owned_tensor to = owned_tensor::compact(from.type, {s.b, s.hq, s.m, width});
      fill(to, [&](auto b, auto h, auto j, auto t) { return load(from, offset_of(from, b, head(s, h), j, t)); });
      return to;
    };
    draft.k = spread(call.problem.draft().k, s.d), draft.v = spread(call.problem.draft().v, s.dv);
    return with_problem(call, std::move(draft));
  };
}

/// Blocks of keys in which every score lies `below` the maximum, and more, are skipped.
supposition skips_far_blocks(std::int64_t block, double below) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    problem::sizes const& s = call.problem.size();
    if (!is_small(call.problem) || s.m <= block) return {};
    score_table const score(call.problem);
    bool far = false;
    return with_sight(call, [&](auto b, auto h, auto i, auto j) {
      if (j % block == 0) {
        double const here = score.largest(b, h, i, j, j + block);
        far = here > no_score && here < score.largest(b, h, i) - below;
      }
      return !far && sees(call.problem, b, h, i, j);
    });
  };
}

/// A block of keys without a visible key ends the row.
supposition ends_at_empty_block(std::int64_t block) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    problem::sizes const& s = call.problem.size();
    if (!is_small(call.problem) || s.m <= block) return {};
    bool ended = false;
    // A pass over all keys may form the weights, beside the maximum and the sum of some.
    return with_sight(without_weights(call), [&](auto b, auto h, auto i, auto j) {
      if (j == 0) ended = false;
      if (j % block == 0 && !ended) {
        ended = true;
        for (std::int64_t at = j; at < std::min(j + block, s.m); ++at)
          ended = ended && !sees(call.problem, b, h, i, at);
      }
      return !ended && sees(call.problem, b, h, i, j);
    });
  };
}

/// A first block of keys without a visible key makes the row NaN if a later key is visible.
supposition nan_after_empty_block(std::int64_t block) {
  return [=](answered_call const& call, answered_call const*) {
    return is_small(call.problem) ? with_nan_rows(call, block) : std::vector<answered_call>();
  };
}

}  // namespace

void add_hypotheses_of_keys(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_heads = adds_problems_to(to, bug_class::head_mapping),
             add_empty = adds_problems_to(to, bug_class::empty_block),
             add_skipped = adds_problems_to(to, bug_class::cheap_exp);
  // --- keys ---
  auto const has_keys = [](owned_problem const& p) { return p.size().m > 0; };
  auto const but_last = [](owned_problem const& p, std::int64_t j) { return j + 1 < p.size().m; };
  auto const has_tail = [](std::int64_t block) {
    return [=](owned_problem const& p) { return p.size().m > block && p.size().m % block != 0; };
  };
  auto const but_tail = [](std::int64_t block) {
    return [=](owned_problem const& p, std::int64_t j) { return j < p.size().m / block * block; };
  };
  add("last-key-unread", "the last key is not read", reads_only(has_keys, but_last));
  add("first-key-unread", "the first key is not read",
      reads_only(has_keys, [](owned_problem const&, std::int64_t j) { return j > 0; }));
  for (std::int64_t const block : {4, 8, 16, 32, 64, 128, 256, 512})
    add(fmt::format("tail-of-{}-unread", block), fmt::format("keys behind the last multiple of {} are not read", block),
        reads_only(has_tail(block), but_tail(block)));
  constexpr auto only_of_product = "left out of the product with V, but not of the sum of the weights";
  add("last-value-unread", fmt::format("the last key is {}", only_of_product), multiplies_only(has_keys, but_last));
  for (std::int64_t const block : {4, 8, 16, 32, 64, 128})
    add(fmt::format("tail-of-{}-values-unread", block),
        fmt::format("keys behind the last multiple of {} are {}", block, only_of_product),
        multiplies_only(has_tail(block), but_tail(block)));
  add("last-key-twice", "the last key counts twice", counts_twice([](std::int64_t m) { return m - 1; }));
  add("first-key-twice", "the first key counts twice", counts_twice([](std::int64_t) { return 0; }));
  add("middle-key-twice", "the key in the middle counts twice", counts_twice([](std::int64_t m) { return m / 2; }));
  add("middle-key-from-the-end-twice", "the key in the middle, counted from the end, counts twice",
      counts_twice([](std::int64_t m) { return m - m / 2; }));
  for (std::int64_t const block : {16, 32, 64, 128}) {
    add(fmt::format("keys-by-queries-{}", block),
        fmt::format("blocks of {} keys are counted by the queries: keys behind are not read", block),
        reads_only(
            [=](owned_problem const& p) { return p.size().m > (p.size().n + block - 1) / block * block; },
            [=](owned_problem const& p, std::int64_t j) { return j < (p.size().n + block - 1) / block * block; }));
    add(fmt::format("blocks-of-{}-share-keys", block),
        fmt::format("blocks of {0} keys read {0} + 1: the first key of a block counts in the block before, too", block),
        shares_keys(block));
  }
  // --- heads ---
  auto const is_grouped = [](owned_problem const& p) { return p.size().hk > 1 && p.size().hq != p.size().hk; };
  add_heads("heads-interleaved", "query head h reads key-value head h mod hk, not h/(hq/hk)",
            reads_heads(is_grouped, [](problem::sizes const& s, std::int64_t h) { return h % s.hk; }));
  add_heads("first-head-of-groups", "with fewer key-value heads than query heads, all read the first",
            reads_heads(is_grouped, [](problem::sizes const&, std::int64_t) { return 0; }));
  add_heads("first-head", "every query head reads key-value head 0",
            reads_heads([](owned_problem const& p) { return p.size().hk > 1; },
                        [](problem::sizes const&, std::int64_t) { return 0; }));
  for (std::int64_t const tile : {2, 4, 8, 16})
    add_heads(
        fmt::format("heads-by-{}", tile),
        fmt::format("query heads are taken {} at a time, with K and V of the first of them", tile),
        reads_heads([=](owned_problem const& p) { return p.size().hk > 1 && p.size().hq / p.size().hk % tile != 0; },
                    [=](problem::sizes const& s, std::int64_t h) { return h / tile * tile / (s.hq / s.hk); }));
  // --- blocks ---
  for (std::int64_t const block : {1, 2, 4, 8, 16, 32, 64, 128})
    add_empty(fmt::format("empty-block-of-{}-ends-row", block),
              fmt::format("a block of {} keys without a visible one ends the row", block), ends_at_empty_block(block));
  for (std::int64_t const block : {4, 8, 16, 32, 64, 128})
    add_empty(fmt::format("empty-first-block-of-{}-nan", block),
              fmt::format("a first block of {} keys without a visible one makes the row NaN", block),
              nan_after_empty_block(block));
  for (std::int64_t const block : {16, 32, 64, 128})
    for (double const below : {10.0, 15.0, 20.0, 30.0, 40.0})
      add_skipped(
          fmt::format("blocks-of-{}-skipped-{:g}-below", block, below),
          fmt::format("blocks of {} keys whose scores lie {:g} and more below the maximum are skipped", block, below),
          skips_far_blocks(block, below));
}

}  // namespace attest::audit
