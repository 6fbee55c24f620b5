#include "audit/judge/observed_range.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// An element of O, and the size of the inputs that determine it.
struct observed {
  double size = 0, got = 0;
};

/// Every element of O with its size(b, h, i, c), in order of size.
template <class F>
std::vector<observed> elements_by_size(owned_tensor const& o, F&& size) {
  std::vector<observed> all;
  auto const& n = o.layout.shape;
  for (std::int64_t b = 0; b < n[0]; ++b)
    for (std::int64_t h = 0; h < n[1]; ++h)
      for (std::int64_t i = 0; i < n[2]; ++i)
        for (std::int64_t c = 0; c < n[3]; ++c) all.push_back({size(b, h, i, c), load(o, offset_of(o, b, h, i, c))});
  std::ranges::sort(all, {}, &observed::size);
  return all;
}

double spread(std::vector<observed> const& sorted) { return sorted.back().size / sorted.front().size; }

}  // namespace

std::optional<std::string> observed_range(owned_problem const& problem, owned_outputs const& outputs) {
  problem::sizes const& s = problem.size();
  if (!outputs.o || problem.rank() != 4 || !problem.draft().is_dense() || s.b * s.hq * s.n * s.dv == 0)
    return std::nullopt;
  problem_draft const& p = problem.draft();
  auto const key_head = [&](std::int64_t h) { return h / (s.hq / s.hk); };
  auto const by_value = elements_by_size(*outputs.o, [&](auto b, auto h, auto, auto c) {
    double largest = 0;
    for (std::int64_t j = 0; j < s.m; ++j)
      largest = std::max(largest, std::abs(load(p.v, offset_of(p.v, b, key_head(h), j, c))));
    return largest;
  });
  auto const by_product = elements_by_size(*outputs.o, [&](auto b, auto h, auto i, auto) {
    double largest = 0;
    for (std::int64_t j = 0; j < s.m; ++j)
      for (std::int64_t t = 0; t < s.d; ++t)
        largest = std::max(
            largest, std::abs(load(p.q, offset_of(p.q, b, h, i, t)) * load(p.k, offset_of(p.k, b, key_head(h), j, t))));
    return largest;
  });
  bool const of_values = spread(by_value) > spread(by_product);
  auto const& sorted = of_values ? by_value : by_product;
  std::string_view const what = of_values ? "|v|" : "|q_t k_t|";
  auto const first = std::ranges::find_if(sorted, [](observed const& x) { return !std::isfinite(x.got); });
  if (first == sorted.end())
    return fmt::format("O is finite up to the largest {} asked, {:.3g}", what, sorted.back().size);
  bool const infinite = std::any_of(first, sorted.end(), [](observed const& x) { return std::isinf(x.got); });
  bool const nan = std::any_of(first, sorted.end(), [](observed const& x) { return std::isnan(x.got); });
  auto const below = std::ranges::lower_bound(sorted, first->size, {}, &observed::size);
  return fmt::format("O is {} from {} = {:.3g} on{}, which no contract judges",
                     infinite && nan ? "infinite or NaN"
                     : nan           ? "NaN"
                                     : "infinite",
                     what, first->size,
                     below == sorted.begin() ? "" : fmt::format(", and finite up to {:.3g}", std::prev(below)->size));
}

}  // namespace attest::audit
