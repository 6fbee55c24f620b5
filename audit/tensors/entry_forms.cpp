#include "audit/tensors/entry_forms.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// Rows of one side of a problem, in slots.
template <class T>
owned_tensor rows_in_slots(problem::view<T const> const& from, problem::entry_rows const& side) {
  auto const [entries, heads, slot, width] = from.shape;
  auto to = owned_tensor::compact(problem::type_of<T>, {entries, heads, slot, width});
  std::size_t const bytes = static_cast<std::size_t>(width) * sizeof(T);
  for (std::int64_t b = 0; b < entries; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < side.used(b) && bytes > 0; ++i)
        std::memcpy(to.bytes.data() + static_cast<std::size_t>((b * heads + h) * slot + i) * bytes, from.row(b, h, i),
                    bytes);
  return to;
}

std::optional<owned_tensor> lengths_in(problem::entry_rows const& side, std::int64_t entries) {
  auto lengths = owned_tensor::compact(problem::element_type::i32, {entries});
  bool all = true;
  for (std::int64_t b = 0; b < entries; ++b) {
    lengths.as<std::int32_t>()[b] = static_cast<std::int32_t>(side.used(b));
    all = all && side.used(b) == side.slot;
  }
  if (all) return std::nullopt;
  return lengths;
}

}  // namespace

std::int64_t queries_of(owned_problem const& problem, std::int64_t b) noexcept {
  return std::visit([&](auto const& p) { return p.queries(b); }, problem.instance());
}

std::int64_t keys_of(owned_problem const& problem, std::int64_t b) noexcept {
  return std::visit([&](auto const& p) { return p.keys(b); }, problem.instance());
}

std::int64_t queries_of(owned_problem const& problem) noexcept {
  std::int64_t all = 0;
  for (std::int64_t b = 0; b < problem.size().b; ++b) all += queries_of(problem, b);
  return all;
}

std::size_t output_row(owned_problem const& problem, std::int64_t b, std::int64_t h, std::int64_t i) noexcept {
  return std::visit(
      [&](auto const& p) {
        auto const& side = p.entries().queries;
        return static_cast<std::size_t>(side.is_packed() ? h * side.total + side.offsets[b] + i
                                                         : (b * p.size().hq + h) * p.size().n + i);
      },
      problem.instance());
}

owned_outputs zero_outputs(owned_problem const& problem) {
  return std::visit(
      []<class T>(problem::instance<T> const& p) {
        using problem::rows_layout, problem::type_of;
        return owned_outputs{.o = owned_tensor::zeros(type_of<T>, rows_layout(p, p.size().dv)),
                             .lse = owned_tensor::zeros(type_of<problem::lse_element<T>>, rows_layout(p))};
      },
      problem.instance());
}

padding_found clear_padding(owned_problem const& problem, owned_tensor& output, std::span<std::byte const> before) {
  padding_found found;
  if (!problem.draft().q_lengths && !problem.draft().q_offsets) return found;
  bool const is_lse = output.layout.rank < problem.rank();
  auto const last = static_cast<std::size_t>(output.layout.rank - 1);
  std::size_t const elements = is_lse ? 1 : static_cast<std::size_t>(output.layout.shape[last]),
                    bytes = elements * problem::size_of(output.type);
  if (bytes == 0) return found;
  std::vector<char> is_query(output.bytes.size() / bytes);
  problem::sizes const& s = problem.size();
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < queries_of(problem, b); ++i) is_query[output_row(problem, b, h, i)] = 1;
  auto const is_zero = [&](double x) { return x == 0 || (is_lse && x == -std::numeric_limits<double>::infinity()); };
  for (std::size_t row = 0; row < is_query.size(); ++row) {
    if (is_query[row] != 0) continue;
    std::byte* const at = output.bytes.data() + row * bytes;
    auto const note = [&](padding_found::rows& rows) {
      if (rows.count++ == 0) rows.first = static_cast<std::int64_t>(row);
    };
    if (!before.empty() && std::memcmp(at, before.data() + row * bytes, bytes) != 0) note(found.changed);
    for (std::size_t n = 0; n < elements; ++n) {
      if (is_zero(load(output, row * elements + n))) continue;
      note(found.not_zero);
      break;
    }
    std::memset(at, 0, bytes);
  }
  return found;
}

std::vector<std::byte> compact_bytes(owned_tensor const& from) {
  auto const rank = static_cast<std::size_t>(from.layout.rank);
  auto const& [_, shape, stride] = from.layout;
  std::size_t const element = problem::size_of(from.type);
  std::vector<std::byte> compact;
  if (from.spanned_elements() == 0) return compact;
  std::size_t const row_bytes = static_cast<std::size_t>(shape[rank - 1]) * element;
  std::array<std::int64_t, 4> at{};
  for (;;) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) offset += at[axis] * stride[axis];
    auto const* row = from.bytes.data() + static_cast<std::size_t>(offset) * element;
    compact.insert(compact.end(), row, row + row_bytes);
    std::size_t axis = rank - 1;  // the next row, as an odometer counts
    while (axis > 0 && ++at[axis - 1] == shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return compact;
  }
}

owned_tensor compacted(owned_tensor from) {
  problem::layout to{from.layout.rank, from.layout.shape, {}};
  std::int64_t step = 1;
  for (auto axis = static_cast<std::size_t>(to.rank); axis-- > 0;)
    to.stride[axis] = step, step *= std::max<std::int64_t>(to.shape[axis], 1);
  if (to.stride == from.layout.stride) return from;
  return {from.type, to, compact_bytes(from)};
}

problem_draft in_slots(owned_problem const& problem) {
  problem_draft to = problem.draft();
  to.q_offsets.reset(), to.k_offsets.reset(), to.block_table.reset();
  to.handed_o.reset(), to.handed_lse.reset();
  std::visit(
      [&](auto const& p) {
        auto const& [queries, keys] = p.entries();
        to.q = rows_in_slots(p.q(), queries);
        to.k = rows_in_slots(p.k(), keys), to.v = rows_in_slots(p.v(), keys);
        if (p.d_out()) to.d_out = rows_in_slots(p.d_out(), queries);
        to.q_lengths = lengths_in(queries, p.size().b), to.k_lengths = lengths_in(keys, p.size().b);
      },
      problem.instance());
  return to;
}

owned_outputs in_slots(owned_problem const& problem, owned_outputs const& outputs) {
  problem::sizes const& s = problem.size();
  auto const of = [&](owned_tensor const& rows, bool is_lse) {
    std::int64_t const width = is_lse ? 1 : rows.layout.shape[3];
    owned_tensor to = is_lse ? owned_tensor::compact(rows.type, {s.b, s.hq, s.n})
                             : owned_tensor::compact(rows.type, {s.b, s.hq, s.n, width});
    std::size_t const bytes = static_cast<std::size_t>(width) * problem::size_of(rows.type);
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < queries_of(problem, b) && bytes > 0; ++i)
          std::memcpy(to.bytes.data() + static_cast<std::size_t>((b * s.hq + h) * s.n + i) * bytes,
                      rows.bytes.data() + output_row(problem, b, h, i) * bytes, bytes);
    return to;
  };
  owned_outputs slots{.padding = outputs.padding};
  if (outputs.o) slots.o = of(*outputs.o, false);
  if (outputs.lse) slots.lse = of(*outputs.lse, true);
  if (outputs.weights) slots.weights = of(*outputs.weights, false);
  return slots;
}

}  // namespace attest::audit
