// The gradients of a problem's inputs as tensors: their shapes and types, and where their elements lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The input whose gradient this is, or null if the problem has no such input. Requires  is_gradient(which)
owned_tensor const* input_of(problem_draft const& draft, output_kind which) noexcept;

/// The gradient of an input has the shape and the type of the input, without gaps. Its memory is all 0.
/// Returns nothing if the problem has no such input, or keeps its keys in the pages of a pool, which entries may share.
std::optional<owned_tensor> zero_gradient(owned_problem const& problem, output_kind which);

/// The place of elements in a compact gradient. Rows of dQ, dK and dV are [b, h, row]; of dBias [b, h, i], where a
/// broadcast axis has one row; of dSink [b, h, 0], with one element.
class gradient_places {
 public:
  gradient_places(owned_problem const& problem, output_kind which);

  /// The first element of this row.
  std::size_t row(std::int64_t b, std::int64_t h, std::int64_t i) const noexcept {
    std::int64_t const first = starts_ == nullptr ? b * stride_[0] + i * stride_[2] : (starts_[b] + i) * stride_[2];
    return static_cast<std::size_t>(first + h * stride_[1]);
  }
  /// [b, h, rows, columns], with size 1 on a broadcast axis. If entries are packed, b counts entries.
  std::array<std::int64_t, 4> const& shape() const noexcept { return shape_; }

 private:
  std::array<std::int64_t, 4> shape_{};
  std::array<std::int64_t, 3> stride_{};
  std::int32_t const* starts_ = nullptr;  ///< packed: where the rows of an entry begin
};

/// The number of elements of a compact gradient that belong to a query or a key of an entry.
std::size_t answered_elements(owned_problem const& problem, output_kind which, owned_tensor const& gradient);

/// Sets elements of dQ, dK or dV that belong to no query or key of an entry to 0, since they are no answer. Returns
/// what was found there, compared with `before` as clear_padding does.
padding_found clear_gradient_padding(owned_problem const& problem, output_kind which, owned_tensor& gradient,
                                     std::span<std::byte const> before = {});

/// The gradients among these outputs, of the problem in slots (in_slots of entry_forms.hpp).
owned_outputs gradients_in_slots(owned_problem const& problem, owned_outputs const& outputs);

}  // namespace attest::audit
