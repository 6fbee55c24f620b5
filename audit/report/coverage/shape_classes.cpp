#include "audit/report/coverage/shape_classes.hpp"

#include <fmt/format.h>

namespace attest::audit {

std::int64_t size_on(shape_axis axis, call_form const& form) noexcept {
  problem::sizes const& size = form.size;
  switch (axis) {
    case shape_axis::n: return size.n;
    case shape_axis::m: return size.m;
    case shape_axis::d: return size.d;
    case shape_axis::dv: return size.dv;
    case shape_axis::b: return size.b;
    case shape_axis::heads: return size.hq;
    case shape_axis::groups: return size.hk > 0 ? size.hq / size.hk : 0;
    case shape_axis::threads: return form.threads;
  }
  return 0;
}

std::optional<std::size_t> class_on(shape_axis axis, call_form const& form) noexcept {
  axis_row const& row = row_of(axis);
  std::int64_t const size = size_on(axis, form);
  for (std::size_t at = row.classes; at-- > 0;)
    if (size >= row.first[at]) return at;
  return std::nullopt;
}

std::string class_name(axis_row const& row, std::size_t at) {
  auto const last = last_of(row, at);
  if (!last) return fmt::format("{}-", row.first[at]);
  return *last == row.first[at] ? fmt::format("{}", *last) : fmt::format("{}-{}", row.first[at], *last);
}

}  // namespace attest::audit
