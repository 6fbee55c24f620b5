// The fixed part of an audit before --only, shards and budgets take from it.
#pragma once

#include "audit/asking/audit_plan.hpp"
#include "audit/asking/domain/kernel_domain.hpp"
#include "audit/asking/options.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// All cases of every check that --only names, without numbers.
problem::result<audit_plan> whole_plan(audit_options const& options, kernel_domain const& of);

}  // namespace attest::audit
