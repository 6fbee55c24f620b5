#include "audit/cases/domain/call_domain.hpp"

namespace attest::audit {

band_form band_form_of(problem::parameters const& p, problem::sizes const& s) noexcept {
  auto const& [diagonal, left, right] = p.band;
  if (left < 0 && right < 0) return band_form::none;
  if (left >= 0 || right > 0) return band_form::window;
  if (p.align == 0 ? diagonal == 0 : diagonal == s.n - s.m) return band_form::top_left;
  return p.align == 0 ? (diagonal == s.m - s.n ? band_form::bottom_right : band_form::diagonal)
                      : (diagonal == 0 ? band_form::bottom_right : band_form::diagonal);
}

bool call_domain::takes_lengths(std::int64_t of_queries, std::int64_t keys) const {
  bool const one_query = decodes() && of_queries == 1;
  return n.has(of_queries) && m.has(keys) && keys >= keys_for(of_queries) &&
         (one_query || of_queries >= queries_for(keys));
}

bool call_domain::takes(problem::sizes const& s) const {
  if (!d.has(s.d) || !batch.has(s.b) || !kv_heads.has(s.hk) || !takes_lengths(s.n, s.m)) return false;
  if (s.hk > 0 && !group.has(s.hq / s.hk)) return false;
  switch (dv) {
    case value_widths::any: return true;
    case value_widths::same: return s.dv == s.d;
    case value_widths::paired: break;
  }
  for (std::size_t at = 0; at < d.listed.size(); ++at)
    if (d.listed[at] == s.d) return value_width[at] == s.dv;
  return false;
}

bool call_domain::takes_band(problem::parameters const& p, problem::sizes const& s) const {
  band_form const form = band_form_of(p, s);
  bool const is_square = s.n == s.m && form == band_form::top_left;
  return takes(form) || (is_square && (takes(band_form::bottom_right) || takes(band_form::square))) ||
         (form != band_form::none && form != band_form::window && takes(band_form::diagonal));
}

bool call_domain::takes_scale(problem::parameters const& p) const {
  return scale == scales::any || (p.scale ? scale != scales::standard && *p.scale > 0 : scale != scales::stated);
}

bool call_domain::takes(problem_draft const& p, problem::sizes const& s) const {
  return takes_scale(p) && takes_band(p, s) && takes(s) && needs.all_in(p);
}

std::optional<std::pair<std::int64_t, std::int64_t>> call_domain::widths(std::int64_t least_d,
                                                                         std::int64_t least_dv) const {
  if (dv == value_widths::paired) {
    for (std::size_t at = 0; at < d.listed.size(); ++at)
      if (d.listed[at] >= least_d && value_width[at] >= least_dv) return std::pair(d.listed[at], value_width[at]);
    return std::nullopt;
  }
  auto const width = d.at_least(dv == value_widths::same ? std::max(least_d, least_dv) : least_d);
  if (!width) return std::nullopt;
  return std::pair(*width, dv == value_widths::same ? *width : least_dv);
}

}  // namespace attest::audit
