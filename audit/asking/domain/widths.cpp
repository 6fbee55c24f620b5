// The head sizes that a kernel takes, and the lengths that it takes with each.
#include <algorithm>

#include "audit/asking/domain/domain_search.hpp"
#include "audit/cases/domain/keep_form.hpp"

namespace attest::audit {
namespace {

/// Head sizes that tell an interval of multiples from a list of usual ones, the likely ones first.
constexpr std::int64_t telling[]{128, 64, 32, 256, 96, 16, 80, 40, 192, 8};
constexpr std::int64_t further[]{512, 160, 112, 48, 24, 56, 72, 4, 100, 320, 576, 1};
constexpr std::pair<std::int64_t, std::int64_t> pairs_of_models[]{{576, 512}, {192, 128}, {64, 128}, {128, 64},
                                                                  {96, 128},  {320, 256}, {72, 64}};

}  // namespace

void domain_search::find_widths() {
  width const base{base_.size.d, base_.size.dv};
  auto const same = [&](std::int64_t x) { return takes_width(small_, {x, x}); };
  std::vector<std::int64_t> taken;
  std::ranges::copy_if(telling, std::back_inserter(taken), same);
  bool const in_multiples = taken.size() >= 6 && std::ranges::any_of(taken, [](auto x) { return x == 40 || x == 80; });
  if (in_multiples && base.first == base.second) {
    size_set found = sizes_around(same, base.first, {640});
    if (found.granule == 1 && found.least == 1) found.least = 0;
    if (std::ranges::all_of(telling, [&](auto x) { return found.has(x) == same(x); })) domain_.d = found;
  }
  if (!domain_.d.listed.empty()) {
    std::ranges::copy_if(further, std::back_inserter(taken), same);
    std::ranges::sort(taken);
    if (taken.empty() && base.first == base.second) taken = {base.first};
    domain_.d.listed = taken;
  }
  std::int64_t const d = base.first;
  bool const free = std::ranges::all_of(std::initializer_list<std::int64_t>{d + 8, d + 1, 1, 2 * d},
                                        [&](std::int64_t dv) { return takes_width(small_, {d, dv}); });
  if (free && !taken.empty()) domain_.dv = call_domain::value_widths::any;
  else if (!domain_.d.listed.empty() || taken.empty()) add_pairs(taken);
}

/// Adds the pairs (d, dv) that models have, and other ones in the ratio of the base, for each d that is not taken with
/// dv = d.
void domain_search::add_pairs(std::vector<std::int64_t> const& same) {
  std::vector<width> all;
  for (std::int64_t const x : same) all.emplace_back(x, x);
  auto const add = [&](width const& pair) {
    bool const is_new = std::ranges::find(all, pair.first, &width::first) == all.end();
    if (is_new && takes_width(small_, pair)) all.push_back(pair);
  };
  add({base_.size.d, base_.size.dv});
  std::ranges::for_each(pairs_of_models, add);
  auto const add_in_ratio = [&](std::int64_t d) {
    auto const& [b, hq, hk, n, m, width, value_width] = base_.size;
    if (width != value_width && d * value_width % width == 0) add({d, d * value_width / width});
  };
  std::ranges::for_each(telling, add_in_ratio), std::ranges::for_each(further, add_in_ratio);
  if (all.size() == same.size()) {
    domain_.dv = call_domain::value_widths::same;
    return;
  }
  std::ranges::sort(all);
  domain_.dv = call_domain::value_widths::paired;
  domain_.d.listed.clear(), domain_.value_width.clear();
  for (auto const& [d, dv] : all) domain_.d.listed.push_back(d), domain_.value_width.push_back(dv);
}

std::vector<domain_search::width> domain_search::widths() const {
  std::vector<width> all;
  bool const is_paired = domain_.dv == call_domain::value_widths::paired;
  for (std::size_t at = 0; at < domain_.d.listed.size(); ++at)
    all.emplace_back(domain_.d.listed[at], is_paired ? domain_.value_width[at] : domain_.d.listed[at]);
  if (all.empty())
    for (std::int64_t const d : {domain_.d.near(1), domain_.d.near(std::min<std::int64_t>(domain_.d.most, 256))})
      all.emplace_back(d, d);
  return all;
}

/// A granule may depend on the head size. The domain is what every head size takes; a head size that takes no length of
/// the base is left out.
void domain_search::find_lengths_of_widths() {
  std::vector<width> lost;
  for (width const& of : widths()) {
    if (of.first == base_.size.d) continue;
    domain_call like = base_;
    like.size.d = of.first, like.size.dv = of.second;
    if (domain_.n.one && !takes_lengths(like, 1, small_.size.m)) domain_.n.one = false;
    problem::sizes more{.n = domain_.n.near(small_.size.n + 1)};
    more.m = domain_.m.near(std::max(more.n, small_.size.m + 1));
    keep_lengths(domain_, more);
    if (takes_lengths(like, small_.size.n, small_.size.m) && takes_lengths(like, more.n, more.m)) continue;
    if (!share_lengths(like)) lost.push_back(of);
  }
  if (lost.empty()) return;
  if (domain_.d.listed.empty()) domain_.d.listed = {base_.size.d};
  std::erase_if(domain_.value_width, [&](std::int64_t const& dv) {
    std::int64_t const d = domain_.d.listed[static_cast<std::size_t>(&dv - domain_.value_width.data())];
    return std::ranges::find(lost, width{d, dv}) != lost.end();
  });
  std::erase_if(domain_.d.listed,
                [&](std::int64_t d) { return std::ranges::find(lost, d, &width::first) != lost.end(); });
}

/// Leaves the lengths that are taken with these widths, too. Returns false if no length of the base is.
bool domain_search::share_lengths(domain_call like) {
  for (std::int64_t const times : {1, 2, 3}) {
    like.size.m = times * base_.size.m;
    like.size.n = base_.size.n == base_.size.m ? like.size.m : base_.size.n;
    if (!ask_.takes(like)) continue;
    length_sets const found = lengths_around(like);
    domain_.n = common(domain_.n, found.n), domain_.m = common(domain_.m, found.m);
    if (found.rule == call_domain::lengths::equal) domain_.queries = found.rule, domain_.times = 1;
    else if (found.rule == domain_.queries) domain_.times = std::max(domain_.times, found.times);
    return true;
  }
  return false;
}

}  // namespace attest::audit
