#include "audit/cases/forms/layouts.hpp"

#include <cstring>
#include <utility>

#include "audit/cases/random.hpp"

namespace attest::audit {

void relay(owned_tensor& t, layout_form const& form) {
  owned_tensor moved{t.type, t.layout, {}};
  auto const& shape = t.layout.shape;
  auto& stride = moved.layout.stride;
  bool const inside = form.order == row_order::heads_inside;
  std::size_t const inner = inside ? 1 : 2, outer = inside ? 2 : 1;
  stride[3] = 1;
  stride[inner] = shape[3] + form.row_gap;
  stride[outer] = stride[inner] * shape[inner] + form.head_gap;
  stride[0] = stride[outer] * shape[outer] + form.head_gap;
  std::size_t const bytes = problem::size_of(t.type), row = static_cast<std::size_t>(shape[3]) * bytes;
  moved.bytes.resize(moved.spanned_elements() * bytes, std::byte{0xff});  // 0xff… is a NaN in every floating type
  each_row(t, [&](auto b, auto h, auto i) {
    std::memcpy(moved.bytes.data() + offset_of(moved, b, h, i, 0) * bytes,
                t.bytes.data() + offset_of(t, b, h, i, 0) * bytes, row);
  });
  t = std::move(moved);
}

void draw_layouts(problem_draft& to, random_stream& random) {
  auto const draw = [&](owned_tensor& t) {
    std::int64_t const which = random.below(2 * std::ssize(layout_forms));
    if (which < std::ssize(layout_forms)) relay(t, layout_forms[which]);
  };
  draw(to.q), draw(to.k), draw(to.v);
  for (auto* const optional : {&to.mask, &to.bias})
    if (*optional) draw(**optional);
}

}  // namespace attest::audit
