// The features that a call may have, and the table of what each of them is in a form and in a problem. Everything that
// treats features one by one reads this table: drawn cases, production shapes, the support matrix, the coverage, the
// ignored field and the condition of a finding.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "audit/tensors/problem_draft.hpp"
#include "problem/checks.hpp"

namespace attest::audit {

struct call_form;     // call_form.hpp
class random_stream;  // random.hpp

inline constexpr double usual_cap = 50;  ///< the softcap of Gemma 2

/// What a call may have beside a plain one (equal heads, dv = d, d a multiple of 8, n = m, nothing masked or added).
enum class feature : std::uint8_t {
  // Of the sizes: they follow from them.
  grouped,      ///< hq ≠ hk
  value_width,  ///< dv ≠ d
  odd_width,    ///< d or dv is no multiple of 8
  unequal,      ///< n ≠ m
  // The band. `length` is a member of call_form.
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
  softcap,  ///< usual_cap
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
  friend feature_set operator&(feature_set a, feature_set const& b) { return a.bits_ &= b.bits_, a; }

 private:
  std::bitset<feature_count> bits_;
};

/// Which of the axes b, hq and n a mask or a bias has; along the others it is the same.
using broadcast_axes = std::array<bool, 3>;
inline constexpr broadcast_axes all_axes[]{{true, true, true},   {true, true, false},  {true, false, true},
                                           {false, true, true},  {true, false, false}, {false, true, false},
                                           {false, false, true}, {false, false, false}};

/// A call has at most one feature of each group but `sizes` and `numbers`.
enum class feature_group : std::uint8_t { sizes, band, mask, bias, numbers, entries };

/// When a feature is added to a problem. The values of Q, K and V depend on what was added before them; rows move last.
/// Features draw random numbers: another order would make other problems.
enum class stage : std::uint8_t { before_values, after_values, on_weights, on_rows };

struct feature_row;
/// Adds a feature to a problem of this form.
using feature_writer = void(feature_row const&, call_form const&, problem_draft&, random_stream&);

/// What a feature is. A feature of the group `sizes` follows from the sizes: its functions change nothing.
struct feature_row {
  feature id;
  feature_group group;
  std::string_view name;  ///< in reports: "causal", "head-mask"
  /// Of the tensor over the keys that it adds, where a form does not say others. Nothing if it adds no such tensor.
  std::optional<broadcast_axes> axes = {};
  std::optional<double> call_form::* number = nullptr;  ///< the number that a form may give with it
  /// Do these sizes have it? Every row of the group `sizes` has this function, and no other row.
  bool (*follows)(problem::sizes const&) = nullptr;
  /// Does a problem of these sizes have it? Every other row has this function. Requires  rank 4
  bool (*present)(feature_row const&, problem_draft const&, problem::sizes const&) = nullptr;
  stage when = stage::before_values;
  feature_writer* add = nullptr;
  /// Makes of the problem what a kernel sees that does not read the field. Returns false if there is no such field, or
  /// if no answer without it has the same shape.
  bool (*remove)(problem_draft&) = nullptr;
};
/// In the order of the enumerators.
std::span<feature_row const> feature_table() noexcept;
inline feature_row const& row_of(feature one) { return feature_table()[static_cast<std::size_t>(one)]; }

/// Can no call have both? They are of one group, or one packs rows over which the other has no shape.
bool exclude(feature one, feature other) noexcept;
/// Is there a problem with these features? Not where one packs rows over which another has no shape.
bool is_possible(feature_set const& options) noexcept;

/// The most that a problem of `paged` has: rows of a page, columns of the table and pages of the pool that no key
/// needs.
inline constexpr std::int64_t most_page_rows = 128, most_more_columns = 2, most_more_pages = 3;

}  // namespace attest::audit
