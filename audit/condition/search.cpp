#include "audit/condition/search.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "audit/condition/searcher.hpp"

namespace attest::audit {
namespace {

/// The longest row that is asked where shorter ones tell as much.
constexpr std::int64_t longest = 8192;

}  // namespace

conjunction searcher::run() {
  simple_form simple = simplified(base_, ask_, domain_);
  base_ = std::move(simple.base), tied_ = simple.tied;
  name_what_is_left();
  found_.settled = true;
  for (int round = 0; round < 6 && found_.settled; ++round) {
    auto const contradiction = inside_and_right();
    if (!contradiction) break;
    if (round == 5 || !explain(*contradiction)) found_.settled = false;
  }
  if (wrong_again_) found_.settled = false;
  if (found_.settled) found_.elsewhere = !right_outside();
  found_.base = base_;
  found_.clauses = in_order(std::move(found_.clauses));
  return std::move(found_);
}

void searcher::name_what_is_left() {
  if (base_.values != value_form::gaussian) {
    condition_clause needed{.is = condition_clause::kind::values};
    needed.form_of_values = base_.values;
    found_.clauses.push_back(needed);
  }
  std::ranges::copy(describe_features(base_, ask_), std::back_inserter(found_.clauses));
  std::ranges::copy(describe_memory(base_, ask_, element_bytes_), std::back_inserter(found_.clauses));
  describe_option_numbers();
  if (value(form_number::threads) != 0) describe(form_number::threads, 0);
  if (value(form_number::group) != plain(form_number::group)) describe_group();
  for (form_number const of : {form_number::heads, form_number::b}) {
    integer const least = of == form_number::heads ? value(form_number::group) : plain(of);
    if (value(of) != least) describe(of, least);
  }
  for (form_number const of : {form_number::n, form_number::m, form_number::d, form_number::dv}) {
    if (tied(of) && (of == form_number::m || of == form_number::dv)) continue;
    // Beside one query such a domain has n = m alone.
    bool const one_query = of == form_number::n && domain_.decodes() && value(of) == 1;
    if (one_query && wrong(with(base_, of, value(form_number::m)))) continue;
    if (value(of) != plain(of) && !described(of)) describe(of, std::nullopt);
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
void searcher::describe_option_numbers() {
  auto const say_feature_by = [&](form_number of) {
    std::erase_if(found_.clauses, [&](condition_clause const& one) {
      bool const any_shape = one.is == condition_clause::kind::shape && one.over == axes_pattern{};
      bool const of_features =
          one.is == condition_clause::kind::feature || one.is == condition_clause::kind::among || any_shape;
      return of_features && row_of(of).is_of(row_of(one.option));
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
void searcher::prefer_kv_heads() {
  condition_clause* const heads = number_clause(form_number::heads);
  integer const group = value(form_number::group), kv = base_.size.hk;
  if (!heads || group < 2 || kv < 2 || !rises(heads->set)) return;
  call_form fewer = base_;
  fewer.size.hk = kv - 1, fewer.size.hq = 2 * group * (kv - 1);
  if (!right(fewer) || !holds(fewer)) return;
  heads->of = form_number::kv_heads, heads->set.low = kv;
}

/// Is the first number above the set wrong with other values? A bound that grows with the number hides an error.
bool searcher::shows_beyond(form_number of, number_set set, integer highest) const {
  if (!set.high || set.low == set.high || base_.values != value_form::gaussian) return false;
  integer x = *std::exchange(set.high, std::nullopt) + 1;
  while (x <= highest && !set.has(x)) ++x;
  auto form = moved(base_, of, x);
  if (x > highest || !form) return false;
  return std::ranges::any_of(std::array{value_form::edge_digits, value_form::digits}, [&](value_form values) {
    form->values = values;
    return ask_(*form) == answer::wrong;
  });
}

/// Explores one number from the base and adds its clause.
/// Ensures   false where it has no edge
bool searcher::describe(form_number of, std::optional<integer> right_at) {
  if (!right_at && value(of) != plain(of) && right(moved(base_, of, plain(of)))) right_at = plain(of);
  // A window that is longer than the keys is none.
  integer const most =
      of == form_number::left ? std::max<integer>(base_.size.m - 2, 1) : std::min(row_of(of).highest, longest);
  integer const highest = std::max(most, value(of));
  auto const line = number_line{value(of), right_at, std::min(row_of(of).lowest, value(of)), highest};
  auto found = explore(line, [&](integer x) {
    auto const form = moved(base_, of, x);
    return form ? x == value(of) ? answer::wrong : ask_(*form) : answer::refused;
  });
  if (shows_beyond(of, found.set, line.highest)) found.set.high.reset();
  wrong_again_ = wrong_again_ || found.again;
  if (auto const other = partner_of(of);
      other && !found.again && !tied(of) && of != form_number::b && of != form_number::heads) {
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
    integer const least = masked && of == form_number::n ? std::min(plain(of), value(of)) : 1;
    base_ = *moved(base_, of, std::max(found.lowest_wrong, least));
  }
  return true;
}

/// Grouped heads as such, or from some group on.
void searcher::describe_group() {
  call_form two = base_;
  two.size.hk = (two.size.hq + 1) / 2, two.size.hq = 2 * two.size.hk;
  if (take(two)) return add_grouped();
  if (take(with(base_, form_number::group, 2)) || value(form_number::group) == 2) return add_grouped();
  describe(form_number::group, plain(form_number::group));
}

void searcher::add_grouped() {
  condition_clause grouped{.is = condition_clause::kind::number};
  grouped.of = form_number::group, grouped.set.low = 2;
  found_.clauses.push_back(grouped);
}

conjunction find_conjunction(call_form const& failing, std::vector<call_form> const& right, form_asker const& ask,
                             std::int64_t element_bytes, call_domain const& domain) {
  return searcher(failing, right, ask, element_bytes, domain).run();
}

}  // namespace attest::audit
