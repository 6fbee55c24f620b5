#include "audit/tensors/merge_form.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {
namespace {

using problem::element_type;

element_type lse_type(element_type type) { return type == element_type::f64 ? type : element_type::f32; }

/// A tensor of the problem [b, rows, S or 1, …] with the strides of one block [S, b, rows, …].
problem::layout behind_each_other(std::int64_t parts, std::int64_t b, std::int64_t rows, std::int64_t width) {
  auto const most = [](std::int64_t n) { return std::max<std::int64_t>(n, 1); };
  return {4, {b, rows, parts, width}, {most(rows) * most(width), most(width), most(b) * most(rows) * most(width), 1}};
}

}  // namespace

std::array<std::int64_t, 2> heads_and_queries(merge_form const& form, std::int64_t rows) noexcept {
  if (form.heads * form.queries == rows) return {form.heads, form.queries};
  return {rows, 1};
}

owned_tensor converted(owned_tensor const& from, element_type to) {
  if (from.type == to) return from;
  owned_tensor into{to, from.layout, {}};
  std::size_t const elements = from.bytes.size() / problem::size_of(from.type);
  into.bytes.resize(elements * problem::size_of(to));
  for (std::size_t at = 0; at < elements; ++at) store(into, at, load(from, at));
  return into;
}

problem_draft merge_draft(merge_parts parts, element_type answer) {
  std::int64_t const rows = parts.hq * parts.n;
  element_type const type = parts.type == answer ? answer : element_type::f32;
  problem_draft draft;
  draft.scale = 1;
  draft.q = owned_tensor::compact(type, {parts.b, rows, 1, 0});
  draft.k = owned_tensor::compact(type, {parts.b, rows, parts.parts, 0});
  draft.v = converted({parts.type, behind_each_other(parts.parts, parts.b, rows, parts.dv), std::move(parts.o)}, type);
  owned_tensor const lse{lse_type(parts.type), {}, std::move(parts.lse)};
  draft.bias = owned_tensor::compact(lse.type, {parts.b, rows, 1, parts.parts});
  auto const all = static_cast<std::size_t>(parts.b * rows), count = static_cast<std::size_t>(parts.parts);
  bool unread = false;
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t row = 0; row < all; ++row) {
      double const x = load(lse, s * all + row);
      unread = unread || x == -HUGE_VAL;
      store(*draft.bias, row * count + s, x);
    }
  if (unread) {
    draft.mask = owned_tensor::compact(element_type::u8, {parts.b, rows, 1, parts.parts});
    for (std::size_t at = 0; at < all * count; ++at) store(*draft.mask, at, load(*draft.bias, at) != -HUGE_VAL);
  }
  draft.of = &problem::merge;
  draft.merge = merge_form{parts.hq, parts.n, parts.rank, answer, parts.base};
  return draft;
}

problem_draft answered_in(owned_problem const& merge, element_type answer) {
  problem_draft draft = merge.draft();
  draft.merge->answer = answer;
  element_type const type = merge.type() == answer ? answer : element_type::f32;
  for (owned_tensor* tensor : {&draft.q, &draft.k, &draft.v}) *tensor = converted(*tensor, type);
  return draft;
}

owned_problem with_base(owned_problem const& problem, problem::log_base base) {
  auto const& merge = problem.draft().merge;
  if (!merge || merge->base == base) return problem;
  problem_draft draft = problem.draft();
  draft.merge->base = base;
  return owned_problem::of_valid(std::move(draft));
}

merge_parts parts_of(problem_draft const& merge) {
  auto const& shape = merge.v.layout.shape;
  auto const& [rank, bias_shape, bias_stride] = merge.bias->layout;
  auto const [hq, n] = heads_and_queries(*merge.merge, shape[1]);
  merge_parts parts{.parts = shape[2],
                    .b = shape[0],
                    .hq = hq,
                    .n = n,
                    .dv = shape[3],
                    .rank = merge.merge->rank,
                    .type = merge.v.type,
                    .base = merge.merge->base};
  // The axis of the keys comes first: [S, b, rows, dv].
  auto const& v = merge.v.layout.stride;
  owned_tensor const o{
      merge.v.type, {4, {shape[2], shape[0], shape[1], shape[3]}, {v[2], v[0], v[1], v[3]}}, merge.v.bytes};
  owned_tensor const lse{
      merge.bias->type,
      {3, {bias_shape[3], bias_shape[0], bias_shape[1]}, {bias_stride[3], bias_stride[0], bias_stride[1]}},
      merge.bias->bytes};
  parts.o = compact_bytes(o);
  owned_tensor one_by_one = owned_tensor::compact(lse.type, {bias_shape[3], bias_shape[0], bias_shape[1]});
  std::size_t next = 0;
  for (std::int64_t s = 0; s < bias_shape[3]; ++s)
    for (std::int64_t b = 0; b < bias_shape[0]; ++b)
      for (std::int64_t row = 0; row < bias_shape[1]; ++row)
        store(one_by_one, next++,
              load(lse, static_cast<std::size_t>(s * bias_stride[3] + b * bias_stride[0] + row * bias_stride[1])));
  parts.lse = std::move(one_by_one.bytes);
  return parts;
}

std::vector<std::int64_t> merged_rows(owned_problem const& merge) {
  merge_form const& form = *merge.draft().merge;
  auto const& s = merge.size();
  auto const [hq, n] = heads_and_queries(form, s.hq);
  std::vector<std::int64_t> rows{s.b, hq, n};
  rows.erase(rows.begin(), rows.begin() + (4 - form.rank));
  return rows;
}

}  // namespace attest::audit
