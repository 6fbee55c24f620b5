// What outputs of cases say to the search for a cause.
#pragma once

#include <vector>

#include "audit/cause/cause_search.hpp"
#include "audit/files/case_file.hpp"

namespace attest::audit {

/// False of a problem that would cost more than it explains.
bool is_tried(owned_problem const& problem);

/// The answers of a case, except answers that the contract leaves open.
answered_case answers_of(audit_case const& of, case_outputs const& outputs, contract const& claim);

/// What recorded answers show by their bits: an O of float32 or float64 whose every element has the bits of a 16-bit
/// type.
seen_arithmetic bits_of(std::vector<recorded_case> const& cases);

}  // namespace attest::audit
