#include "audit/files/problem_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/dtype.hpp"
#include "audit/files/empty_rows.hpp"
#include "audit/files/merge_file.hpp"
#include "audit/files/parameters_text.hpp"
#include "audit/support/printable.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::error;
using problem::error_code;
using problem::result;

/// The names that a tensor of a problem may have.
bool is_role(std::string_view name) {
  constexpr std::array<std::string_view, 6> required_and_outputs{"q", "k", "v", "o", "lse", "weights"};
  return std::ranges::find(required_and_outputs, name) != required_and_outputs.end() || is_part_role(name) ||
         problem::find_optional_tensor(name).has_value();
}

using group = tensor_group;

/// Groups by prefix; names that are not of the form role or PREFIX.role go to `ignored`.
std::map<std::string, group> grouped(safetensors_file const& file, std::vector<std::string>& ignored) {
  std::map<std::string, group> groups;
  for (auto const& [name, tensor] : file.tensors) {
    auto const dot = name.rfind('.');
    auto const role = std::string_view(name).substr(dot == name.npos ? 0 : dot + 1);
    // ".q" and plain q would both have the empty prefix, so ".q" is ignored.
    if (dot == 0 || !is_role(role)) ignored.push_back(printable(name));
    else groups[dot == name.npos ? "" : name.substr(0, dot)].emplace(role, &tensor);
  }
  return groups;
}

result<element_type> type_for(std::string_view name, std::string_view role, std::string_view dtype) {
  auto const floating = floating_type(dtype);
  auto const optional = problem::find_optional_tensor(role);
  if (optional && optional->whole_numbers) {
    if (dtype == "I32" || dtype == "I64") return element_type::i32;
    return fault(error_code::bad_type, name, fmt::format("dtype is {}, expected I32", printable(dtype, 20)));
  }
  if (!optional || optional->is_floating()) {
    if (floating) return *floating;
    return fault(error_code::bad_type, name,
                 fmt::format("dtype is {}, expected {}", printable(dtype, 20),
                             problem::listed(problem::ieee_rows_first(), "or", &problem::element_row::dtype)));
  }
  if (dtype == "BOOL" || dtype == problem::row_of(element_type::u8).dtype) return element_type::u8;
  if (role != "mask")
    return fault(error_code::bad_type, name, fmt::format("dtype is {}, expected BOOL or U8", printable(dtype, 20)));
  auto const instead = std::string(name.substr(0, name.size() - role.size())) + "bias";
  return fault(error_code::bad_type, name,
               floating ? fmt::format("dtype is {}, but a mask is BOOL or U8 (non-zero = attend); if its values are "
                                      "added to the scores, name the tensor '{}'",
                                      printable(dtype, 20), printable(instead))
                        : fmt::format("dtype is {}, expected BOOL or U8 (non-zero = attend)", printable(dtype, 20)));
}

/// Copies numbers of 64 bits to 32 bits. An error where one does not fit.
std::optional<error> take_whole_numbers(std::string_view name, std::span<std::byte const> from,
                                        std::vector<std::byte>& to) {
  to.resize(from.size() / 2);
  for (std::size_t at = 0; at < from.size() / sizeof(std::int64_t); ++at) {
    std::int64_t wide = 0;
    std::memcpy(&wide, from.data() + at * sizeof wide, sizeof wide);
    auto const narrow = static_cast<std::int32_t>(wide);
    if (narrow != wide)
      return fault(error_code::bad_value, name,
                   fmt::format("element {} is {}, and lengths, offsets and tables have 32 bits", at, wide));
    std::memcpy(to.data() + at * sizeof narrow, &narrow, sizeof narrow);
  }
  return std::nullopt;
}

/// The ranks that a tensor may have.
std::string_view ranks_of(std::string_view role) {
  if (role == "lse") return "1, 2 or 3";
  auto const optional = problem::find_optional_tensor(role);
  if (!optional || optional->rank == 4) return "2, 3 or 4";
  return optional->rank == 1 ? "1" : optional->whole_numbers ? "2" : "1 or 2";
}

result<owned_tensor> tensor_of(std::string_view name, std::string_view role, safetensor const& from) {
  auto const type = type_for(name, role, from.dtype);
  if (!type) return type.why();
  if (from.shape.empty() || from.shape.size() > 4)
    return fault(error_code::bad_shape, name, fmt::format("rank is {}, expected {}", from.shape.size(), ranks_of(role)));
  if (from.bytes.empty() && empty_rows(from.shape) > most_empty_rows)
    return fault(error_code::unsupported, name,
                 fmt::format("shape is [{}]: a tensor without elements has at most {} rows",
                             fmt::join(from.shape, ", "), most_empty_rows));
  owned_tensor tensor{type.value(), {}, {}};
  if (from.dtype == "I64") {
    if (auto why = take_whole_numbers(name, from.bytes, tensor.bytes)) return *std::move(why);
  } else {
    tensor.bytes.assign(from.bytes.begin(), from.bytes.end());
  }
  tensor.layout.rank = static_cast<int>(from.shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = from.shape.size(); axis-- > 0;) {
    tensor.layout.shape[axis] = from.shape[axis];
    tensor.layout.stride[axis] = step;
    step *= std::max<std::int64_t>(from.shape[axis], 1);
  }
  return tensor;
}

/// Reads tensors by role. Keeps the first error and reads nothing after it.
class role_reader {
 public:
  role_reader(std::string_view prefix, group const& from) : prefix_(prefix), from_(from) {}

  /// Copies the tensor of this role to `to`; false where the group has none or an error occurred.
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
  group const& from_;
};

/// A packed tensor [rows, heads, width] as [1, heads, rows, width].
owned_tensor from_thd(owned_tensor tensor) {
  if (tensor.layout.rank != 3) return tensor;
  auto const [rank, shape, stride] = tensor.layout;
  tensor.layout = {4, {1, shape[1], shape[0], shape[2]}, {shape[0] * shape[1] * shape[2], stride[1], stride[0], stride[2]}};
  return tensor;
}

/// The rows of a strided tensor one after the other.
owned_tensor compacted(owned_tensor const& from) {
  owned_tensor to{from.type, problem::layout{from.layout.rank, from.layout.shape, {}}, compact_bytes(from)};
  std::int64_t step = 1;
  for (auto axis = static_cast<std::size_t>(from.layout.rank); axis-- > 0;)
    to.layout.stride[axis] = step, step *= std::max<std::int64_t>(from.layout.shape[axis], 1);
  return to;
}

/// The answer of a merge, o [b, hq, n, dv] and lse [b, hq, n], as the judge reads it: [b, hq·n, 1, dv] and [b, hq·n, 1], in
/// the type of the problem, to which every number of a narrower one converts exactly.
/// Ensures   an output of another shape is as it was
owned_tensor answer_of_merge(owned_tensor found, std::string_view role, owned_problem const& merge) {
  auto expected = merged_rows(merge);
  if (role == "o") expected.push_back(merge.size().dv);
  auto const& shape = found.layout.shape;
  if (role == "weights" || !std::equal(expected.begin(), expected.end(), shape.begin(), shape.begin() + found.layout.rank))
    return found;
  auto const& s = merge.size();
  found.layout = role == "o" ? problem::layout::compact({s.b, s.hq, 1, s.dv}) : problem::layout::compact({s.b, s.hq, 1});
  return role == "o" && found.type == merge.draft().merge->answer ? converted(found, merge.type()) : found;
}

/// An output in the order of the file, as the judge reads it: compact, of the shape of problem::rows_layout.
owned_tensor in_order_of_call(owned_tensor found, std::string_view role, problem_file_entry const& entry) {
  if (entry.problem.draft().merge) return answer_of_merge(std::move(found), role, entry.problem);
  bool const packed = entry.problem.draft().q_offsets.has_value();
  if (entry.order == axis_order::thd && packed && role == "o" && found.layout.rank == 3)
    return compacted(from_thd(std::move(found)));
  if (entry.order == axis_order::thd && packed && role == "lse" && found.layout.rank == 2) {
    found.layout = problem::layout::compact({1, found.layout.shape[0], found.layout.shape[1]});
    return found;
  }
  if (entry.order == axis_order::bnhd && !packed && role == "o" && found.layout.rank == 4 && entry.problem.rank() == 4)
    return with_swapped_axes(std::move(found));
  return found;
}

/// An error of validation, with the argument named as in the file.
error renamed(error why, std::string_view prefix) {
  if (why.argument == "out") why.argument = "o";
  why.argument = printable(prefixed(prefix, why.argument));
  return why;
}

/// Why `found` cannot be this output of the problem; none where it can.
std::optional<error> output_fault(owned_problem const& problem, std::string_view role, owned_tensor const& found) {
  return std::visit(
      [&]<class T>(problem::instance<T> const& instance) -> std::optional<error> {
        // Validation needs an o; the other outputs are validated beside this one, whose data is not read.
        static T stand_in{};
        auto const compact = problem::rows_layout(instance, instance.size().dv);
        problem::erased_outputs outputs{.o = {&stand_in, problem::type_of<T>, compact}, .lse = {}, .weights = {}};
        if (role == "o") outputs.o = found.erased();
        if (role == "lse") outputs.lse = found.erased();
        if (role == "weights") outputs.weights = found.erased();
        auto const validated = problem::make_outputs(instance, outputs);
        if (!validated) return validated.why();
        return std::nullopt;
      },
      problem.instance());
}

/// Reads one output of a problem: to entry.outputs where it fits the problem, else to entry.unusable.
/// Ensures   whether the file has a tensor of this role
bool read_output(std::string_view role, group const& from, problem_file_entry& entry) {
  auto const at = from.find(role);
  if (at == from.end()) return false;
  output_kind const kind = role == "o" ? output_kind::o : role == "lse" ? output_kind::lse : output_kind::weights;
  std::optional<owned_tensor>& to = entry.outputs.of(kind);
  to.reset();
  std::erase_if(entry.unusable, [&](unusable_output const& earlier) { return earlier.role == role; });
  auto tensor = tensor_of(entry.name_of(role), role, *at->second);
  if (!tensor) {
    entry.unusable.push_back({std::string(role), tensor.why().reason});
    return true;
  }
  if (entry.problem.draft().merge && tensor.value().layout.rank > 0) {
    auto expected = merged_rows(entry.problem);
    if (role == "o") expected.push_back(entry.problem.size().dv);
    auto const& [rank, shape, stride] = tensor.value().layout;
    std::span const found(shape.data(), static_cast<std::size_t>(rank));
    if (role == "weights" || !std::ranges::equal(found, expected)) {
      entry.unusable.push_back({std::string(role), role == "weights" ? "a merge has no weights"
                                                                     : fmt::format("shape is [{}], expected [{}]", fmt::join(found, ", "), fmt::join(expected, ", "))});
      return true;
    }
  }
  bool const has_order = role == "o" && !entry.problem.draft().merge && tensor.value().layout.rank == 4 && entry.problem.rank() == 4 &&
                         entry.order != axis_order::thd && !entry.problem.draft().q_offsets;
  tensor = in_order_of_call(std::move(tensor).value(), role, entry);
  auto const why = output_fault(entry.problem, role, tensor.value());
  if (!why) {
    to = std::move(tensor).value();
    if (entry.problem.draft().is_dense()) return true;
    *to = compacted(*to);
    entry.outputs.padding[static_cast<std::size_t>(kind)] = clear_padding(entry.problem, *to);
    return true;
  }
  unusable_output& found = entry.unusable.emplace_back(unusable_output{std::string(role), why->reason});
  if (!has_order) return true;
  if (entry.order == axis_order::bnhd) found.says += ", both as [b, h, n, d]";
  owned_tensor other = with_swapped_axes(std::move(tensor).value());
  if (!output_fault(entry.problem, role, other)) found.in_other_order = std::move(other);
  return true;
}

/// The word of PREFIX.key, or of the plain key, as a value; the first word where there is neither.
template <class Order>
result<Order> order_of(safetensors_metadata const& metadata, std::string_view prefix, std::string_view key,
                       std::initializer_list<std::string_view> words) {
  auto at = metadata.find(prefixed(prefix, key));
  if (at == metadata.end()) at = metadata.find(key);
  if (at == metadata.end()) return Order{};
  auto const found = std::ranges::find(words, at->second);
  if (found != words.end()) return static_cast<Order>(found - words.begin());
  return fault(error_code::bad_value, at->first,
               fmt::format("is '{}', expected {}", printable(at->second, 60), fmt::join(words, " or ")));
}

/// The merge of one prefix, with its answer.
result<problem_file_entry> merge_entry(std::string const& prefix, group const& tensors, safetensors_metadata const& metadata) {
  auto const order = order_of<axis_order>(metadata, prefix, "attest.layout", {"bhnd", "bnhd", "thd"});
  if (!order) return order.why();
  if (order.value() != axis_order::bhnd)
    return fault(error_code::unsupported, prefixed(prefix, "attest.layout"), "is not bhnd: the parts of a merge are [b, hq, n, dv]");
  auto draft = merge_of(prefix, tensors);
  if (!draft) return draft.why();
  auto problem = owned_problem::make(std::move(draft).value());
  if (!problem) {
    error why = std::move(problem).why();
    std::string_view const role = why.argument == "bias" || why.argument == "mask" ? "lse_parts" : "o_parts";
    why.argument = printable(prefixed(prefix, role));
    return why;
  }
  problem_file_entry entry{.prefix = prefix, .problem = std::move(problem).value()};
  for (std::string_view const role : {"o", "lse", "weights"}) read_output(role, tensors, entry);
  return entry;
}

std::string quoted_list(std::vector<std::string> const& names) {
  std::string written;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) written += (i ? ", '" : "'") + names[i] + "'";
  return written + (names.size() > 8 ? ", …" : "");
}

}  // namespace

result<problem_file> problem_file_of(safetensors_file const& file, flag_overrides const& flags) {
  problem_file recorded;
  recorded.metadata = file.metadata;
  for (auto const& [prefix, tensors] : grouped(file, recorded.ignored)) {
    std::vector<std::string> there, missing;
    for (std::string_view const role : {"q", "k", "v"})
      (tensors.contains(role) ? there : missing).push_back(printable(prefixed(prefix, role)));
    if (has_parts(tensors)) {
      auto merge = merge_entry(prefix, tensors, file.metadata);
      if (!merge) return merge.why();
      recorded.problems.push_back(std::move(merge).value());
      continue;
    }
    if (there.empty()) {  // names such as encoder.bias are common in other files
      for (auto const& [role, tensor] : tensors) recorded.ignored.push_back(printable(prefixed(prefix, role)));
      continue;
    }
    if (!missing.empty())
      return error{error_code::missing, missing.front(), fmt::format("is missing beside {}", quoted_list(there))};

    auto const order = order_of<axis_order>(file.metadata, prefix, "attest.layout", {"bhnd", "bnhd", "thd"});
    if (!order) return order.why();
    auto const pools = order_of<pool_order>(file.metadata, prefix, "attest.kv_layout", {"hnd", "nhd"});
    if (!pools) return pools.why();
    problem_draft draft;
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
      bool const swapped = pool ? pools.value() == pool_order::nhd : order.value() == axis_order::bnhd && !packed;
      if (order.value() == axis_order::thd && packed) *rows = from_thd(std::move(*rows));
      else if (swapped && rows->layout.rank == 4) *rows = with_swapped_axes(std::move(*rows));
    }
    if (auto why = read_parameters(file.metadata, flags, prefix, draft, recorded.notes)) return *std::move(why);
    auto problem = owned_problem::make(std::move(draft));
    if (!problem) return renamed(std::move(problem).why(), prefix);
    problem_file_entry& entry = recorded.problems.emplace_back(
        problem_file_entry{.prefix = prefix, .problem = std::move(problem).value(), .order = order.value(), .pools = pools.value()});
    for (std::string_view const role : {"o", "lse", "weights"}) read_output(role, tensors, entry);
  }
  if (recorded.problems.empty())
    return error{error_code::missing, "",
                 recorded.ignored.empty() ? "the file has no tensors, expected q, k, v or PREFIX.q, PREFIX.k, PREFIX.v"
                                          : "the file has no tensors q, k, v or PREFIX.q, PREFIX.k, PREFIX.v; it has " +
                                                quoted_list(recorded.ignored)};
  return recorded;
}

result<problem_file> with_outputs(problem_file inputs, safetensors_file const& outputs) {
  for (auto const& [prefix, tensors] : grouped(outputs, inputs.ignored)) {
    auto const at = std::ranges::lower_bound(inputs.problems, prefix, {}, &problem_file_entry::prefix);
    bool const known = at != inputs.problems.end() && at->prefix == prefix;
    for (auto const& [role, tensor] : tensors)
      if (!known || (role != "o" && role != "lse" && role != "weights"))
        inputs.ignored.push_back(printable(prefixed(prefix, role)));
    if (!known) continue;
    if (at->problem.draft().merge && tensors.contains("o"))
      if (auto const type = floating_type(tensors.find("o")->second->dtype)) {
        if (auto why = answer_fault(at->name_of("o"), at->problem.type(), *type)) return *std::move(why);
        at->problem = owned_problem::of_valid(answered_in(at->problem, *type));
      }

    auto const take = [&](std::string_view role, std::optional<owned_tensor> const& had) {
      bool const replaced = had || std::ranges::find(at->unusable, role, &unusable_output::role) != at->unusable.end();
      if (read_output(role, tensors, *at) && replaced)
        inputs.notes.push_back(fmt::format("'{}' is taken from the second file", printable(at->name_of(role))));
    };
    take("o", at->outputs.o);
    take("lse", at->outputs.lse);
    take("weights", at->outputs.weights);
  }
  constexpr std::string_view status = "attest.status";
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
