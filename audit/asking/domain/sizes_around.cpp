#include "audit/asking/domain/sizes_around.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace attest::audit {
namespace {

using taker = std::function<bool(std::int64_t)>;

/// The distance from `at` to the nearest size that is taken, upwards (sign 1) or downwards (−1). Returns 0 if none is.
std::int64_t step_of(taker const& takes, std::int64_t at, std::int64_t sign) {
  auto const taken = [&](std::int64_t step) { return at + sign * step > 0 && takes(at + sign * step); };
  if (taken(1)) return 1;
  // 128 first, since most granules divide it: then each halving is answered except the last.
  for (std::int64_t const first : {128, 64, 192, 256, 32, 16, 8, 4, 2}) {
    if (!taken(first)) continue;
    std::int64_t step = first;
    while (step > 2 && step % 2 == 0 && taken(step / 2)) step /= 2;
    return step;
  }
  return 0;
}

/// The last multiple of `granule` from `taken` towards `refused` that is taken.
std::int64_t edge(taker const& takes, std::int64_t taken, std::int64_t refused, std::int64_t granule) {
  while (std::abs(refused - taken) > granule) {
    std::int64_t const middle = taken + (refused - taken) / 2 / granule * granule;
    (takes(middle) ? taken : refused) = middle;
  }
  return taken;
}

std::int64_t most_of(taker const& takes, std::int64_t at, std::int64_t granule, axis_limits const& limits) {
  if (!takes(at + granule)) return at;
  std::int64_t const last = std::max(limits.most / granule, at / granule + 1) * granule;
  for (std::int64_t x = at + granule; x < last && !limits.is_slow();) {
    std::int64_t const next = std::min(2 * x, last);
    if (!takes(next)) return edge(takes, x, next, granule);
    x = next;
  }
  return size_set::unbounded;
}

}  // namespace

size_set sizes_around(taker const& takes, std::int64_t at, axis_limits const& limits) {
  std::int64_t step = step_of(takes, at, 1);
  if (step == 0) step = step_of(takes, at, -1);
  size_set found;
  if (step == 0 || at % step != 0) {
    found.listed = {at};
    return found;
  }
  found.granule = step;
  found.least = takes(step) ? step : edge(takes, at, step, step);
  found.most = most_of(takes, at, step, limits);
  if (limits.zero && found.least == step && takes(0)) found.least = 0;
  return found;
}

size_set common(size_set const& a, size_set const& b) {
  if (!a.listed.empty() || !b.listed.empty()) {
    size_set both = a.listed.empty() ? b : a;
    both.one = false;
    std::erase_if(both.listed, [&](std::int64_t x) { return !a.has(x) || !b.has(x); });
    return both.listed.empty() ? a : both;
  }
  size_set both{.granule = std::lcm(a.granule, b.granule), .most = std::min(a.most, b.most)};
  std::int64_t const least = std::max(a.least, b.least);
  both.least = (least + both.granule - 1) / both.granule * both.granule;
  both.one = (a.one && b.has(1)) || (b.one && a.has(1));
  return both;
}

size_set sizes_among(std::span<std::int64_t const> asked, taker const& takes, std::int64_t at,
                     axis_limits const& limits) {
  std::vector<std::int64_t> taken;
  std::ranges::copy_if(asked, std::back_inserter(taken), takes);
  if (taken.size() == asked.size()) return {};
  size_set list{.listed = taken};
  if (!std::ranges::binary_search(taken, at)) list.listed.insert(std::ranges::upper_bound(list.listed, at), at);
  auto const is_in = [&](size_set const& rule) {
    return std::ranges::all_of(asked, [&](std::int64_t x) { return rule.has(x) == list.has(x); });
  };
  if (taken.size() < 3) return list;
  size_set const guess{.granule = std::reduce(taken.begin(), taken.end(), std::int64_t{0},
                                              [](std::int64_t x, std::int64_t y) { return std::gcd(x, y); }),
                       .least = taken.front(),
                       .most = taken.back()};
  if (!is_in(guess)) return list;
  size_set const found = sizes_around(takes, at, limits);
  return is_in(found) ? found : list;
}

}  // namespace attest::audit
