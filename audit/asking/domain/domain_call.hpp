// One call of the search for the domain of a kernel: it can be made again from its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/cases/case.hpp"
#include "audit/cases/domain/call_domain.hpp"

namespace attest::audit {

struct domain_call {
  /// The scale of the call. `stated`: 1/√d, as a number.
  enum class scaling : std::uint8_t { standard, stated, other, negative, zero };

  problem::sizes size{};
  band_form band = band_form::none;  ///< not `square`
  scaling scale = scaling::standard;
  bool backward = false;  ///< a backward pass
  needed_inputs needs{};
  asked_outputs asks{.lse = true, .weights = false};  ///< of a call of attention

  /// "b1-hq4-hk2-n3-m5-d6-dv5", and what differs from a plain call: "…-bottom-right-zero-scale", "backward-…",
  /// "…-with-k_lengths", "…-without-lse", "…-and-weights".
  std::string name() const;
  /// Returns nothing if no call has this name, or if its tensors would be large.
  static std::optional<domain_call> of_name(std::string_view name);
};

/// A small call of the domain. Requires  a domain that has one, and not only large ones
std::optional<domain_call> small_call_of(call_domain const& domain);

/// The case "domain/NAME" of a call: Gaussian keys, and queries that point to one of them each.
audit_case case_of(domain_call const& call, problem::element_type type, std::uint64_t seed);

}  // namespace attest::audit
