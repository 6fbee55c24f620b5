#include "audit/cases/domain/keep_form.hpp"

#include <algorithm>
#include <tuple>

namespace attest::audit {
namespace {

/// A member of both sets near x: the least above, else the greatest below, else the member of `one`.
std::int64_t near_in_both(size_set const& one, size_set const& other, std::int64_t x) {
  constexpr int most_steps = 1 << 10;
  auto const search = [&](auto const next) -> std::optional<std::int64_t> {
    std::optional<std::int64_t> at = x;
    for (int step = 0; at && step < most_steps; ++step) {
      at = (one.*next)(*at);
      if (!at || other.has(*at)) return at;
      at = (other.*next)(*at);
    }
    return std::nullopt;
  };
  if (auto const up = search(&size_set::at_least)) return *up;
  return search(&size_set::at_most).value_or(one.near(x));
}

}  // namespace

void keep_lengths(call_domain const& domain, problem::sizes& s) {
  if (domain.queries == call_domain::lengths::equal) {
    if (domain.n.one && s.n == 1) s.m = domain.m.near(std::max<std::int64_t>(s.m, 1));
    else s.n = s.m = near_in_both(domain.m, domain.n, s.m);
    return;
  }
  s.n = domain.n.near(s.n), s.m = domain.m.near(s.m);
  if (std::int64_t const keys = domain.keys_for(s.n); s.m < keys) {
    if (auto const longer = domain.m.at_least(keys)) s.m = *longer;
    else s.n = domain.n.at_most(s.m / domain.times).value_or(s.n);
  } else if (std::int64_t const queries = domain.queries_for(s.m); s.n < queries) {
    if (auto const longer = domain.n.at_least(queries)) s.n = *longer;
    else s.m = domain.m.at_most(s.n / domain.times).value_or(s.m);
  }
}

namespace {

void keep_widths(call_domain const& domain, problem::sizes& s) {
  if (auto const both = domain.widths(s.d, s.dv)) {
    std::tie(s.d, s.dv) = *both;
    return;
  }
  s.d = domain.d.near(s.d);
  if (domain.dv == call_domain::value_widths::same) s.dv = s.d;
  if (domain.dv == call_domain::value_widths::paired) {
    auto const at = std::ranges::find(domain.d.listed, s.d) - domain.d.listed.begin();
    s.dv = domain.value_width[static_cast<std::size_t>(at)];
  }
}

void keep_heads(call_domain const& domain, problem::sizes& s) {
  std::int64_t const group = domain.group.near(s.hk > 0 ? s.hq / s.hk : 1), heads = domain.kv_heads.near(s.hk);
  s.b = domain.batch.near(heads > 0 && heads < s.hk ? s.b * (s.hk / heads) : s.b);
  s.hk = heads, s.hq = heads * group;
}

bool takes_band(call_domain const& domain, call_form const& form) {
  problem::parameters call;
  call.band = band_of(form);
  return domain.takes_band(call, form.size);
}

void set_band(call_form& form, std::optional<feature> band) {
  for (feature_row const& row : feature_table())
    if (row.group == feature_group::band) form.options.remove(row.id);
  if (band) form.options.add(*band);
}

bool ends_at_the_query(call_form const& form) {
  using enum feature;
  return form.options.has(causal) || form.options.has(causal_top_left) || form.options.has(window);
}

void keep_band(call_domain const& domain, call_form& form) {
  using enum feature;
  if (takes_band(domain, form)) return;
  form.diagonal.reset();
  if (takes_band(domain, form)) return;
  if (needs_square(domain, form) && domain.n.has(form.size.m)) form.size.n = form.size.m;
  bool const ends_at_query = ends_at_the_query(form);
  std::optional<feature> const near[]{std::nullopt, causal, causal_top_left, std::nullopt, window, symmetric_window};
  for (std::size_t at = ends_at_query ? 1 : 0; at < std::size(near); ++at) {
    set_band(form, near[at]);
    if (takes_band(domain, form)) return;
  }
}

/// Requires  all else is in the domain
void keep_scale(call_domain const& domain, call_form& form) {
  if (takes(domain, form)) return;
  bool const stated = domain.scale != call_domain::scales::standard;
  if (stated && form.scale && *form.scale < 0) form.scale = -*form.scale;
  else form.scale.reset();
  if (domain.scale == call_domain::scales::stated) form.options.add(feature::scale);
  else if (!form.scale) form.options.remove(feature::scale);
}

}  // namespace

bool excludes(needed_inputs const& needs, feature one) noexcept {
  using enum needed_inputs::input;
  if (one == feature::packed) return needs.has(block_table) || needs.has(mask) || needs.has(bias);
  if (one == feature::paged) return needs.has(k_offsets);
  return (needs.has(q_offsets) || needs.has(k_offsets)) && exclude(feature::packed, one) &&
         row_of(one).group != feature_group::entries;
}

bool takes(call_domain const& domain, call_form const& form) {
  bool apart = form.supplied != domain.needs;
  form.options.each([&](feature one) { apart = apart || excludes(domain.needs, one); });
  if (apart) return false;
  problem_draft call;
  call.band = band_of(form);
  if (form.options.has(feature::scale)) call.scale = form.scale.value_or(1);
  return domain.takes_scale(call) && domain.takes_band(call, form.size) && domain.takes(form.size);
}

bool needs_square(call_domain const& domain, call_form const& form) {
  return ends_at_the_query(form) && domain.takes(band_form::square) && !domain.takes(band_form::top_left) &&
         !domain.takes(band_form::bottom_right);
}

void keep_to(call_domain const& domain, call_form& form) {
  if (domain.is_square() && form.options.has(feature::causal_top_left)) set_band(form, feature::causal);
  form.supplied = domain.needs;
  for (feature_row const& row : feature_table())
    if (form.options.has(row.id) && excludes(domain.needs, row.id)) form.options.remove(row.id), reset(form, row.id);
  if (takes(domain, form)) return;
  keep_heads(domain, form.size);
  keep_lengths(domain, form.size);
  keep_widths(domain, form.size);
  form.length = std::min(form.length, std::max<std::int64_t>(form.size.m, 1));
  form.memory.overlap = std::min({form.memory.overlap, form.size.d, form.size.dv});
  keep_band(domain, form);
  keep_scale(domain, form);
}

}  // namespace attest::audit
