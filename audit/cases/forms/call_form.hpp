// The form of a call: its sizes, which features it has, what its values are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/cases/forms/feature.hpp"
#include "audit/cases/forms/value_forms.hpp"
#include "audit/cases/needed_inputs.hpp"
#include "audit/tensors/memory_form.hpp"

namespace attest::audit {

/// The form of one call.
struct call_form {
  problem::sizes size{};
  feature_set options{};    ///< of the groups after `sizes`
  std::int64_t length = 0;  ///< what the band or the mask needs, 1 … m
  value_form values = value_form::gaussian;
  std::int32_t threads = 0;
  std::optional<double> scale{};  ///< with feature::scale; none: 0.8125/√d
  std::optional<double> cap{};    ///< with feature::softcap; none: usual_cap
  /// The diagonal of the band, with a feature of the group `band`. Without a value, the feature decides.
  std::optional<std::int64_t> diagonal{};
  /// With a feature of the group `mask` or `bias`: whether it has the axes b, hq and n; none: as the feature says.
  std::optional<broadcast_axes> mask_over{}, bias_over{};
  std::uint8_t mask_byte = 1;  ///< the byte of a visible key
  memory_form memory{};        ///< where the tensors lie
  /// What the kernel needs in every call: `supply` gives it where the features bring none.
  needed_inputs supplied{};
  friend bool operator==(call_form const&, call_form const&) = default;

  /// Those of the sizes, and the options.
  feature_set features() const;
  /// "b 2, heads 8/2, n 1, m 4096, d 128, dv 128; padding + softcap; 4 threads".
  std::string text() const;
};

/// Has the form a feature of this group?
bool has_any(call_form const& form, feature_group group) noexcept;

/// Has the form no other feature than a band, a scale, and what follows from its sizes? A kernel answers such calls of
/// its domain.
bool is_bare(call_form const& form) noexcept;

/// The form nearest to a problem: its features follow from the shapes of mask and bias and from the parameters,
/// its values count as Gaussian. Returns nothing if the rank is not 4, and of a backward pass. The sizes of
/// packed and paged problems are the sizes of their slots.
std::optional<call_form> form_of(problem_draft const& p);

/// The band of a form: the neutral one if it has none.
problem::band band_of(call_form const& form) noexcept;

/// What the form says of the axes of its mask or bias. Requires  `group` is one of the two
inline std::optional<broadcast_axes>& axes_over(call_form& form, feature_group group) {
  return group == feature_group::mask ? form.mask_over : form.bias_over;
}
inline std::optional<broadcast_axes> const& axes_over(call_form const& form, feature_group group) {
  return group == feature_group::mask ? form.mask_over : form.bias_over;
}
/// Resets what the form says of this feature beside that it has it: its number; the diagonal of the band, the axes and
/// the byte of the mask, the axes of the bias.
void reset(call_form& form, feature one) noexcept;
/// The axes of the tensor over the keys that this feature adds to this form. Requires  row_of(one).axes
inline broadcast_axes axes_of(feature one, call_form const& form) {
  feature_row const& row = row_of(one);
  bool const may_differ = row.group == feature_group::mask || row.group == feature_group::bias;
  return may_differ ? axes_over(form, row.group).value_or(*row.axes) : *row.axes;
}
/// The shape of that tensor, [b or 1, hq or 1, n or 1, m].
std::array<std::int64_t, 4> shape_of(feature one, call_form const& form);

/// What one call costs.
struct call_cost {
  std::int64_t bytes = 0;     ///< Q, K, V, O, the mask, the bias and keep; of a paged problem at most
  std::int64_t products = 0;  ///< multiplications: b·hq·n·m·(d + dv + 16), 16 for the exponential; hidden pairs counted
};
call_cost cost_of(call_form const& form, problem::element_type type) noexcept;

/// The problem of this form. The same form, type and random numbers make the same problem.
/// Requires  sizes that are valid, hq a multiple of hk, mask_byte > 0; a memory form that the sizes allow
/// Cost      about 2 ns an element
problem_draft draft_of(call_form const& form, problem::element_type type, random_stream& random);

}  // namespace attest::audit
