#include "audit/files/call_tensors.hpp"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "audit/files/file_tensor.hpp"
#include "audit/files/file_words.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::result;

/// Reads tensors by role. Keeps the first error and reads nothing after it.
class role_reader {
 public:
  role_reader(std::string_view prefix, tensor_group const& from) : prefix_(prefix), from_(from) {}

  /// Copies the tensor of this role to `to`. False if the group has none or an error occurred.
  template <class Target>
  bool read(std::string_view role, Target& to) {
    auto const at = from_.find(role);
    if (why || at == from_.end()) return false;
    auto tensor = tensor_of(prefixed(prefix_, role), role, *at->second);
    if (!tensor) return why = std::move(tensor).why(), false;
    to = std::move(tensor).value();
    return true;
  }

  std::optional<error> why;

 private:
  std::string_view prefix_;
  tensor_group const& from_;
};

}  // namespace

result<problem_draft> draft_of(problem::operator_row const& of, std::string const& prefix, tensor_group const& tensors,
                               orders const& in) {
  problem_draft draft;
  draft.of = &of;
  role_reader reader(prefix, tensors);
  reader.read("q", draft.q);
  reader.read("k", draft.k);
  reader.read("v", draft.v);
  problem::visit_optional_tensors(
      [&](problem::optional_tensor const& row, std::optional<owned_tensor>& to) { reader.read(row.name, to); }, draft);
  if (reader.why) return *std::move(reader.why);
  for (auto const& [rows, packed, pool] :
       {std::tuple{&draft.q, draft.q_offsets.has_value(), false},
        std::tuple{&draft.k, draft.k_offsets.has_value(), draft.block_table.has_value()},
        std::tuple{&draft.v, draft.k_offsets.has_value(), draft.block_table.has_value()}}) {
    if (in.rows == axis_order::thd && packed) *rows = from_thd(std::move(*rows));
    else if (!pool && !packed) *rows = from_order(in.rows, std::move(*rows));
    else if (pool && in.pools == pool_order::nhd && rows->layout.rank == 4) *rows = with_swapped_axes(std::move(*rows));
  }
  if (draft.d_out)
    draft.d_out = !draft.q_offsets             ? from_order(in.rows, *std::move(draft.d_out))
                  : in.rows == axis_order::thd ? from_thd(*std::move(draft.d_out))
                                               : *std::move(draft.d_out);
  if (!of.does_take("v")) draft.read_no_values();
  return draft;
}

namespace {

/// "; as [1, n, h, d] the shapes fit: …", where tensors of three axes have heads that share keys.
std::string fitting_fourth_axis(problem::operator_row const& of, std::string const& prefix, tensor_group const& tensors,
                                orders const& in, problem::parameters const& numbers) {
  for (axis_order const rows : {axis_order::bhnd, axis_order::bnhd}) {
    auto draft = draft_of(of, prefix, tensors, {axis_order::bhnd, in.pools});
    if (!draft) return "";
    for (owned_tensor* const tensor : {&draft.value().q, &draft.value().k, &draft.value().v}) {
      auto& [rank, shape, stride] = tensor->layout;
      if (rank != 3) return "";
      tensor->layout = {4, {1, shape[0], shape[1], shape[2]}, {0, stride[0], stride[1], stride[2]}};
      *tensor = from_order(rows, std::move(*tensor));
    }
    static_cast<problem::parameters&>(draft.value()) = numbers;
    if (!owned_problem::make(std::move(draft).value())) continue;
    return fmt::format(
        "; as [1, {}, d] the shapes fit: store q, k, v and o with a first axis of 1{}",
        rows == axis_order::bhnd ? "h, n" : "n, h",
        rows == in.rows ? "" : fmt::format(", and --layout {}", axis_orders[static_cast<std::size_t>(rows)]));
  }
  return "";
}

}  // namespace

std::string fitting_order(problem::operator_row const& of, std::string const& prefix, tensor_group const& tensors,
                          orders const& in, problem::parameters const& numbers) {
  bool const paged = tensors.contains("block_table");
  auto const q = tensors.find("q");
  int const rank = q == tensors.end() ? 4 : static_cast<int>(q->second->shape.size());
  for (axis_order const rows : {in.rows, axis_order::bhnd, axis_order::bnhd, axis_order::thd, axis_order::nbhd})
    for (pool_order const pools : {in.pools, in.pools == pool_order::hnd ? pool_order::nhd : pool_order::hnd}) {
      bool const same_rows = rows == in.rows, same_pools = pools == in.pools;
      if ((same_rows && same_pools) || (!paged && !same_pools)) continue;
      auto draft = draft_of(of, prefix, tensors, {rows, pools});
      if (!draft || (rows == axis_order::thd && token_fault("", prefix, draft.value()))) continue;
      static_cast<problem::parameters&>(draft.value()) = numbers;
      if (!owned_problem::make(std::move(draft).value())) continue;
      if (same_rows)
        return fmt::format("; as {} the pools fit: --kv-layout {}",
                           pools == pool_order::nhd ? "[pages, page, h, d]" : "[pages, h, page, d]",
                           pool_orders[static_cast<std::size_t>(pools)]);
      return fmt::format(
          "; as {} the shapes fit: --layout {}{}", axes_of(rows, rank), axis_orders[static_cast<std::size_t>(rows)],
          same_pools ? "" : fmt::format(" --kv-layout {}", pool_orders[static_cast<std::size_t>(pools)]));
    }
  return rank == 3 ? fitting_fourth_axis(of, prefix, tensors, in, numbers) : "";
}

}  // namespace attest::audit
