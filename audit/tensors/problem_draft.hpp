// A problem under construction: files, generators, slices and shrinking fill it in.
#pragma once

#include <optional>

#include "audit/tensors/merge_form.hpp"
#include "audit/tensors/owned_tensor.hpp"
#include "problem/operators.hpp"

namespace attest::audit {

/// Tensors with their memory, and the parameters as members of this object (draft.scale). A draft is not validated;
/// owned_problem::make validates it.
struct problem_draft : problem::parameters {
  owned_tensor q, k, v;
  std::optional<owned_tensor> mask{}, bias{};
  std::optional<owned_tensor> sink{}, q_lengths{}, k_lengths{}, q_offsets{}, k_offsets{}, block_table{}, block_mask{},
      keep{}, d_out{};
  /// O and LSE of the forward pass that a backward kernel is handed, of the shapes of problem::rows_layout. None: the
  /// kernel forms what it needs of them itself.
  std::optional<owned_tensor> handed_o{}, handed_lse{};
  problem::operator_row const* of = &problem::attention;  ///< the operator; the row outlives the draft
  std::optional<merge_form> merge{};                      ///< given exactly if the operator takes parts

  /// Points into *this: valid while it lives and does not change.
  problem::erased_arguments arguments() const {
    problem::erased_arguments arguments;
    static_cast<problem::parameters&>(arguments) = *this;
    if (merge) arguments.base = merge->base;
    arguments.q = q.erased(), arguments.k = k.erased(), arguments.v = v.erased();
    problem::visit_optional_tensors(
        [](auto const&, std::optional<owned_tensor> const& from, auto& to) {
          if (from) to = from->erased();
        },
        *this, arguments);
    return arguments;
  }

  /// Calls f(its row of problem::optional_tensor, tensor) for each optional tensor that is present.
  template <class F>
  void each_optional(F&& f) const {
    problem::visit_optional_tensors(
        [&](auto const& row, auto const& tensor) {
          if (tensor) f(row, *tensor);
        },
        *this);
  }

  /// Can version 1 of the C interface express it? It is attention, and has neither a later tensor nor a later
  /// parameter.
  bool is_of_version_1() const {
    bool version_1 = of->name == problem::attention.name;
    each_optional(
        [&](problem::optional_tensor const& row, owned_tensor const&) { version_1 = version_1 && row.version == 1; });
    problem::visit_parameters(*this, [&](auto const& parameter, auto const& value) {
      version_1 = version_1 && (!parameter.later || value == parameter.neutral);
    });
    return version_1;
  }

  /// V of an operator that takes none: a row for each row of K, without columns.
  void read_no_values() {
    v = {k.type, k.layout, {}};
    if (v.layout.rank > 0) v.layout.shape[static_cast<std::size_t>(v.layout.rank) - 1] = 0;
  }

  /// Has every batch entry slots of its own for its rows? No tensor is packed or paged; entries may have lengths.
  bool has_slots() const noexcept { return !q_offsets && !k_offsets && !block_table; }

  /// Are all rows of q, k and v rows of a batch entry that has its full size?
  bool is_dense() const noexcept { return !q_lengths && !k_lengths && has_slots(); }
};

}  // namespace attest::audit
