#include "audit/files/problem_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "audit/files/parameters_text.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::error;
using problem::error_code;
using problem::result;

constexpr std::array<std::string_view, 8> roles{"q", "k", "v", "mask", "bias", "o", "lse", "weights"};

error fault(error_code code, std::string_view argument, std::string reason) {
  return {code, printable(argument), std::move(reason)};
}

/// The tensors of one prefix, by role.
using group = std::map<std::string_view, safetensor const*>;

/// Groups by prefix; names that are not of the form role or PREFIX.role go to `ignored`.
std::map<std::string, group> grouped(safetensors_file const& file, std::vector<std::string>& ignored) {
  std::map<std::string, group> groups;
  for (auto const& [name, tensor] : file.tensors) {
    auto const dot = name.rfind('.');
    auto const role = std::string_view(name).substr(dot == name.npos ? 0 : dot + 1);
    // ".q" and plain q would both have the empty prefix, so ".q" is ignored.
    if (dot == 0 || std::ranges::find(roles, role) == roles.end()) ignored.push_back(printable(name));
    else groups[dot == name.npos ? "" : name.substr(0, dot)].emplace(role, &tensor);
  }
  return groups;
}

std::optional<element_type> floating_type(std::string_view dtype) {
  for (problem::element_row const& row : problem::element_table)
    if (row.is_floating() && row.dtype == dtype) return row.type;
  return std::nullopt;
}

result<element_type> type_for(std::string_view name, std::string_view role, std::string_view dtype) {
  auto const floating = floating_type(dtype);
  if (role != "mask") {
    if (floating) return *floating;
    return fault(error_code::bad_type, name,
                 fmt::format("dtype is {}, expected {}", printable(dtype, 20),
                             problem::listed(problem::ieee_rows_first(), "or", &problem::element_row::dtype)));
  }
  if (dtype == "BOOL" || dtype == problem::row_of(element_type::u8).dtype) return element_type::u8;
  auto const instead = std::string(name.substr(0, name.size() - role.size())) + "bias";
  return fault(error_code::bad_type, name,
               floating ? fmt::format("dtype is {}, but a mask is BOOL or U8 (non-zero = attend); if its values are "
                                      "added to the scores, name the tensor '{}'",
                                      printable(dtype, 20), printable(instead))
                        : fmt::format("dtype is {}, expected BOOL or U8 (non-zero = attend)", printable(dtype, 20)));
}

result<owned_tensor> tensor_of(std::string_view name, std::string_view role, safetensor const& from) {
  auto const type = type_for(name, role, from.dtype);
  if (!type) return type.why();
  if (from.shape.empty() || from.shape.size() > 4)
    return fault(error_code::bad_shape, name,
                 fmt::format("rank is {}, expected {}", from.shape.size(), role == "lse" ? "1, 2 or 3" : "2, 3 or 4"));
  owned_tensor tensor{type.value(), {}, {from.bytes.begin(), from.bytes.end()}};
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

/// An error of validation, with the argument named as in the file.
error renamed(error why, std::string_view prefix) {
  if (why.argument == "out") why.argument = "o";
  why.argument = printable(prefixed(prefix, why.argument));
  return why;
}

/// Why the outputs do not fit the problem, with the argument named as in the file; none where they fit.
std::optional<error> outputs_fault(problem_file_entry const& entry) {
  owned_outputs const& owned = entry.outputs;
  if (owned.empty()) return std::nullopt;
  return std::visit(
      [&]<class T>(problem::instance<T> const& instance) -> std::optional<error> {
        // Validation needs an o; where the file has none it gets this one, whose data it does not read.
        static T stand_in{};
        auto const compact = problem::rows_layout(instance.size(), instance.rank(), instance.size().dv);
        problem::erased_outputs outputs{.o = {&stand_in, problem::type_of<T>, compact}, .lse = {}, .weights = {}};
        if (owned.o) outputs.o = owned.o->erased();
        if (owned.lse) outputs.lse = owned.lse->erased();
        if (owned.weights) outputs.weights = owned.weights->erased();
        auto const validated = problem::make_outputs(instance, outputs);
        if (!validated) return renamed(validated.why(), entry.prefix);
        return std::nullopt;
      },
      entry.problem.instance());
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
    if (there.empty()) {  // names such as encoder.bias are common in other files
      for (auto const& [role, tensor] : tensors) recorded.ignored.push_back(printable(prefixed(prefix, role)));
      continue;
    }
    if (!missing.empty())
      return error{error_code::missing, missing.front(), fmt::format("is missing beside {}", quoted_list(there))};

    problem_draft draft;
    owned_outputs outputs;
    role_reader reader(prefix, tensors);
    reader.read("q", draft.q);
    reader.read("k", draft.k);
    reader.read("v", draft.v);
    reader.read("mask", draft.mask);
    reader.read("bias", draft.bias);
    reader.read("o", outputs.o);
    reader.read("lse", outputs.lse);
    reader.read("weights", outputs.weights);
    if (reader.why) return *std::move(reader.why);
    if (auto why = read_parameters(file.metadata, flags, prefix, draft, recorded.notes)) return *std::move(why);
    auto problem = owned_problem::make(std::move(draft));
    if (!problem) return renamed(std::move(problem).why(), prefix);
    recorded.problems.push_back({prefix, std::move(problem).value(), std::move(outputs)});
    if (auto why = outputs_fault(recorded.problems.back())) return *std::move(why);
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
    auto const at = std::ranges::find(inputs.problems, prefix, &problem_file_entry::prefix);
    bool const known = at != inputs.problems.end();
    for (auto const& [role, tensor] : tensors)
      if (!known || (role != "o" && role != "lse" && role != "weights"))
        inputs.ignored.push_back(printable(prefixed(prefix, role)));
    if (!known) continue;

    problem_file_entry& problem = *at;
    role_reader reader(prefix, tensors);
    auto const take = [&](std::string_view role, std::optional<owned_tensor>& to) {
      bool const had = to.has_value();
      if (reader.read(role, to) && had)
        inputs.notes.push_back(fmt::format("'{}' is taken from the second file", printable(problem.name_of(role))));
    };
    take("o", problem.outputs.o);
    take("lse", problem.outputs.lse);
    take("weights", problem.outputs.weights);
    if (reader.why) return *std::move(reader.why);
    if (auto why = outputs_fault(problem)) return *std::move(why);
  }
  return inputs;
}

}  // namespace attest::audit
