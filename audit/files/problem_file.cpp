#include "audit/files/problem_file.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "audit/files/axis_orders.hpp"
#include "audit/files/dtype.hpp"
#include "audit/files/entry_limits.hpp"
#include "audit/files/file_tensor.hpp"
#include "audit/files/merge_file.hpp"
#include "audit/files/parameters_text.hpp"
#include "audit/files/recorded_outputs.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

constexpr std::string_view status = "attest.status";

/// May a tensor of a problem have this name?
bool is_role(std::string_view name, operator_table table) {
  return problem::output_named(name) || problem::find_optional_tensor(name) ||
         std::ranges::any_of(table, [&](problem::operator_row const& row) { return is_taken(row, name); });
}

/// Groups by prefix; names that are not of the form role or PREFIX.role go to `ignored`.
std::map<std::string, tensor_group> grouped(safetensors_file const& file, operator_table table,
                                            std::vector<std::string>& ignored) {
  std::map<std::string, tensor_group> groups;
  for (auto const& [name, tensor] : file.tensors) {
    auto const dot = name.rfind('.');
    auto const role = std::string_view(name).substr(dot == name.npos ? 0 : dot + 1);
    // ".q" and plain q would both have the empty prefix, so ".q" is ignored.
    if (dot == 0 || !is_role(role, table)) ignored.push_back(printable(name));
    else groups[dot == name.npos ? "" : name.substr(0, dot)].emplace(role, &tensor);
  }
  return groups;
}

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

/// An error of validation, with the argument named as in the file.
error renamed(error why, std::string_view prefix) {
  if (why.argument == "out") why.argument = "o";
  why.argument = printable(prefixed(prefix, why.argument));
  return why;
}

/// A suggestion for a key of the metadata that is not read: ", did you mean 'scale'?". Empty if the key is read, or is
/// like no parameter.
std::string meant_by(std::string_view key, std::vector<problem_file_entry> const& problems) {
  if (key.starts_with("attest.") || key.find(".attest.") != key.npos) return "";
  auto const dot = key.rfind('.');
  std::string_view const name = dot == key.npos ? key : key.substr(dot + 1);
  std::vector<std::string_view> known;
  problem::parameters any;
  problem::visit_parameters(any, [&](auto const& parameter, auto const&) { known.push_back(parameter.name); });
  if (std::ranges::find(known, name) != known.end()) {
    bool const has_problem =
        dot == key.npos || std::ranges::binary_search(problems, key.substr(0, dot), {}, &problem_file_entry::prefix);
    return has_problem ? "" : ", of which there is no problem";
  }
  struct foreign_name {
    std::string_view name, here;
  };
  constexpr foreign_name names[]{{"causal", "right: 0"},
                                 {"is_causal", "right: 0"},
                                 {"softmax_scale", "scale"},
                                 {"sm_scale", "scale"},
                                 {"scaling", "scale"},
                                 {"window", "left and right"},
                                 {"window_size", "left and right"},
                                 {"dropout_p", "dropout"}};
  auto const at = std::ranges::find(names, name, &foreign_name::name);
  return at != std::end(names) ? fmt::format(", which is '{}' here", at->here) : did_you_mean(name, known);
}

/// The merge of one prefix.
result<problem_file_entry> merge_entry(std::string const& prefix, tensor_group const& tensors,
                                       safetensors_metadata const& metadata) {
  if (auto why = merge_order_fault(metadata, prefix)) return *std::move(why);
  auto draft = merge_of(prefix, tensors);
  if (!draft) return draft.why();
  auto problem = owned_problem::make(std::move(draft).value());
  if (!problem) {
    error why = std::move(problem).why();
    std::string_view const role = why.argument == "bias" || why.argument == "mask" ? lse_parts : o_parts;
    why.argument = printable(prefixed(prefix, role));
    return why;
  }
  return problem_file_entry{.prefix = prefix, .problem = std::move(problem).value()};
}

std::string quoted_list(std::vector<std::string> const& names) {
  std::string written;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) written += (i ? ", '" : "'") + names[i] + "'";
  return written + (names.size() > 8 ? ", …" : "");
}

/// The problem of one prefix whose tensors stand for fields of a call. Notes say which flag overrides which metadata.
result<problem_file_entry> call_entry(problem::operator_row const& of, std::string const& prefix,
                                      tensor_group const& tensors, safetensors_metadata const& metadata,
                                      flag_overrides const& flags, std::vector<std::string>& notes) {
  std::vector<std::string> there, missing;
  for (std::string_view const role : of.takes)
    (tensors.contains(role) ? there : missing).push_back(printable(prefixed(prefix, role)));
  if (!missing.empty())
    return error{error_code::missing, missing.front(), fmt::format("is missing beside {}", quoted_list(there))};
  auto const order = order_of<axis_order>(metadata, prefix, layout_key, axis_orders);
  if (!order) return order.why();
  auto const pools = order_of<pool_order>(metadata, prefix, "attest.kv_layout", pool_orders);
  if (!pools) return pools.why();
  problem_draft draft;
  draft.of = &of;
  role_reader reader(prefix, tensors);
  reader.read("q", draft.q);
  reader.read("k", draft.k);
  reader.read("v", draft.v);
  problem::visit_optional_tensors(
      [&](problem::optional_tensor const& row, std::optional<owned_tensor>& to) { reader.read(row.name, to); }, draft);
  if (reader.why) return *std::move(reader.why);
  if (order.value() == axis_order::thd)
    if (auto why = token_fault(key_of(metadata, prefix, layout_key)->first, prefix, draft)) return *std::move(why);
  for (auto const& [rows, packed, pool] :
       {std::tuple{&draft.q, draft.q_offsets.has_value(), false},
        std::tuple{&draft.k, draft.k_offsets.has_value(), draft.block_table.has_value()},
        std::tuple{&draft.v, draft.k_offsets.has_value(), draft.block_table.has_value()}}) {
    bool const swapped = pool ? pools.value() == pool_order::nhd : order.value() == axis_order::bnhd && !packed;
    if (order.value() == axis_order::thd && packed) *rows = from_thd(std::move(*rows));
    else if (swapped && rows->layout.rank == 4) *rows = with_swapped_axes(std::move(*rows));
  }
  if (!of.does_take("v")) draft.read_no_values();
  if (auto why = read_parameters(metadata, flags, prefix, draft, notes)) return *std::move(why);
  auto problem = owned_problem::make(std::move(draft));
  if (!problem) return renamed(std::move(problem).why(), prefix);
  if (auto why = entry_limits_fault(prefix, problem.value())) return *std::move(why);
  return problem_file_entry{
      .prefix = prefix, .problem = std::move(problem).value(), .order = order.value(), .pools = pools.value()};
}

}  // namespace

result<problem_file> problem_file_of(safetensors_file const& file, flag_overrides const& flags, operator_table table) {
  problem_file recorded;
  recorded.metadata = file.metadata;
  for (auto const& [prefix, tensors] : grouped(file, table, recorded.ignored)) {
    problem::operator_row const* const of = operator_of(tensors, table);
    if (!of) {  // names such as encoder.bias are common in other files
      for (auto const& [role, tensor] : tensors) recorded.ignored.push_back(printable(prefixed(prefix, role)));
      continue;
    }
    auto entry = of->form == problem::operator_form::parts
                     ? merge_entry(prefix, tensors, file.metadata)
                     : call_entry(*of, prefix, tensors, file.metadata, flags, recorded.notes);
    if (!entry) return entry.why();
    read_outputs(tensors, recorded.problems.emplace_back(std::move(entry).value()));
  }
  if (recorded.problems.empty())
    return error{error_code::missing, "",
                 recorded.ignored.empty() ? "the file has no tensors, expected q, k, v or PREFIX.q, PREFIX.k, PREFIX.v"
                                          : "the file has no tensors q, k, v or PREFIX.q, PREFIX.k, PREFIX.v; it has " +
                                                quoted_list(recorded.ignored)};
  for (auto const& [key, value] : file.metadata)
    if (std::string const meant = meant_by(key, recorded.problems); !meant.empty())
      recorded.ignored.push_back(fmt::format("metadata '{}'{}", printable(key), meant));
  return recorded;
}

dropped_outputs drop_outputs(safetensors_file& file, operator_table table) {
  dropped_outputs dropped;
  std::vector<std::string> ignored;
  for (auto const& [prefix, tensors] : grouped(file, table, ignored)) {
    problem::operator_row const* const of = operator_of(tensors, table);
    if (!of) continue;
    for (std::string_view const role : problem::output_names)
      if (!of->does_take(role))
        dropped.outputs += static_cast<std::int64_t>(file.tensors.erase(prefixed(prefix, role)));
    dropped.statuses += static_cast<std::int64_t>(file.metadata.erase(prefixed(prefix, status)));
  }
  return dropped;
}

result<problem_file> with_outputs(problem_file inputs, safetensors_file const& outputs, operator_table table) {
  for (auto const& [prefix, tensors] : grouped(outputs, table, inputs.ignored)) {
    auto const at = std::ranges::lower_bound(inputs.problems, prefix, {}, &problem_file_entry::prefix);
    bool const known = at != inputs.problems.end() && at->prefix == prefix;
    for (auto const& [role, tensor] : tensors)
      if (!known || !problem::output_named(role)) inputs.ignored.push_back(printable(prefixed(prefix, role)));
    if (!known) continue;
    if (auto why = order_fault(outputs.metadata, tensors, *at)) return *std::move(why);
    if (at->problem.draft().merge && tensors.contains("o"))
      if (auto const type = floating_type(tensors.find("o")->second->dtype);
          type && !answer_fault(at->name_of("o"), at->problem.type(), *type))
        at->problem = owned_problem::of_valid(answered_in(at->problem, *type));
    read_outputs(tensors, *at);
  }
  for (auto const& [key, value] : outputs.metadata) {
    if (!key.ends_with(status)) continue;
    std::string_view prefix(key.data(), key.size() - status.size());
    if (prefix.ends_with('.')) prefix.remove_suffix(1);
    auto const at = std::ranges::lower_bound(inputs.problems, prefix, {}, &problem_file_entry::prefix);
    bool const known = at != inputs.problems.end() && at->prefix == prefix && at->name_of(status) == key;
    if (known) inputs.metadata[key] = value;
    else inputs.ignored.push_back(printable(key));
  }
  return inputs;
}

}  // namespace attest::audit
