#include "audit/condition/designs.hpp"

#include <algorithm>
#include <utility>

namespace attest::audit {
namespace {

using integer = std::int64_t;

/// Forms that have little in common, all cheap.
std::vector<call_form> variety() {
  using enum feature;
  return {
      {{3, 4, 2, 70, 131, 24, 40}, {}, 0, value_form::gaussian, 3, {}},
      {{2, 3, 3, 1, 336, 64, 64}, {feature::mask}, 5, value_form::gaussian, 0, {}},
      {{1, 2, 2, 45, 45, 16, 16}, {feature::mask, feature::bias, softcap}, 0, value_form::gaussian, 1, {}},
      {{1, 8, 2, 90, 21, 96, 96}, {causal, feature::scale}, 0, value_form::gaussian, 16, {}},
      {{1, 1, 1, 33, 33, 64, 64}, {}, 0, value_form::pointed, 0, {}},
      {{1, 1, 1, 4, 1, 8, 8}, {}, 0, value_form::gaussian, 0, {}},
      {{1, 1, 1, 64, 128, 64, 64}, {}, 0, value_form::gaussian, 0, {}},  // whole blocks
  };
}

/// Whether a clause is about features of this group; of `numbers`, about this one.
bool claims(condition_clause const& one, feature_row const& row) {
  using kind = condition_clause::kind;
  switch (one.is) {
    case kind::feature:
    case kind::negative_scale:
      return one.option == row.id ||
             (!one.absent && row.group != feature_group::numbers && row_of(one.option).group == row.group);
    case kind::group:
    case kind::among:
    case kind::shape: return row_of(one.option).group == row.group;
    case kind::number: return row_of(one.of).is_of(row);
    default: return false;
  }
}

bool about(std::vector<condition_clause> const& clauses, form_number what) {
  return std::ranges::any_of(clauses, [&](condition_clause const& one) { return one.about(what); });
}

/// `base`, and what the clauses are not about as in `like`.
call_form different(call_form const& base, call_form const& like, std::vector<condition_clause> const& clauses) {
  call_form form = base;
  if (!about(clauses, form_number::group)) {
    if (!about(clauses, form_number::heads)) form.size.hq = like.size.hq, form.size.hk = like.size.hk;
  } else if (!about(clauses, form_number::heads)) {
    form.size.hk *= like.size.hk, form.size.hq *= like.size.hk;
  }
  for (form_number const of :
       {form_number::b, form_number::n, form_number::m, form_number::d, form_number::dv, form_number::threads})
    if (!about(clauses, of)) form = with(form, of, value_of(like, of)).value_or(form);
  for (feature_row const& row : feature_table()) {
    // One of each group: the feature that a clause names stays.
    bool const stays = std::ranges::any_of(clauses, [&](condition_clause const& one) { return claims(one, row); });
    if (!stays) like.options.has(row.id) ? form.options.add(row.id) : form.options.remove(row.id);
    if (!form.options.has(row.id) && (!stays || row.number)) reset(form, row.id);
  }
  if (!about(clauses, form_number::diagonal)) form.diagonal.reset();
  if (about(clauses, form_number::left)) return form;
  form.length = std::min(base.length > 0 ? base.length : like.length, form.size.m);
  return form;
}

/// A number outside the set, as near as can be.
std::optional<integer> nearest_outside(number_set const& set, integer from) {
  if (set.low && *set.low > 0) return *set.low - 1;
  if (set.high) return *set.high + 1;
  for (integer away = 1; away <= 64; ++away) {
    if (!set.has(from + away)) return from + away;
    if (from - away > 0 && !set.has(from - away)) return from - away;
  }
  return std::nullopt;
}

std::optional<call_form> outside(call_form form, condition_clause const& one) {
  switch (one.is) {
    case condition_clause::kind::number:
    case condition_clause::kind::either: {
      auto const x = nearest_outside(one.set, value_of(form, one.of));
      if (!x) return std::nullopt;
      auto moved = with(form, one.of, *x);
      return moved && one.is == condition_clause::kind::either ? with(*moved, one.other, *x) : moved;
    }
    case condition_clause::kind::product: {
      // Half of one and twice the other, and one less.
      integer const second = std::max<integer>(2 * value_of(form, one.of), 2);
      auto const moved = with(form, one.of, second);
      return moved ? with(*moved, one.other, (*one.set.low - 1) / second) : moved;
    }
    case condition_clause::kind::order: {
      integer const p = value_of(form, one.other);
      for (integer const x : {p + one.apart, p + one.apart + 8, p + one.apart - 8})
        if (auto const moved = with(form, one.of, x); moved && !one.holds(*moved)) return moved;
      return std::nullopt;
    }
    case condition_clause::kind::feature:
      if (one.absent) return std::nullopt;
      form.options.remove(one.option);
      return form;
    case condition_clause::kind::group:
      for (feature_row const& row : feature_table())
        if (row.group == row_of(one.option).group) form.options.remove(row.id);
      return form;
    case condition_clause::kind::among: one.among.each([&](feature band) { form.options.remove(band); }); return form;
    case condition_clause::kind::shape: {
      auto over = axes_of(one.option, form);
      for (std::size_t axis = 0; axis < over.size(); ++axis)
        if (one.over[axis]) {
          over[axis] = !over[axis], axes_over(form, row_of(one.option).group) = over;
          return form;
        }
      form.options.remove(one.option);
      return form;
    }
    case condition_clause::kind::negative_scale:
      if (form.scale) form.scale = -*form.scale;
      return form;
    case condition_clause::kind::memory: return without(form, one.trait);
    case condition_clause::kind::values:
      form.values = one.form_of_values == value_form::gaussian ? value_form::pointed : value_form::gaussian;
      return form;
  }
  return std::nullopt;
}

}  // namespace

std::vector<call_form> designs_inside(call_form const& base, std::vector<condition_clause> const& clauses) {
  std::vector<call_form> forms;
  for (call_form const& like : variety()) forms.push_back(different(base, like, clauses));
  // The claused numbers elsewhere in their sets.
  call_form larger = base;
  for (condition_clause const& one : clauses)
    if (one.is == condition_clause::kind::number)
      for (integer x = 2 * value_of(base, one.of) + 1, tried = 0; tried < 200; ++x, ++tried)
        if (one.set.has(x) && x <= row_of(one.of).highest) {
          if (auto const moved = with(larger, one.of, x)) larger = *moved;
          break;
        }
  if (larger != base) forms.push_back(different(larger, variety()[1], clauses));
  return forms;
}

std::vector<call_form> designs_outside(call_form const& base, std::vector<condition_clause> const& clauses) {
  std::vector<call_form> forms;
  auto const likes = variety();
  for (std::size_t at = 0; at < clauses.size(); ++at)
    for (std::size_t const like : {at % 3, (at + 2) % 3 + 1})
      if (auto form = outside(different(base, likes[like], clauses), clauses[at])) forms.push_back(std::move(*form));
  return forms;
}

std::vector<call_form> path_between(call_form const& from, call_form const& to) {
  std::vector<call_form> path{from};
  call_form now = from;
  auto const step = [&](auto&& change) {
    change(now);
    if (now != path.back()) path.push_back(now);
  };
  step([&](call_form& f) { f.values = to.values; });
  for (feature_group const group : {feature_group::band, feature_group::mask, feature_group::bias})
    step([&](call_form& f) {
      for (feature_row const& row : feature_table())
        if (row.group == group) to.options.has(row.id) ? f.options.add(row.id) : f.options.remove(row.id);
      f.length = std::min(std::max(f.length, to.length), f.size.m);
    });
  for (feature_row const& row : feature_table())
    if (row.number)
      step([&](call_form& f) { to.options.has(row.id) ? f.options.add(row.id) : f.options.remove(row.id); });
  step([&](call_form& f) { f.threads = to.threads; });
  step([&](call_form& f) { f.size.b = to.size.b; });
  step([&](call_form& f) { f.size.d = to.size.d; });
  step([&](call_form& f) { f.size.dv = to.size.dv; });
  step([&](call_form& f) { f.size.m = to.size.m, f.length = std::min(f.length, f.size.m); });
  step([&](call_form& f) { f.size.n = to.size.n; });
  // First as many kv heads, then the group.
  step([&](call_form& f) {
    integer const group = f.size.hq / std::max<integer>(f.size.hk, 1);
    if (group > 0 && to.size.hq % group == 0) f.size.hq = to.size.hq, f.size.hk = to.size.hq / group;
  });
  step([&](call_form& f) { f.size.hq = to.size.hq, f.size.hk = to.size.hk; });
  step([&](call_form& f) { f = to; });
  return path;
}

}  // namespace attest::audit
