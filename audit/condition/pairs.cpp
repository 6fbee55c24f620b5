// Two numbers of a form that matter together: by their order, by their product, or either of them.
#include <algorithm>
#include <array>

#include "audit/condition/searcher.hpp"

namespace attest::audit {

/// Whether an edge, more than a step from the partner, moves with it.
bool searcher::describe_apart(form_number of, form_number other, number_answer const& found) {
  number_set const& set = found.set;
  integer const p = value(other), moved = 2 * std::max(p, integer{8}), step = found.step;
  bool const single = set.low && set.low == set.high;
  if (!single && !(set.low && rises(set)) && !(set.high && !set.low && set.text("").size() == 1)) return false;
  integer const edge = single || set.low ? *set.low : *set.high, apart = edge - p;
  if (apart == 0 || (!single && std::abs(apart) <= step)) return false;
  if (apart + p + moved > row_of(of).highest) return false;
  auto const at = [&](integer x) { return with(*with(base_, other, p + moved), of, x); };
  integer const outside = edge + moved + (set.high ? step : -step);
  if (!wrong(at(edge + moved)) || !right(at(outside))) return false;
  condition_clause relation{.is = condition_clause::kind::order};
  bool const first = of < other;
  relation.of = std::min(of, other), relation.other = std::max(of, other);
  // of ≥ other + apart is of > other + apart − 1; in the other order, other < of − (apart − 1).
  integer const beyond = single ? apart : set.low ? apart - step : apart + step;
  relation.compares = single ? order::equal : (set.low.has_value() == first) ? order::greater : order::less;
  relation.apart = first ? beyond : -beyond;
  found_.clauses.push_back(relation);
  follow(of, other, apart, step);
  return true;
}

/// Whether the two compare in some way wherever they are.
bool searcher::describe_order(form_number of, form_number other, integer step) {
  for (integer const p : {2 * value(other) + 8, integer{24}}) {
    if (p + step > row_of(of).highest) continue;
    auto const at = [&](integer x) { return wrong(with(*with(base_, other, p), of, x)); };
    bool const below = at(p - step), same = at(p), above = at(p + step);
    if ((below && same && above) || (!below && !same && !above)) continue;
    condition_clause relation{.is = condition_clause::kind::order};
    relation.of = std::min(of, other), relation.other = std::max(of, other);
    bool const first = of < other, less = first ? below : above, greater = first ? above : below;
    relation.compares = less ? (same      ? order::at_most
                                : greater ? order::unequal
                                          : order::less)
                             : (!same     ? order::greater
                                : greater ? order::at_least
                                          : order::equal);
    found_.clauses.push_back(relation);
    integer const apart = same ? 0 : below ? -step : step;
    base_ = *with(*with(base_, other, p), of, p + apart);
    follow(of, other, apart, step);
    return true;
  }
  return false;
}

/// Explores `other`, and `of` = other + apart with it.
void searcher::follow(form_number of, form_number other, integer apart, integer step) {
  auto const pair_at = [&](integer x) { return with(*with(base_, other, x), of, std::max<integer>(x + apart, 1)); };
  if (take(pair_at(plain(other)))) return;
  integer const highest = row_of(other).highest - std::max(step, std::abs(apart));
  number_line const line{value(other), std::nullopt, row_of(other).lowest, std::max(highest, value(other))};
  auto const found = explore(line, [&](integer x) { return x == value(other) ? answer::wrong : ask_(*pair_at(x)); });
  if (!found.set.everything()) found_.clauses.push_back(clause_of(other, found.set));
}

/// Two numbers of a pair may matter by their product alone, or either of them.
void searcher::relate(form_number first, form_number second) {
  if (std::ranges::any_of(found_.clauses, [&](condition_clause const& one) {
        return one.is == condition_clause::kind::order && one.about(first);
      }))
    return;
  condition_clause *one = number_clause(first), *other = number_clause(second);
  bool const can_multiply = first != form_number::d;
  if (one && other) {
    if (can_multiply && rises(one->set) && rises(other->set)) multiply(*one->set.low, *other->set.low, first, second);
    return;
  }
  if (!one && !other) return;
  form_number const of = one ? first : second, partner = one ? second : first;
  number_set const set = (one ? one : other)->set;
  integer const usual = value(partner), x = value(of);
  if (usual == x || tied(of)) return;
  auto const back = of == form_number::heads ? value(form_number::group) : plain(of);
  if (set.has(back)) return;
  if (!wrong(swapped(of, back, partner, x))) return;
  integer const twice = 2 * std::max(usual, back), half = (std::max(usual, back) * x + twice - 1) / twice;
  if (can_multiply && rises(set) && !set.has(twice) && wrong(swapped(of, twice, partner, half)))
    return multiply_from(of, partner, std::max(usual, back) * (x - 1), std::max(usual, back) * x);
  condition_clause* const into = one ? one : other;
  into->is = condition_clause::kind::either, into->of = first, into->other = second;
}

std::optional<call_form> searcher::swapped(form_number of, integer x, form_number partner, integer y) const {
  auto const form = with(base_, of, x);
  return form ? with(*form, partner, y) : form;
}

/// Both have an edge, x and y, at the other's: whether (2x, y/2) or (x/2, 2y) lies on the same side tells the
/// product.
void searcher::multiply(integer x, integer y, form_number first, form_number second) {
  integer const known_right = std::max((x - 1) * y, x * (y - 1)), wide = 2 * x, narrow = (x + 1) / 2;
  for (auto const& [one, other, right_other] :
       {std::array{wide, (y + 1) / 2, known_right / wide}, std::array{narrow, 2 * y, known_right / narrow}})
    if (right_other >= 1 && wrong(swapped(first, one, second, other)) &&
        right(swapped(first, one, second, right_other)))
      return multiply_from(first, second, known_right, x * y);
}

/// Finds the edge of the product, between a right and a wrong product, with one factor as small as can be.
void searcher::multiply_from(form_number first, form_number second, integer known_right, integer known_wrong) {
  form_number const small = first == form_number::m || first == form_number::b ? second : first;
  form_number const large = small == first ? second : first;
  integer factor = small == form_number::heads ? value(form_number::group) : 1;
  while (known_wrong / factor + 1 > row_of(large).highest) factor *= 2;
  integer low = known_right / factor, high = (known_wrong + factor - 1) / factor;
  auto const at = [&](integer x) { return swapped(small, factor, large, x); };
  if (!wrong(at(high)) || (low > 0 && wrong(at(low)))) return;
  while (high - low > 1) {
    integer const middle = low + (high - low) / 2;
    (wrong(at(middle)) ? high : low) = middle;
  }
  std::erase_if(found_.clauses, [&](condition_clause const& one) { return one.about(first) || one.about(second); });
  condition_clause product{.is = condition_clause::kind::product};
  product.of = small == form_number::heads ? large : small, product.other = small == form_number::heads ? small : large;
  product.set.low = std::max(known_right, low * factor) + 1;
  found_.clauses.push_back(product);
  base_ = *at(high);
}

}  // namespace attest::audit
