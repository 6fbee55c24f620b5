// Hypotheses about gradients: the pairs that one loop of the backward pass takes, what is summed over rows and heads,
// and rows without keys.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/cause/near_gradient.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"

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

bool sees_nothing(owned_problem const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
  for (std::int64_t j = 0; j < keys_of(p, b); ++j)
    if (sees(p, b, h, i, j)) return false;
  return true;
}

/// Rows without a visible key have equal weights: every key is seen, and all scores are alike. `slopes`: of a softcap
/// the derivative is taken.
supposition empty_rows_leak(gradient_kinds which, bool slopes) {
  return gradients_from(std::move(which), [slopes](answered_call& call) {
    owned_problem const whole = call.problem;
    problem::sizes const& s = whole.size();
    if (s.m == 0) return false;
    problem_draft draft = whole.draft();
    bool any = false;
    std::vector<char> empty;
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < s.n; ++i) {
          bool const is_empty = i < queries_of(whole, b) && keys_of(whole, b) > 0 && sees_nothing(whole, b, h, i);
          empty.push_back(is_empty), any |= is_empty;
          if (is_empty)
            store(*draft.handed_lse, output_row(whole, b, h, i), std::log(static_cast<double>(keys_of(whole, b))));
        }
    if (!any) return false;
    auto const is_empty = [&](auto b, auto h, auto i) {
      return empty[static_cast<std::size_t>((b * s.hq + h) * s.n + i)] != 0;
    };
    draft.block_mask.reset(), draft.block_q = draft.block_k = 0, draft.align = 0;
    show(draft, s, [&](auto b, auto h, auto i, auto j) { return is_empty(b, h, i) || sees(whole, b, h, i, j); });
    pair_number const slope = slopes ? log_slope(whole) : [](auto...) { return 0.0; };
    score_table const score(whole);
    set_scores(draft, [&](auto b, auto h, auto i, auto j) {
      return (is_empty(b, h, i) ? 0.0 : score(b, h, i, j)) + slope(b, h, i, j);
    });
    return take(call, std::move(draft));
  });
}

/// Rows without a visible key are NaN: every key is seen, and the query is NaN.
supposition empty_rows_nan(gradient_kinds which) {
  return gradients_from(std::move(which), [](answered_call& call) {
    owned_problem const whole = call.problem;
    problem::sizes const& s = whole.size();
    if (s.d == 0 || s.m == 0) return false;
    problem_draft draft = whole.draft();
    owned_tensor const& q = whole.draft().q;
    bool any = false;
    draft.q = owned_tensor::compact(q.type, {s.b, s.hq, s.n, s.d});
    fill(draft.q, [&](auto b, auto h, auto i, auto t) {
      bool const is_empty = i < queries_of(whole, b) && keys_of(whole, b) > 0 && sees_nothing(whole, b, h, i);
      any |= is_empty;
      return is_empty ? std::nan("") : load(q, offset_of(q, b, h, i, t));
    });
    if (!any) return false;
    draft.block_mask.reset(), draft.block_q = draft.block_k = 0, draft.align = 0;
    show(draft, s,
         [&](auto b, auto h, auto i, auto j) { return sees_nothing(whole, b, h, i) || sees(whole, b, h, i, j); });
    return take(call, std::move(draft));
  });
}

/// The queries whose dQ is 0 everywhere, and should not be, add nothing to any gradient.
supposition queries_lost() {
  return gradients_from(all_gradients, [](answered_call& call) {
    owned_problem const whole = call.problem;
    if (!call.outputs.dq || whole.size().d == 0) return false;
    gradient_places const places(whole, dq);
    auto const is_lost = [&](auto b, auto h, auto i) {
      if (i >= queries_of(whole, b)) return false;
      if (!(std::abs(near_gradient(call, dq, {b, h, i, 0})) > 1e-6)) return false;
      for (std::int64_t t = 0; t < whole.size().d; ++t)
        if (load(*call.outputs.dq, places.row(b, h, i) + static_cast<std::size_t>(t)) != 0) return false;
      return true;
    };
    problem_draft draft = whole.draft();
    bool any = false, may_tell = false;
    std::vector<char> lost;
    problem::sizes const& s = whole.size();
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < s.n; ++i) {
          lost.push_back(is_lost(b, h, i)), any |= lost.back() != 0;
          may_tell = may_tell || std::abs(near_gradient(call, dq, {b, h, i, 0})) > 1e-6;
        }
    if (!may_tell) return call.open = true;  // every dQ is 0, or nearly so
    show(draft, s, [&](auto b, auto h, auto i, auto j) {
      return sees(whole, b, h, i, j) && lost[static_cast<std::size_t>((b * s.hq + h) * s.n + i)] == 0;
    });
    if (any) call.problem = owned_problem::of_valid(std::move(draft));
    return any;
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
  add("empty-rows-leak", "queries that see no key have equal weights in the gradients, not none",
      in_turn(empty_rows_leak({dq, dk}, true), empty_rows_leak({dv, dbias, dsink}, false)));
  add("empty-rows-nan-in-gradients", "queries that see no key have NaN weights in the gradients",
      empty_rows_nan(all_gradients));
  add("empty-rows-nan-in-dq", "dQ is NaN at queries that see no key", empty_rows_nan({dq}));
  add("queries-lost", "some queries are lost: their dQ is 0, and dK and dV are the sums over the others",
      queries_lost());
  to.back().fits_answers = true;
}

void add_hypotheses_of_half_passes(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  std::size_t const others = to.size();
  for (std::size_t at = 0; at < others; ++at)
    for (auto const& [prefix, where, kinds] : {std::tuple{"dq", "in the loop of dQ", gradient_kinds{dq}},
                                               std::tuple{"dkv", "in the loop of dK and dV", gradient_kinds{dk, dv}}}) {
      if (!to[at].plain || to[at].of_gradients) continue;
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
