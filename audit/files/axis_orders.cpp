#include "audit/files/axis_orders.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

struct order_alias {
  std::string_view word, means;
};

constexpr order_alias aliases[]{{"bhsd", "bhnd"}, {"bhld", "bhnd"}, {"bhtd", "bhnd"}, {"bnth", "bhnd"},
                                {"bnsd", "bhnd"}, {"bshd", "bnhd"}, {"blhd", "bnhd"}, {"bthd", "bnhd"},
                                {"btnh", "bnhd"}, {"bsnd", "bnhd"}, {"sbhd", "nbhd"}, {"lbhd", "nbhd"},
                                {"tbhd", "nbhd"}, {"tnd", "thd"}};

}  // namespace

std::string order_word(std::string_view said) {
  std::string word(said);
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  auto const alias = std::ranges::find(aliases, word, &order_alias::word);
  return alias == std::end(aliases) ? word : std::string(alias->means);
}

std::string axes_of(axis_order order, int rank) {
  if (order == axis_order::thd) return "[rows, h, d]";
  if (rank == 3) return order == axis_order::bhnd ? "[h, n, d]" : "[n, h, d]";
  constexpr char const* axes[]{"[b, h, n, d]", "[b, n, h, d]", "", "[n, b, h, d]"};
  return axes[static_cast<std::size_t>(order)];
}

safetensors_metadata::const_iterator key_of(safetensors_metadata const& metadata, std::string_view prefix,
                                            std::string_view key) {
  auto const at = metadata.find(prefixed(prefix, key));
  return at != metadata.end() ? at : metadata.find(key);
}

std::optional<error> merge_order_fault(safetensors_metadata const& metadata, std::string_view prefix) {
  auto const at = metadata.find(prefixed(prefix, layout_key));
  if (at == metadata.end() || order_word(at->second) == axis_orders.front()) return std::nullopt;
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
  // thd is an order of packed tensors alone, and they have no other one.
  auto const order_here = [&](axis_order of) { return (of == axis_order::thd) == packed ? of : axis_order::bhnd; };
  bool const same = order_here(order.value()) == order_here(entry.order);
  if (said == outputs.end() || same || entry.problem.rank() < 3) return std::nullopt;
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
