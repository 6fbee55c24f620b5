// What surrounds the calls of a case in a domain: chosen by its first call.
#pragma once

#include <string>
#include <string_view>

#include "audit/cases/case.hpp"
#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/domain/surround.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Sizes, hiding, scale and depth for a call of a check; an error says why the domain has no larger call. `name` draws
/// the added numbers. Requires  a call of rank 4 whose heads and queries are of the domain
/// Cost      b·hq·n·m·d multiplications if keys have to be hidden by their scores
problem::result<surroundings> surroundings_of(std::string_view check, reading reads, call_domain const& domain,
                                              owned_problem const& base, std::string const& name);

}  // namespace attest::audit
