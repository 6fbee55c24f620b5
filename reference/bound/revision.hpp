// Which text of docs/bound.md and docs/bound_backward.md the bounds are evaluated from. Reports carry it: verdicts of
// different revisions are verdicts about different bounds.
#pragma once

namespace attest::reference {

/// 1: the theorem of attest 0.1. 2: of attest 0.2. 3: of attest 0.3, where no stored score may overflow to +∞. 4: sinks
/// and dropout (T1, T3). 5: sinks that are a factor behind the keys (T2). 6: merges by a sigmoid (Lemma 8).
/// 7: combinations of fields. 8: sharper by fields of its own, and what Coq found in Clause D and Corollaries W and L.
/// 9: merges by LSE for any error of the reference; gradients that overflow or underflow where they are stored.
/// 10: gradients by weights of either kind; gradients that may flow through parts.
/// 11: what Coq found in N_j and U_t of gradients and in n_ω. 12: steps of matrix units (Lemma 9); sums of O in the
/// order of blocks. 13: the third entry of N_c and Γ_L holds what was lost below an operand. 14: V is rounded by
/// itself.
inline constexpr int theorem_revision = 14;

}  // namespace attest::reference
