#include "audit/cases/forms/drawn_sizes.hpp"

#include <vector>

namespace attest::audit {
namespace {

/// A number of queries or keys.
std::int64_t drawn_length(random_stream& random) {
  constexpr std::int64_t tiles[]{8, 16, 32, 48, 64, 80, 96, 112, 128, 192, 256};
  if (random.below(64) == 0) return 0;
  std::int64_t const beside = random.below(3) - 1;
  switch (random.below(4)) {
    case 0: return std::min(one_of(tiles, random) * (1 + random.below(4)) + beside, largest_length);
    case 1: return std::min((std::int64_t{1} << random.below(15)) + beside, largest_length);
    default: return log_uniform(largest_length, random);
  }
}

std::int64_t drawn_width(random_stream& random) {
  constexpr std::int64_t usual[]{8, 16, 32, 40, 48, 64, 64, 72, 80, 96, 112, 128, 128, 160, 192, 256, 512, 576};
  return random.below(2) == 0 ? one_of(usual, random) : log_uniform(largest_width, random);
}

/// A member of the set: any of a list; else the one near the wish, the first, second, third, fifth or eighth, the
/// greatest up to `largest`, or a log-uniform one. The wish itself if the set has all sizes.
std::int64_t drawn_member(size_set const& set, std::int64_t wish, std::int64_t largest, random_stream& random) {
  if (set.is_everything()) return wish;
  if (!set.listed.empty()) return set.listed[static_cast<std::size_t>(random.below(std::ssize(set.listed)))];
  constexpr std::int64_t first[]{0, 1, 2, 4, 7};
  std::int64_t const least = set.near(set.one ? 2 : 1), most = std::max(set.at_most(largest).value_or(least), least);
  switch (random.below(8)) {
    case 0:
    case 1: return std::min(set.near(wish), most);
    case 2:
    case 3: return std::min(least + set.granule * one_of(first, random), most);
    case 4: return most;
    default: return least + set.granule * (log_uniform((most - least) / set.granule + 1, random) - 1);
  }
}

void draw_heads(problem::sizes& s, call_domain const& domain, random_stream& random) {
  std::int64_t const both = log_uniform(most_heads, random);
  s.b = log_uniform(both, random);
  s.hq = std::max<std::int64_t>(both / s.b, 1);
  std::vector<std::int64_t> groups;
  for (std::int64_t group = 1; group <= s.hq; ++group)
    if (s.hq % group == 0) groups.push_back(group);
  std::int64_t const drawn =
      random.below(2) == 0 ? 1 : groups[static_cast<std::size_t>(random.below(std::ssize(groups)))];
  std::int64_t const group = drawn_member(domain.group, drawn, most_heads, random);
  s.hk = drawn_member(domain.kv_heads, std::max<std::int64_t>(s.hq / group, 1), most_heads, random);
  s.hq = s.hk * group;
  s.b = drawn_member(domain.batch, s.b, most_heads, random);
}

}  // namespace

problem::sizes drawn_sizes(call_domain const& domain, random_stream& random) {
  auto const length_in = [&](size_set const& set) {
    return drawn_member(set, drawn_length(random), largest_length, random);
  };
  problem::sizes s;
  draw_heads(s, domain, random);
  s.m = length_in(domain.m);
  std::int64_t const how = random.below(8);
  s.n = how < 2    ? 1
        : how == 2 ? s.m
        : how == 3 ? std::max<std::int64_t>(s.m + (2 * random.below(2) - 1) * domain.n.granule, 0)
                   : length_in(domain.n);
  s.d = drawn_member(domain.d, drawn_width(random), largest_width, random);
  s.dv = random.below(4) == 0 ? drawn_width(random) : s.d;
  if (domain.dv != call_domain::value_widths::any) s.dv = 1;  // d decides
  return s;
}

}  // namespace attest::audit
