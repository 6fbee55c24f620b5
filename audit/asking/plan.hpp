// The cases of an audit, each made when it is asked: the fixed part, then numbered draws.
#pragma once

#include <vector>

#include "audit/asking/audit_plan.hpp"
#include "audit/asking/domain/kernel_domain.hpp"
#include "audit/asking/options.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The parts of an audit that the options leave out, for its report. Also names draws that they ask for and that cannot
/// be made.
std::vector<omission> left_out(audit_options const& options, audit_plan const& plan);

/// The cases of a plan and its first draws of attention, for a file. Requires  options without a shard
std::vector<audit_case> made_cases(audit_plan const& plan, shape_limits const& limits, std::int64_t draws);

/// A plan of cases that exist, without draws.
audit_plan plan_of(std::vector<audit_case> cases);

/// The plan that the options choose, in the order of the report; with options.part, the plan of this shard alone. With
/// a budget, and for a slow kernel, the fixed part is ordered so that an audit that ends early has asked a case of
/// every check. Every case is made inside the domain, except replayed ones, merges, and the calls of the domain that
/// are asked again.
problem::result<audit_plan> planned(audit_options const& options, kernel_domain const& of = {});

}  // namespace attest::audit
