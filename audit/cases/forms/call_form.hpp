// The form of a call: its sizes, which features it has, what its values are. One table lists the features: drawn cases,
// production shapes, the support matrix of a kernel, the coverage of an audit and the search for the condition of a
// finding all read it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "audit/tensors/memory_form.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "problem/checks.hpp"

namespace attest::audit {

class random_stream;  // random.hpp

/// What a call may have beside a plain one (equal heads, dv = d, d a multiple of 8, n = m, nothing masked or added).
enum class feature : std::uint8_t {
  // Of the sizes: they follow from them.
  grouped,      ///< hq ≠ hk
  value_width,  ///< dv ≠ d
  odd_width,    ///< d or dv is no multiple of 8
  unequal,      ///< n ≠ m
  // The band. `length` is that of call_form.
  causal,            ///< bottom-right: query i sees keys up to m − n + i
  causal_top_left,   ///< query i sees keys up to i
  window,            ///< bottom-right: the last `length` keys up to the query's own
  symmetric_window,  ///< bottom-right: at most `length` keys before and after the query's own
  // The mask.
  mask,          ///< [b, 1, n, m], two keys of three
  head_mask,     ///< [b, hq, n, m], two keys of three
  shared_mask,   ///< [1, 1, n, m], two keys of three
  padding,       ///< [b, 1, 1, m], the first keys: from `length` to m of them, drawn for each batch entry
  left_padding,  ///< [b, 1, 1, m], the last keys likewise
  prefix,        ///< [1, 1, n, m], the first `length` keys, and those up to the query's own
  // The bias.
  bias,         ///< [1, hq, n, m], Gaussian
  batch_bias,   ///< [b, 1, n, m], Gaussian
  alibi,        ///< [1, hq, 1, m], slope of the head · position. Source: Press et al. 2021, arXiv:2108.12409
  hiding_bias,  ///< [1, 1, n, m], 0 or −∞
  /// [b, 1, n, m], 0 or one of −10⁶ … −10³⁰ (f16: −32752 or −65504): an additive mask as callers write it
  finite_mask,
  // The numbers.
  scale,    ///< not 1/√d
  softcap,  ///< 50, the cap of Gemma 2
  // Version 2 of the interface. A band is then aligned at the end of each entry.
  sink,        ///< a score of its own for each head, near the LSE of its keys
  dropout,     ///< a quarter of the weights, the others divided by 3/4
  block_mask,  ///< two blocks of three
  lengths,     ///< entries have from no row to all of their slots, of queries and of keys
  packed,      ///< entries of such lengths, one behind the other, on both sides
  paged,       ///< keys of such lengths in pages
};
inline constexpr std::size_t feature_count = static_cast<std::size_t>(feature::paged) + 1;
/// The first feature that needs version 2 of the C interface.
inline constexpr feature first_of_version_2 = feature::sink;

class feature_set {
 public:
  feature_set() = default;
  feature_set(std::initializer_list<feature> all) {
    for (feature const one : all) add(one);
  }
  bool has(feature one) const { return bits_[static_cast<std::size_t>(one)]; }
  void add(feature one) { bits_.set(static_cast<std::size_t>(one)); }
  void remove(feature one) { bits_.reset(static_cast<std::size_t>(one)); }
  std::size_t count() const { return bits_.count(); }
  bool empty() const { return bits_.none(); }
  /// Calls f(feature) for each, in the order of the table.
  template <class F>
  void each(F&& f) const {
    for (std::size_t at = 0; at < feature_count; ++at)
      if (bits_[at]) f(static_cast<feature>(at));
  }
  friend bool operator==(feature_set const&, feature_set const&) = default;
  friend feature_set operator|(feature_set a, feature_set const& b) { return a.bits_ |= b.bits_, a; }

 private:
  std::bitset<feature_count> bits_;
};

/// A call has at most one feature of each group but `sizes` and `numbers`.
enum class feature_group : std::uint8_t { sizes, band, mask, bias, numbers, entries };

struct feature_row {
  feature id;
  feature_group group;
  std::string_view name;  ///< in reports: "causal", "head-mask"
};
/// In the order of the enumerators.
std::span<feature_row const> feature_table() noexcept;
inline feature_row const& row_of(feature one) { return feature_table()[static_cast<std::size_t>(one)]; }

/// Can no call have both? They are of one group, or one packs rows over which the other has no shape.
bool exclude(feature one, feature other) noexcept;
/// Is there a problem with these features? Not where one packs rows over which another has no shape.
bool is_possible(feature_set const& options) noexcept;

/// What the values of Q, K and V are.
enum class value_form : std::uint8_t {
  gaussian,        ///< all Gaussian: scores of deviation 1
  digits,          ///< Q = 0: all visible keys have one weight. V holds the digits of some keys (value_forms.cpp)
  pointed,         ///< each query is twice the key that it points to, which so gets most of the weight where d ≥ 32
  edge_digits,     ///< digits at the first key, the last, the middle ones and those at powers of two
  nan_value,       ///< Gaussian, but V of the first key is NaN
  weightless_nan,  ///< likewise, and the score of that key is −∞
  far_block,       ///< the scores of the first half of the keys lie 24 below the others; V is 0 but there
};
std::string_view name_of(value_form form) noexcept;

/// Which of the axes b, hq and n a mask or a bias has; along the others it is the same.
using broadcast_axes = std::array<bool, 3>;
inline constexpr broadcast_axes all_axes[]{{true, true, true},   {true, true, false},  {true, false, true},
                                           {false, true, true},  {true, false, false}, {false, true, false},
                                           {false, false, true}, {false, false, false}};

/// The form of one call.
struct call_form {
  problem::sizes size{};
  feature_set options{};    ///< of the groups after `sizes`
  std::int64_t length = 0;  ///< what the band or the mask needs, 1 … m
  value_form values = value_form::gaussian;
  std::int32_t threads = 0;
  std::optional<double> scale{};  ///< with feature::scale; none: 0.8125/√d
  std::optional<double> cap{};    ///< with feature::softcap; none: 50
  /// With a feature of the group `band`: that of the band; none: as the feature says.
  std::optional<std::int64_t> diagonal{};
  /// With a feature of the group `mask` or `bias`: whether it has the axes b, hq and n; none: as the feature says.
  std::optional<broadcast_axes> mask_over{}, bias_over{};
  std::uint8_t mask_byte = 1;  ///< that of a visible key
  memory_form memory{};        ///< where the tensors lie
  friend bool operator==(call_form const&, call_form const&) = default;

  /// Those of the sizes, and the options.
  feature_set features() const;
  /// "b 2, heads 8/2, n 1, m 4096, d 128, dv 128; padding + softcap; 4 threads".
  std::string text() const;
};

/// The form nearest to that of a problem: its features follow from the shapes of mask and bias and from the parameters,
/// its values count as Gaussian. None where the problem has not rank 4. Of packed and paged problems the sizes are those
/// of the slots.
std::optional<call_form> form_of(problem_draft const& p);

/// The axes of the mask or bias that this feature of the group `mask` or `bias` adds, where a form does not say others.
broadcast_axes usual_axes(feature one) noexcept;

/// What the form says of the axes of its mask or bias. Requires  `group` is one of the two
inline std::optional<broadcast_axes>& axes_over(call_form& form, feature_group group) {
  return group == feature_group::mask ? form.mask_over : form.bias_over;
}
inline std::optional<broadcast_axes> const& axes_over(call_form const& form, feature_group group) {
  return group == feature_group::mask ? form.mask_over : form.bias_over;
}
/// The axes of the mask or bias that this feature adds to this form.
inline broadcast_axes axes_of(feature one, call_form const& form) {
  return axes_over(form, row_of(one).group).value_or(usual_axes(one));
}

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
