// Cases of the check "backward" that are made from forms of calls: what a kernel supports, draws, production shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/forms/production_shapes.hpp"

namespace attest::audit {

/// One small case for the plain form and for each feature: "backward/support-plain", "backward/support-causal".
std::vector<audit_case> gradient_support_cases(problem::element_type type, std::uint64_t seed,
                                               call_domain const& domain);
/// The one with these features alone; nothing if no call of the domain is that, or its keys have no gradient.
std::optional<audit_case> gradient_support_case(feature_set const& wanted, problem::element_type type,
                                                std::uint64_t seed, call_domain const& domain);
bool is_gradient_support(std::string_view name);
/// Notes that the kernel refused one of gradient_support_cases, by its name.
void note_gradient_refusal(support& answers, std::string_view name);

/// The names of draws are "backward/drawn-NUMBER".
inline constexpr std::string_view drawn_gradients_prefix = "drawn-";

/// The case of draw `number` ≥ 1 of this seed. Of a call as drawn_call makes it, with limits.gradients: dO of many
/// sizes, with rows of 0, in strides of its own; in one call of four some of the gradients are not asked. Every second
/// draw is a sequence of small calls: others before the judged one, then that one again. One in eight may cost
/// limits.gradients.products, the others 2²⁴ products; rows and keys of large ones are sampled (sampled_gradients).
audit_case drawn_gradients(problem::element_type type, std::uint64_t seed, std::int64_t number,
                           shape_limits const& limits);

/// Is it the name of a draw, or of a production shape, whose call depends on the limits?
bool depends_on_limits(std::string_view name);

/// The production shapes whose gradients are asked: layers in training.
std::vector<production_shape const*> production_of_gradients();

/// The case "backward/production-NAME": the shape moved into limits.gradients.domain, with queries and keys halved
/// until one group costs no more than limits.judged_products·2⁶, then cut as production_case does. Rows and keys are
/// sampled.
audit_case production_gradients(production_shape const& row, problem::element_type type, std::uint64_t seed,
                                shape_limits const& limits);
/// false: even the smallest such call in the domain is too large.
bool fits_gradients(production_shape const& row, problem::element_type type, shape_limits const& limits);

}  // namespace attest::audit
