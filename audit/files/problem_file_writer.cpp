// The writer of audit/files/problem_file.hpp: problems and outputs to a safetensors file.
#include <cstring>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "audit/files/axis_orders.hpp"
#include "audit/files/file_tensor.hpp"
#include "audit/files/merge_file.hpp"
#include "audit/files/parameters_text.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/support/printable.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

std::string_view dtype_of(std::string_view role, problem::element_type type) {
  if (role == "mask" || role == "block_mask" || role == "keep") return "BOOL";
  return problem::row_of(type).dtype;
}

}  // namespace

result<std::vector<std::byte>> problem_file_bytes(std::span<problem_file_entry const> problems,
                                                  safetensors_metadata metadata) {
  safetensor_map tensors;
  std::deque<std::vector<std::byte>> owned;
  for (problem_file_entry const& entry : problems) {
    bool unique = true;
    auto const add = [&](std::string_view role, owned_tensor const& from) {
      auto& bytes = owned.emplace_back(compact_bytes(from));
      // A safetensors BOOL is 0 or 1, while in a mask every non-zero byte means true.
      if (dtype_of(role, from.type) == "BOOL")
        for (auto& byte : bytes) byte = byte == std::byte{0} ? byte : std::byte{1};
      auto const& shape = from.layout.shape;
      unique = tensors
                   .emplace(entry.name_of(role), safetensor{std::string(dtype_of(role, from.type)),
                                                            {shape.begin(), shape.begin() + from.layout.rank},
                                                            bytes})
                   .second &&
               unique;
    };
    problem_draft const& draft = entry.problem.draft();
    if (draft.merge && draft.bias) {
      merge_parts const parts = parts_of(draft);
      auto const rows = merged_rows(entry.problem);
      auto const add_block = [&](std::string_view role, problem::element_type type, std::vector<std::byte> bytes,
                                 std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
        std::vector<std::int64_t> shape(rows);
        if (first) shape.insert(shape.begin(), *first);
        if (last) shape.push_back(*last);
        unique = tensors
                     .emplace(entry.name_of(role), safetensor{std::string(dtype_of(role, type)), std::move(shape),
                                                              owned.emplace_back(std::move(bytes))})
                     .second &&
                 unique;
      };
      add_block(o_parts, parts.type, parts.o, parts.parts, parts.dv);
      add_block(lse_parts, draft.bias->type, parts.lse, parts.parts, std::nullopt);
      auto const &o = entry.outputs.o, &lse = entry.outputs.lse;
      if (o)
        add_block("o", draft.merge->answer, converted({o->type, {}, compact_bytes(*o)}, draft.merge->answer).bytes,
                  std::nullopt, parts.dv);
      if (lse) add_block("lse", lse->type, compact_bytes(*lse), std::nullopt, std::nullopt);
      if (!unique) return error{error_code::bad_value, printable(entry.prefix), "two problems have this prefix"};
      metadata[entry.name_of("attest.layout")] = "bhnd";
      continue;
    }
    bool const has_order = entry.problem.rank() >= 3, by_token = entry.order == axis_order::thd;
    auto const add_rows = [&](std::string_view role, owned_tensor const& from, bool packed, bool pool) {
      if (packed && by_token) add(role, as_thd(from));
      else if (pool) add(role, entry.pools == pool_order::nhd ? with_swapped_axes(from) : from);
      else add(role, packed ? from : to_order(entry.order, from));
    };
    bool const q_packed = draft.q_offsets.has_value(), k_packed = draft.k_offsets.has_value(),
               paged = draft.block_table.has_value();
    add_rows("q", draft.q, q_packed, false);
    add_rows("k", draft.k, k_packed, paged);
    if (draft.of->does_take("v")) add_rows("v", draft.v, k_packed, paged);
    draft.each_optional([&](problem::optional_tensor const& row, owned_tensor const& tensor) {
      row.name == "do" ? add_rows(row.name, tensor, q_packed, false) : add(row.name, tensor);
    });
    auto const &o = entry.outputs.o ? entry.outputs.o : draft.handed_o,
               &lse = entry.outputs.lse ? entry.outputs.lse : draft.handed_lse;
    if (o) add_rows("o", *o, q_packed, false);
    if (lse) q_packed&& by_token ? add("lse", as_thd(*lse)) : add("lse", *lse);
    if (entry.outputs.weights) add("weights", *entry.outputs.weights);
    if (entry.outputs.dq) add_rows("dq", *entry.outputs.dq, q_packed, false);
    if (entry.outputs.dk) add_rows("dk", *entry.outputs.dk, k_packed, false);
    if (entry.outputs.dv) add_rows("dv", *entry.outputs.dv, k_packed, false);
    if (entry.outputs.dbias) add("dbias", *entry.outputs.dbias);
    if (entry.outputs.dsink) add("dsink", *entry.outputs.dsink);
    if (!unique) return error{error_code::bad_value, printable(entry.prefix), "two problems have this prefix"};
    write_parameters(draft, entry.prefix, metadata);
    if (has_order) metadata[entry.name_of(layout_key)] = axis_orders[static_cast<std::size_t>(entry.order)];
    if (paged) metadata[entry.name_of(kv_layout_key)] = entry.pools == pool_order::nhd ? "nhd" : "hnd";
  }
  return safetensors_bytes(tensors, metadata);
}

}  // namespace attest::audit
