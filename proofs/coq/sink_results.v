(* Theorem T1 (b), with the sink among the keys: the theorem with every entry, Corollaries L and W, and Clause H, whose hull holds 0. *)
From Attest Require Export sink_theorem results clause_h.

Section Sink.
Context (m mO : model) (nearest_l nearest_O : bool) (rho l O : R) (h : history) (p : part) (e : entry).
Context (M t X_below omega_W Lambda Gamma_L Phi GF Om : R) (exact E X Y reach_of : key -> R).
Let all := entries p ++ [e].
Let sl := sum_l (with_sink p e).
Let sO := sum_O (with_sink p e).
Let of_exact := exact_weight (at_sink M exact).
Let T := T_sink m E X Y reach_of.
Let zeta := zeta_sink m omega_W reach_of.
Let D := D_sink m p M e exact E X Y reach_of.
Context (H : run m h p) (B : behind m t p e).

Lemma sink_summed s t0 : all_summed s -> leaves s <> [] -> t0 = in_l e \/ t0 = in_O e -> all_summed (machine.Add s t0).
Proof.
  intros (W & [->|(N & E0)]) Ns Ht; [easy|]. split; [destruct Ht as [->| ->]; simpl; repeat split; easy|right].
  split; [simpl; now destruct (leaves s)|]. destruct Ht as [->| ->]; simpl; rewrite !app_length; simpl; lia.
Qed.
Lemma sink_has_leaves : have_leaves all sl sO.
Proof.
  destruct (sums_are_entries m h p H) as (Pl & PO). destruct (run_summed m h p H) as (Sl & SO). destruct (sink_of m p t e B) as (_ & Z).
  assert (Ne : entries p <> []).
  { destruct B as (y & c & x & r & d & R & _). pose proof (references _ _ _ H) as C. rewrite R in C. destruct C as (_ & k & I & _).
    rewrite <- (entries_keys _ _ _ H) in I. now destruct (entries p). }
  assert (Some_leaf : forall f s, Permutation (map f (entries p)) (leaves s) -> leaves s <> []).
  { intros f s P N. rewrite N in P. apply Permutation_sym, Permutation_nil, map_eq_nil in P. easy. }
  unfold all, sl, sO. simpl. split; [|split; [|split]].
  - rewrite map_app. simpl. unfold leaf_l at 2. rewrite Z. now apply Permutation_app_tail.
  - rewrite map_app. simpl. unfold leaf_O at 2. rewrite Z. now apply Permutation_app_tail.
  - apply sink_summed; eauto.
  - apply sink_summed; eauto.
Qed.

(* Clause H asks nothing of the scores: 0 is a value of the row. *)
Theorem sink_H low high size_ R_max o th beta : hull_known m (with_sink p e) rho Lambda low high size_ R_max ->
  computed m sl l -> computed m sO O -> Gamma_L_all m (with_sink p e) rho Lambda R_max < 1 -> Rabs th <= GF -> Rabs beta <= Om ->
  o = O / l * (1 + th) + beta -> let H_c := H_c m (with_sink p e) rho Lambda GF Om size_ R_max in low - H_c <= o <= high + H_c.
Proof.
  intros K. destruct sink_has_leaves as (Pl & PO & _). pose proof (hull_sane _ _ _ _ _ _ _ _ K) as s.
  apply (hull_of_part m (with_sink p e) rho l O Lambda GF Om low high size_ R_max); auto.
  intros i I. simpl in I. apply in_app_iff in I as [I|[<-|[]]]; [now apply (weight_not_negative m h p)|].
  destruct B as (y & c & x & q & d & _ & _ & _ & (Q & _) & Hd & ->). pose proof (some_shared m s). apply between in Hd. simpl. apply Rmult_le_pos; lra.
Qed.
Lemma sink_in_hull : of e = sink t -> v e = 0.
Proof. intros E0. unfold v. now rewrite E0. Qed.

Context (row : sink_row m h p M t X_below omega_W Lambda e exact E X Y reach_of).
Context (sums : are_sums m mO nearest_l nearest_O rho all sl sO l O of_exact T zeta D Lambda Gamma_L Phi).
Let known := sink_row_weights m h p M t X_below omega_W Lambda e exact E X Y reach_of H B row.

Theorem sink_O o th beta : Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta ->
  let o_exact := mean all of_exact v in let A := A_T all of_exact T zeta D Lambda v in
  Rabs (o - o_exact) <= A + ((1 + GF) * Phi + (Rabs o_exact + A) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.
Proof. exact (result_O _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ GF Om sums sink_has_leaves known o th beta). Qed.

Theorem sink_L : far_part all zeta Lambda <= / 2 ->
  Rabs (M + ln l - ln (total (fun i => exp (exact (of i))) all)) <= Lambda_T all of_exact T zeta D Lambda + Gamma_L / (1 - Gamma_L).
Proof. exact (result_L _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ sums sink_has_leaves known M (fun i => exact (of i)) (fun _ => eq_refl)). Qed.

Theorem sink_W j others eta a th nu beta GW alpha : Permutation all (j :: others) -> weight j <= eta * total weight all ->
  Rabs th <= GW -> Rabs nu <= alpha * ((1 - Gamma_L) * Lambda) -> Rabs beta <= Om -> a = weight j / l * (1 + th) + nu / l + beta ->
  let pi_j := pi all of_exact j in let A := Rmin (A_j all of_exact T zeta D Lambda j others) (Rmin 1 (Rmax pi_j eta)) in
  Rabs (a - pi_j) <= A + (pi_j + A) * (Gamma_L + GW) / (1 - Gamma_L) + Om + alpha.
Proof. exact (result_W _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ Om sums sink_has_leaves known j others eta a th nu beta GW alpha). Qed.
End Sink.
