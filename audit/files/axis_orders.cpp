#include "audit/files/axis_orders.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

}  // namespace

safetensors_metadata::const_iterator key_of(safetensors_metadata const& metadata, std::string_view prefix,
                                            std::string_view key) {
  auto const at = metadata.find(prefixed(prefix, key));
  return at != metadata.end() ? at : metadata.find(key);
}

std::optional<error> merge_order_fault(safetensors_metadata const& metadata, std::string_view prefix) {
  auto const at = metadata.find(prefixed(prefix, layout_key));
  if (at == metadata.end() || at->second == axis_orders.front()) return std::nullopt;
  return fault(error_code::unsupported, at->first, "is not bhnd: a merge is [b, hq, n, dv]");
}

std::optional<error> order_fault(safetensors_metadata const& outputs, tensor_group const& tensors,
                                 problem_file_entry const& entry) {
  if (entry.problem.draft().merge) return merge_order_fault(outputs, entry.prefix);
  bool const packed = entry.problem.draft().q_offsets.has_value();
  if (!tensors.contains("o") && !(packed && tensors.contains("lse"))) return std::nullopt;
  auto const order = order_of<axis_order>(outputs, entry.prefix, layout_key, axis_orders);
  if (!order) return order.why();
  auto const said = key_of(outputs, entry.prefix, layout_key);
  // Packed tensors are bhnd or thd; others bhnd or bnhd.
  axis_order const other = packed ? axis_order::thd : axis_order::bnhd;
  bool const same = (order.value() == other) == (entry.order == other);
  if (said == outputs.end() || same || entry.problem.rank() != 4) return std::nullopt;
  return fault(error_code::bad_value, said->first,
               fmt::format("is '{}' beside the outputs and '{}' beside the inputs{}: o has the order of its inputs",
                           said->second, axis_orders[static_cast<std::size_t>(entry.order)],
                           entry.prefix.empty() ? "" : fmt::format(" of '{}'", printable(entry.prefix))));
}

std::optional<error> token_fault(std::string_view key, std::string_view prefix, problem_draft const& draft) {
  struct rows {
    char const* role;
    char const* offsets;
    owned_tensor const& tensor;
    bool packed;
  };
  bool const q_packed = draft.q_offsets.has_value(),
             k_placed = draft.k_offsets.has_value() || draft.block_table.has_value();
  for (auto const& [role, offsets, tensor, packed] :
       {rows{"q", "q_offsets", draft.q, q_packed}, rows{"k", "k_offsets", draft.k, k_placed},
        rows{"v", "k_offsets", draft.v, k_placed}})
    if (tensor.layout.rank == 3 && !packed)
      return fault(error_code::missing, key,
                   fmt::format("is 'thd', and '{}' is missing: it says to which entry each row of '{}' belongs",
                               printable(prefixed(prefix, offsets)), printable(prefixed(prefix, role))));
  return std::nullopt;
}

}  // namespace attest::audit
