#include "audit/cause/candidates.hpp"

#include <algorithm>
#include <utility>

#include "audit/support/sort_by.hpp"

namespace attest::audit {
namespace {

constexpr std::int64_t part = 6;  ///< a mistake explains one in so many of the tried cases, or it may fit by chance

bool fits_answers(candidate const& of) { return of.hypothesis && of.hypothesis->fits_answers; }

}  // namespace

std::int64_t count_of(std::vector<char> const& of) { return std::ranges::count(of, 1); }

std::vector<char> united(std::vector<char> a, std::vector<char> const& b) {
  for (std::size_t at = 0; at < a.size(); ++at) a[at] = a[at] || b[at];
  return a;
}

std::int64_t explained_by(std::vector<candidate*> const& chosen, std::int64_t tried) {
  std::vector<char> explained(static_cast<std::size_t>(tried));
  for (candidate const* const each : chosen) explained = united(std::move(explained), each->explains);
  return count_of(explained);
}

bool is_uncontradicted(candidate const& one, std::int64_t tried) {
  return 2 * count_of(one.explains) > tried && count_of(united(one.explains, one.open)) == tried;
}

candidate* one_that_nothing_contradicts(std::vector<candidate>& all, std::int64_t tried) {
  candidate* best = nullptr;
  for (candidate& each : all)
    if (each.kind != hypothesis_kind::precision && is_uncontradicted(each, tried) &&
        (!best || count_of(each.explains) > count_of(best->explains)))
      best = &each;
  return best;
}

std::vector<candidate*> smallest_set(std::vector<candidate>& all, std::int64_t tried) {
  constexpr std::size_t most_mistakes = 3;
  for (candidate& each : all)
    if (tried > 0 && count_of(each.explains) == tried) return {&each};
  std::vector<candidate*> chosen;
  std::vector<char> covered(static_cast<std::size_t>(tried));
  while (chosen.size() < most_mistakes) {
    candidate* best = nullptr;
    std::int64_t most = count_of(covered);
    for (bool const fits : {false, true})
      for (candidate& each : all) {
        if (fits_answers(each) != fits || (fits && best)) continue;
        auto const count = count_of(united(covered, each.explains));
        if (count > most) best = &each, most = count;
      }
    if (!best) break;
    chosen.push_back(best), covered = united(std::move(covered), best->explains);
  }
  std::int64_t const goal = count_of(covered);
  if (chosen.size() > 2)
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = a + 1; b < all.size(); ++b)
        if (count_of(united(all[a].explains, all[b].explains)) == goal) return {&all[a], &all[b]};
  // Candidates that explain equally much keep their order.
  for (std::size_t end = 1; end < chosen.size(); ++end)
    for (std::size_t at = end; at > 0 && count_of(chosen[at]->explains) > count_of(chosen[at - 1]->explains); --at)
      std::swap(chosen[at], chosen[at - 1]);
  return chosen;
}

bool fit_together(std::vector<candidate*> const& chosen, std::int64_t tried) {
  return std::ranges::all_of(chosen, [&](candidate* const each) {
    std::vector<candidate*> others = chosen;
    std::erase(others, each);
    return others.empty() ||
           (!fits_answers(*each) && part * (explained_by(chosen, tried) - explained_by(others, tried)) >= tried);
  });
}

std::vector<candidate*> worth_telling(std::vector<candidate*> const& chosen, std::int64_t tried) {
  std::vector<candidate*> kept;
  for (candidate* const each : chosen) {
    bool const is_chance = each->contradicted > 0 && 2 * count_of(each->explains) < tried;
    if (is_chance || part * count_of(each->explains) < tried) continue;
    std::int64_t const before = explained_by(kept, tried);
    kept.push_back(each);
    if (part * (explained_by(kept, tried) - before) < tried && kept.size() > 1) kept.pop_back();
  }
  return kept;
}

void put_backward_first(std::vector<candidate>& all) {
  sort_by(all, [](candidate const& each) {
    if (!each.hypothesis) return 0;
    return each.hypothesis->of_gradients && !each.hypothesis->fits_answers ? 1 : 2;
  });
}

}  // namespace attest::audit
