// A case of a plan, which is made when it is asked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "audit/asking/domain/domain_call.hpp"
#include "audit/cases/case.hpp"
#include "audit/cases/domain/edges.hpp"
#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/forms/production_shapes.hpp"

namespace attest::audit {

/// A case that is made when it is asked.
struct planned_case {
  std::string check, name;
  std::int64_t number = 0;  ///< its number among all cases of the audit, from 1
  std::int64_t calls = 2;   ///< of the kernel; 2 where they are not known
  double products = 0;      ///< multiplications of these calls, b·hq·n·m·(d + dv) each; 0 where they are not known
  bool reported = true;     ///< false: it only shows what the kernel supports; another shard reports it
  std::function<audit_case(shape_limits const&)> make;

  std::string full_name() const { return check + "/" + name; }
};

/// A case that exists.
planned_case existing(audit_case&& made);
/// What a plan does with a case in a domain.
struct planned_fit {
  std::optional<planned_case> plan{};
  std::string why_not{};  ///< empty if `plan` is present
};

/// A case inside a domain. Its numbers are made when it is asked, except of a small case that may not fit for its
/// numbers. `then` changes the fitted case, and calls and sizes not at all.
planned_fit fitted_plan(
    audit_case&& made, call_domain const& domain, std::function<void(audit_case&)> const& then = [](audit_case&) {});
/// A call of the check "domain".
planned_case again_plan(domain_call const& call, problem::element_type type, std::uint64_t seed);
planned_case production_plan(production_shape const& row, problem::element_type type, std::uint64_t seed);
planned_case edge_plan(edge_form edge, problem::element_type type, std::uint64_t seed);
planned_case draw_plan(problem::element_type type, std::uint64_t seed, std::int64_t number);

planned_case gradient_production_plan(production_shape const& row, problem::element_type type, std::uint64_t seed);
planned_case gradient_draw_plan(problem::element_type type, std::uint64_t seed, std::int64_t number);

/// NUMBER of "backward/drawn-NUMBER", from its full name.
std::optional<std::int64_t> gradient_draw_named(std::string_view full_name);
/// NUMBER of a draw, at least 1.
std::optional<std::int64_t> draw_named(std::string_view name);
/// The call of a case with a name such as "domain/b1-hq1-hk1-n3-m5-d6-dv6".
std::optional<domain_call> call_of(std::string_view full_name);

}  // namespace attest::audit
