// The steps of find_conjunction: the clauses of one form (search.cpp), the clauses about pairs of numbers (pairs.cpp),
// and the questions against them (contradictions.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/condition/conjunction.hpp"
#include "audit/condition/edges.hpp"
#include "audit/condition/question.hpp"
#include "audit/condition/simple.hpp"
#include "audit/condition/traits.hpp"

namespace attest::audit {

class searcher {
 public:
  searcher(call_form const& failing, std::vector<call_form> const& right, form_asker const& ask,
           std::int64_t element_bytes, call_domain const& domain)
      : base_(failing), right_(right), ask_(ask), element_bytes_(element_bytes), domain_(domain) {}

  conjunction run();

 private:
  using integer = std::int64_t;

  bool wrong(call_form const& form) const { return form == base_ || ask_(form) == answer::wrong; }
  bool wrong(std::optional<call_form> const& form) const { return form && wrong(*form); }
  bool right(std::optional<call_form> const& form) const { return form && ask_(*form) == answer::right; }
  bool take(std::optional<call_form> const& form) {
    if (!form || *form == base_ || !wrong(*form)) return false;
    base_ = *form;
    return true;
  }
  integer value(form_number of) const { return value_of(base_, of); }
  integer plain(form_number of) const { return plain_in(domain_, of); }
  bool tied(form_number of) const { return tied_[static_cast<std::size_t>(of)]; }
  /// The base with one number changed, and its partner with it where they are tied.
  std::optional<call_form> moved(call_form const& from, form_number of, integer x) const {
    auto form = with(from, of, x);
    if (form && tied(of)) form = with(*form, *partner_of(of), x);
    return form;
  }
  bool holds(call_form const& form) const { return found_.holds(form); }
  static bool rises(number_set const& set) { return set.low && set.text("").size() == 1 && !set.high; }

  bool described(form_number of) const {
    return std::ranges::any_of(found_.clauses, [&](condition_clause const& one) { return one.about(of); });
  }
  condition_clause* number_clause(form_number of) {
    auto const at = std::ranges::find_if(found_.clauses, [&](condition_clause const& one) {
      return one.is == condition_clause::kind::number && one.of == of;
    });
    return at == found_.clauses.end() ? nullptr : &*at;
  }

  // What cannot be plain is described: search.cpp.
  void name_what_is_left();
  void describe_option_numbers();
  void prefer_kv_heads();
  bool describe(form_number of, std::optional<integer> right_at);
  bool shows_beyond(form_number of, number_set set, integer highest) const;
  void describe_group();
  void add_grouped();

  // Numbers that matter together: pairs.cpp.
  bool describe_apart(form_number of, form_number other, number_answer const& found);
  bool describe_order(form_number of, form_number other, integer step);
  void follow(form_number of, form_number other, integer apart, integer step);
  void relate(form_number first, form_number second);
  std::optional<call_form> swapped(form_number of, integer x, form_number partner, integer y) const;
  void multiply(integer x, integer y, form_number first, form_number second);
  void multiply_from(form_number first, form_number second, integer known_right, integer known_wrong);

  // The clauses are put to the test: contradictions.cpp.
  std::optional<call_form> inside_and_right() const;
  bool right_outside() const;
  bool explain(call_form const& is_right);

  call_form base_;
  std::vector<call_form> const& right_;
  form_asker const& ask_;
  integer element_bytes_;
  call_domain const& domain_;
  conjunction found_;
  std::array<bool, number_count> tied_{};
  bool wrong_again_ = false;  ///< above the interval of a clause
};

}  // namespace attest::audit
