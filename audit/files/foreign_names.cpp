#include "audit/files/foreign_names.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/support/words.hpp"
#include "problem/parameters.hpp"

namespace attest::audit {
namespace {

struct foreign_name {
  std::string_view name, role;
};

constexpr foreign_name foreign_tensors[]{{"query", "q"},
                                         {"queries", "q"},
                                         {"query_states", "q"},
                                         {"Q", "q"},
                                         {"key", "k"},
                                         {"keys", "k"},
                                         {"key_states", "k"},
                                         {"k_cache", "k"},
                                         {"K", "k"},
                                         {"value", "v"},
                                         {"values", "v"},
                                         {"value_states", "v"},
                                         {"v_cache", "v"},
                                         {"V", "v"},
                                         {"output", "o"},
                                         {"out", "o"},
                                         {"O", "o"},
                                         {"attn_output", "o"},
                                         {"attention_output", "o"},
                                         {"context", "o"},
                                         {"softmax_lse", "lse"},
                                         {"logsumexp", "lse"},
                                         {"LSE", "lse"},
                                         {"attn_mask", "mask"},
                                         {"attention_mask", "mask"},
                                         {"attn_bias", "bias"},
                                         {"attention_bias", "bias"},
                                         {"attn_weights", "weights"},
                                         {"probs", "weights"},
                                         {"sinks", "sink"},
                                         {"s_aux", "sink"},
                                         {"cu_seqlens_q", "q_offsets"},
                                         {"cu_seqlens_k", "k_offsets"},
                                         {"cu_seqlens_kv", "k_offsets"},
                                         {"qo_indptr", "q_offsets"},
                                         {"kv_indptr", "k_offsets"},
                                         {"seqused_q", "q_lengths"},
                                         {"seqused_k", "k_lengths"},
                                         {"seq_lens", "k_lengths"},
                                         {"cache_seqlens", "k_lengths"},
                                         {"kv_seq_lens", "k_lengths"},
                                         {"page_table", "block_table"},
                                         {"block_tables", "block_table"}};

struct foreign_parameter {
  std::string_view name, here, option;
};

constexpr foreign_parameter foreign_parameters[]{
    {"causal", "right: 0", "--causal top-left or --causal bottom-right"},
    {"is_causal", "right: 0", "--causal top-left or --causal bottom-right"},
    {"layout", "attest.layout", "--layout"},
    {"softmax_scale", "scale", "--scale"},
    {"sm_scale", "scale", "--scale"},
    {"scaling", "scale", "--scale"},
    {"logits_soft_cap", "softcap", "--softcap"},
    {"window", "left and right", "--left L --right R"},
    {"window_size", "left and right", "--left L --right R"},
    {"sliding_window", "left and right", "--left L --right R"},
    {"dropout_p", "dropout", "--dropout"}};

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// "q=query,k=key", in the order of the table, of names by their roles.
std::string joined(std::map<std::string_view, std::string_view> const& name_of_role) {
  std::vector<std::string> pairs;
  for (foreign_name const& row : foreign_tensors)
    if (auto const at = name_of_role.find(row.role); at != name_of_role.end() && at->second == row.name)
      pairs.push_back(fmt::format("{}={}", row.role, row.name));
  return pairs.empty() ? "" : fmt::format("--names {}", fmt::join(pairs, ","));
}

}  // namespace

std::string_view role_of_foreign(std::string_view name) {
  auto const at = std::ranges::find(foreign_tensors, name, &foreign_name::name);
  return at == std::end(foreign_tensors) ? std::string_view() : at->role;
}

std::string names_option(safetensors_file const& file, std::string_view prefix) {
  std::map<std::string_view, std::string_view> found;
  for (auto const& [name, tensor] : file.tensors) {
    std::string_view const last = last_part(name), role = role_of_foreign(last);
    if (!role.empty() && prefixed(prefix, last) == name && !file.tensors.contains(prefixed(prefix, role)))
      found.emplace(role, last);
  }
  return joined(found);
}

std::string names_option(safetensors_file const& file) {
  std::map<std::string_view, std::string_view> found;
  for (auto const& [name, tensor] : file.tensors)
    if (auto const role = role_of_foreign(last_part(name)); !role.empty()) found.emplace(role, last_part(name));
  return joined(found);
}

std::string foreign_o(safetensors_file const& file) {
  for (auto const& [name, tensor] : file.tensors)
    if (role_of_foreign(last_part(name)) == "o") return std::string(last_part(name));
  return "";
}

std::string foreign_tensor(std::string_view name) {
  std::string_view const last = last_part(name), role = role_of_foreign(last);
  return role.empty() ? "" : fmt::format(", which is '{}' here: --names {}={}", role, role, last);
}

std::string foreign_key(std::string_view key, std::string_view value, std::vector<problem_file_entry> const& problems,
                        flag_overrides const& flags) {
  if (key.starts_with("attest.") || key.find(".attest.") != key.npos) return "";
  auto const dot = key.rfind('.');
  std::string_view const name = last_part(key);
  std::vector<std::string_view> known;
  problem::parameters any;
  problem::visit_parameters(any, [&](auto const& parameter, auto const&) { known.push_back(parameter.name); });
  if (std::ranges::find(known, name) != known.end()) {
    bool const has_problem =
        dot == key.npos || std::ranges::binary_search(problems, key.substr(0, dot), {}, &problem_file_entry::prefix);
    return has_problem ? "" : ", of which there is no problem";
  }
  auto const at = std::ranges::find(foreign_parameters, name, &foreign_parameter::name);
  if (at == std::end(foreign_parameters)) return did_you_mean(name, known);
  std::string here = fmt::format(", which is '{}' here", at->here);
  for (std::string_view const none : {"", "0", "0.0", "false", "False", "none", "None", "null"})
    if (value == none) return here;
  for (auto const& [flag, said] : flags)
    if (said && at->here.starts_with(flag)) return here;
  bool const takes_value = at->option.find(' ') == at->option.npos;
  return fmt::format("{}: {}{}", here, at->option, takes_value ? " " + shell_word(printable(value, 60)) : "");
}

}  // namespace attest::audit
