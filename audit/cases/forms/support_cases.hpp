// The cases that show which features a kernel answers, alone and in pairs.
#pragma once

#include <optional>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/forms/support.hpp"

namespace attest::audit {

/// One small case for the plain form, for each feature, and for each two features that do not exclude each other:
/// "support/plain", "support/causal", "support/causal+softcap"; and a mask and a bias in every shape in which they
/// broadcast: "support/mask-b11m", "support/bias-bhnm". In a domain, all at sizes of it; a feature that no call of it
/// has, or that every call has (grouped heads where hq = 4·hk), has no case.
std::vector<audit_case> support_cases(problem::element_type type, std::uint64_t seed, call_domain const& domain = {});

/// The case with these features alone, one or two, or the plain one; nothing if no call of the domain is that.
std::optional<audit_case> support_case(feature_set const& wanted, problem::element_type type, std::uint64_t seed,
                                       call_domain const& domain);

/// Notes that the kernel refused one of support_cases. One that shows more than two features is left out; features that
/// every call of the domain has do not count.
void note_refusal(support& answers, call_form const& refused, call_domain const& domain = {});

}  // namespace attest::audit
