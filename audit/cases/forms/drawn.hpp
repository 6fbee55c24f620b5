// Drawn cases: every seed draws shapes, features, layouts and thread counts of its own, endlessly and numbered.
#pragma once

#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/forms/support.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {

/// The same of backward passes.
struct gradient_limits {
  std::int64_t products = std::int64_t{1} << 24;  ///< of one call, as call_cost has them
  support answers{};
  call_domain domain{};
};

/// What the cases of production and drawn shapes may cost, and what the kernel answers. An audit measures both before
/// it asks them.
struct shape_limits {
  call_cost call{.bytes = std::int64_t{1} << 28, .products = std::int64_t{1} << 26};  ///< of one call
  std::int64_t judged_products = std::int64_t{1} << 23;  ///< of the rows of one call that are judged
  support answers{};
  call_domain domain{};  ///< the calls that the kernel takes
  gradient_limits gradients{};
};

/// The most rows of a call whose judging costs no more than `products` multiplications, at least 4.
std::int64_t judged_rows(problem::sizes const& s, std::int64_t products) noexcept;

/// The form of draw `number`: log-uniform in n, m ∈ [0, 16384], d, dv ∈ [1, 576], b·hq ∈ [1, 512], one number of two
/// at the edge of a tile or of a power of two or a usual head size; up to three options, drawn from different groups;
/// a mask or bias with the axes of its feature or any others; threads of {0, 1, 2, 3, 4, 8, 16, 64}. In a domain, sizes
/// of it: any of a list; its first multiples, its greatest, log-uniform ones.
/// Ensures   takes(domain, result); cost_of(result) is within the limit, or the result is the smallest call; the kernel
///           answers its features, alone and two at a time
call_form drawn_form(random_stream& random, problem::element_type type, call_cost const& limit, support const& answers,
                     call_domain const& domain = {});

/// One call with the form of draw `number`, which may have features of version 2. Ensures  as drawn_form
audit_case drawn_call(random_stream& random, problem::element_type type, std::uint64_t seed, std::int64_t number,
                      call_cost const& limit, shape_limits const& limits);

/// The case of draw `number` ≥ 1 of this seed: "drawn/NUMBER". Every second one is a sequence of small calls: others
/// before the judged one, then that one again, whose bits must not change. Of the rest one in four may cost
/// limits.call, one in 64 ten times its products, the others 2²⁶ products. Ensures   the same case for the same
/// arguments; every call is in limits.domain
audit_case drawn_case(problem::element_type type, std::uint64_t seed, std::int64_t number, shape_limits const& limits);

}  // namespace attest::audit
