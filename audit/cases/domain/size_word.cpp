#include "audit/cases/domain/size_word.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "audit/cases/domain/size_axis.hpp"

namespace attest::audit {
namespace {

/// The pairs with these widths.
void keep_pairs(call_domain& domain, auto&& wanted) {
  call_domain kept = domain;
  kept.d.listed.clear(), kept.value_width.clear();
  for (std::size_t at = 0; at < domain.d.listed.size(); ++at)
    if (wanted(domain.d.listed[at], domain.value_width[at]))
      kept.d.listed.push_back(domain.d.listed[at]), kept.value_width.push_back(domain.value_width[at]);
  domain = kept;
}

}  // namespace

size_axis const* axis_named(std::string_view name) {
  auto const at = std::ranges::find(size_axes, name, &size_axis::name);
  return at == std::end(size_axes) ? nullptr : at;
}

std::optional<std::int64_t> size_in(std::string_view word) {
  std::int64_t x = 0;
  auto const [end, fault] = std::from_chars(word.data(), word.data() + word.size(), x);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (fault != std::errc{} || end != word.data() + word.size() || x < 0 || x > most) return std::nullopt;
  return x;
}

std::optional<size_word> size_word::of(std::string_view word) {
  std::size_t const at = word.find('=');
  if (at == word.npos || !axis_named(word.substr(0, at))) return std::nullopt;
  auto const size = size_in(word.substr(at + 1));
  return size ? std::optional(size_word{word.substr(0, at), *size}) : std::nullopt;
}

bool size_word::is_of(problem::sizes const& s) const { return axis_named(axis)->of(s) == size; }

std::optional<call_domain> size_word::within(call_domain domain) const {
  using enum call_domain::value_widths;
  if (axis == "d" || axis == "dv") {
    if (domain.dv == paired) {
      keep_pairs(domain, [&](std::int64_t d, std::int64_t dv) { return (axis == "d" ? d : dv) == size; });
      return domain.d.listed.empty() ? std::nullopt : std::optional(domain);
    }
    if (axis == "dv" && domain.dv == any) {
      // Each width with this one.
      domain.d.listed = {domain.d.near(64)}, domain.value_width = {size}, domain.dv = paired;
      return domain;
    }
    if (!domain.d.has(size)) return std::nullopt;
    domain.d = size_set::only(size);
    return domain;
  }
  bool const decodes = domain.decodes();
  size_set& sizes = domain.*axis_named(axis)->set;
  bool const is_length = axis == "n" || axis == "m";
  if (!sizes.has(size)) return std::nullopt;
  sizes = size_set::only(size);
  if (is_length && domain.queries == call_domain::lengths::equal) {
    size_set const only = size_set::only(size);
    if (decodes && axis == "n" && size == 1) domain.queries = call_domain::lengths::any;
    else domain.m = only;
    domain.n = only, domain.n.one = axis == "m" && decodes;
  }
  return domain;
}

}  // namespace attest::audit
