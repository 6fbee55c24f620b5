// Makes a case inside the domain of a kernel: the same question, in sizes, bands and scales that the kernel takes.
#pragma once

#include <optional>
#include <string>

#include "audit/cases/case.hpp"
#include "audit/cases/domain/call_domain.hpp"

namespace attest::audit {

/// A case inside a domain, or the reason why there is no such case.
struct fitted_case {
  std::optional<audit_case> made{};
  std::string why_not{};  ///< "no form of a band hides these keys"; empty if `made` is present
};

/// The case itself if the domain takes all its calls. Otherwise further columns, rows, keys, heads and batch entries
/// surround its tensors so that each call is in the domain and its purpose survives; docs/domain.md has the rules.
/// A further call that cannot be made is left out; why_not says why the first call cannot.
/// Ensures   every call of the result is in the domain; the same result for the same arguments
/// Cost      one pass over the tensors, and b·hq·n·m·d multiplications if keys have to be hidden by their scores
fitted_case fitted(audit_case const& asked, call_domain const& domain);

/// Do sizes tell which calls of a case fit? Not if another call must have the same bits.
bool fits_by_sizes(audit_case const& asked);

/// The calls, sizes and judged rows of fitted(asked, domain), sooner. What its tensors hold is not specified.
/// Requires  fits_by_sizes(asked)
/// Ensures   a case exactly where fitted() makes one
fitted_case fitted_sizes(audit_case const& asked, call_domain const& domain);

}  // namespace attest::audit
