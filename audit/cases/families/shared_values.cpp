#include "audit/cases/families/shared_values.hpp"

#include <cstring>

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// Elements to … to + count − 1 of t := the elements of `source` from `from` on.
void copy_row(owned_tensor& t, std::size_t to, owned_tensor const& source, std::size_t from, std::int64_t count) {
  std::size_t const width = problem::size_of(t.type);
  std::memmove(t.bytes.data() + to * width, source.bytes.data() + from * width,
               static_cast<std::size_t>(count) * width);
}

}  // namespace

void share_values(problem_draft& p, memory_form const& form) {
  for (owned_tensor* const t : {&p.k, &p.v}) {
    std::int64_t const width = t->layout.shape[3];
    if (width == 0) continue;
    if (form.overlap > 0)
      each_row(*t, [&](auto b, auto h, auto j) {
        if (j > 0)
          copy_row(*t, offset_of(*t, b, h, j, 0), *t, offset_of(*t, b, h, j - 1, width - form.overlap), form.overlap);
      });
    if (form.shared_batch || form.shared_heads)
      each_row(*t, [&](auto b, auto h, auto j) {
        std::size_t const from = offset_of(*t, form.shared_batch ? 0 : b, form.shared_heads ? 0 : h, j, 0);
        copy_row(*t, offset_of(*t, b, h, j, 0), *t, from, width);
      });
  }
  if (form.v_in_k && p.v.layout.shape[3] > 0)
    each_row(p.v, [&](auto b, auto h, auto j) {
      copy_row(p.v, offset_of(p.v, b, h, j, 0), p.k, offset_of(p.k, b, h, j, 0), p.v.layout.shape[3]);
    });
}

}  // namespace attest::audit
