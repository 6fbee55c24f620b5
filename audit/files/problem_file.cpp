#include "audit/files/problem_file.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "audit/files/axis_orders.hpp"
#include "audit/files/call_tensors.hpp"
#include "audit/files/dtype.hpp"
#include "audit/files/entry_limits.hpp"
#include "audit/files/foreign_names.hpp"
#include "audit/files/merge_file.hpp"
#include "audit/files/parameters_text.hpp"
#include "audit/files/recorded_outputs.hpp"
#include "audit/support/printable.hpp"

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

/// Groups by prefix; names that are not of the form role or PREFIX.role go to `ignored`, with the option that reads
/// them if `with_option`.
std::map<std::string, tensor_group> grouped(safetensors_file const& file, operator_table table,
                                            std::vector<std::string>& ignored, bool with_option = false) {
  std::map<std::string, tensor_group> groups;
  for (auto const& [name, tensor] : file.tensors) {
    auto const dot = name.rfind('.');
    auto const role = std::string_view(name).substr(dot == name.npos ? 0 : dot + 1);
    // ".q" and plain q would both have the empty prefix, so ".q" is ignored.
    if (dot == 0 || !is_role(role, table))
      ignored.push_back(printable(name) + (with_option ? foreign_tensor(name) : ""));
    else groups[dot == name.npos ? "" : name.substr(0, dot)].emplace(role, &tensor);
  }
  return groups;
}

/// An error of validation, with the argument named as in the file.
error renamed(error why, std::string_view prefix) {
  if (why.argument == "out") why.argument = "o";
  why.argument = printable(prefixed(prefix, why.argument));
  return why;
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

/// The problem of a backward pass whose kernel was handed these O and LSE.
owned_problem with_handed(owned_problem const& problem, owned_outputs& forward) {
  if (!forward.o && !forward.lse) return problem;
  problem_draft draft = problem.draft();
  draft.handed_o = std::exchange(forward.o, std::nullopt), draft.handed_lse = std::exchange(forward.lse, std::nullopt);
  return owned_problem::of_valid(std::move(draft));
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
  auto const pools = order_of<pool_order>(metadata, prefix, kv_layout_key, pool_orders);
  if (!pools) return pools.why();
  orders const in{order.value(), pools.value()};
  auto draft = draft_of(of, prefix, tensors, in);
  if (!draft) return draft.why();
  if (in.rows == axis_order::thd)
    if (auto why = token_fault(key_of(metadata, prefix, layout_key)->first, prefix, draft.value()))
      return *std::move(why);
  if (auto why = read_parameters(metadata, flags, prefix, draft.value(), notes)) return *std::move(why);
  problem::parameters const numbers = draft.value();
  auto problem = owned_problem::make(std::move(draft).value());
  if (!problem) {
    error why = renamed(std::move(problem).why(), prefix);
    why.reason += fitting_order(of, prefix, tensors, in, numbers);
    return why;
  }
  if (auto why = entry_limits_fault(prefix, problem.value())) return *std::move(why);
  return problem_file_entry{
      .prefix = prefix, .problem = std::move(problem).value(), .order = in.rows, .pools = in.pools};
}

/// The error of a file without a problem.
error no_problem(safetensors_file const& file, std::vector<std::string> const& ignored) {
  std::string why = "the file has no tensors";
  if (!ignored.empty()) why += " q, k, v or PREFIX.q, PREFIX.k, PREFIX.v; it has " + quoted_list(ignored);
  else why += ", expected q, k, v or PREFIX.q, PREFIX.k, PREFIX.v";
  std::string const option = names_option(file);
  return {error_code::missing, "", why + (option.empty() ? "" : ": " + option)};
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
    if (!entry) {
      error why = entry.why();
      if (std::string const option = names_option(file, prefix); !option.empty())
        why.reason += fmt::format("; the file has other names of its tensors: {}", option);
      return why;
    }
    read_outputs(tensors, recorded.problems.emplace_back(std::move(entry).value()));
  }
  if (recorded.problems.empty()) return no_problem(file, recorded.ignored);
  for (auto& name : recorded.ignored) name += foreign_tensor(name);
  for (auto const& [key, value] : file.metadata)
    if (std::string const meant = foreign_key(key, value, recorded.problems, flags); !meant.empty())
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
      if (!of->does_take(role) && !(problem::output_named(role) && of->is_handed(*problem::output_named(role))))
        dropped.outputs += static_cast<std::int64_t>(file.tensors.erase(prefixed(prefix, role)));
    dropped.statuses += static_cast<std::int64_t>(file.metadata.erase(prefixed(prefix, status)));
  }
  return dropped;
}

result<problem_file> with_outputs(problem_file inputs, safetensors_file const& outputs, operator_table table) {
  for (auto const& [prefix, tensors] : grouped(outputs, table, inputs.ignored, true)) {
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
    if (!at->problem.draft().of->handed.empty()) at->problem = with_handed(at->problem, at->outputs);
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
