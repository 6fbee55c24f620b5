#include "audit/judge/one_query.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

/// Rows 0 … count − 1 of the head (b, h) of a view, as a compact tensor [1, 1, count, width].
template <class T>
owned_tensor rows_of(problem::view<T const> const& from, std::int64_t b, std::int64_t h, std::int64_t first,
                     std::int64_t count, std::int64_t width) {
  owned_tensor rows = owned_tensor::compact(problem::type_of<T>, {1, 1, count, width});
  std::size_t const bytes = static_cast<std::size_t>(width) * sizeof(T);
  for (std::int64_t at = 0; at < count && bytes > 0; ++at)
    std::memcpy(rows.bytes.data() + static_cast<std::size_t>(at) * bytes, from.row(b, h, first + at), bytes);
  return rows;
}

/// Element `row` of a compact tensor whose rows have `width` elements, as a tensor of this shape.
owned_tensor part_of(owned_tensor const& from, std::size_t row, std::initializer_list<std::int64_t> shape,
                     std::int64_t width) {
  owned_tensor part = owned_tensor::compact(from.type, shape);
  std::size_t const bytes = static_cast<std::size_t>(width) * problem::size_of(from.type);
  if (bytes > 0) std::memcpy(part.bytes.data(), from.bytes.data() + row * bytes, bytes);
  return part;
}

}  // namespace

problem_draft one_query(owned_problem const& whole, std::int64_t b, std::int64_t h, std::int64_t i) {
  problem_draft alone;
  static_cast<problem::parameters&>(alone) = whole.draft();
  alone.band = {};
  alone.align = 0, alone.block_q = alone.block_k = 0;
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        problem::sizes const& s = p.size();
        std::int64_t const hk = reference::key_head(s, h);
        alone.q = rows_of<T>(p.q(), b, h, i, 1, s.d);
        std::int64_t const m = p.keys(b);
        alone.k = rows_of<T>(p.k(), b, hk, 0, m, s.d);
        alone.v = rows_of<T>(p.v(), b, hk, 0, m, s.dv);
        if (p.bias().present) alone.bias = rows_of<T>(p.bias(), b, h, i, 1, m);
        if (p.bias_f32().present) alone.bias = rows_of<float>(p.bias_f32(), b, h, i, 1, m);
        if (p.sink().present) alone.sink = rows_of<T>(p.sink(), b, h, 0, 1, 1);
        if (p.sink_f32().present) alone.sink = rows_of<float>(p.sink_f32(), b, h, 0, 1, 1);
        if (alone.sink) alone.sink->layout = problem::layout::compact({1});
        if (p.keep().present) alone.keep = rows_of<std::uint8_t>(p.keep(), b, h, i, 1, m);
        for (std::size_t j = 0; alone.bias && j < static_cast<std::size_t>(m); ++j)
          if (load(*alone.bias, j) == -std::numeric_limits<double>::infinity()) store(*alone.bias, j, 0);
      },
      whole.instance());
  return alone;
}

problem_draft mean_of_values(owned_problem const& whole, std::int64_t b, std::int64_t h, std::int64_t i) {
  problem_draft everything = one_query(whole, b, h, i);
  // Equal scores, whatever q and k hold: 0·∞ would be NaN.
  for (owned_tensor* zero : {&everything.q, &everything.k}) std::ranges::fill(zero->bytes, std::byte{0});
  everything.bias.reset(), everything.softcap = 0, everything.scale = 0;
  everything.sink.reset(), everything.keep.reset(), everything.dropout = 0;
  return everything;
}

owned_outputs one_answer(owned_problem const& whole, owned_outputs const& outputs, std::int64_t b, std::int64_t h,
                         std::int64_t i) {
  problem::sizes const& s = whole.size();
  std::size_t const row = output_row(whole, b, h, i);
  std::int64_t const m = keys_of(whole, b);
  owned_outputs alone;
  if (outputs.o) alone.o = part_of(*outputs.o, row, {1, 1, 1, s.dv}, s.dv);
  if (outputs.lse) alone.lse = part_of(*outputs.lse, row, {1, 1, 1}, 1);
  if (outputs.weights) {
    alone.weights = part_of(*outputs.weights, row, {1, 1, 1, s.m}, s.m);
    alone.weights->bytes.resize(static_cast<std::size_t>(m) * problem::size_of(alone.weights->type));
    alone.weights->layout = problem::layout::compact({1, 1, 1, m});
  }
  return alone;
}

}  // namespace attest::audit
