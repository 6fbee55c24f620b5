// What a condition is made of: the numbers of a form that it can be about, and clauses over them.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/cases/forms/call_form.hpp"

namespace attest::audit {

/// A number of a form.
enum class form_number : std::uint8_t {
  b,
  heads,
  group,
  n,
  m,
  d,
  dv,
  threads,
  kv_heads,
  left,       ///< how many keys before its own a query sees in a window; −1 without one
  cap,        ///< of the softcap; 0 without one
  mask_byte,  ///< of a visible key
  diagonal,   ///< of the band; 0 without one
};
inline constexpr std::size_t number_count = static_cast<std::size_t>(form_number::diagonal) + 1;
/// Those that every form has and that change one at a time.
inline constexpr std::array all_numbers{form_number::b, form_number::heads, form_number::group, form_number::n,
                                        form_number::m, form_number::d,     form_number::dv,    form_number::threads};

struct number_row {
  form_number id;
  char const* name;
  std::int64_t plain;            ///< its value in a small plain call
  std::int64_t lowest, highest;  ///< that are asked for
  /// Is it a number of the band, the mask, … that this feature adds?
  bool (*is_of)(feature_row const&) = [](feature_row const&) { return false; };
};
number_row const& row_of(form_number of) noexcept;

std::int64_t value_of(call_form const& form, form_number of) noexcept;
/// The form with that number changed: `heads` and `kv_heads` keep the group, `group` the number of kv heads. Nothing
/// where there is no such form.
std::optional<call_form> with(call_form form, form_number of, std::int64_t value);

/// n and m, d and dv, b and heads belong to each other.
std::optional<form_number> partner_of(form_number of) noexcept;

/// A set of integers: low ≤ x ≤ high, in a residue class, not a multiple, a power of two or none.
struct number_set {
  std::optional<std::int64_t> low, high;
  std::int64_t modulus = 0, residue = 0;  ///< x ≡ residue mod modulus, where modulus > 0
  std::int64_t not_multiple_of = 0;       ///< where it is > 0
  bool powers_of_two = false, no_powers_of_two = false;

  bool has(std::int64_t x) const noexcept;
  bool everything() const noexcept;
  bool interval() const noexcept;  ///< no residues, multiples or powers
  /// "n > 128", "m from 300 to 500", "d = 80", "m ≡ 41 mod 64", "m > 300 and m is not a multiple of 8".
  std::vector<std::string> text(std::string const& name) const;
};

enum class order : std::uint8_t { less, at_most, equal, unequal, at_least, greater };

/// What matters about where the tensors of a call lie.
enum class memory_trait : std::uint8_t {
  v_in_k,
  stride_0_batch,  ///< of K and V, of more than one batch entry
  stride_0_heads,
  stride_0,      ///< one of both
  overlap,       ///< of the rows of K and V
  heads_inside,  ///< the order [b, n, h, d]
  byte_offset,
  gaps,     ///< in the outputs
  o_apart,  ///< O has gaps or another order
  reach,    ///< an element of Q, K, V or O lies far from the first
};
/// The largest offset of an element of Q, K, V or O, in elements.
std::int64_t reach_of(call_form const& form);
/// The form without this trait.
call_form without(call_form form, memory_trait trait);

/// Which axes (b, hq, n) a mask or bias must have with more than one index, or must not have; none: either.
using axes_pattern = std::array<std::optional<bool>, 3>;

/// One condition on a form.
struct condition_clause {
  enum class kind : std::uint8_t {
    number,
    product,
    either,
    order,
    feature,
    group,  ///< any feature of the group of `option`
    among,  ///< any of several bands, `option` and others
    shape,  ///< the axes of the mask, or of the bias
    negative_scale,
    values,
    memory
  };
  kind is = kind::number;
  form_number of = form_number::b,
              other = form_number::b;  ///< `product`: of·other; `either`: one of both; `order`: of < other
  number_set set = {};
  audit::order compares = order::equal;
  std::int64_t apart = 0;  ///< of `order`: of < other + apart
  audit::feature option = feature::causal;
  value_form form_of_values = value_form::gaussian;
  bool absent = false;  ///< of `feature`: the form must not have it
  feature_set among{};  ///< the bands of `among`
  axes_pattern over = {};
  memory_trait trait = memory_trait::v_in_k;
  std::int64_t reach = 0;       ///< in elements, from which on it is wrong
  std::int64_t reach_unit = 1;  ///< the bytes of an element where the limit is one of bytes, else 1

  bool holds(call_form const& form) const noexcept;
  /// Whether it is about this number.
  bool about(form_number what) const noexcept;
  std::vector<std::string> text() const;
};

/// A clause on one number.
condition_clause clause_of(form_number of, number_set const& set);

/// The clauses in the order in which they are said.
std::vector<condition_clause> in_order(std::vector<condition_clause> all);

/// "wrong from n = 129 on", "wrong with 1 thread", "wrong where causal and grouped and m > 96".
std::string sentence_of(std::vector<condition_clause> const& all);
std::vector<std::string> texts_of(std::vector<condition_clause> const& all);

/// Are all of them true of a form? Values count as true: the form of a call does not tell its values.
std::function<bool(call_form const&)> predicate_of(std::vector<condition_clause> all);

}  // namespace attest::audit
