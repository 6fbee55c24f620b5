// What the presets are to each other and to those of earlier versions: which of them is sharper than which, and how
// often the numbers of one have changed.
#pragma once

#include <optional>
#include <vector>

#include "audit/contract/contract.hpp"

namespace attest::audit {

/// The presets of the same family that say more than this claim, sharpest last. They hold for fewer kernels, so that
/// outputs inside their bounds are no promise, and outputs outside them no fault.
/// Ensures   none where the claim's numbers are not those of a preset
std::vector<contract const*> sharper_presets(contract const& claim);

/// How many sets of numbers have borne the name of this preset, this one included: 1 for a preset that is as it was
/// when it was first released. None for a claim that is no preset: a contract file has no revision.
std::optional<int> revision_of(contract const& claim);

}  // namespace attest::audit
