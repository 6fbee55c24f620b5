#include "audit/tensors/gradient_form.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

problem::layout compact_of(problem::layout of) noexcept {
  std::int64_t step = 1;
  for (auto axis = static_cast<std::size_t>(of.rank); axis-- > 0;) {
    of.stride[axis] = step;
    step *= std::max<std::int64_t>(of.shape[axis], 1);
  }
  return of;
}

std::int32_t const* starts_of(std::optional<owned_tensor> const& offsets) noexcept {
  return offsets ? offsets->as<std::int32_t>() : nullptr;
}

/// Are there rows of dQ, dK or dV that belong to no query or key?
bool has_padding(problem_draft const& draft, output_kind which) noexcept {
  return which == output_kind::dq                               ? draft.q_lengths || draft.q_offsets
         : which == output_kind::dk || which == output_kind::dv ? draft.k_lengths || draft.k_offsets
                                                                : false;
}

/// For each row of a compact dQ, dK or dV: does it belong to a query or key? Requires has_padding
std::vector<char> used_rows(owned_problem const& problem, output_kind which, std::size_t rows, std::size_t width) {
  std::vector<char> is_used(rows);
  gradient_places const places(problem, which);
  for (std::int64_t b = 0; b < places.shape()[0]; ++b)
    for (std::int64_t h = 0; h < places.shape()[1]; ++h)
      for (std::int64_t i = 0; i < (which == output_kind::dq ? queries_of(problem, b) : keys_of(problem, b)); ++i)
        is_used[places.row(b, h, i) / width] = 1;
  return is_used;
}

std::size_t width_of(owned_tensor const& gradient) noexcept {
  return static_cast<std::size_t>(gradient.layout.shape[static_cast<std::size_t>(gradient.layout.rank - 1)]);
}

/// Rows of dQ, dK or dV, in slots.
owned_tensor gradient_in_slots(owned_problem const& problem, output_kind kind, owned_tensor const& from) {
  gradient_places const places(problem, kind);
  auto const [entries, heads, slot, width] = places.shape();
  auto to = owned_tensor::compact(from.type, {entries, heads, slot, width});
  std::size_t const element = problem::size_of(from.type), bytes = static_cast<std::size_t>(width) * element;
  for (std::int64_t b = 0; b < entries; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      std::int64_t const rows = kind == output_kind::dq ? queries_of(problem, b) : keys_of(problem, b);
      for (std::int64_t i = 0; i < rows && bytes > 0; ++i)
        std::memcpy(to.bytes.data() + static_cast<std::size_t>((b * heads + h) * slot + i) * bytes,
                    from.bytes.data() + places.row(b, h, i) * element, bytes);
    }
  return to;
}

}  // namespace

owned_tensor const* input_of(problem_draft const& draft, output_kind which) noexcept {
  auto const if_any = [](std::optional<owned_tensor> const& tensor) { return tensor ? &*tensor : nullptr; };
  switch (which) {
    case output_kind::dq: return &draft.q;
    case output_kind::dk: return &draft.k;
    case output_kind::dv: return &draft.v;
    case output_kind::dbias: return if_any(draft.bias);
    case output_kind::dsink: return if_any(draft.sink);
    default: return nullptr;
  }
}

std::optional<owned_tensor> zero_gradient(owned_problem const& problem, output_kind which) {
  problem_draft const& draft = problem.draft();
  owned_tensor const* const input = input_of(draft, which);
  bool const of_keys = which == output_kind::dk || which == output_kind::dv;
  if (!input || (of_keys && draft.block_table)) return std::nullopt;
  return owned_tensor::zeros(input->type, compact_of(input->layout));
}

gradient_places::gradient_places(owned_problem const& problem, output_kind which) {
  problem_draft const& draft = problem.draft();
  owned_tensor const& input = *input_of(draft, which);
  problem::layout const compact = compact_of(input.layout);
  if (which == output_kind::dsink) {
    auto const last = static_cast<std::size_t>(compact.rank - 1);
    shape_ = {compact.rank == 2 ? compact.shape[0] : 1, compact.shape[last], 1, 1};
    stride_ = {compact.rank == 2 && compact.shape[0] > 1 ? compact.stride[0] : 0, compact.stride[last], 0};
    return;
  }
  problem::layout const lifted = problem::lifted(compact, problem.rank());
  shape_ = lifted.shape;
  std::copy_n(lifted.stride.begin(), 3, stride_.begin());
  if (which == output_kind::dbias) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (shape_[axis] == 1) stride_[axis] = 0;
    return;
  }
  starts_ = starts_of(which == output_kind::dq ? draft.q_offsets : draft.k_offsets);
  if (starts_ != nullptr)
    shape_[0] = problem.size().b, shape_[2] = which == output_kind::dq ? problem.size().n : problem.size().m;
}

std::size_t answered_elements(owned_problem const& problem, output_kind which, owned_tensor const& gradient) {
  std::size_t const width = width_of(gradient), elements = gradient.spanned_elements();
  if (!has_padding(problem.draft(), which) || elements == 0) return elements;
  return width * static_cast<std::size_t>(std::ranges::count(used_rows(problem, which, elements / width, width), 1));
}

padding_found clear_gradient_padding(owned_problem const& problem, output_kind which, owned_tensor& gradient,
                                     std::span<std::byte const> before) {
  padding_found found;
  std::size_t const width = width_of(gradient), bytes = width * problem::size_of(gradient.type);
  if (!has_padding(problem.draft(), which) || bytes == 0) return found;
  std::vector<char> const is_used = used_rows(problem, which, gradient.bytes.size() / bytes, width);
  for (std::size_t row = 0; row < is_used.size(); ++row) {
    if (is_used[row] != 0) continue;
    std::byte* const at = gradient.bytes.data() + row * bytes;
    auto const note = [&](padding_found::rows& rows) {
      if (rows.count++ == 0) rows.first = static_cast<std::int64_t>(row);
    };
    if (!before.empty() && std::memcmp(at, before.data() + row * bytes, bytes) != 0) note(found.changed);
    for (std::size_t n = 0; n < width; ++n) {
      if (load(gradient, row * width + n) == 0) continue;
      note(found.not_zero);
      break;
    }
    std::memset(at, 0, bytes);
  }
  return found;
}

owned_outputs gradients_in_slots(owned_problem const& problem, owned_outputs const& outputs) {
  owned_outputs slots{.dbias = outputs.dbias, .dsink = outputs.dsink};
  for (output_kind const kind : {output_kind::dq, output_kind::dk, output_kind::dv})
    if (auto const& gradient = outputs.of(kind)) slots.of(kind) = gradient_in_slots(problem, kind, *gradient);
  return slots;
}

}  // namespace attest::audit
