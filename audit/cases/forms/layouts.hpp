// How the rows of one tensor lie in memory: with gaps, or with heads inside rows. The gaps hold NaN.
#pragma once

#include <cstdint>
#include <string_view>

#include "audit/tensors/problem_draft.hpp"

namespace attest::audit {

class random_stream;  // cases/random.hpp

enum class row_order : std::uint8_t {
  rows_inside,   ///< [b, h, n, d]
  heads_inside,  ///< [b, n, h, d]
};

struct layout_form {
  std::string_view name;
  row_order order;
  std::int64_t row_gap = 0, head_gap = 0;  ///< elements behind each row and behind each head
};
inline constexpr layout_form layout_forms[]{{"row-gaps", row_order::rows_inside, 3, 0},
                                            {"head-gaps", row_order::rows_inside, 0, 8},
                                            {"heads-inside", row_order::heads_inside, 0, 0},
                                            {"slice", row_order::heads_inside, 16, 0}};

/// The same values in another place. Requires  rank 4
void relay(owned_tensor& t, layout_form const& form);
inline void relay(owned_tensor& t, row_order order, std::int64_t row_gap, std::int64_t head_gap = 0) {
  relay(t, {"", order, row_gap, head_gap});
}

/// Of q, k, v, mask and bias each stays or gets one of layout_forms.
void draw_layouts(problem_draft& to, random_stream& random);

}  // namespace attest::audit
