// How presets relate to each other and to earlier versions: which of them is sharper than which, and how often the
// numbers of one have changed.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "audit/contract/contract.hpp"

namespace attest::audit {

/// The presets of the same family that say more than this claim, sharpest last. They hold for fewer kernels, so that
/// outputs inside their bounds are no promise, and outputs outside them no fault.
/// Ensures   an empty list if the claim's numbers are not the numbers of a preset
std::vector<contract const*> sharper_presets(contract const& claim);

/// A preset, and in a few words what it allows and narrower presets of its element type do not.
struct wider_preset {
  std::string_view name, allows;
  bool less_precise = false;  ///< it allows errors in most calls, not only in special ones
};

/// The presets that may hold for a kernel outside a claim, narrowest first: the presets after the claim, or all of its
/// element type if the claim is none of them.
std::vector<wider_preset> wider_presets(contract const& claim);

/// The wider preset of this name, or nullptr.
wider_preset const* find_wider_preset(std::string_view name);

/// How many sets of numbers have borne the name of this preset, including the current one: 1 if the preset is as it was
/// first released. Returns nothing if the claim is no preset: a contract file has no revision.
std::optional<int> revision_of(contract const& claim);

}  // namespace attest::audit
