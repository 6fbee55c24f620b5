#include "audit/files/recorded_outputs.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/file_tensor.hpp"
#include "audit/files/merge_file.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "audit/tensors/merge_form.hpp"

namespace attest::audit {
namespace {

using problem::error;

/// The shape of an answer of a merge in its file: o [b, hq, n, dv], lse [b, hq, n], or the last of these axes.
std::vector<std::int64_t> shape_of_answer(output_kind kind, owned_problem const& merge) {
  auto shape = merged_rows(merge);
  if (kind == output_kind::o) shape.push_back(merge.size().dv);
  return shape;
}

/// The answer of a merge as the judge reads it: o as [b, hq·n, 1, dv], and lse as [b, hq·n, 1]. The result has the type
/// of the problem; every number of a narrower type converts to it exactly. Requires the shape of an answer
owned_tensor answer_of_merge(owned_tensor found, output_kind kind, owned_problem const& merge) {
  auto const& s = merge.size();
  bool const is_o = kind == output_kind::o;
  found.layout = is_o ? problem::layout::compact({s.b, s.hq, 1, s.dv}) : problem::layout::compact({s.b, s.hq, 1});
  return is_o && found.type == merge.draft().merge->answer ? converted(found, merge.type()) : found;
}

/// Is it O, or the gradient of q, k or v? Their axes have the order of q, k and v.
constexpr bool has_rows_of_vectors(output_kind kind) noexcept {
  return kind == output_kind::o || kind == output_kind::dq || kind == output_kind::dk || kind == output_kind::dv;
}

/// An output in the order of the file, as the judge reads it: compact, of the shape of problem::rows_layout.
owned_tensor in_order_of_call(owned_tensor found, output_kind kind, problem_file_entry const& entry) {
  if (entry.problem.draft().merge) return answer_of_merge(std::move(found), kind, entry.problem);
  problem_draft const& draft = entry.problem.draft();
  bool const of_keys = kind == output_kind::dk || kind == output_kind::dv;
  bool const packed = (of_keys ? draft.k_offsets : draft.q_offsets).has_value(), is_o = has_rows_of_vectors(kind);
  if (entry.order == axis_order::thd && packed && is_o && found.layout.rank == 3)
    return compacted(from_thd(std::move(found)));
  if (entry.order == axis_order::thd && packed && kind == output_kind::lse && found.layout.rank == 2) {
    found.layout = problem::layout::compact({1, found.layout.shape[0], found.layout.shape[1]});
    return found;
  }
  bool const inside_out = entry.order == axis_order::bnhd || entry.order == axis_order::nbhd;
  if (inside_out && !packed && is_o && found.layout.rank == entry.problem.rank() && found.layout.rank >= 3)
    return compacted(from_order(entry.order, std::move(found)));
  return found;
}

/// Why `found` cannot be the gradient of that input. Returns nothing if it can.
std::optional<error> gradient_fault(owned_problem const& problem, output_kind kind, owned_tensor const& found) {
  char const *const name = name_of(kind), *const of = name + 1;
  if (!input_of(problem.draft(), kind))
    return error{problem::error_code::missing, name, fmt::format("there is no {} whose gradient it could be", of)};
  auto const expected = zero_gradient(problem, kind);
  if (!expected)
    return error{problem::error_code::unsupported, name,
                 fmt::format("{} is a pool of pages, which has no gradient here", of)};
  if (found.type != expected->type)
    return error{problem::error_code::bad_type, name,
                 fmt::format("dtype is {}, and {} has {}", problem::row_of(found.type).dtype, of,
                             problem::row_of(expected->type).dtype)};
  if (found.layout.rank != expected->layout.rank || found.layout.shape != expected->layout.shape)
    return error{problem::error_code::bad_shape, name,
                 fmt::format("shape is {}, and {} has {}", problem::checks::text(found.layout), of,
                             problem::checks::text(expected->layout))};
  return std::nullopt;
}

/// Why `found` cannot be this output of the problem. Returns nothing if it can.
std::optional<error> output_fault(owned_problem const& problem, output_kind kind, owned_tensor const& found) {
  if (problem::is_gradient(kind)) return gradient_fault(problem, kind, found);
  return std::visit(
      [&]<class T>(problem::instance<T> const& instance) -> std::optional<error> {
        // Validation needs an o. The other outputs are validated together with this one, whose data is not read.
        static T stand_in{};
        auto const compact = problem::rows_layout(instance, instance.size().dv);
        problem::erased_outputs outputs{.o = {&stand_in, problem::type_of<T>, compact}, .lse = {}, .weights = {}};
        if (kind == output_kind::o) outputs.o = found.erased();
        else (kind == output_kind::lse ? outputs.lse : outputs.weights) = found.erased();
        auto const validated = problem::make_outputs(instance, outputs);
        if (!validated) return validated.why();
        return std::nullopt;
      },
      problem.instance());
}

/// What to store instead of an output of a wrong type or shape that other programs store: "; …", or nothing.
std::string remedy_of(output_kind kind, owned_problem const& problem, owned_tensor const& found) {
  if (kind == output_kind::o && found.type != problem.type()) {
    bool const wider = problem::size_of(found.type) > problem::size_of(problem.type());
    auto const here = problem::row_of(problem.type()).dtype, there = problem::row_of(found.type).dtype;
    if (wider) return fmt::format("; o has the type of its inputs: store it in {}", here);
    return fmt::format(
        "; o has the type of its inputs: store q, k and v in {0} if the kernel read them so, or o before it was "
        "rounded to {0}",
        there);
  }
  if (kind != output_kind::lse || problem.draft().merge || found.layout.rank < 1) return "";
  auto const expected = std::visit([](auto const& p) { return problem::rows_layout(p); }, problem.instance());
  auto const last = static_cast<std::size_t>(found.layout.rank) - 1;
  auto shape = found.layout.shape;
  bool const padded = shape[last] > expected.shape[last] && shape[last] % 32 == 0;
  shape[last] = expected.shape[last];
  return padded && found.layout.rank == expected.rank && shape == expected.shape
             ? fmt::format("; it is padded to a multiple of 32: store lse[..., :{}]", expected.shape[last])
             : "";
}

/// Reads one output of a problem, if the file has it.
void read_output(output_kind kind, tensor_group const& from, problem_file_entry& entry) {
  std::string const role = name_of(kind);
  auto const at = from.find(role);
  if (at == from.end()) return;
  std::optional<owned_tensor>& to = entry.outputs.of(kind);
  to.reset();
  std::erase_if(entry.unusable, [&](unusable_output const& earlier) { return earlier.role == role; });
  problem_draft const& draft = entry.problem.draft();
  if (kind == output_kind::weights && (draft.q_offsets || draft.k_offsets)) {
    entry.weights_over_packed_rows = true;
    return;
  }
  auto const unusable = [&](std::string why) { entry.unusable.push_back({role, std::move(why)}); };
  auto tensor = tensor_of(entry.name_of(role), role, *at->second);
  if (!tensor) return unusable(tensor.why().reason);
  if (draft.merge && kind == output_kind::o)
    if (auto why = answer_fault(entry.name_of(role), entry.problem.type(), tensor.value().type))
      return unusable(std::move(why)->reason);
  if (problem::is_gradient(kind) && draft.of == &problem::attention)
    return unusable("is a gradient, and the file has no do, the gradient of o");
  if (!draft.of->does_give(kind) && !draft.of->is_handed(kind))
    return unusable(fmt::format("{} has no {}", draft.of->one, role));
  if (draft.merge) {
    auto const& [rank, shape, stride] = tensor.value().layout;
    std::span const found(shape.data(), static_cast<std::size_t>(rank));
    if (auto const expected = shape_of_answer(kind, entry.problem); !std::ranges::equal(found, expected))
      return unusable(fmt::format("shape is [{}], expected [{}]", fmt::join(found, ", "), fmt::join(expected, ", ")));
  }
  int const rank = tensor.value().layout.rank;
  bool const has_order = has_rows_of_vectors(kind) && !draft.merge && rank >= 3 && entry.problem.rank() == rank &&
                         (entry.order == axis_order::bhnd || entry.order == axis_order::bnhd) && !draft.q_offsets;
  tensor = in_order_of_call(std::move(tensor).value(), kind, entry);
  auto const why = output_fault(entry.problem, kind, tensor.value());
  if (!why) {
    to = std::move(tensor).value();
    if (!draft.is_dense())
      entry.outputs.padding[static_cast<std::size_t>(kind)] = problem::is_gradient(kind)
                                                                  ? clear_gradient_padding(entry.problem, kind, *to)
                                                                  : clear_padding(entry.problem, *to);
    return;
  }
  unusable(why->reason + remedy_of(kind, entry.problem, tensor.value()));
  if (!has_order) return;
  unusable_output& found = entry.unusable.back();
  if (entry.order == axis_order::bnhd) found.says += ", both as [b, h, n, d]";
  owned_tensor other = with_swapped_axes(std::move(tensor).value());
  if (!output_fault(entry.problem, kind, other)) found.in_other_order = compacted(std::move(other));
}

}  // namespace

void read_outputs(tensor_group const& from, problem_file_entry& entry) {
  for (output_kind const kind : output_kinds)
    if (!entry.problem.draft().of->does_take(name_of(kind))) read_output(kind, from, entry);
}

}  // namespace attest::audit
