#include "audit/cases/domain/edges.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/forms/typical_forms.hpp"
#include "audit/cases/row_sample.hpp"
#include "audit/support/sort_by.hpp"

namespace attest::audit {
namespace {

using width = std::pair<std::int64_t, std::int64_t>;  ///< d, dv

/// Up to six widths: the smallest, the widths that models use, the largest.
std::vector<width> edge_widths(call_domain const& domain) {
  std::vector<width> all;
  for (std::int64_t const d : {1, 64, 128, 256, 512}) {
    auto const found = domain.widths(d, 1);
    if (!found) continue;
    auto const [head, value] = *found;
    // A domain whose value widths are free takes dv = d, too.
    all.emplace_back(head, domain.dv == call_domain::value_widths::any ? head : value);
  }
  if (auto const most = domain.d.at_most(576))
    if (auto const found = domain.widths(*most, 1))
      all.emplace_back(found->first, domain.dv == call_domain::value_widths::any ? found->first : found->second);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

/// The lengths (n, m) that are asked.
std::vector<std::pair<std::int64_t, std::int64_t>> edge_lengths(call_domain const& domain) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  auto const multiple = [](size_set const& of, std::int64_t count) {
    return of.near(std::max(of.least, std::int64_t{1}) + (count - 1) * of.granule);
  };
  constexpr std::array<std::pair<int, int>, 11> counts{
      {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {8, 8}, {1, 2}, {1, 3}, {1, 8}, {2, 5}, {3, 1}, {5, 2}}};
  // With a granule of 1 the sizes of other checks are in the domain; these are the lengths beyond one tile.
  std::int64_t const times_n = domain.n.granule < 16 ? 67 : 1, times_m = domain.m.granule < 16 ? 67 : 1;
  for (auto const& [n, m] : counts) {
    problem::sizes s{.n = multiple(domain.n, n * times_n), .m = multiple(domain.m, m * times_m)};
    // A rule of lengths has edges of its own: as many keys as the queries need.
    if (domain.times > 1) keep_lengths(domain, s);
    if (domain.takes_lengths(s.n, s.m)) all.emplace_back(s.n, s.m);
    std::int64_t const keys = multiple(domain.m, m * times_m);
    if (domain.n.one && domain.takes_lengths(1, keys)) all.emplace_back(1, keys);
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

/// The forms of a band: none, and the causal ones.
std::vector<std::optional<feature>> edge_bands(call_domain const& domain, bool square) {
  std::vector<std::optional<feature>> all;
  if (domain.takes(band_form::none)) all.emplace_back();
  if (domain.takes(band_form::bottom_right) || (square && domain.takes(band_form::square)))
    all.emplace_back(feature::causal);
  if (domain.takes(band_form::top_left) && !square) all.emplace_back(feature::causal_top_left);
  return all;
}

/// Of these lengths, the ones beside which each feature is asked: several blocks, and still cheap. One query, too, if
/// it is apart from the other numbers of queries.
std::vector<std::pair<std::int64_t, std::int64_t>> lengths_of_features(
    std::vector<std::pair<std::int64_t, std::int64_t>> const& all, call_domain const& domain) {
  constexpr std::int64_t wish = 300;
  std::vector<std::pair<std::int64_t, std::int64_t>> some;
  if (all.empty()) return some;
  some.push_back(*std::ranges::min_element(
      all, {}, [](auto const& of) { return std::abs(of.first - wish) + std::abs(of.second - wish); }));
  std::int64_t const keys = domain.m.near(wish);
  if (domain.n.one && domain.takes_lengths(1, keys)) some.emplace_back(1, keys);
  return some;
}

/// Is there a call with this feature in the domain? The causal ones are asked with the lengths.
bool is_asked_by_itself(feature one, call_domain const& domain) {
  if (one == feature::scale) return domain.scale != call_domain::scales::standard;
  feature_group const group = row_of(one).group;
  return group == feature_group::band
             ? domain.takes(band_form::window) && one != feature::causal && one != feature::causal_top_left
             : group != feature_group::sizes && domain.takes(band_form::none);
}

std::string named(call_form const& form, std::string_view with) {
  auto const& s = form.size;
  return fmt::format("d{}{}-n{}-m{}{}{}-{}", s.d, s.dv == s.d ? "" : fmt::format("-dv{}", s.dv), s.n, s.m,
                     with.empty() ? "" : "-", with, name_of(form.values));
}

/// Numbers of queries with every residue mod 64 and of keys with every residue mod 128, beyond one tile.
void add_residues(call_domain const& domain, std::vector<edge_form>& to) {
  constexpr std::int64_t all = 128;
  for (std::int64_t at = 0; at < all; ++at) {
    call_form form{.size = {1, 1, 1, 65 + at, 129 + 7 * at % all, 8, 8}};
    keep_to(domain, form);
    if (takes(domain, form)) to.push_back({"residue-" + named(form, ""), form});
  }
}

/// Each feature beside several blocks of keys, the last of them not whole, and so more columns of V than of K.
void add_long_features(std::vector<edge_form>& to) {
  std::size_t turn = 0;
  call_form wide{.size = {2, 4, 2, 70, 201, 16, 40}};
  wide.values = value_form::pointed;
  to.push_back({named(wide, "value-width"), wide});
  for (feature_row const& row : feature_table()) {
    if (!is_asked_by_itself(row.id, {})) continue;
    call_form form{.size = {2, 4, 2, 70, 201, 16, 16}, .length = 100};
    form.values = turn++ % 2 == 0 ? value_form::pointed : value_form::digits;
    form.options.add(row.id);
    to.push_back({named(form, row.name), form});
  }
}

/// The edges of a domain that has some.
std::vector<edge_form> forms_of(call_domain const& domain) {
  std::vector<edge_form> forms;
  constexpr value_form values[]{value_form::pointed, value_form::digits, value_form::far_block, value_form::gaussian};
  std::size_t turn = 0;
  std::int64_t const batch = domain.batch.near(2), kv_heads = domain.kv_heads.near(2);
  // As many as no number of bands or values divides, so that each group meets each of them.
  std::vector<std::int64_t> groups;
  for (std::int64_t const group : {1, 4, 3, 8, 7}) groups.push_back(domain.group.near(group));
  auto const lengths = edge_lengths(domain);
  for (auto const& [d, dv] : edge_widths(domain)) {
    for (auto const& [n, m] : lengths)
      for (auto const band : edge_bands(domain, n == m)) {
        std::int64_t const group = groups[turn % groups.size()];
        call_form form{.size = {batch, kv_heads * group, kv_heads, n, m, d, dv}};
        form.values = values[turn++ % std::size(values)];
        // A far block needs keys that every query sees.
        if (form.values == value_form::far_block && band) form.values = value_form::pointed;
        if (band) form.options.add(*band);
        forms.push_back({named(form, band ? row_of(*band).name : ""), form});
      }
    for (auto const& [n, m] : lengths_of_features(lengths, domain))
      for (feature_row const& row : feature_table()) {
        if (!is_asked_by_itself(row.id, domain)) continue;
        std::int64_t const group = groups[turn % groups.size()];
        call_form form{.size = {batch, kv_heads * group, kv_heads, n, m, d, dv}, .length = m / 2};
        form.values = turn++ % 2 == 0 ? value_form::pointed : value_form::digits;
        form.options.add(row.id);
        forms.push_back({named(form, row.name), form});
      }
  }
  // A plain loop takes a second for so many multiplications, and a call may take two.
  constexpr std::int64_t most_products = std::int64_t{1} << 26;
  auto const costs_too_much = [](call_form const& form) {
    return cost_of(form, problem::element_type::f32).products > most_products;
  };
  for (edge_form& edge : forms) {
    problem::sizes& s = edge.form.size;
    // Long lengths have as few heads as the domain takes, and then small groups.
    if (s.n * s.m > 1 << 16 || costs_too_much(edge.form)) s.b = 1, s.hq = s.hq / s.hk, s.hk = 1;
    if (costs_too_much(edge.form)) s.hq = s.hk * groups.front();
    keep_to(domain, edge.form);
  }
  std::erase_if(forms, [&](edge_form const& edge) { return !takes(domain, edge.form) || costs_too_much(edge.form); });
  // Two wishes may be one call.
  sort_by(forms, &edge_form::name);
  forms.erase(std::ranges::unique(forms, {}, &edge_form::name).begin(), forms.end());
  return forms;
}

}  // namespace

std::vector<edge_form> edge_forms(call_domain const& domain) {
  std::vector<edge_form> forms;
  if (!domain.is_everything()) forms = forms_of(domain);
  if (domain.queries == call_domain::lengths::any && domain.n.is_everything() && domain.m.is_everything())
    add_residues(domain, forms);
  if (!domain.is_everything()) return forms;
  add_long_features(forms);
  for (call_form& form : typical_forms()) {
    std::string with = form.size.hq == form.size.hk ? "" : fmt::format("hq{}", form.size.hq);
    form.options.each([&](feature one) { with += (with.empty() ? "" : "-") + std::string(row_of(one).name); });
    std::string name = named(form, with);
    forms.push_back({std::move(name), std::move(form)});
  }
  return forms;
}

audit_case edge_case(edge_form const& edge, problem::element_type type, std::uint64_t seed,
                     shape_limits const& limits) {
  random_stream random(seed, "edges/" + edge.name);
  audit_case made{.check = std::string(check_of_edges),
                  .name = edge.name,
                  .problem = owned_problem::of_valid(draft_of(edge.form, type, random))};
  made.rows = sampled_queries(made.problem, judged_rows(edge.form.size, limits.judged_products / 4), random);
  made.once = true;
  made.form = edge.form, made.beyond = edge.form.options.has(feature::finite_mask);
  return made;
}

}  // namespace attest::audit
