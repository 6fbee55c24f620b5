// The place of one row of the outputs: a query of a head of a batch entry.
#pragma once

#include <compare>
#include <cstdint>

namespace attest::audit {

struct row_index {
  std::int64_t b = 0, h = 0, i = 0;
  friend constexpr auto operator<=>(row_index const&, row_index const&) noexcept = default;
};

}  // namespace attest::audit
