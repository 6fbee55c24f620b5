#include "audit/condition/observed.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "audit/condition/clause.hpp"

namespace attest::audit {
namespace {

using integer = std::int64_t;

constexpr std::ptrdiff_t enough = 5;

/// All clauses that hold for every wrong call.
std::vector<condition_clause> common(std::vector<call_form> const& wrong) {
  std::vector<condition_clause> all;
  for (form_number const of : all_numbers) {
    integer least = std::numeric_limits<integer>::max(), most = std::numeric_limits<integer>::min();
    for (call_form const& form : wrong)
      least = std::min(least, value_of(form, of)), most = std::max(most, value_of(form, of));
    condition_clause number{.is = condition_clause::kind::number};
    number.of = of;
    if (least > row_of(of).lowest) number.set.low = least, all.push_back(number);
    number.set = {}, number.set.high = most;
    all.push_back(number);
    number.set.low = least;
    if (least == most) all.push_back(number);
  }
  for (feature_row const& row : feature_table()) {
    condition_clause option{.is = condition_clause::kind::feature};
    option.option = row.id;
    for (bool const absent : {false, true}) {
      option.absent = absent;
      if (row.group != feature_group::sizes) all.push_back(option);
    }
  }
  for (value_form const form : {value_form::gaussian, value_form::digits, value_form::pointed}) {
    condition_clause values{.is = condition_clause::kind::values};
    values.form_of_values = form;
    all.push_back(values);
  }
  std::erase_if(all, [&](condition_clause const& one) {
    return !std::ranges::all_of(wrong, [&](call_form const& form) { return one.holds(form); });
  });
  return all;
}

/// The least number of clauses, at most `most`, that together exclude all of `right`.
bool exclude(std::vector<call_form const*> const& right, std::vector<condition_clause> const& candidates,
             std::size_t from, std::size_t most, std::vector<condition_clause>& chosen) {
  if (right.empty()) return true;
  if (most == 0) return false;
  for (std::size_t at = from; at < candidates.size(); ++at) {
    std::vector<call_form const*> left;
    for (call_form const* form : right)
      if (candidates[at].holds(*form)) left.push_back(form);
    if (left.size() == right.size()) continue;
    chosen.push_back(candidates[at]);
    if (exclude(left, candidates, at + 1, most - 1, chosen)) return true;
    chosen.pop_back();
  }
  return false;
}

/// "; m from 9 to 15 was not asked": between the edge of a clause and the next right number, where the others hold.
std::string not_asked(condition_clause const& of, std::vector<condition_clause> const& all,
                      std::vector<call_form const*> const& right) {
  if (of.is != condition_clause::kind::number) return "";
  std::optional<integer> below, above;
  for (call_form const* form : right) {
    if (std::ranges::any_of(all, [&](auto const& one) { return &one != &of && !one.holds(*form); })) continue;
    integer const x = value_of(*form, of.of);
    if (of.set.low && x < *of.set.low) below = std::max(below.value_or(x), x);
    if (of.set.high && x > *of.set.high) above = std::min(above.value_or(x), x);
  }
  std::string said;
  auto const add = [&](integer first, integer last) {
    if (first > last) return;
    std::string const numbers = first == last ? fmt::format("= {}", first) : fmt::format("from {} to {}", first, last);
    said += fmt::format("; {} {} was not asked", row_of(of.of).name, numbers);
  };
  if (below) add(*below + 1, *of.set.low - 1);
  if (above) add(*of.set.high + 1, *above - 1);
  return said;
}

}  // namespace

std::optional<condition> observed_condition(std::span<judged_form const> asked) {
  std::vector<call_form> wrong;
  std::vector<call_form const*> right;
  for (judged_form const& call : asked)
    if (call.wrong) wrong.push_back(call.form);
    else right.push_back(&call.form);
  if (std::ssize(right) < enough) return std::nullopt;
  auto const candidates = common(wrong);
  std::vector<condition_clause> chosen;
  for (std::size_t most = 1; most <= 3 && std::ssize(wrong) >= enough * static_cast<std::ptrdiff_t>(most); ++most)
    if (exclude(right, candidates, 0, most, chosen)) {
      auto const clauses = texts_of(in_order(chosen));
      std::string sentence =
          fmt::format("every failing input has {}; no passing input has", fmt::join(clauses, " and "));
      for (condition_clause const& one : chosen) sentence += not_asked(one, chosen, right);
      return condition{sentence, clauses, 0, predicate_of(chosen)};
    }
  return std::nullopt;
}

}  // namespace attest::audit
