// The cases of production shapes: each row of the table, itself or cut to a limit.
#pragma once

#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/forms/production_shapes.hpp"

namespace attest::audit {

/// The form of a row, without threads.
/// Entries of a row that needs packed or paged tensors have lengths that are drawn.
call_form form_of(production_shape const& shape);

/// The case "production/NAME", in the type of the audit, cut to the limit where it must be; the name of a cut one says
/// so in `scaled`.
audit_case production_case(production_shape const& row, problem::element_type type, std::uint64_t seed,
                           shape_limits const& limits);

}  // namespace attest::audit
