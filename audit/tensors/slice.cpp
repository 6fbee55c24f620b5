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

/// The elements of `from` at all combinations of four index lists. Where it broadcasts, an axis of size 1 keeps its one
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
  bool const banded = from.band.left >= 0 || from.band.right >= 0;
  if (banded && (!are_consecutive(chosen.n) || !are_consecutive(chosen.m))) return std::nullopt;
  std::int64_t const group = s.hk > 0 ? s.hq / s.hk : 1;
  indices heads;
  for (auto const h : chosen.hk)
    for (std::int64_t g = 0; g < group; ++g)
      if (chosen.query_head < 0 || g == chosen.query_head) heads.push_back(h * group + g);

  problem_draft draft;
  static_cast<problem::parameters&>(draft) = from;
  draft.q = gathered(from.q, {&chosen.b, &heads, &chosen.n, &chosen.d}, false);
  draft.k = gathered(from.k, {&chosen.b, &chosen.hk, &chosen.m, &chosen.d}, false);
  draft.v = gathered(from.v, {&chosen.b, &chosen.hk, &chosen.m, &chosen.dv}, false);
  for (auto const optional : {&problem_draft::mask, &problem_draft::bias}) {
    auto const& tensor = from.*optional;
    if (!tensor) continue;
    if (tensor->layout.rank != 4) return std::nullopt;
    draft.*optional = gathered(*tensor, {&chosen.b, &heads, &chosen.n, &chosen.m}, true);
  }
  if (banded) {
    std::int64_t const i = chosen.n.empty() ? 0 : chosen.n.front(), j = chosen.m.empty() ? 0 : chosen.m.front();
    constexpr std::int64_t far = std::int64_t{1} << 62;
    if (std::abs(from.band.diagonal / 2) >= far / 2) return std::nullopt;  // i + diagonal saturates
    draft.band.diagonal += i - j;
  }
  if (static_cast<std::int64_t>(chosen.d.size()) != s.d && !draft.scale && s.d > 0)
    draft.scale = 1 / std::sqrt(static_cast<double>(s.d));
  return owned_problem::of_valid(std::move(draft));
}

}  // namespace attest::audit
