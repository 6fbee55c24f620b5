// How hidden keys may change the answers of a kernel that computes with them.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Can the score of a hidden key j of some query overflow? True if max(1, |σ|)·Σ_t |q_t k_jt| + max(0, b_j) reaches the
/// limit of the kernel's scores. A bias of −∞ hides a key, too. The limit is in H0 of docs/bound.md: Θ, and s_limit if
/// scores are stored in fewer bits. Below it, no partial sum, product or score of a hidden key overflows; then adding
/// −∞ or the most negative number hides the key.
/// Requires  no NaN and no infinity in q, k and the bias
/// Cost      d·(n + m) products a head and the bias if no two rows are near the limit, else up to n·m·d
bool hidden_scores_may_overflow(owned_problem const& problem, contract const& claim);

/// In a backward pass, can the product of dO with v_j of a hidden key j overflow? A kernel that forms it multiplies it
/// by the weight 0. True if κ·Σ_c |dO_ic·v_jc| reaches Θ. A bias of −∞ hides a key, too.
/// Requires  no NaN and no infinity in dO and v
/// Cost      dv·(n + m) products a head if no two rows are near the limit, else up to n·m·dv
bool hidden_products_may_overflow(owned_problem const& problem, contract const& claim);

/// Does the problem hold a NaN or an infinity in a query, its dO, a key, a value, or the bias of a query and a key of
/// an entry? A bias of −∞ does not count: it hides its key. Memory behind lengths, in gaps between rows and in pages
/// without keys is no part of the problem.
bool has_nonfinite(owned_problem const& problem);

/// Does the contract leave every output of the problem open, because numbers at hidden keys may reach it? If no key is
/// hidden from any query of its entry, no number is at a hidden key. If entries have lengths or share rows or pages,
/// the keys of one entry are hidden from the queries of another.
/// Cost      the cost of has_nonfinite and hidden_scores_may_overflow, and n·m a head if a number is not finite
bool leaves_outputs_open(owned_problem const& problem, contract const& claim);

/// The merge with those parts masked that a kernel under this contract does not read: under empty_lse +inf, parts with
/// an LSE of +∞ as well. Returns nothing if the contract has another empty_lse, or if the problem is no merge.
std::optional<owned_problem> with_unread_parts_hidden(owned_problem const& problem, contract const& claim);

/// Does the memory of a tensor, gaps included, hold a NaN or an infinity? Under `but_minus_infinity`, −∞ does not
/// count.
bool has_nonfinite(owned_tensor const& t, bool but_minus_infinity = false);

}  // namespace attest::audit
