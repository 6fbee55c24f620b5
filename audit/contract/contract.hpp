// What a kernel claims: the arithmetic that its errors are judged by.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"

namespace attest::audit {

/// What real kernels document otherwise than docs/semantics.md, which is the first value of each.
struct conventions {
  enum class masked { never_read, must_be_finite } masked_values = masked::never_read;
  enum class row { zero, nan, mean } empty_row = row::zero;  ///< O of a query that sees no key
  enum class log { minus_infinity, zero } empty_lse = log::minus_infinity;
  enum class invalid { propagate, unspecified } nan = invalid::propagate;  ///< outputs that a visible NaN or ∞ reaches

  friend bool operator==(conventions const&, conventions const&) noexcept = default;
};

/// A named claim. For a given problem it is a kernel model (docs/bound.md).
struct contract {
  std::string name;
  std::string sentence;                                     ///< what it allows, for `attest list contracts`
  problem::element_type type = problem::element_type::f32;  ///< of q, k, v, o in generated cases

  /// The model for one problem. `builtin` contracts are sharper: they follow the problem's sizes and options.
  problem::kernel_model model_for(problem::any_instance const& asked) const;

  problem::kernel_model fixed{};
  bool builtin = false;  ///< the model is builtin_model, not `fixed`
  conventions how{};

  friend bool operator==(contract const&, contract const&) noexcept = default;
};

/// The model that the built-in kernel declares for a problem. Defined by audit/builtin/, the only room that knows
/// fast/.
problem::kernel_model builtin_model(problem::any_instance const& asked);

/// f32 f32-any f32-blocked f64 f64-blocked bf16 f16 bf16-ieee f16-ieee, in this order.
std::vector<contract> const& contracts();

/// The preset of that name, or nullptr.
contract const* find_contract(std::string_view name);

/// The preset that judges a recorded problem where none is named: the one called like its element type.
contract const& default_contract(problem::element_type type);

}  // namespace attest::audit
