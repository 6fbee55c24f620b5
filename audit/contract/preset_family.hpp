// What the presets are to each other and to those of earlier versions: which of them is sharper than which, and how
// often the numbers of one have changed.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "audit/contract/contract.hpp"

namespace attest::audit {

/// The presets of the same family that say more than this claim, sharpest last. They hold for fewer kernels, so that
/// outputs inside their bounds are no promise, and outputs outside them no fault.
/// Ensures   none where the claim's numbers are not those of a preset
std::vector<contract const*> sharper_presets(contract const& claim);

/// A preset, and in a few words what it allows that narrower ones of its element type do not.
struct wider_preset {
  std::string_view name, allows;
  bool less_precise = false;  ///< what it allows shows in most calls, not in special ones
};

/// The presets that a kernel outside a claim may be inside, narrowest first: those after the claim, or all of its
/// element type where the claim is none of them.
std::vector<wider_preset> wider_presets(contract const& claim);

/// The one of this name, or nullptr.
wider_preset const* find_wider_preset(std::string_view name);

/// How many sets of numbers have borne the name of this preset, this one included: 1 for a preset that is as it was
/// when it was first released. None for a claim that is no preset: a contract file has no revision.
std::optional<int> revision_of(contract const& claim);

}  // namespace attest::audit
