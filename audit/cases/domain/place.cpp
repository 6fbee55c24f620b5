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

bool admits(call_domain const& domain, std::int64_t n, std::int64_t m) {
  if (!domain.n.has(n) || !domain.m.has(m)) return false;
  if (domain.queries == call_domain::lengths::equal) return n == m;
  return domain.queries == call_domain::lengths::any || n <= m;
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

}  // namespace

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
  for (std::int64_t const n : members(domain.n, {s.n, s.n + more, square, square + more}))
    for (std::int64_t const m : members(domain.m, {s.m, s.m + more, square, square + more}))
      for (band_form const form : forms) {
        if (!admits(domain, n, m)) continue;
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

}  // namespace attest::audit
