// The sizes of a call by name, as a domain and --require-support write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "audit/cases/domain/call_domain.hpp"

namespace attest::audit {

struct size_axis {
  std::string_view name;
  size_set call_domain::* set;  ///< null for dv, which is no set of its own
  std::int64_t (*of)(problem::sizes const&);
};
inline constexpr size_axis size_axes[]{
    {"d", &call_domain::d, [](auto& s) { return s.d; }},
    {"dv", nullptr, [](auto& s) { return s.dv; }},
    {"n", &call_domain::n, [](auto& s) { return s.n; }},
    {"m", &call_domain::m, [](auto& s) { return s.m; }},
    {"batch", &call_domain::batch, [](auto& s) { return s.b; }},
    {"group", &call_domain::group, [](auto& s) { return s.hk > 0 ? s.hq / s.hk : 0; }},
    {"kv_heads", &call_domain::kv_heads, [](auto& s) { return s.hk; }},
};

/// The axis of this name, or null.
size_axis const* axis_named(std::string_view name);

/// The number that a word is, 0 … 2⁴⁰. Returns nothing if it is no such number.
std::optional<std::int64_t> size_in(std::string_view word);

}  // namespace attest::audit
