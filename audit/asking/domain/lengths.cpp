// The numbers of queries and of keys that a kernel takes, and the rule between them.
#include <algorithm>

#include "audit/asking/domain/domain_search.hpp"
#include "audit/cases/domain/keep_form.hpp"

namespace attest::audit {
namespace {

/// So many times as many keys as queries, or more, are rules that kernels have.
constexpr std::int64_t likely_times[]{2, 3, 4, 8, 16};

std::int64_t multiple_above(std::int64_t x, std::int64_t of) { return (x + of - 1) / of * of; }

}  // namespace

/// The lengths of several queries, and then whether one query alone is taken as well, as in decoding.
domain_search::length_sets domain_search::lengths_around(domain_call const& from) {
  auto const deaths = ask_.answers().died.size();
  length_sets found = lengths_of_several(from);
  if (ask_.answers().died.size() > deaths || found.rule == call_domain::lengths::no_more_keys) return found;
  bool const equal = found.rule == call_domain::lengths::equal;
  if ((!equal && found.n.has(1)) || !takes_lengths(from, 1, from.size.m) ||
      !takes_lengths(from, 1, found.m.near(from.size.m + 1)))
    return found;
  if (found.rule == call_domain::lengths::no_more_queries && found.m.listed.empty()) {
    // The rule alone says how many keys several queries need: one query may have fewer.
    size_set const keys = sizes_around([&](std::int64_t x) { return takes_lengths(from, 1, x); }, from.size.m,
                                       {4096, false, [&] { return ask_.is_slow(); }});
    if (keys.listed.empty() && keys.granule == found.m.granule) found.m.least = std::min(found.m.least, keys.least);
  }
  if (equal || found.n.listed.empty()) found.n.one = true;
  else found.n.listed.insert(found.n.listed.begin(), 1);
  return found;
}

domain_search::length_sets domain_search::lengths_of_several(domain_call const& from) {
  using enum call_domain::lengths;
  auto const [n0, m0] = std::pair(from.size.n, from.size.m);
  auto const slow = [&] { return ask_.is_slow(); };
  auto const deaths = ask_.answers().died.size();
  auto const died = [&] { return ask_.answers().died.size() > deaths; };
  auto const one_alone = [&] {
    for (std::int64_t const step : {128, 192, 256, 1})
      for (bool const of_m : {true, false}) {
        if (takes_lengths(from, n0 + (of_m ? 0 : step), m0 + (of_m ? step : 0))) return true;
        if (died()) return false;
      }
    return false;
  };
  length_sets found;
  if (n0 == m0 && !one_alone()) {
    found.n = found.m =
        sizes_around([&](std::int64_t x) { return takes_lengths(from, x, x); }, n0, {2048, !died(), slow});
    if (found.n.listed.empty()) found.rule = equal;
    return found;
  }
  // As many keys as there are queries, or more: some kernels take no other calls.
  auto const keys_of = [&](std::int64_t x, std::int64_t times) { return std::max(m0, multiple_above(times * x, m0)); };
  auto const queries = [&](std::int64_t times) {
    return sizes_around([&](std::int64_t x) { return takes_lengths(from, x, keys_of(x, times)); }, n0,
                        {1024, true, slow});
  };
  found.n = queries(1);
  if (found.n.listed.empty() && found.n.most < size_set::unbounded && !died()) {
    // More queries may be taken beside more keys.
    std::int64_t const more = found.n.most + found.n.granule;
    auto const times = std::ranges::find_if(
        likely_times, [&](std::int64_t one) { return !died() && takes_lengths(from, more, keys_of(more, one)); });
    if (times != std::end(likely_times)) found.rule = no_more_queries, found.times = *times, found.n = queries(*times);
  }
  std::int64_t const few = found.n.near(1);
  found.m = sizes_around([&](std::int64_t x) { return takes_lengths(from, few, x); }, m0,
                         {n0 == 1 ? 16384 : 4096, true, slow});
  if (found.rule == no_more_queries && found.n.least == 0 && found.m.least <= found.times * few &&
      takes_lengths(from, 0, 0))
    found.m.least = 0;
  bool const no_more = n0 == m0 && found.n == size_set::only(n0) && found.m.listed.empty() && found.m.most == m0;
  if (!no_more || died() || !takes_lengths(from, 2 * n0, 2 * m0)) return found;
  found.rule = no_more_keys;
  size_set const keys = found.m;
  found.n = sizes_around([&](std::int64_t x) { return takes_lengths(from, x, keys.at_most(x).value_or(keys.least)); },
                         n0, {1024, true, slow});
  found.m = sizes_around([&](std::int64_t x) { return takes_lengths(from, std::max(n0, multiple_above(x, n0)), x); },
                         m0, {1024, true, slow});
  return found;
}

void domain_search::find_lengths() {
  length_sets const found = lengths_around(base_);
  domain_.n = found.n, domain_.m = found.m, domain_.queries = found.rule, domain_.times = found.times;
  domain_call few = base_;
  few.size.n = domain_.n.near(3), few.size.m = domain_.m.near(found.rule == call_domain::lengths::equal ? 3 : 5);
  keep_lengths(domain_, few.size);
  if (ask_.takes(few)) small_ = few;
  if (found.rule != call_domain::lengths::any) return;
  if (auto const tall = shapes_of(small_).tall; tall && !ask_.takes(*tall))
    domain_.queries = call_domain::lengths::no_more_queries;
}

}  // namespace attest::audit
