(* What follows from (2) of each key: O, the LSE, weights. Of which keys, and of which sums, is open here: those of a run, with masked
   keys or without, or those of a run and of a sink behind it. *)
From Attest Require Export theorem_entries corollary_w.

(* Two trees that have the entries for leaves, as those of a run. *)
Definition have_leaves es sl sO := Permutation (map leaf_l es) (leaves sl) /\ Permutation (map leaf_O es) (leaves sO) /\ all_summed sl /\ all_summed sO.
Lemma run_has_leaves m h p : run m h p -> have_leaves (entries p) (sum_l p) (sum_O p).
Proof. intros H. destruct (sums_are_entries m h p H) as (Pl & PO). exact (conj Pl (conj PO (run_summed m h p H))). Qed.

Section Results.
Context (m mO : model) (nearest_l nearest_O : bool) (rho : R) (es : list entry) (sl sO : sum) (l O : R).
Context (E T zeta : entry -> R) (counted : entry -> bool) (D Lambda Gamma_L Phi GF Om : R).

(* Gamma_L and Phi_c are any entry of section 3. *)
Record are_sums := {
  both_factors : 1 <= rho /\ rescales_below rho sl /\ rescales_below rho sO;
  both_few : few_on sl m /\ few_on sO mO;
  both_computed : computed_as m nearest_l sl l /\ computed_as mO nearest_O sO O;
  entry_l : an_entry m nearest_l rho es sl leaf_l (fun _ => 1) E T zeta D Lambda Gamma_L;
  entry_O : an_entry mO nearest_O rho es sO leaf_O v E T zeta D Lambda Phi;
  below_1 : Gamma_L < 1 }.

Context (sums : are_sums) (lf : have_leaves es sl sO) (known : weights_known es weight E T zeta counted D Lambda).

Lemma l_beside : Rabs (l - total weight es) <= Gamma_L * total weight es.
Proof.
  destruct (both_factors sums) as (Hr & Rl & _). destruct (both_few sums) as ((Fl & Ul & Wl) & _). destruct lf as (Pl & _ & Sl & _).
  destruct (both_computed sums) as (Cl & _).
  pose proof (lemma_6 m nearest_l rho es sl leaf_l (fun _ => 1) _ _ _ _ _ Lambda known Fl Ul Wl Hr Rl Pl (fun _ => eq_refl) Sl Gamma_L l (entry_l sums) Cl) as B.
  now rewrite (total_same (fun e => weight e * 1) weight) in B by (intros; ring).
Qed.
Lemma O_beside : Rabs (O - total (fun e => weight e * v e) es) <= Phi * total weight es.
Proof.
  destruct (both_factors sums) as (Hr & _ & RO). destruct (both_few sums) as (_ & (FO & UO & WO)). destruct lf as (_ & PO & _ & SO).
  destruct (both_computed sums) as (_ & CO).
  exact (lemma_6 mO nearest_O rho es sO leaf_O v _ _ _ _ _ Lambda known FO UO WO Hr RO PO (fun _ => eq_refl) SO Phi O (entry_O sums) CO).
Qed.

Theorem result_O o th beta : Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta ->
  let A := A_T es E T zeta D Lambda v in
  Rabs (o - mean es E v) <= A + ((1 + GF) * Phi + (Rabs (mean es E v) + A) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.
Proof.
  intros Ht Hb -> A. exact (bound_of_weights es weight E T zeta counted D Lambda known v l O th beta Gamma_L Phi GF Om l_beside O_beside (below_1 sums) Ht Hb).
Qed.

(* Corollary L, Lambda_T. The reference is M, and E_j = e^{s_j - M}. *)
Theorem result_L M (exact : entry -> R) : (forall e, E e = exp (exact e - M)) -> far_part es zeta Lambda <= / 2 ->
  Rabs (M + ln l - ln (total (fun e => exp (exact e)) es)) <= Lambda_T es E T zeta D Lambda + Gamma_L / (1 - Gamma_L).
Proof.
  intros HE Hf. pose proof (corollary_L es weight E T zeta counted D Lambda known l Gamma_L Hf l_beside (below_1 sums)) as C.
  assert (Z : ln (total (fun e => exp (exact e)) es) = M + ln (total E es)).
  { rewrite (total_same (fun e => exp (exact e)) (fun e => exp M * E e)).
    - rewrite total_times, ln_mult, ln_exp; [easy|apply exp_pos|exact (exact_sum_positive _ _ _ _ _ _ _ _ known)].
    - intros e _. rewrite HE, <- exp_plus. f_equal. ring. }
  rewrite Z. replace (M + ln l - (M + ln (total E es))) with (ln l - ln (total E es)) by ring. exact C.
Qed.

(* Corollary W, one pass: eta is 1, or that of Clause D. *)
Theorem result_W j others eta a th nu beta GW alpha : Permutation es (j :: others) -> weight j <= eta * total weight es ->
  Rabs th <= GW -> Rabs nu <= alpha * ((1 - Gamma_L) * Lambda) -> Rabs beta <= Om -> a = weight j / l * (1 + th) + nu / l + beta ->
  let pi_j := pi es E j in
  let A := Rmin (A_j es E T zeta D Lambda j others) (Rmin 1 (Rmax pi_j eta)) in
  Rabs (a - pi_j) <= A + (pi_j + A) * (Gamma_L + GW) / (1 - Gamma_L) + Om + alpha.
Proof.
  intros Pj He Ht Hn Hb Ea pi_j A.
  apply (corollary_W_one_pass es weight E T zeta counted D Lambda known j others Pj a l th nu beta A Gamma_L GW alpha Om); auto using l_beside, (below_1 sums).
  unfold A. apply Rmin_glb; [exact (weight_share es weight E T zeta counted D Lambda known j others Pj)|].
  exact (weight_share_clauses es weight E T zeta counted D Lambda known j others Pj eta He).
Qed.
End Results.
