// The cases of an audit.
#pragma once

#include <vector>

#include "audit/cases/case.hpp"
#include "audit/session/options.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The cases that the options choose, in the order of the report; with options.part those of that shard alone. With a
/// budget they are ordered so that an audit that ends early has cases of every check.
problem::result<std::vector<audit_case>> chosen_cases(audit_options const& options);

}  // namespace attest::audit
