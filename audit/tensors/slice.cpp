#include "audit/tensors/slice.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using indices = std::vector<std::int64_t>;

indices first_indices(std::int64_t n) {
  indices first(static_cast<std::size_t>(n));
  std::iota(first.begin(), first.end(), std::int64_t{0});
  return first;
}

bool are_consecutive(indices const& of) {
  return std::ranges::adjacent_find(of, [](auto a, auto b) { return b != a + 1; }) == of.end();
}

/// The elements of `from` at all combinations of four index lists. If it broadcasts, an axis of size 1 keeps its one
/// element, unless its index list is empty.
owned_tensor gathered(owned_tensor const& from, indices const* const (&axes)[4], bool broadcasts) {
  indices const index_zero{0};
  indices const* kept[4];
  for (std::size_t axis = 0; axis < 4; ++axis)
    kept[axis] = broadcasts && from.layout.shape[axis] == 1 && !axes[axis]->empty() ? &index_zero : axes[axis];
  auto const size = [&](std::size_t axis) { return static_cast<std::int64_t>(kept[axis]->size()); };
  auto tensor = owned_tensor::compact(from.type, {size(0), size(1), size(2), size(3)});
  std::size_t const bytes = problem::size_of(from.type);
  std::size_t to = 0;
  for (auto const b : *kept[0])
    for (auto const h : *kept[1])
      for (auto const i : *kept[2])
        for (auto const j : *kept[3])
          std::memcpy(tensor.bytes.data() + bytes * to++, from.bytes.data() + bytes * offset_of(from, b, h, i, j),
                      bytes);
  return tensor;
}

/// The sinks of some batch entries and heads: [1 or b, hq], or [hq] as it was.
owned_tensor sinks_of(owned_tensor const& from, indices const& entries, indices const& heads) {
  auto const& [rank, shape, stride] = from.layout;
  std::int64_t const rows = rank == 2 && shape[0] > 1 ? std::ssize(entries) : 1;
  auto to = owned_tensor::compact(from.type, {rows, std::ssize(heads)});
  auto const last = static_cast<std::size_t>(rank - 1);
  std::size_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t const h : heads) {
      std::int64_t const b = rows > 1 ? entries[static_cast<std::size_t>(row)] * stride[0] : 0;
      store(to, at++, load(from, static_cast<std::size_t>(b + h * stride[last])));
    }
  return to;
}

/// The lengths of some entries, if only `rows` of them are kept.
owned_tensor lengths_of(owned_tensor const& from, indices const& entries, indices const& rows) {
  auto to = owned_tensor::compact(from.type, {std::ssize(entries)});
  for (std::size_t at = 0; at < entries.size(); ++at) {
    std::int64_t const length = from.as<std::int32_t>()[entries[at] * from.layout.stride[0]];
    to.as<std::int32_t>()[at] =
        static_cast<std::int32_t>(std::ranges::count_if(rows, [&](std::int64_t row) { return row < length; }));
  }
  return to;
}

}  // namespace

selection selection::all(problem::sizes const& s) {
  return {first_indices(s.b),
          first_indices(s.hk),
          first_indices(s.n),
          first_indices(s.m),
          first_indices(s.d),
          first_indices(s.dv),
          -1};
}

std::optional<owned_problem> sliced(owned_problem const& whole, selection const& chosen) {
  problem::sizes const& s = whole.size();
  problem_draft const& from = whole.draft();
  if (!from.has_slots()) return std::nullopt;
  bool const banded = from.band.left >= 0 || from.band.right >= 0;
  bool const same_pairs = std::ssize(chosen.n) == s.n && std::ssize(chosen.m) == s.m;
  if (from.block_mask && !same_pairs) return std::nullopt;
  // The diagonal of an entry follows from its lengths, which the slice may change.
  if (banded && from.align != 0 && !same_pairs && (std::ssize(chosen.b) > 1 || s.b > 1)) return std::nullopt;
  if (banded && (!are_consecutive(chosen.n) || !are_consecutive(chosen.m))) return std::nullopt;
  std::int64_t const group = s.hk > 0 ? s.hq / s.hk : 1;
  indices heads;
  for (auto const h : chosen.hk)
    for (std::int64_t g = 0; g < group; ++g)
      if (chosen.query_head < 0 || g == chosen.query_head) heads.push_back(h * group + g);

  problem_draft draft;
  static_cast<problem::parameters&>(draft) = from;
  draft.of = from.of;
  draft.q = gathered(from.q, {&chosen.b, &heads, &chosen.n, &chosen.d}, false);
  draft.k = gathered(from.k, {&chosen.b, &chosen.hk, &chosen.m, &chosen.d}, false);
  draft.v = gathered(from.v, {&chosen.b, &chosen.hk, &chosen.m, &chosen.dv}, false);
  if (from.d_out) draft.d_out = gathered(*from.d_out, {&chosen.b, &heads, &chosen.n, &chosen.dv}, false);
  for (auto const optional : {&problem_draft::mask, &problem_draft::bias, &problem_draft::keep}) {
    auto const& tensor = from.*optional;
    if (!tensor) continue;
    if (tensor->layout.rank != 4) return std::nullopt;
    draft.*optional = gathered(*tensor, {&chosen.b, &heads, &chosen.n, &chosen.m}, true);
  }
  if (from.block_mask) {
    if (from.block_mask->layout.rank != 4) return std::nullopt;
    indices const rows = first_indices(from.block_mask->layout.shape[2]),
                  columns = first_indices(from.block_mask->layout.shape[3]);
    draft.block_mask = gathered(*from.block_mask, {&chosen.b, &heads, &rows, &columns}, true);
  }
  if (from.sink) draft.sink = sinks_of(*from.sink, chosen.b, heads);
  if (from.q_lengths) draft.q_lengths = lengths_of(*from.q_lengths, chosen.b, chosen.n);
  if (from.k_lengths) draft.k_lengths = lengths_of(*from.k_lengths, chosen.b, chosen.m);
  if (banded && from.align != 0 && !same_pairs) {
    auto const used = [](std::optional<owned_tensor> const& lengths, std::int64_t slot) {
      return lengths ? std::int64_t{lengths->as<std::int32_t>()[0]} : slot;
    };
    draft.align = 0;
    draft.band.diagonal += used(from.k_lengths, s.m) - used(from.q_lengths, s.n);
  }
  if (banded && !same_pairs) {
    std::int64_t const i = chosen.n.empty() ? 0 : chosen.n.front(), j = chosen.m.empty() ? 0 : chosen.m.front();
    constexpr std::int64_t far = std::int64_t{1} << 62;
    if (std::abs(from.band.diagonal / 2) >= far / 2) return std::nullopt;  // i + diagonal saturates
    draft.band.diagonal += i - j;
  }
  if (static_cast<std::int64_t>(chosen.d.size()) != s.d && !draft.scale && s.d > 0)
    draft.scale = 1 / std::sqrt(static_cast<double>(s.d));
  if (from.merge) {  // its rows are heads of one query each
    draft.merge = from.merge;
    draft.merge->heads = std::ssize(heads), draft.merge->queries = 1, draft.merge->rank = 4;
    draft = merge_draft(parts_of(draft), from.merge->answer);
  }
  return owned_problem::of_valid(std::move(draft));
}

}  // namespace attest::audit
