#include "audit/condition/clause.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

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

std::string name_of(condition_clause const& of) {
  char const *const first = row_of(of.of).name, *const second = row_of(of.other).name;
  if (of.is == condition_clause::kind::product) return fmt::format("{}·{}", first, second);
  if (of.is == condition_clause::kind::either) return fmt::format("{} or {}", first, second);
  return first;
}

std::string apart_text(std::int64_t apart) {
  return apart == 0 ? std::string() : fmt::format(" {} {}", apart < 0 ? "−" : "+", std::abs(apart));
}

/// "a power of two" where it is one, else the number.
std::string size_text(std::int64_t x) {
  bool const power = x > 0 && std::has_single_bit(static_cast<std::uint64_t>(x));
  return power ? fmt::format("2^{}", std::countr_zero(static_cast<std::uint64_t>(x))) : fmt::format("{}", x);
}

std::string memory_text(condition_clause const& of) {
  switch (of.trait) {
    case memory_trait::v_in_k: return "V lies in the memory of K";
    case memory_trait::stride_0_batch: return "the stride over the batch is 0";
    case memory_trait::stride_0_heads: return "the stride over the heads is 0";
    case memory_trait::stride_0: return "an axis has stride 0";
    case memory_trait::overlap: return "rows overlap";
    case memory_trait::heads_inside: return "tensors lie as [b, n, h, d]";
    case memory_trait::byte_offset: return "byte_offset ≠ 0";
    case memory_trait::gaps: return "outputs have gaps";
    case memory_trait::o_apart: return "O is not compact";
    case memory_trait::reach:
      return fmt::format("a tensor reaches beyond {} {}", size_text(of.reach * of.reach_unit),
                         of.reach_unit > 1 ? "bytes" : "elements");
  }
  return "";
}

/// "any window", "(causal or window)".
std::string bands_text(feature_set const& among) {
  if (among == feature_set{feature::window, feature::symmetric_window}) return "any window";
  std::vector<std::string_view> names;
  among.each([&](feature one) { names.push_back(row_of(one).name); });
  return fmt::format("({})", fmt::join(names, " or "));
}

/// "the mask is [b, hq or 1, 1, m]".
std::string shape_text(feature_group group, axes_pattern const& over) {
  char const* const name = group == feature_group::mask ? "mask" : "bias";
  if (std::ranges::none_of(over, [](auto const& axis) { return axis.has_value(); })) return fmt::format("any {}", name);
  constexpr std::array<char const*, 3> names{"b", "hq", "n"};
  std::vector<std::string> axes;
  for (std::size_t at = 0; at < over.size(); ++at)
    axes.push_back(!over[at] ? fmt::format("{} or 1", names[at]) : *over[at] ? names[at] : "1");
  return fmt::format("the {} is [{}, m]", name, fmt::join(axes, ", "));
}

bool fits(feature_group group, axes_pattern const& over, call_form const& form) noexcept {
  for (feature_row const& row : feature_table()) {
    if (row.group != group || !form.options.has(row.id)) continue;
    auto const declared = axes_of(row.id, form);
    std::array const has{declared[0] && form.size.b > 1, declared[1] && form.size.hq > 1,
                         declared[2] && form.size.n > 1};
    for (std::size_t at = 0; at < over.size(); ++at)
      if (over[at] && *over[at] != has[at]) return false;
    return true;
  }
  return false;
}

bool lies(condition_clause const& of, call_form const& form) {
  memory_form const& memory = form.memory;
  problem::sizes const& s = form.size;
  bool const batch = memory.shared_batch && s.b > 1, heads = memory.shared_heads && s.hk > 1;
  switch (of.trait) {
    case memory_trait::v_in_k: return memory.v_in_k;
    case memory_trait::stride_0_batch: return batch;
    case memory_trait::stride_0_heads: return heads;
    case memory_trait::stride_0: return batch || heads;
    case memory_trait::overlap: return memory.overlap > 0 && s.m > 1;
    case memory_trait::heads_inside: return memory.heads_inside;
    case memory_trait::byte_offset: return memory.unaligned;
    case memory_trait::gaps: return memory.row_gap > 0;
    case memory_trait::o_apart: {
      problem::layout const usual = problem::layout::compact({s.b, s.hq, s.n, s.dv});
      auto const has = formed(usual, call_tensor::o, memory);
      for (std::size_t axis = 0; has && axis < 3; ++axis)
        if (usual.shape[axis] > 1 && has->stride[axis] != usual.stride[axis]) return true;
      return false;
    }
    case memory_trait::reach: return reach_of(form) >= of.reach;
  }
  return false;
}

/// A sentence of its own for one clause; empty where it has none.
std::string alone(condition_clause const& of) {
  bool const is_number = of.is == condition_clause::kind::number;
  number_set const& set = of.set;
  if (of.is == condition_clause::kind::values) return fmt::format("wrong with {} values", name_of(of.form_of_values));
  if (!is_number || !set.interval() || of.of == form_number::group || of.of == form_number::left ||
      of.of == form_number::cap || of.of == form_number::mask_byte || of.of == form_number::diagonal)
    return "";
  if (of.of == form_number::threads) {
    if (set.low && set.high && *set.low == *set.high)
      return *set.low == 0 ? "wrong where no number of threads is asked for"
                           : "wrong with " + counted(*set.low, "thread", "threads");
    if (set.low && !set.high)
      return *set.low == 1 ? "wrong wherever a number of threads is asked for"
                           : "wrong with more than " + counted(*set.low - 1, "thread", "threads");
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

bool condition_clause::holds(call_form const& form) const noexcept {
  std::int64_t const first = value_of(form, of), second = value_of(form, other);
  switch (is) {
    case kind::number: return set.has(first);
    case kind::product: return set.has(first * second);
    case kind::either: return set.has(first) || set.has(second);
    case kind::order: return compare(compares, first, second + apart);
    case kind::feature: return form.options.has(option) != absent;
    case kind::group: return has_any(form, row_of(option).group);
    case kind::among: return !(form.options & among).empty();
    case kind::shape: return fits(row_of(option).group, over, form);
    case kind::negative_scale: return form.options.has(feature::scale) && form.scale.value_or(1) < 0;
    case kind::values: return form.values == form_of_values;
    case kind::memory: return lies(*this, form);
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
    case kind::order:
      return {fmt::format("{} {} {}{}", row_of(of).name, sign_of(compares), row_of(other).name, apart_text(apart))};
    case kind::group:
      return {row_of(option).group == feature_group::band   ? "any band with a right edge"
              : row_of(option).group == feature_group::bias ? "any bias"
                                                            : "any mask"};
    case kind::among: return {bands_text(among)};
    case kind::shape: return {shape_text(row_of(option).group, over)};
    case kind::negative_scale: return {"scale < 0"};
    case kind::memory: return {memory_text(*this)};
    case kind::number:
      if (of == form_number::group && set.low == 2 && !set.high && set.interval()) return {"grouped"};
      if (of == form_number::group && set.high == 1 && set.interval()) return {"not grouped"};
      if (set.high && !set.low && *set.high == row_of(of).lowest && set.interval())
        return {fmt::format("{} = {}", row_of(of).name, *set.high)};
      return set.text(row_of(of).name);
    default: return set.text(name_of(*this));
  }
}

condition_clause clause_of(form_number of, number_set const& set) {
  condition_clause clause{.is = condition_clause::kind::number};
  clause.of = of, clause.set = set;
  return clause;
}

std::vector<condition_clause> in_order(std::vector<condition_clause> all) {
  // Features and values, then numbers in the order of their axes; what must be absent last.
  auto const place = [](condition_clause const& one) {
    using enum condition_clause::kind;
    int const numbers = one.is == number || one.is == product || one.is == either || one.is == order;
    int const grouped = one.is == number && one.of == form_number::group;
    return std::array{
        static_cast<int>(one.absent),
        numbers && !grouped ? 2
        : numbers           ? 1
                            : 0,
        numbers ? static_cast<int>(std::min(one.of, one.is == number ? one.of : one.other)) : static_cast<int>(one.is),
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

std::function<bool(call_form const&)> predicate_of(std::vector<condition_clause> all) {
  return [all = std::move(all)](call_form const& form) {
    return std::ranges::all_of(
        all, [&](condition_clause const& one) { return one.is == condition_clause::kind::values || one.holds(form); });
  };
}

std::string sentence_of(std::vector<condition_clause> const& all) {
  if (all.empty()) return "wrong in every form that was asked";
  if (all.size() == 1)
    if (std::string sentence = alone(all.front()); !sentence.empty()) return sentence;
  return fmt::format("wrong where {}", fmt::join(texts_of(all), " and "));
}

}  // namespace attest::audit
