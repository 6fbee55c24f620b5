// Hypotheses about gradients: the pairs that one loop of the backward pass takes, what is summed over rows and heads.
#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

struct loop {
  char const *name, *words;
  gradient_kinds kinds;
  bool of_keys;  ///< it sums over keys, else over queries
};
loop const loops[]{{"dkv", "dK and dV leave", {dk, dv}, false},
                   {"dk", "dK leaves", {dk}, false},
                   {"dv", "dV leaves", {dv}, false},
                   {"dq", "dQ leaves", {dq}, true}};

std::int64_t terms_of(loop const& of, owned_problem const& p, std::int64_t b) {
  return of.of_keys ? keys_of(p, b) : queries_of(p, b);
}

void add_lost_terms(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  for (loop const& of : loops) {
    char const* const what = of.of_keys ? "key" : "query";
    char const* const many = of.of_keys ? "keys" : "queries";
    auto const several = [&of](owned_problem const& p) { return (of.of_keys ? p.size().m : p.size().n) > 1; };
    add(fmt::format("{}-without-last-{}", of.name, what), fmt::format("{} out the last {}", of.words, what),
        gradients_over(of.kinds, several, [&of](owned_problem const& p, auto b, auto, auto i, auto j) {
          return (of.of_keys ? j : i) + 1 < terms_of(of, p, b);
        }));
    add(fmt::format("{}-without-first-{}", of.name, what), fmt::format("{} out the first {}", of.words, what),
        gradients_over(of.kinds, several,
                       [&of](owned_problem const&, auto, auto, auto i, auto j) { return (of.of_keys ? j : i) > 0; }));
    for (std::int64_t const block : {128, 64, 32, 16, 8})
      for (bool const from_one_block : {true, false})
        add(fmt::format("{}-whole-{}-blocks-of-{}{}", of.name, what, block, from_one_block ? "" : "-or-none"),
            fmt::format("{} out the {} behind the last whole block of {}", of.words, many, block),
            gradients_over(
                of.kinds,
                [=, &of](owned_problem const& p) {
                  std::int64_t const terms = of.of_keys ? p.size().m : p.size().n;
                  if (!p.draft().is_dense()) return terms > block || !from_one_block;
                  return terms % block != 0 && (terms > block || !from_one_block);
                },
                [=, &of](owned_problem const& p, auto b, auto, auto i, auto j) {
                  std::int64_t const terms = terms_of(of, p, b);
                  return (from_one_block && terms < block) || (of.of_keys ? j : i) < terms / block * block;
                }));
    for (std::int64_t const block : {128, 64, 32, 16, 8})
      add(fmt::format("{}-without-last-{}-block-of-{}", of.name, what, block),
          fmt::format("{} out the last block of {} {}", of.words, block, many),
          gradients_over(
              of.kinds, [=, &of](owned_problem const& p) { return (of.of_keys ? p.size().m : p.size().n) > block; },
              [=, &of](owned_problem const& p, auto b, auto, auto i, auto j) {
                std::int64_t const terms = terms_of(of, p, b);
                return terms <= block || (of.of_keys ? j : i) < (terms - 1) / block * block;
              }));
  }
}

/// Heads from one on are not reached by the grid of a kernel, or by its sum over heads.
void add_lost_heads(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  for (loop const& of : loops)
    for (std::int64_t const heads : {64, 32, 16, 8})
      add(fmt::format("{}-without-heads-from-{}", of.name, heads),
          fmt::format("{} out the query heads from {} on", of.words, heads),
          gradients_over(
              of.kinds, [=](owned_problem const& p) { return p.size().hq > heads; },
              [=](owned_problem const&, auto, auto h, auto, auto) { return h < heads; }));
}

void add_sums(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const grouped = [](owned_problem const& p) { return p.size().hk > 0 && p.size().hq > p.size().hk; };
  for (loop const& of : loops) {
    if (of.of_keys) continue;
    std::string const who = of.kinds.size() > 1 ? "dK and dV are" : of.kinds.front() == dk ? "dK is" : "dV is";
    for (bool const last : {true, false})
      add(fmt::format("{}-of-{}-head", of.name, last ? "last" : "first"),
          fmt::format("{} the part of the {} query head of each group, not the sum over all", who,
                      last ? "last" : "first"),
          gradients_over(of.kinds, grouped, [=](owned_problem const& p, auto, auto h, auto, auto) {
            std::int64_t const group = p.size().hq / p.size().hk;
            return h % group == (last ? group - 1 : 0);
          }));
  }
  for (bool const last : {true, false})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      char const* const names[]{"entry", "head", "query"};
      auto const at_end = [=](owned_problem const& p, auto b, auto h, auto i, auto) {
        std::int64_t const at[]{b, h, i}, size[]{p.size().b, p.size().hq, queries_of(p, b)};
        return at[axis] == (last ? size[axis] - 1 : 0);
      };
      std::string const sentence =
          fmt::format("is the part of the {} {}, not the sum over all", last ? "last" : "first", names[axis]);
      add(fmt::format("dbias-of-{}-{}", last ? "last" : "first", names[axis]), "dBias " + sentence,
          gradients_over(
              {dbias},
              [=](owned_problem const& p) {
                auto const& bias = p.draft().bias;
                return bias && bias->layout.rank == 4 && bias->layout.shape[axis] == 1;
              },
              at_end));
      if (axis != 1)
        add(fmt::format("dsink-of-{}-{}", last ? "last" : "first", names[axis]), "dSink " + sentence,
            gradients_over({dsink}, [](owned_problem const& p) { return p.draft().sink.has_value(); }, at_end));
    }
}

/// The last key inside a band is left out, whatever its right edge is.
void add_shorter_bands(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const shorter = [](gradient_kinds which) {
    return gradients_of(std::move(which), [](problem_draft& p) {
      if (p.band.right < 0 || p.band.left == 0) return false;
      --p.band.diagonal, p.band.left -= p.band.left > 0;
      return true;
    });
  };
  add("band-last-key-unread", "the last key inside a band is left out of the gradients", shorter(all_gradients));
  add("dq-band-last-key-unread", "dQ leaves out the last key inside a band", shorter({dq}));
  add("dkv-band-last-key-unread", "dK and dV leave out the last key inside a band", shorter({dk, dv}));
}

/// The product of dS with K, or with Q, takes another row: the scores stay as they were.
using row_of_product = std::function<std::int64_t(std::int64_t at, std::int64_t rows)>;
supposition other_rows(bool of_keys, row_of_product other) {
  return gradients_from({of_keys ? dq : dk}, [of_keys, other = std::move(other)](answered_call& call) {
    owned_problem const whole = call.problem;
    problem::sizes const& s = whole.size();
    if ((of_keys ? s.m : s.n) < 2) return false;
    problem_draft draft = whole.draft();
    owned_tensor const& from = of_keys ? whole.draft().k : whole.draft().q;
    owned_tensor moved = owned_tensor::compact(from.type, {s.b, of_keys ? s.hk : s.hq, of_keys ? s.m : s.n, s.d});
    fill(moved, [&](auto b, auto h, auto i, auto t) {
      std::int64_t const rows = of_keys ? keys_of(whole, b) : queries_of(whole, b);
      return load(from, offset_of(from, b, h, i < rows ? other(i, rows) : i, t));
    });
    (of_keys ? draft.k : draft.q) = std::move(moved);
    pair_number const slope = log_slope(whole);
    score_table const score(whole);
    set_scores(draft, [&](auto... at) { return score(at...) + slope(at...); });
    return take(call, std::move(draft));
  });
}

void add_dropout(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const without = [](gradient_kinds which) {
    return gradients_of(std::move(which), [](problem_draft& p) {
      bool const dropped = p.keep.has_value();
      p.keep.reset(), p.dropout = 0;
      return dropped;
    });
  };
  add("dropout-not-in-gradients", "dropout is not applied in the backward pass", without(all_gradients));
  add("dropout-not-in-dv", "dropout is not applied in dV", without({dv}));
  add("dropout-not-in-ds", "dropout is not applied in dP", without(of_dS));
}

/// Beside plain mistakes, the ones that loops of their own for dQ, dK and dV may make apart.
bool may_be_of_one_loop(hypothesis const& of) {
  constexpr std::string_view names[]{
      "left-edge-outside",   "window-right-one-more", "right-edge-outside",  "edges-outside",    "right-0",
      "mask-of-first-head",  "mask-of-first-batch",   "mask-of-first-query", "mask-transposed",  "bias-of-first-head",
      "bias-of-first-batch", "bias-of-first-query",   "bias-transposed",     "bias-of-first-key"};
  return !of.of_gradients && (of.plain || std::ranges::find(names, of.name) != std::end(names));
}

}  // namespace

void add_hypotheses_of_loops(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  add_lost_terms(to);
  add_lost_heads(to);
  add_sums(to);
  add_shorter_bands(to);
  for (auto const& [name, which, other] :
       {std::tuple{"next", "next", row_of_product([](auto at, auto rows) { return std::min(at + 1, rows - 1); })},
        {"previous", "previous", [](auto at, auto) { return at > 0 ? at - 1 : 0; }},
        {"first", "first", [](auto, auto) { return 0; }}}) {
    add(fmt::format("dq-of-{}-key", name), fmt::format("dQ multiplies dS by the {} row of K", which),
        other_rows(true, other));
    add(fmt::format("dk-of-{}-query", name), fmt::format("dK multiplies dS by the {} row of Q", which),
        other_rows(false, other));
  }
  add_dropout(to);
}

void add_hypotheses_of_half_passes(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  std::size_t const others = to.size();
  for (std::size_t at = 0; at < others; ++at)
    for (auto const& [prefix, where, kinds] : {std::tuple{"dq", "in the loop of dQ", gradient_kinds{dq}},
                                               {"dkv", "in the loop of dK and dV", {dk, dv}},
                                               {"dkv-dbias", "in the loop of dK, dV and dBias", {dk, dv, dbias}},
                                               {"dk", "in dK alone", {dk}},
                                               {"dv", "in dV alone", {dv}}}) {
      if (!may_be_of_one_loop(to[at])) continue;
      add(fmt::format("{}-{}", prefix, to[at].name), fmt::format("{}, {}", where, to[at].sentence),
          [forward = to[at].suppose, of = kinds](answered_call const& call, answered_call const*) {
            return pass_of(forward, of, with_handed(call));
          });
    }
  // Where the kernel was handed nothing, its forward pass may be right.
  for (std::size_t at = 0; at < others; ++at) {
    if (!to[at].plain || to[at].of_gradients) continue;
    add(fmt::format("backward-{}", to[at].name), fmt::format("in the backward pass alone, {}", to[at].sentence),
        [forward = to[at].suppose](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
          if (call.problem.draft().handed_lse) return {};
          return pass_of(forward, all_gradients, with_handed(call));
        });
  }
}

}  // namespace attest::audit
