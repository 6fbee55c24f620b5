// The classes of sizes by which an audit counts what it covered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "audit/cases/forms/call_form.hpp"

namespace attest::audit {

/// The sizes by which a shape is classed. `groups` is hq/hk.
enum class shape_axis : std::uint8_t { n, m, d, dv, b, heads, groups, threads };
inline constexpr std::size_t axis_count = static_cast<std::size_t>(shape_axis::threads) + 1;

/// The classes of one axis: from first[0] to first[1] − 1, from first[1] to first[2] − 1, …, from the last on.
struct axis_row {
  shape_axis id;
  char const* name;  ///< in reports
  std::size_t classes;
  std::array<std::int64_t, 8> first;
};

/// In the order of the enumerators. 0 keys and 0 queries are classes of their own, and so is thread count 0 (the kernel
/// chooses); a call without heads, batch entries or columns has no class on that axis.
inline constexpr std::array<axis_row, axis_count> axis_table{{
    {shape_axis::n, "n", 7, {0, 1, 2, 17, 129, 1025, 4097}},
    {shape_axis::m, "m", 7, {0, 1, 2, 17, 129, 1025, 4097}},
    {shape_axis::d, "d", 5, {1, 17, 65, 129, 257}},
    {shape_axis::dv, "dv", 5, {1, 17, 65, 129, 257}},
    {shape_axis::b, "b", 4, {1, 2, 5, 17}},
    {shape_axis::heads, "heads", 5, {1, 2, 9, 17, 65}},
    {shape_axis::groups, "groups", 4, {1, 2, 3, 9}},
    {shape_axis::threads, "threads", 8, {0, 1, 2, 3, 4, 5, 9, 17}},
}};
constexpr axis_row const& row_of(shape_axis axis) { return axis_table[static_cast<std::size_t>(axis)]; }

static_assert(
    [] {
      for (std::size_t at = 0; at < axis_table.size(); ++at) {
        axis_row const& row = axis_table[at];
        if (static_cast<std::size_t>(row.id) != at || row.classes == 0 || row.classes > row.first.size()) return false;
        for (std::size_t n = 1; n < row.classes; ++n)
          if (row.first[n] <= row.first[n - 1]) return false;
      }
      return true;
    }(),
    "a row for every axis, in the order of the enumerators, its classes rising");

/// The size of the call on this axis.
std::int64_t size_on(shape_axis axis, call_form const& form) noexcept;

/// The class of the call on this axis. Returns nothing if its size is below all classes.
std::optional<std::size_t> class_on(shape_axis axis, call_form const& form) noexcept;

/// The largest size of a class; none for the last class of an axis.
constexpr std::optional<std::int64_t> last_of(axis_row const& row, std::size_t at) {
  return at + 1 < row.classes ? std::optional(row.first[at + 1] - 1) : std::nullopt;
}

/// "0", "17-128", "4097-".
std::string class_name(axis_row const& row, std::size_t at);

}  // namespace attest::audit
