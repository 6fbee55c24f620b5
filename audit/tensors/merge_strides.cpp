#include "audit/tensors/merge_strides.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "audit/tensors/elements.hpp"

namespace attest::audit {

bool odd_rows_are_one(problem_draft const& merge) {
  auto const& shape = merge.v.layout.shape;
  auto const row_bytes = static_cast<std::size_t>(shape[3]) * problem::size_of(merge.v.type),
             lse_bytes = problem::size_of(merge.bias->type);
  auto const same = [](owned_tensor const& t, std::size_t at, std::size_t first, std::size_t bytes) {
    std::size_t const size = problem::size_of(t.type);
    return bytes == 0 || std::memcmp(t.bytes.data() + at * size, t.bytes.data() + first * size, bytes) == 0;
  };
  for (std::int64_t s = 1; s < shape[2]; s += 2)
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t row = 0; row < shape[1]; ++row) {
        auto const v_at = [&](std::int64_t of_b, std::int64_t of_row) {
          auto const& stride = merge.v.layout.stride;
          return static_cast<std::size_t>(of_b * stride[0] + of_row * stride[1] + s * stride[2]);
        };
        auto const lse_at = [&](std::int64_t of_b, std::int64_t of_row) {
          auto const& stride = merge.bias->layout.stride;
          return static_cast<std::size_t>(of_b * stride[0] + of_row * stride[1] + s * stride[3]);
        };
        if (!same(merge.v, v_at(b, row), v_at(0, 0), row_bytes) ||
            !same(*merge.bias, lse_at(b, row), lse_at(0, 0), lse_bytes))
          return false;
      }
  return shape[2] > 1;
}

owned_problem with_one_row_in_odd_parts(owned_problem const& merge) {
  problem_draft draft = merge.draft();
  for (std::int64_t s = 1; s < draft.v.layout.shape[2]; s += 2)
    for (std::int64_t b = 0; b < draft.v.layout.shape[0]; ++b)
      for (std::int64_t row = 0; row < draft.v.layout.shape[1]; ++row) {
        if (b == 0 && row == 0) continue;
        store(*draft.bias, offset_of(*draft.bias, b, row, 0, s), std::nan(""));
        for (std::int64_t c = 0; c < draft.v.layout.shape[3]; ++c)
          store(draft.v, offset_of(draft.v, b, row, s, c), std::nan(""));
      }
  return owned_problem::of_valid(std::move(draft));
}

}  // namespace attest::audit
