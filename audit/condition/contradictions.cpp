// Questions that put the clauses to the test: right forms for which they hold, and wrong ones for which they do not.
#include <vector>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/condition/designs.hpp"
#include "audit/condition/searcher.hpp"

namespace attest::audit {
namespace {

/// Of a form that was judged before and is asked again.
constexpr std::int64_t most_products = std::int64_t{1} << 24;

}  // namespace

/// A form that the clauses hold for, and that is right.
std::optional<call_form> searcher::inside_and_right() const {
  int contradictions = 0;
  for (call_form form : right_) {
    form.values = base_.values;
    problem::sizes const& s = form.size;
    if (s.b * s.hq * s.n * s.m * (s.d + s.dv) > most_products) continue;
    if (holds(form) && contradictions++ < 3 && ask_(form) == answer::right) return form;
  }
  for (call_form design : designs_inside(base_, found_.clauses))
    if (keep_to(domain_, design); holds(design) && ask_(design) == answer::right) return design;
  return std::nullopt;
}

bool searcher::right_outside() const {
  for (call_form design : designs_outside(base_, found_.clauses))
    if (keep_to(domain_, design); !holds(design) && ask_(design) == answer::wrong) return false;
  return true;
}

/// Adds the clause that tells a right form from the base: the first step from one to the other that changes the
/// answer.
bool searcher::explain(call_form const& is_right) {
  auto path = path_between(base_, is_right);
  for (call_form& step : path) keep_to(domain_, step);
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

}  // namespace attest::audit
