// The domain of a kernel: the sizes, bands and scales of the calls that it takes. An audit asks every question inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/cases/domain/size_set.hpp"
#include "audit/cases/needed_inputs.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "problem/checks.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// What the band of a call says.
enum class band_form : std::uint8_t {
  none,          ///< every query sees every key
  top_left,      ///< query i sees keys up to i
  bottom_right,  ///< query i sees keys up to m − n + i
  diagonal,      ///< query i sees keys up to i + diagonal, for any diagonal
  window,        ///< a bound on the left, or one above 0 on the right
  square,        ///< of a domain, not of a call: query i sees keys up to i, where n = m alone
};
inline constexpr std::size_t band_form_count = static_cast<std::size_t>(band_form::square) + 1;

/// The band of a problem of rank 4. With n = m, top-left and bottom-right are one form; it is called top-left.
band_form band_form_of(problem::parameters const& p, problem::sizes const& s) noexcept;

/// A product of sets, one for each axis of a call. Of optional tensors (mask, bias, sinks) it says only which of them
/// no call may lack; `support` (forms/support.hpp) says which of them a kernel answers.
struct call_domain {
  enum class value_widths : std::uint8_t {
    any,
    same,    ///< dv = d
    paired,  ///< dv = value_width[at] for d = d.listed[at]
  };
  enum class lengths : std::uint8_t {
    any,
    equal,            ///< n = m
    no_more_queries,  ///< times·n ≤ m
    no_more_keys,     ///< times·m ≤ n
  };
  enum class scales : std::uint8_t {
    any,
    positive,
    standard,  ///< 1/√d, which no call states
    stated,    ///< positive, and every call states it
  };

  size_set d{};
  value_widths dv = value_widths::any;
  std::vector<std::int64_t> value_width{};
  size_set n{}, m{};
  lengths queries = lengths::any;
  std::int64_t times = 1;                                           ///< of no_more_queries and no_more_keys
  size_set batch{}, kv_heads{}, group{};                            ///< group: hq/hk
  bool bands[band_form_count]{true, true, true, true, true, true};  ///< `square` is part of top-left and bottom-right
  scales scale = scales::any;
  needed_inputs needs{};   ///< which every call has
  outputs_rule outputs{};  ///< of calls of attention
  friend bool operator==(call_domain const&, call_domain const&) = default;

  bool is_everything() const { return *this == call_domain{}; }
  bool takes(band_form form) const { return bands[static_cast<std::size_t>(form)]; }
  bool takes(problem::sizes const& s) const;
  bool takes_lengths(std::int64_t of_queries, std::int64_t keys) const;
  /// n = m or, in decoding, n = 1 beside any number of keys.
  bool decodes() const { return queries == lengths::equal && n.one; }
  /// n = m in every call.
  bool is_square() const { return queries == lengths::equal && !n.one; }
  /// The fewest keys that so many queries may have, and the fewest queries of so many keys, by this rule alone.
  std::int64_t keys_for(std::int64_t of_queries) const {
    return queries == lengths::equal ? of_queries : queries == lengths::no_more_queries ? times * of_queries : 0;
  }
  std::int64_t queries_for(std::int64_t keys) const {
    return queries == lengths::equal ? keys : queries == lengths::no_more_keys ? times * keys : 0;
  }
  bool takes_band(problem::parameters const& p, problem::sizes const& s) const;
  bool takes_scale(problem::parameters const& p) const;
  /// Also the band, the scale and the optional tensors. Requires  rank 4. For packed or paged tensors n and m are the
  /// sizes of the slots.
  bool takes(problem_draft const& p, problem::sizes const& s) const;
  /// The widths (d, dv) in it with d ≥ `least_d` and dv ≥ `least_dv`, the smallest. Returns nothing if it has none.
  std::optional<std::pair<std::int64_t, std::int64_t>> widths(std::int64_t least_d, std::int64_t least_dv) const;

  /// "d=64,128 dv=d n%128 m=n group=1 causal=none,top-left scale>0"; empty for everything. "n%128,1": or one query;
  /// "n=1,m": as many queries as keys, or one.
  std::string text() const;
  /// Reads text(). Words in any order, separated by spaces; an axis that is not named takes everything. "n%128" has no
  /// 0; "n%128,0" has, and so has "n%128 n>=0".
  static problem::result<call_domain> of_text(std::string_view text);
};

}  // namespace attest::audit
