// Forms of calls inside the domain of a kernel.
#pragma once

#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/forms/call_form.hpp"

namespace attest::audit {

/// Can no call with this feature have one of the inputs? Packed rows have no shape of a mask, a bias or a block mask,
/// and packed keys no table.
bool excludes(needed_inputs const& needs, feature one) noexcept;

/// Is the call of this form in the domain?
bool takes(call_domain const& domain, call_form const& form);

/// Has the form a band that ends at the query and that the domain takes where n = m alone?
bool needs_square(call_domain const& domain, call_form const& form);

/// Moves the lengths to near ones in the domain.
void keep_lengths(call_domain const& domain, problem::sizes& s);

/// Moves a form to a near one in the domain: each size to the next member above it, or to the greatest if there is no
/// such member. Kv heads that it does not take become batch entries. A band becomes the nearest form that the domain
/// takes; a scale outside becomes its opposite or the default. Features that exclude a needed input go. If all its
/// calls have n = m, both forms of causal are one, which is called causal.
/// Requires  sizes that are valid, hq a multiple of hk; without heads of K and V, none of Q
/// Ensures   takes(domain, form) if the domain has a call at all; an unchanged form, except for that name, if the
///           domain takes it
void keep_to(call_domain const& domain, call_form& form);

}  // namespace attest::audit
