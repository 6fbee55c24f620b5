#include "audit/session/condition_clause.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace attest::audit {
namespace {

constexpr std::array<number_row, all_numbers.size()> rows{{
    {form_number::b, "b", 1, 1, 512},
    {form_number::heads, "heads", 1, 1, 512},
    {form_number::group, "heads a kv head", 1, 1, 64},
    {form_number::n, "n", 8, 1, 16384},
    {form_number::m, "m", 8, 1, 16384},
    {form_number::d, "d", 8, 1, 576},
    {form_number::dv, "dv", 8, 1, 576},
    {form_number::threads, "threads", 0, 0, 64},
}};

bool power_of_two(std::int64_t x) noexcept { return x > 0 && std::has_single_bit(static_cast<std::uint64_t>(x)); }

bool compare(order how, std::int64_t a, std::int64_t b) noexcept {
  switch (how) {
    case order::less: return a < b;
    case order::at_most: return a <= b;
    case order::equal: return a == b;
    case order::unequal: return a != b;
    case order::at_least: return a >= b;
    case order::greater: return a > b;
  }
  return false;
}

char const* sign_of(order how) noexcept {
  switch (how) {
    case order::less: return "<";
    case order::at_most: return "≤";
    case order::equal: return "=";
    case order::unequal: return "≠";
    case order::at_least: return "≥";
    case order::greater: return ">";
  }
  return "";
}

/// An interval alone, no residues.
bool plain_interval(number_set const& set) noexcept {
  return set.modulus == 0 && set.not_multiple_of == 0 && !set.powers_of_two && !set.no_powers_of_two;
}

std::string name_of(condition_clause const& of) {
  char const *const first = row_of(of.of).name, *const second = row_of(of.other).name;
  if (of.is == condition_clause::kind::product) return fmt::format("{}·{}", first, second);
  if (of.is == condition_clause::kind::either) return fmt::format("{} or {}", first, second);
  return first;
}

/// A sentence of its own for one clause; empty where it has none.
std::string alone(condition_clause const& of) {
  bool const counted = of.is == condition_clause::kind::number;
  number_set const& set = of.set;
  if (of.is == condition_clause::kind::values) return fmt::format("wrong with {} values", name_of(of.form_of_values));
  if (!counted || !plain_interval(set) || of.of == form_number::group) return "";
  if (of.of == form_number::threads) {
    if (set.low && set.high && *set.low == *set.high)
      return *set.low == 0 ? "wrong where no number of threads is asked for"
                           : fmt::format("wrong with {} thread{}", *set.low, *set.low == 1 ? "" : "s");
    if (set.low && !set.high)
      return *set.low == 1 ? "wrong wherever a number of threads is asked for"
                           : fmt::format("wrong with more than {} thread{}", *set.low - 1, *set.low == 2 ? "" : "s");
    return "";
  }
  char const* const name = row_of(of.of).name;
  if (set.low && set.high && *set.low != *set.high)
    return fmt::format("wrong for {} from {} to {}", name, *set.low, *set.high);
  if (set.low && !set.high) return fmt::format("wrong from {} = {} on", name, *set.low);
  if (set.high && !set.low && *set.high != row_of(of.of).lowest)
    return fmt::format("wrong up to {} = {}", name, *set.high);
  return "";
}

}  // namespace

number_row const& row_of(form_number of) noexcept { return rows[static_cast<std::size_t>(of)]; }

std::int64_t value_of(call_form const& form, form_number of) noexcept {
  problem::sizes const& s = form.size;
  switch (of) {
    case form_number::b: return s.b;
    case form_number::heads: return s.hq;
    case form_number::group: return s.hk > 0 ? s.hq / s.hk : 1;
    case form_number::n: return s.n;
    case form_number::m: return s.m;
    case form_number::d: return s.d;
    case form_number::dv: return s.dv;
    case form_number::threads: return form.threads;
  }
  return 0;
}

std::optional<call_form> with(call_form form, form_number of, std::int64_t value) {
  problem::sizes& s = form.size;
  std::int64_t const group = std::max<std::int64_t>(value_of(form, form_number::group), 1);
  if (value < row_of(of).lowest) return std::nullopt;
  switch (of) {
    case form_number::b: s.b = value; break;
    case form_number::heads:
      if (value % group != 0) return std::nullopt;
      s.hq = value, s.hk = value / group;
      break;
    case form_number::group: s.hq = s.hk * value; break;
    case form_number::n: s.n = value; break;
    case form_number::m: s.m = value, form.length = std::min(form.length, value); break;
    case form_number::d: s.d = value; break;
    case form_number::dv: s.dv = value; break;
    case form_number::threads: form.threads = static_cast<std::int32_t>(value); break;
  }
  return form;
}

std::optional<form_number> partner_of(form_number of) noexcept {
  switch (of) {
    case form_number::b: return form_number::heads;
    case form_number::heads: return form_number::b;
    case form_number::n: return form_number::m;
    case form_number::m: return form_number::n;
    case form_number::d: return form_number::dv;
    case form_number::dv: return form_number::d;
    default: return std::nullopt;
  }
}

bool number_set::has(std::int64_t x) const noexcept {
  return !(low && x < *low) && !(high && x > *high) && !(modulus > 0 && x % modulus != residue) &&
         !(not_multiple_of > 0 && x % not_multiple_of == 0) && !(powers_of_two && !power_of_two(x)) &&
         !(no_powers_of_two && power_of_two(x));
}

bool number_set::everything() const noexcept { return !low && !high && plain_interval(*this); }

std::vector<std::string> number_set::text(std::string const& name) const {
  std::vector<std::string> all;
  if (low && high) {
    if (*low == *high) return {fmt::format("{} = {}", name, *low)};
    all.push_back(fmt::format("{} from {} to {}", name, *low, *high));
  } else if (low) {
    all.push_back(fmt::format("{} > {}", name, *low - 1));
  } else if (high) {
    all.push_back(fmt::format("{} < {}", name, *high + 1));
  }
  if (modulus > 0)
    all.push_back(residue == 0 ? fmt::format("{} is a multiple of {}", name, modulus)
                               : fmt::format("{} ≡ {} mod {}", name, residue, modulus));
  if (not_multiple_of > 0) all.push_back(fmt::format("{} is not a multiple of {}", name, not_multiple_of));
  if (powers_of_two) all.push_back(fmt::format("{} is a power of two", name));
  if (no_powers_of_two) all.push_back(fmt::format("{} is not a power of two", name));
  return all;
}

bool condition_clause::holds(call_form const& form) const noexcept {
  std::int64_t const first = value_of(form, of), second = value_of(form, other);
  switch (is) {
    case kind::number: return set.has(first);
    case kind::product: return set.has(first * second);
    case kind::either: return set.has(first) || set.has(second);
    case kind::order: return compare(compares, first, second);
    case kind::feature: return form.options.has(option) != absent;
    case kind::values: return form.values == form_of_values;
  }
  return false;
}

bool condition_clause::about(form_number what) const noexcept {
  return (is == kind::number && of == what) ||
         ((is == kind::product || is == kind::either || is == kind::order) && (of == what || other == what));
}

std::vector<std::string> condition_clause::text() const {
  switch (is) {
    case kind::feature: return {fmt::format("{}{}", absent ? "no " : "", row_of(option).name)};
    case kind::values: return {fmt::format("{} values", audit::name_of(form_of_values))};
    case kind::order: return {fmt::format("{} {} {}", row_of(of).name, sign_of(compares), row_of(other).name)};
    case kind::number:
      if (of == form_number::group && set.low == 2 && !set.high && plain_interval(set)) return {"grouped"};
      if (of == form_number::group && set.high == 1 && plain_interval(set)) return {"not grouped"};
      if (set.high && !set.low && *set.high == row_of(of).lowest && plain_interval(set))
        return {fmt::format("{} = {}", row_of(of).name, *set.high)};
      return set.text(row_of(of).name);
    default: return set.text(name_of(*this));
  }
}

std::vector<condition_clause> in_order(std::vector<condition_clause> all) {
  // Features and values, then numbers in the order of their axes; what must be absent last.
  auto const place = [](condition_clause const& one) {
    int const numbers = one.is != condition_clause::kind::feature && one.is != condition_clause::kind::values;
    int const grouped = one.is == condition_clause::kind::number && one.of == form_number::group;
    return std::array{
        static_cast<int>(one.absent),
        numbers && !grouped ? 2
        : numbers           ? 1
                            : 0,
        numbers ? static_cast<int>(std::min(one.of, one.is == condition_clause::kind::number ? one.of : one.other))
                : static_cast<int>(one.is),
        static_cast<int>(one.option), static_cast<int>(one.is)};
  };
  std::ranges::sort(all, {}, place);
  return all;
}

std::vector<std::string> texts_of(std::vector<condition_clause> const& all) {
  std::vector<std::string> texts;
  for (condition_clause const& one : all)
    for (std::string& text : one.text()) texts.push_back(std::move(text));
  return texts;
}

std::string sentence_of(std::vector<condition_clause> const& all) {
  if (all.empty()) return "wrong in every form that was asked";
  if (all.size() == 1)
    if (std::string sentence = alone(all.front()); !sentence.empty()) return sentence;
  return fmt::format("wrong where {}", fmt::join(texts_of(all), " and "));
}

}  // namespace attest::audit
