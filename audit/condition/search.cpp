#include "audit/condition/search.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "audit/condition/designs.hpp"
#include "audit/condition/simple.hpp"

namespace attest::audit {
namespace {

using integer = std::int64_t;

/// Of a form that was judged before and is asked again.
constexpr integer most_products = integer{1} << 24;
/// The longest row that is asked where shorter ones tell as much.
constexpr integer longest = 8192;

bool rises(number_set const& set) { return set.low && set.text("").size() == 1 && !set.high; }

class searcher {
 public:
  searcher(call_form const& failing, std::vector<call_form> const& right, form_asker const& ask, integer element_bytes)
      : base_(failing), right_(right), ask_(ask), element_bytes_(element_bytes) {}

  conjunction run() {
    simple_form simple = simplified(base_, ask_);
    base_ = std::move(simple.base), tied_ = simple.tied;
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

  // 1. What cannot be plain is described.

  void name_what_is_left() {
    if (base_.values != value_form::gaussian) {
      condition_clause needed{.is = condition_clause::kind::values};
      needed.form_of_values = base_.values;
      found_.clauses.push_back(needed);
    }
    std::ranges::copy(describe_features(base_, ask_), std::back_inserter(found_.clauses));
    std::ranges::copy(describe_memory(base_, ask_, element_bytes_), std::back_inserter(found_.clauses));
    describe_option_numbers();
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
    prefer_kv_heads();
    std::erase_if(found_.clauses, [&](condition_clause const& one) {
      return one.is == condition_clause::kind::number && one.set.low == 2 && rises(one.set) &&
             imply_many(found_.clauses, one.of, base_);
    });
  }

  /// How far a window reaches, how high the cap is, what the bytes of the mask are: where it matters, the number says
  /// it, and the feature with it.
  void describe_option_numbers() {
    auto const say_feature_by = [&](form_number of) {
      std::erase_if(found_.clauses, [&](condition_clause const& one) {
        bool const any_shape = one.is == condition_clause::kind::shape && one.over == axes_pattern{};
        return (one.is == condition_clause::kind::feature || any_shape) && row_of(of).is_of(row_of(one.option));
      });
    };
    if (base_.mask_byte != 1 && describe(form_number::mask_byte, 1)) say_feature_by(form_number::mask_byte);
    if (base_.diagonal) describe(form_number::diagonal, std::nullopt);
    bool const window = base_.options.has(feature::window), symmetric = base_.options.has(feature::symmetric_window);
    if ((window || symmetric) && value(form_number::left) > 1) {
      integer const plain = window ? 0 : 1;
      if (right(with(base_, form_number::left, plain)) && describe(form_number::left, plain)) {
        call_form other = base_;
        other.options.remove(window ? feature::window : feature::symmetric_window);
        other.options.add(window ? feature::symmetric_window : feature::window);
        if (wrong(with(other, form_number::left, value(form_number::left)))) say_feature_by(form_number::left);
      }
    }
    if (integer const cap = value(form_number::cap); cap > 0)
      for (integer const other : {integer{4}, integer{400}})
        if (right(with(base_, form_number::cap, other))) {
          if (describe(form_number::cap, other)) say_feature_by(form_number::cap);
          break;
        }
  }

  /// Many heads, or many kv heads: half of these, with as many heads, tell.
  void prefer_kv_heads() {
    condition_clause* const heads = number_clause(form_number::heads);
    integer const group = value(form_number::group), kv = base_.size.hk;
    if (!heads || group < 2 || kv < 2 || !rises(heads->set)) return;
    call_form fewer = base_;
    fewer.size.hk = kv - 1, fewer.size.hq = 2 * group * (kv - 1);
    if (!right(fewer) || !holds(fewer)) return;
    heads->of = form_number::kv_heads, heads->set.low = kv;
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
    // A window that is longer than the keys is none.
    integer const most =
        of == form_number::left ? std::max<integer>(base_.size.m - 2, 1) : std::min(row_of(of).highest, longest);
    integer const highest = std::max(most, value(of));
    auto const line = number_line{value(of), right_at, std::min(row_of(of).lowest, value(of)), highest};
    auto const found = explore(line, [&](integer x) {
      auto const form = moved(base_, of, x);
      return form ? x == value(of) ? answer::wrong : ask_(*form) : answer::refused;
    });
    if (auto const other = partner_of(of); other && !tied(of) && of != form_number::b && of != form_number::heads) {
      integer const p = value(*other);
      auto const near = [&](std::optional<integer> x) { return x && std::abs(*x - p) <= found.step; };
      if (describe_apart(of, *other, found)) return true;
      if ((near(found.set.low) || near(found.set.high) || found.hole == p) && describe_order(of, *other, found.step))
        return true;
    }
    if (found.set.everything()) return false;
    found_.clauses.push_back(clause_of(of, found.set));
    if (rises(found.set)) {
      // Few queries under a mask often show nothing.
      bool const masked = has_any(base_, feature_group::mask);
      integer const least = masked && of == form_number::n ? std::min(row_of(of).plain, value(of)) : 1;
      base_ = *moved(base_, of, std::max(found.lowest_wrong, least));
    }
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

  /// Whether an edge, more than a step from the partner, moves with it.
  bool describe_apart(form_number of, form_number other, number_answer const& found) {
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
  bool describe_order(form_number of, form_number other, integer step) {
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
  void follow(form_number of, form_number other, integer apart, integer step) {
    auto const pair_at = [&](integer x) { return with(*with(base_, other, x), of, std::max<integer>(x + apart, 1)); };
    if (take(pair_at(row_of(other).plain))) return;
    integer const highest = row_of(other).highest - std::max(step, std::abs(apart));
    number_line const line{value(other), std::nullopt, row_of(other).lowest, std::max(highest, value(other))};
    auto const found = explore(line, [&](integer x) { return x == value(other) ? answer::wrong : ask_(*pair_at(x)); });
    if (!found.set.everything()) found_.clauses.push_back(clause_of(other, found.set));
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

  // 2. The clauses are put to the test.

  bool holds(call_form const& form) const { return found_.holds(form); }

  /// A form that the clauses hold for, and that is right.
  std::optional<call_form> inside_and_right() const {
    int contradictions = 0;
    for (call_form form : right_) {
      form.values = base_.values;
      problem::sizes const& s = form.size;
      if (s.b * s.hq * s.n * s.m * (s.d + s.dv) > most_products) continue;
      if (holds(form) && contradictions++ < 3 && ask_(form) == answer::right) return form;
    }
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
  integer element_bytes_;
  conjunction found_;
  std::array<bool, number_count> tied_{};
};

}  // namespace

bool conjunction::holds(call_form const& form) const {
  return std::ranges::all_of(clauses, [&](condition_clause const& one) { return one.holds(form); });
}

conjunction find_conjunction(call_form const& failing, std::vector<call_form> const& right, form_asker const& ask,
                             std::int64_t element_bytes) {
  return searcher(failing, right, ask, element_bytes).run();
}

}  // namespace attest::audit
