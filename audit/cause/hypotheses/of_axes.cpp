// Hypotheses about axes that are taken for another: heads, entries, columns, the two axes of a band, mask or bias.
#include <algorithm>
#include <cstdint>
#include <tuple>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

/// Query head h of entry b reads (entry, head) of K, of V or of both.
struct entry_and_head {
  std::int64_t b, h;
};
using head_read = std::function<entry_and_head(problem::sizes const&, std::int64_t b, std::int64_t h)>;
supposition reads_elsewhere(bool of_k, bool of_v, problem_question concerned, head_read from) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (s.hq == 0 || s.hk == 0 || s.b * s.hq * s.m * std::max(s.d, s.dv) > (std::int64_t{1} << 24) || !concerned(p))
      return {};
    problem_draft draft = p.draft();
    auto const spread = [&](owned_tensor const& of, std::int64_t width, bool moved) {
      owned_tensor to = owned_tensor::compact(of.type, {s.b, s.hq, s.m, width});
      fill(to, [&](auto b, auto h, auto j, auto t) {
        entry_and_head const at = moved ? from(s, b, h) : entry_and_head{b, h / (s.hq / s.hk)};
        return load(of, offset_of(of, at.b, at.h, j, t));
      });
      return to;
    };
    draft.k = spread(p.draft().k, s.d, of_k), draft.v = spread(p.draft().v, s.dv, of_v);
    return with_problem(call, std::move(draft));
  };
}

bool is_grouped(owned_problem const& p) { return p.size().hk > 1 && p.size().hq != p.size().hk; }
bool has_heads(owned_problem const& p) { return p.size().hk > 1; }
bool has_entries(owned_problem const& p) { return p.size().b > 1; }

/// Query head h reads Q of another head of its group, at its own place modulo `tile`.
supposition repeats_heads_of_group(std::int64_t tile) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (s.hk == 0 || s.hq / s.hk <= tile || s.b * s.hq * s.n * s.d > (std::int64_t{1} << 24)) return {};
    std::int64_t const group = s.hq / s.hk;
    owned_tensor const& q = p.draft().q;
    problem_draft draft = p.draft();
    draft.q = owned_tensor::compact(q.type, {s.b, s.hq, s.n, s.d});
    fill(draft.q, [&](auto b, auto h, auto i, auto t) {
      return load(q, offset_of(q, b, h / group * group + h % group % tile, i, t));
    });
    return with_problem(call, std::move(draft));
  };
}

/// The axes of queries and keys of a mask or bias are swapped.
supposition transposes(std::optional<owned_tensor> problem_draft::* which) {
  return solves(
      [=](owned_problem const& p) {
        auto const& of = p.draft().*which;
        return of && of->layout.shape[2] == of->layout.shape[3] && of->layout.shape[2] > 1;
      },
      [=](problem_draft& p) {
        std::swap((p.*which)->layout.shape[2], (p.*which)->layout.shape[3]);
        std::swap((p.*which)->layout.stride[2], (p.*which)->layout.stride[3]);
        owned_tensor const old = *(p.*which);
        auto const& n = old.layout.shape;
        p.*which = owned_tensor::compact(old.type, {n[0], n[1], n[2], n[3]});
        fill(*(p.*which), [&](auto b, auto h, auto i, auto j) { return element(old, b, h, i, j); });
      });
}

/// The memory of a compact [b, h, n, d] read as [b, n, h, d].
owned_tensor in_other_order(owned_tensor const& of) {
  auto const& n = of.layout.shape;
  owned_tensor to = owned_tensor::compact(of.type, {n[0], n[1], n[2], n[3]});
  fill(to, [&](auto b, auto h, auto i, auto t) {
    std::int64_t const row = i * n[1] + h;
    return load(of, offset_of(of, b, row / n[2], row % n[2], t));
  });
  return to;
}

/// Inputs and O, as far as they are named, are taken for [b, n, h, d].
supposition takes_other_order(bool of_inputs, bool of_output) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    problem::sizes const& s = call.problem.size();
    if (s.hq < 2 || s.n < 2 || s.m < 2 || !call.outputs.o || !is_small(call.problem)) return {};
    problem_draft draft = call.problem.draft();
    if (of_inputs)
      for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) *t = in_other_order(*t);
    answered_call supposed = call;
    if (of_output) supposed.outputs.o = in_other_order(*call.outputs.o);
    return with_problem(supposed, std::move(draft));
  };
}

/// Column c is read at column c mod width.
supposition repeats_columns(owned_tensor problem_draft::* which, std::int64_t width) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_tensor const& old = call.problem.draft().*which;
    auto const& n = old.layout.shape;
    if (n[3] <= width || n[0] * n[1] * n[2] * n[3] > (std::int64_t{1} << 24)) return {};
    problem_draft draft = call.problem.draft();
    draft.*which = owned_tensor::compact(old.type, {n[0], n[1], n[2], n[3]});
    fill(draft.*which, [&](auto b, auto h, auto i, auto t) { return load(old, offset_of(old, b, h, i, t % width)); });
    return with_problem(call, std::move(draft));
  };
}

}  // namespace

void add_hypotheses_of_axes(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_heads = adds_problems_to(to, bug_class::head_mapping),
             add_bias = adds_problems_to(to, bug_class::accuracy),
             add_mask = adds_problems_to(to, bug_class::mask_polarity);
  auto const modulo = [](problem::sizes const& s, std::int64_t b, std::int64_t h) {
    return entry_and_head{b, h % s.hk};
  };
  add_heads("heads-clamped", "query head h reads key-value head min(h, hk - 1), not h/(hq/hk)",
            reads_elsewhere(true, true, is_grouped, [](problem::sizes const& s, std::int64_t b, std::int64_t h) {
              return entry_and_head{b, std::min(h, s.hk - 1)};
            }));
  add_heads("v-heads-interleaved", "query head h reads head h mod hk of V",
            reads_elsewhere(false, true, is_grouped, modulo));
  add_heads("k-heads-interleaved", "query head h reads head h mod hk of K",
            reads_elsewhere(true, false, is_grouped, modulo));
  for (auto const& [name, of_k, of_v] :
       {std::tuple{"K and V", true, true}, std::tuple{"K", true, false}, std::tuple{"V", false, true}})
    add_heads(of_k && of_v ? "heads-from-next" : fmt::format("{}-heads-from-next", of_k ? "k" : "v"),
              fmt::format("the last query head of each group reads {} of the next key-value head", name),
              reads_elsewhere(of_k, of_v, is_grouped, [](problem::sizes const& s, std::int64_t b, std::int64_t h) {
                return entry_and_head{b, std::min((h + 1) / (s.hq / s.hk), s.hk - 1)};
              }));
  add_heads("heads-reversed", "query heads read the key-value heads from the last to the first",
            reads_elsewhere(true, true, has_heads, [](problem::sizes const& s, std::int64_t b, std::int64_t h) {
              return entry_and_head{b, s.hk - 1 - h / (s.hq / s.hk)};
            }));
  auto const first_head = [](problem::sizes const&, std::int64_t b, std::int64_t) { return entry_and_head{b, 0}; };
  auto const first_entry = [](problem::sizes const& s, std::int64_t, std::int64_t h) {
    return entry_and_head{0, h / (s.hq / s.hk)};
  };
  add_heads("v-of-first-head", "every query head reads V of head 0",
            reads_elsewhere(false, true, has_heads, first_head));
  add_heads("k-of-first-head", "every query head reads K of head 0",
            reads_elsewhere(true, false, has_heads, first_head));
  add("v-of-first-entry", "every batch entry reads V of entry 0",
      reads_elsewhere(false, true, has_entries, first_entry));
  add("k-of-first-entry", "every batch entry reads K of entry 0",
      reads_elsewhere(true, false, has_entries, first_entry));
  for (std::int64_t const tile : {1, 2, 4, 8, 16, 32, 64})
    add_heads(fmt::format("q-heads-modulo-{}", tile),
              tile == 1 ? "all query heads of a group read Q of its first"
                        : fmt::format("of the query heads of a group, each {} read Q of the first {}", tile, tile),
              repeats_heads_of_group(tile));
  add_bias("bias-transposed", "the bias of query i and key j is read at query j and key i",
           transposes(&problem_draft::bias));
  add_mask("mask-transposed", "the mask of query i and key j is read at query j and key i",
           transposes(&problem_draft::mask));
  add("o-in-other-order", "the axes of heads and queries are exchanged in O", takes_other_order(false, true));
  add("inputs-in-other-order", "the axes of heads and rows are exchanged in Q, K and V",
      takes_other_order(true, false));
  add("all-in-other-order", "the axes of heads and rows are exchanged in Q, K, V and O", takes_other_order(true, true));
  for (std::int64_t const width : {16, 32, 64, 128})
    add(fmt::format("v-columns-modulo-{}", width),
        fmt::format("columns of V from {} on are those of the first {}", width, width),
        repeats_columns(&problem_draft::v, width));
}

}  // namespace attest::audit
