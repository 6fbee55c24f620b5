#include "audit/cases/domain/size_word.hpp"

#include <algorithm>
#include <charconv>

namespace attest::audit {
namespace {

struct size_axis {
  std::string_view name;
  size_set call_domain::* set;  ///< null for dv, which is no set of its own
  std::int64_t (*of)(problem::sizes const&);
};
constexpr size_axis axes_of_sizes[]{
    {"d", &call_domain::d, [](auto& s) { return s.d; }},
    {"dv", nullptr, [](auto& s) { return s.dv; }},
    {"n", &call_domain::n, [](auto& s) { return s.n; }},
    {"m", &call_domain::m, [](auto& s) { return s.m; }},
    {"batch", &call_domain::batch, [](auto& s) { return s.b; }},
    {"kv_heads", &call_domain::kv_heads, [](auto& s) { return s.hk; }},
    {"group", &call_domain::group, [](auto& s) { return s.hk > 0 ? s.hq / s.hk : 0; }},
};

size_axis const* axis_named(std::string_view name) {
  auto const at = std::ranges::find(axes_of_sizes, name, &size_axis::name);
  return at == std::end(axes_of_sizes) ? nullptr : at;
}

size_set only(std::int64_t size) {
  size_set one;
  one.listed = {size};
  return one;
}

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

std::vector<std::string_view> size_axes() {
  std::vector<std::string_view> names;
  for (size_axis const& axis : axes_of_sizes) names.push_back(axis.name);
  return names;
}

std::optional<size_word> size_word::of(std::string_view word) {
  std::size_t const at = word.find('=');
  if (at == word.npos || !axis_named(word.substr(0, at))) return std::nullopt;
  size_word read{word.substr(0, at)};
  std::string_view const digits = word.substr(at + 1);
  auto const [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), read.size);
  bool const is_size = fault == std::errc{} && end == digits.data() + digits.size() && read.size >= 0;
  return is_size && read.size <= std::int64_t{1} << 40 ? std::optional(read) : std::nullopt;
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
    domain.d = only(size);
    return domain;
  }
  size_set& sizes = domain.*axis_named(axis)->set;
  bool const is_length = axis == "n" || axis == "m";
  if (!sizes.has(size)) return std::nullopt;
  sizes = only(size);
  if (is_length && domain.queries == call_domain::lengths::equal) domain.n = domain.m = only(size);
  return domain;
}

}  // namespace attest::audit
