// The cases of production shapes: each row of the table, itself or cut to a limit.
#pragma once

#include <optional>
#include <string>

#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/forms/production_shapes.hpp"

namespace attest::audit {

/// The form of a row, without threads.
/// Entries of a row that needs packed or paged tensors have lengths that are drawn.
call_form form_of(production_shape const& shape);

/// A row as an audit asks it.
struct production_call {
  call_form form;   ///< without values
  std::string cut;  ///< scaled_shape::cut()
  bool fits = false;
};
/// The row in the type of the audit, moved into limits.domain and cut to limits.call. In a domain, features that the
/// kernel refuses are taken away from it.
production_call production_call_of(production_shape const& row, problem::element_type type, shape_limits const& limits);

/// Why this row is not asked in a domain: "it asks what an earlier shape asks", "the smallest call in the domain is too
/// large". Returns nothing if it is asked, as every row is without a domain.
std::optional<std::string> why_not_asked(production_shape const& row, problem::element_type type,
                                         shape_limits const& limits);

/// The case "production/NAME" of production_call_of; the name of a cut one says so in `scaled`.
audit_case production_case(production_shape const& row, problem::element_type type, std::uint64_t seed,
                           shape_limits const& limits);

}  // namespace attest::audit
