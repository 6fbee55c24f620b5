#include "audit/session/condition_search.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "audit/session/condition_designs.hpp"

namespace attest::audit {
namespace {

using integer = std::int64_t;

bool rises(number_set const& set) { return set.low && set.text("").size() == 1 && !set.high; }

class searcher {
 public:
  searcher(call_form const& failing, std::vector<call_form> const& right, form_asker const& ask)
      : base_(failing), right_(right), ask_(ask) {}

  conjunction run() {
    simplify();
    name_what_is_left();
    found_.settled = true;
    for (int round = 0; round < 6 && found_.settled; ++round) {
      auto const contradiction = inside_and_right();
      if (!contradiction) break;
      if (round == 5 || !explain(*contradiction)) found_.settled = false;
    }
    if (found_.settled) found_.elsewhere = !right_outside();
    found_.base = base_;
    found_.clauses = in_order(std::move(found_.clauses));
    return std::move(found_);
  }

 private:
  bool wrong(call_form const& form) const { return form == base_ || ask_(form) == answer::wrong; }
  bool wrong(std::optional<call_form> const& form) const { return form && wrong(*form); }
  bool right(std::optional<call_form> const& form) const { return form && ask_(*form) == answer::right; }
  bool take(std::optional<call_form> const& form) {
    if (!form || *form == base_ || !wrong(*form)) return false;
    base_ = *form;
    return true;
  }
  integer value(form_number of) const { return value_of(base_, of); }
  bool tied(form_number of) const { return tied_[static_cast<std::size_t>(of)]; }
  /// The base with one number changed, and its partner with it where they are tied.
  std::optional<call_form> moved(call_form const& from, form_number of, integer x) const {
    auto form = with(from, of, x);
    if (form && tied(of)) form = with(*form, *partner_of(of), x);
    return form;
  }

  // 1. What can be plain becomes plain.

  void simplify() {
    bool changed = true;
    for (int pass = 0; pass < 2 && changed; ++pass) {
      changed = false;
      if (base_.values != value_form::gaussian) {
        call_form plain = base_;
        plain.values = value_form::gaussian;
        changed |= take(plain);
      }
      feature_set const options = base_.options;
      options.each([&](feature option) {
        call_form without = base_;
        without.options.remove(option);
        if (option == feature::scale) without.scale.reset();
        changed |= take(without);
      });
      if (base_.length > 1) {
        call_form shortest = base_;
        shortest.length = 1;
        take(shortest);
      }
      if (base_.threads != 0) changed |= take(with(base_, form_number::threads, 0));
      if (value(form_number::group) > 1) {
        call_form equal = base_;
        equal.size.hk = equal.size.hq;
        if (take(equal)) changed = true;
        else changed |= take(with(base_, form_number::group, 1));
      }
      for (form_number const of : {form_number::b, form_number::heads}) {
        integer const plain = of == form_number::heads ? value(form_number::group) : 1;
        if (value(of) != plain) changed |= take(with(base_, of, plain));
      }
      changed |= simplify_pair(form_number::n, form_number::m, {8, 64});
      changed |= simplify_pair(form_number::d, form_number::dv, {8, 64, 128});
    }
  }

  /// Sets both to what is plain, or one of them.
  bool simplify_pair(form_number first, form_number second, std::initializer_list<integer> plain) {
    if (value(first) == row_of(first).plain && value(second) == row_of(second).plain) return false;
    for (integer const x : plain) {
      auto const both = with(*with(base_, first, x), second, x);
      if (take(both)) return true;
      answer const one = ask_one(first, x), other = ask_one(second, x);
      if (one == answer::wrong || other == answer::wrong) return true;
      bool const alone = one == answer::refused && other == answer::refused;
      if (both && ask_(*both) == answer::right) {
        if (alone && value(first) == value(second)) tied_[index(first)] = tied_[index(second)] = true;
        return false;
      }
    }
    return false;
  }

  answer ask_one(form_number of, integer x) {
    if (value(of) == x) return answer::right;
    auto const form = with(base_, of, x);
    if (take(form)) return answer::wrong;
    return form ? ask_(*form) : answer::refused;
  }

  static std::size_t index(form_number of) { return static_cast<std::size_t>(of); }

  // 2. What cannot be plain is described.

  void name_what_is_left() {
    if (base_.values != value_form::gaussian) {
      condition_clause needed{.is = condition_clause::kind::values};
      needed.form_of_values = base_.values;
      found_.clauses.push_back(needed);
    }
    base_.options.each([&](feature option) {
      condition_clause needed{.is = condition_clause::kind::feature};
      needed.option = option;
      found_.clauses.push_back(needed);
    });
    if (value(form_number::threads) != 0) describe(form_number::threads, 0);
    if (value(form_number::group) > 1) describe_group();
    for (form_number const of : {form_number::heads, form_number::b}) {
      integer const plain = of == form_number::heads ? value(form_number::group) : 1;
      if (value(of) != plain) describe(of, plain);
    }
    for (form_number const of : {form_number::n, form_number::m, form_number::d, form_number::dv}) {
      if (tied(of) && (of == form_number::m || of == form_number::dv)) continue;
      if (value(of) != row_of(of).plain && !described(of)) describe(of, std::nullopt);
    }
    for (form_number const of : {form_number::heads, form_number::n, form_number::d}) relate(of, *partner_of(of));
  }

  bool described(form_number of) const {
    return std::ranges::any_of(found_.clauses, [&](condition_clause const& one) { return one.about(of); });
  }
  condition_clause* number_clause(form_number of) {
    auto const at = std::ranges::find_if(found_.clauses, [&](condition_clause const& one) {
      return one.is == condition_clause::kind::number && one.of == of;
    });
    return at == found_.clauses.end() ? nullptr : &*at;
  }

  /// Explores one number from the base and adds its clause.
  /// Ensures   false where it has no edge
  bool describe(form_number of, std::optional<integer> right_at) {
    if (!right_at && value(of) != row_of(of).plain && right(moved(base_, of, row_of(of).plain)))
      right_at = row_of(of).plain;
    integer const highest = std::max(row_of(of).highest, value(of));
    auto const line = number_line{value(of), right_at, row_of(of).lowest, highest};
    auto const found = explore(line, [&](integer x) {
      auto const form = moved(base_, of, x);
      return form ? x == value(of) ? answer::wrong : ask_(*form) : answer::refused;
    });
    if (auto const other = partner_of(of); other && !tied(of) && of != form_number::b && of != form_number::heads) {
      integer const p = value(*other);
      auto const near = [&](std::optional<integer> x) { return x && std::abs(*x - p) <= found.step; };
      if ((near(found.set.low) || near(found.set.high) || found.hole == p) && describe_order(of, *other, found.step))
        return true;
    }
    if (found.set.everything()) return false;
    condition_clause number{.is = condition_clause::kind::number};
    number.of = of, number.set = found.set;
    found_.clauses.push_back(number);
    if (rises(found.set)) base_ = *moved(base_, of, found.lowest_wrong);
    return true;
  }

  /// Grouped heads as such, or from some group on.
  void describe_group() {
    call_form two = base_;
    two.size.hk = (two.size.hq + 1) / 2, two.size.hq = 2 * two.size.hk;
    if (take(two)) return add_grouped();
    if (take(with(base_, form_number::group, 2)) || value(form_number::group) == 2) return add_grouped();
    describe(form_number::group, 1);
  }
  void add_grouped() {
    condition_clause grouped{.is = condition_clause::kind::number};
    grouped.of = form_number::group, grouped.set.low = 2;
    found_.clauses.push_back(grouped);
  }

  /// Whether the two compare in some way wherever they are.
  bool describe_order(form_number of, form_number other, integer step) {
    for (integer const p : {2 * std::max(value(of), value(other)) + 8, integer{24}}) {
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
      // Both move together from here on.
      auto const pair_at = [&](integer x) { return with(*with(base_, other, x), of, std::max<integer>(x + apart, 1)); };
      if (take(pair_at(row_of(other).plain))) return true;
      number_line const line{value(other), std::nullopt, row_of(other).lowest, row_of(other).highest - step};
      auto const found =
          explore(line, [&](integer x) { return x == value(other) ? answer::wrong : ask_(*pair_at(x)); });
      if (found.set.everything()) return true;
      condition_clause number{.is = condition_clause::kind::number};
      number.of = other, number.set = found.set;
      found_.clauses.push_back(number);
      return true;
    }
    return false;
  }

  /// Two numbers of a pair may matter by their product alone, or either of them.
  void relate(form_number first, form_number second) {
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
    integer const plain = value(partner), x = value(of);
    if (plain == x || tied(of)) return;
    auto const back = of == form_number::heads ? value(form_number::group) : row_of(of).plain;
    if (set.has(back)) return;
    if (!wrong(swapped(of, back, partner, x))) return;
    integer const twice = 2 * std::max(plain, back), half = (std::max(plain, back) * x + twice - 1) / twice;
    if (can_multiply && rises(set) && !set.has(twice) && wrong(swapped(of, twice, partner, half)))
      return multiply_from(of, partner, std::max(plain, back) * (x - 1), std::max(plain, back) * x);
    condition_clause* const into = one ? one : other;
    into->is = condition_clause::kind::either, into->of = first, into->other = second;
  }
  std::optional<call_form> swapped(form_number of, integer x, form_number partner, integer y) const {
    auto const form = with(base_, of, x);
    return form ? with(*form, partner, y) : form;
  }

  /// Both have an edge, x and y, at the other's: whether (2x, y/2) or (x/2, 2y) lies on the same side tells the
  /// product.
  void multiply(integer x, integer y, form_number first, form_number second) {
    integer const known_right = std::max((x - 1) * y, x * (y - 1)), wide = 2 * x, narrow = (x + 1) / 2;
    for (auto const& [one, other, right_other] :
         {std::array{wide, (y + 1) / 2, known_right / wide}, std::array{narrow, 2 * y, known_right / narrow}})
      if (right_other >= 1 && wrong(swapped(first, one, second, other)) &&
          right(swapped(first, one, second, right_other)))
        return multiply_from(first, second, known_right, x * y);
  }

  /// Finds the edge of the product between one that is right and one that is wrong, with one factor as small as can be.
  void multiply_from(form_number first, form_number second, integer known_right, integer known_wrong) {
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
    product.of = small == form_number::heads ? large : small,
    product.other = small == form_number::heads ? small : large;
    product.set.low = std::max(known_right, low * factor) + 1;
    found_.clauses.push_back(product);
    base_ = *at(high);
  }

  // 3. The clauses are put to the test.

  bool holds(call_form const& form) const { return found_.holds(form); }

  /// A form that the clauses hold for, and that is right.
  std::optional<call_form> inside_and_right() const {
    int contradictions = 0;
    for (call_form const& form : right_)
      if (holds(form) && contradictions++ < 3 && ask_(form) == answer::right) return form;
    for (call_form const& design : designs_inside(base_, found_.clauses))
      if (holds(design) && ask_(design) == answer::right) return design;
    return std::nullopt;
  }

  bool right_outside() const {
    for (call_form const& design : designs_outside(base_, found_.clauses))
      if (!holds(design) && ask_(design) == answer::wrong) return false;
    return true;
  }

  /// Adds the clause that tells a right form from the base: the first step from one to the other that changes the
  /// answer.
  bool explain(call_form const& is_right) {
    auto const path = path_between(base_, is_right);
    std::size_t inside = 0, outside = path.size() - 1;
    while (outside - inside > 1) {
      std::size_t const middle = inside + (outside - inside) / 2;
      (wrong(path[middle]) ? inside : outside) = middle;
    }
    call_form const before = path[inside], after = path[outside];
    if (outside + 1 < path.size() && ask_(after) != answer::right) return false;
    for (form_number const of : all_numbers) {
      integer const from = value_of(before, of), to = value_of(after, of);
      if (from == to ||
          (of == form_number::heads && value_of(before, form_number::group) != value_of(after, form_number::group)))
        continue;
      if (described(of)) return false;
      // In the plain surroundings of the base where the number matters there too.
      if (!right(with(base_, of, to))) base_ = before;
      std::size_t const clauses = found_.clauses.size();
      if (!describe(of, to) || found_.clauses.size() == clauses) return false;
      if (auto const other = partner_of(of)) relate(of, *other);
      return true;
    }
    if (before.values != after.values) {
      condition_clause needed{.is = condition_clause::kind::values};
      needed.form_of_values = before.values;
      found_.clauses.push_back(needed);
      return true;
    }
    bool added = false;
    for (feature_row const& row : feature_table()) {
      bool const has = before.options.has(row.id);
      if (has == after.options.has(row.id)) continue;
      condition_clause needed{.is = condition_clause::kind::feature};
      needed.option = row.id, needed.absent = !has;
      found_.clauses.push_back(needed);
      added = true;
    }
    base_ = added ? before : base_;
    return added;
  }

  call_form base_;
  std::vector<call_form> const& right_;
  form_asker const& ask_;
  conjunction found_;
  std::array<bool, all_numbers.size()> tied_{};
};

}  // namespace

bool conjunction::holds(call_form const& form) const {
  return std::ranges::all_of(clauses, [&](condition_clause const& one) { return one.holds(form); });
}

conjunction find_conjunction(call_form const& failing, std::vector<call_form> const& right, form_asker const& ask) {
  return searcher(failing, right, ask).run();
}

}  // namespace attest::audit
