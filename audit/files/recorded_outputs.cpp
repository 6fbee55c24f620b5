#include "audit/files/recorded_outputs.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/file_tensor.hpp"
#include "audit/files/merge_file.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/merge_form.hpp"

namespace attest::audit {
namespace {

using problem::error;

/// The answer of a merge as the judge reads it: o [b, hq, n, dv] becomes [b, hq·n, 1, dv], and lse [b, hq, n] becomes
/// [b, hq·n, 1]. The result has the type of the problem; every number of a narrower type converts to it exactly. An
/// output of another shape stays as it is.
owned_tensor answer_of_merge(owned_tensor found, std::string_view role, owned_problem const& merge) {
  auto expected = merged_rows(merge);
  if (role == "o") expected.push_back(merge.size().dv);
  auto const& shape = found.layout.shape;
  if (role == "weights" ||
      !std::equal(expected.begin(), expected.end(), shape.begin(), shape.begin() + found.layout.rank))
    return found;
  auto const& s = merge.size();
  found.layout =
      role == "o" ? problem::layout::compact({s.b, s.hq, 1, s.dv}) : problem::layout::compact({s.b, s.hq, 1});
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
    return compacted(with_swapped_axes(std::move(found)));
  return found;
}

/// Why `found` cannot be this output of the problem. Returns nothing if it can.
std::optional<error> output_fault(owned_problem const& problem, std::string_view role, owned_tensor const& found) {
  return std::visit(
      [&]<class T>(problem::instance<T> const& instance) -> std::optional<error> {
        // Validation needs an o. The other outputs are validated together with this one, whose data is not read.
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

}  // namespace

void read_output(std::string_view role, tensor_group const& from, problem_file_entry& entry) {
  auto const at = from.find(role);
  if (at == from.end()) return;
  output_kind const kind = role == "o" ? output_kind::o : role == "lse" ? output_kind::lse : output_kind::weights;
  std::optional<owned_tensor>& to = entry.outputs.of(kind);
  to.reset();
  std::erase_if(entry.unusable, [&](unusable_output const& earlier) { return earlier.role == role; });
  problem_draft const& draft = entry.problem.draft();
  if (role == "weights" && (draft.q_offsets || draft.k_offsets)) {
    entry.weights_over_packed_rows = true;
    return;
  }
  auto tensor = tensor_of(entry.name_of(role), role, *at->second);
  if (!tensor) {
    entry.unusable.push_back({std::string(role), tensor.why().reason});
    return;
  }
  if (entry.problem.draft().merge && role == "o")
    if (auto why = answer_fault(entry.name_of(role), entry.problem.type(), tensor.value().type)) {
      entry.unusable.push_back({std::string(role), std::move(why)->reason});
      return;
    }
  if (entry.problem.draft().merge && tensor.value().layout.rank > 0) {
    auto expected = merged_rows(entry.problem);
    if (role == "o") expected.push_back(entry.problem.size().dv);
    auto const& [rank, shape, stride] = tensor.value().layout;
    std::span const found(shape.data(), static_cast<std::size_t>(rank));
    if (role == "weights" || !std::ranges::equal(found, expected)) {
      entry.unusable.push_back(
          {std::string(role), role == "weights" ? "a merge has no weights"
                                                : fmt::format("shape is [{}], expected [{}]", fmt::join(found, ", "),
                                                              fmt::join(expected, ", "))});
      return;
    }
  }
  bool const has_order = role == "o" && !entry.problem.draft().merge && tensor.value().layout.rank == 4 &&
                         entry.problem.rank() == 4 && entry.order != axis_order::thd &&
                         !entry.problem.draft().q_offsets;
  tensor = in_order_of_call(std::move(tensor).value(), role, entry);
  auto const why = output_fault(entry.problem, role, tensor.value());
  if (!why) {
    to = std::move(tensor).value();
    if (entry.problem.draft().is_dense()) return;
    entry.outputs.padding[static_cast<std::size_t>(kind)] = clear_padding(entry.problem, *to);
    return;
  }
  unusable_output& found = entry.unusable.emplace_back(unusable_output{std::string(role), why->reason});
  if (!has_order) return;
  if (entry.order == axis_order::bnhd) found.says += ", both as [b, h, n, d]";
  owned_tensor other = with_swapped_axes(std::move(tensor).value());
  if (!output_fault(entry.problem, role, other)) found.in_other_order = compacted(std::move(other));
}

}  // namespace attest::audit
