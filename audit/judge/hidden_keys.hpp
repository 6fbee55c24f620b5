// What hidden keys may do to a kernel that does not hide them from its arithmetic.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Does a hidden key j of some query, by a bias of −∞ too, have max(1, |σ|)·Σ_t |q_t k_jt| + max(0, b_j) at or beyond
/// the limit of the kernel's scores (H0 of docs/bound.md: Θ, and s_limit where scores are stored in fewer bits)? Below
/// it, no partial sum, product or score of a hidden key overflows, so that adding −∞ or the most negative number hides
/// it.
/// Requires  no NaN and no infinity in q, k and the bias
/// Cost      d·(n + m) products a head and the bias, where no two rows are near the limit, else up to n·m·d
bool hidden_scores_may_overflow(owned_problem const& problem, contract const& claim);

/// Does the problem hold a NaN or an infinity in a query, a key or a value of an entry, or in the bias of a query and a
/// key? A bias of −∞ is none: it hides its key. What lies behind lengths, in gaps between rows and in pages without
/// keys is no part of the problem.
bool has_nonfinite(owned_problem const& problem);

/// Does the contract leave every output of the problem open, because numbers at hidden keys may reach it? Where no key
/// is hidden from any query of its entry, no number is at a hidden key. Where entries have lengths or share rows or
/// pages, the keys of one are hidden from the queries of another.
/// Cost      what has_nonfinite and hidden_scores_may_overflow cost, and n·m a head where a number is not finite
bool leaves_outputs_open(owned_problem const& problem, contract const& claim);

/// The merge with the parts hidden that the contract says nobody reads: under empty_lse +inf those with an LSE of +∞,
/// too. Nothing where that is the problem as it is, and where it is no merge.
std::optional<owned_problem> with_unread_parts_hidden(owned_problem const& problem, contract const& claim);

/// Does the memory of a tensor, gaps included, hold a NaN or an infinity, −∞ apart where that is `but_minus_infinity`?
bool has_nonfinite(owned_tensor const& t, bool but_minus_infinity = false);

}  // namespace attest::audit
