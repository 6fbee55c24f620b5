// Contracts: a kernel's claim about its arithmetic. The audit judges the kernel's errors by that claim.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/gradient_model.hpp"
#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"

namespace attest::audit {

/// Points in which kernels document a behaviour other than the one of docs/semantics.md. The first value of each is the
/// behaviour of docs/semantics.md.
struct conventions {
  enum class masked {
    never_read,
    must_be_finite,
    must_not_overflow  ///< finite, and so are the scores of hidden keys with room to spare
  } masked_values = masked::never_read;
  enum class row {
    zero,
    nan,
    mean,
    unmasked,               ///< O, weights and gradients as if every key were visible; the LSE, too, or empty_lse
    nan_unless_no_keys      ///< NaN if all keys are hidden, 0 if the entry has none (m_e = 0)
  } empty_row = row::zero;  ///< O of a query without a visible key
  enum class log {
    minus_infinity,
    zero,
    plus_infinity                     ///< in a merge also the LSE of a part that is not read, as −∞ is
  } empty_lse = log::minus_infinity;  ///< of a query without a visible key and without a sink
  enum class invalid {
    propagate,
    unspecified
  } nan = invalid::propagate;  ///< outputs that depend on a visible NaN or ∞
  enum class infinite_sink {
    nan,
    limit                           ///< O = 0, weights 0, LSE = +∞
  } sink_inf = infinite_sink::nan;  ///< a row with a visible key and a sink of +∞

  enum class log_of_sink { included, excluded } lse_sink = log_of_sink::included;  ///< does the LSE count the sink?

  enum class padding {
    any,
    kept,                         ///< the call does not write there; a recorded file cannot show it
    zero                          ///< O and weights are 0, the LSE 0 or −∞
  } padding_rows = padding::any;  ///< rows of the outputs that belong to no query: behind n_e or the last offset

  problem::log_base lse_base = problem::log_base::e;  ///< of the LSE, and in a merge of the LSE of its parts

  friend bool operator==(conventions const&, conventions const&) noexcept = default;
};

/// The conventions that differ from docs/semantics.md, as contract files write them: "empty_row: nan".
std::vector<std::string> relaxed(conventions const& how);

/// A named claim. For each problem it states a kernel model (docs/bound.md).
struct contract {
  std::string name;
  std::string sentence;                                     ///< what the contract allows, for `attest list contracts`
  problem::element_type type = problem::element_type::f32;  ///< the type of q, k, v and o in generated cases

  /// The model for one problem. The model of a `builtin` contract is sharper: it depends on the sizes and options. u_v
  /// is 0 if rounding changes no element of V, and the problem has no dO that may be rounded, too.
  /// Cost  if u_v counts in `fixed`, one pass over V
  problem::kernel_model model_for(problem::any_instance const& instance) const;

  problem::kernel_model fixed{};
  bool builtin = false;  ///< model_for returns builtin_model, not `fixed`
  audit::conventions conventions{};
  problem::gradient_model gradient{};  ///< how its backward pass rounds; not read if `builtin`

  /// The gradient model for one problem.
  problem::gradient_model gradient_for(problem::any_instance const& instance) const;

  friend bool operator==(contract const&, contract const&) noexcept = default;
};

/// The model that the built-in kernel declares for a problem. audit/builtin/ defines it, the only room that knows
/// fast/.
problem::kernel_model builtin_model(problem::any_instance const& instance);
problem::gradient_model builtin_gradient(problem::any_instance const& instance);

/// All presets. For each element type, the first has the name of the type, for an unknown kernel of any order. Then
/// follow wider and sharper ones, then presets named after a precision (f32-gradual, f16-scores, bf16-throughout,
/// f64-in-f32). Presets of merges are last.
std::vector<contract> const& contracts();

/// The preset of that name, or nullptr.
contract const* find_contract(std::string_view name);

/// The default for a recorded problem: the preset with the name of its element type.
contract const& default_contract(problem::element_type type);

/// Is a contract about merges of partial results, whose scores are given and so have no rounding?
bool is_of_merges(contract const& claim) noexcept;

/// The preset for a merge of parts of this type whose answer is of type `answer`, by a kernel that merges in this form.
/// Requires  answer is type, or type is f32 and answer of 16 bits
contract const& merge_contract(problem::element_type type, problem::element_type answer,
                               problem::split_merge form = problem::split_merge::raw);

}  // namespace attest::audit
