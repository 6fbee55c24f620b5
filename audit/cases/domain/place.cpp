#include "audit/cases/domain/place.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace attest::audit {
namespace {

/// What a call needs of a band: no bound, one on the right at this diagonal, or its own band with both bounds.
struct needed_band {
  band_form form = band_form::none;  ///< none, diagonal or window
  std::int64_t diagonal = 0;
};

/// A bound on the right alone is a causal band at another diagonal. Saturates, as the band itself does.
needed_band needed(problem::sizes const& s, problem::band const& band, bool takes_windows) {
  if (band.left < 0 && band.right < 0) return {};
  std::int64_t const all = s.n + s.m;
  std::int64_t const diagonal = std::clamp(band.diagonal, -all, all);
  if (band.left >= 0 || (band.right > 0 && takes_windows)) return {band_form::window, diagonal};
  return {band_form::diagonal, std::min(diagonal + std::min(band.right, all), all)};
}

/// The first three members of a set from each of these sizes on.
std::vector<std::int64_t> members(size_set const& of, std::initializer_list<std::int64_t> starts) {
  std::vector<std::int64_t> found;
  for (std::int64_t const start : starts) {
    auto next = of.at_least(start);
    for (int count = 0; next && count < 3; ++count) {
      found.push_back(*next);
      next = of.at_least(*next + 1);
    }
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

/// The place under one form of a band. Returns nothing if the larger sizes leave no room.
std::optional<placement> under(band_form form, needed_band const& need, problem::sizes const& s,
                               problem::band const& own, std::int64_t n, std::int64_t m) {
  placement at{.n = n, .m = m};
  if (form == band_form::none) return at;
  if (form == band_form::window) {
    at.band = own;
    return at;
  }
  std::int64_t const diagonal = form == band_form::top_left || form == band_form::square ? 0
                                : form == band_form::bottom_right                        ? m - n
                                                                                         : need.diagonal;
  // Key keys_before + j is visible from query rows_before + i iff j − i ≤ diagonal + rows_before − keys_before.
  std::int64_t const shift = need.diagonal - diagonal;
  at.rows_before = std::max<std::int64_t>(shift, 0), at.keys_before = std::max<std::int64_t>(-shift, 0);
  if (at.rows_before > n - s.n || at.keys_before > m - s.m) return std::nullopt;
  at.band = {.diagonal = diagonal, .left = -1, .right = 0};
  at.band_hides = at.keys_before == 0 && at.rows_before + s.n - 1 + diagonal < s.m;
  return at;
}

/// The forms under which a domain can express what a call needs.
std::vector<band_form> forms_for(needed_band const& need, problem::sizes const& s, call_domain const& domain) {
  std::vector<band_form> forms;
  auto const add = [&](band_form form) {
    if (domain.takes(form)) forms.push_back(form);
  };
  if (need.form == band_form::none) {
    add(band_form::none);
    if (forms.empty() && s.n == 1) add(band_form::bottom_right), add(band_form::diagonal);
    return forms;
  }
  if (need.form == band_form::window) {
    add(band_form::window);
    return forms;
  }
  for (band_form const form : {band_form::top_left, band_form::bottom_right, band_form::diagonal, band_form::square})
    add(form);
  return forms;
}

problem::result<placement> placed(problem::sizes const& s, problem::band const& band, call_domain const& domain) {
  needed_band need = needed(s, band, domain.takes(band_form::window));
  auto const forms = forms_for(need, s, domain);
  if (forms.empty())
    return not_in_domain(need.form == band_form::none     ? "every query sees every key, and the domain has bands alone"
                         : need.form == band_form::window ? "the domain has no windows"
                                                          : "the domain has no causal form");
  if (need.form == band_form::none) need.diagonal = s.m - 1;  // only one query: the last key is its limit
  std::int64_t const more = std::abs(need.diagonal) + std::abs(s.m - s.n);
  std::optional<placement> best;
  auto const cost = [](placement const& of) { return std::pair(of.keys_before > 0, of.n * of.m); };
  std::int64_t const square = std::max(s.n, s.m);
  std::int64_t const queries = std::max(s.n, domain.queries_for(s.m)), keys = std::max(s.m, domain.keys_for(s.n));
  for (std::int64_t const n : members(domain.n, {s.n, s.n + more, square, square + more, queries, queries + more}))
    for (std::int64_t const m :
         members(domain.m, {s.m, s.m + more, square, square + more, keys, std::max(s.m, domain.keys_for(n))}))
      for (band_form const form : forms) {
        if (!domain.takes_lengths(n, m)) continue;
        if (form == band_form::square && n != m) continue;
        auto const at = under(form, need, s, band, n, m);
        if (at && (!best || cost(*at) < cost(*best))) best = at;
      }
  if (!best)
    return not_in_domain(!domain.n.at_least(s.n)   ? "more queries than the domain takes"
                         : !domain.m.at_least(s.m) ? "more keys than the domain takes"
                                                   : "another diagonal than the domain takes");
  return *best;
}

/// The place of a call whose entries have lengths: added keys lie behind them. Without lengths of queries, a band that
/// is aligned at the end needs the added queries in front.
problem::result<placement> placed_by_lengths(problem_draft const& p, problem::sizes const& s,
                                             call_domain const& domain) {
  band_form const form = band_form_of(p, s);
  if (!domain.takes(form) && !domain.takes(band_form::diagonal))
    return not_in_domain("another band than the domain takes");
  problem::band const none{};
  auto at = placed(s, none, [&] {
    call_domain any_band = domain;
    any_band.bands[0] = true;
    return any_band;
  }());
  if (!at) return at;
  at.value().band = p.band;
  bool const at_the_end = p.align != 0 && p.band.right >= 0 && !p.q_lengths;
  if (at_the_end) at.value().rows_before = at.value().n - s.n;
  return at;
}

}  // namespace

problem::result<placement> placed(problem_draft const& p, problem::sizes const& s, call_domain const& domain) {
  if (!p.has_slots()) {
    bool const taken = domain.n.has(s.n) && domain.m.has(s.m) && (domain.takes(band_form_of(p, s)));
    if (!taken) return not_in_domain("other lengths of packed or paged tensors");
    return placement{.n = s.n, .m = s.m, .band = p.band};
  }
  auto at = [&] {
    if (p.q_lengths || p.k_lengths) return placed_by_lengths(p, s, domain);
    problem::band band = p.band;
    if (p.align != 0) band.diagonal += s.m - s.n;
    return placed(s, band, domain);
  }();
  if (!at || !p.block_mask) return at;
  placement const& place = at.value();
  auto const blocks = [](std::int64_t size, std::int64_t block) { return (size + block - 1) / block; };
  if (place.rows_before > 0 || place.keys_before > 0 || blocks(place.n, p.block_q) != blocks(s.n, p.block_q) ||
      blocks(place.m, p.block_k) != blocks(s.m, p.block_k))
    return not_in_domain("a block mask of other lengths");
  return at;
}

}  // namespace attest::audit
