(* The theorem for O where parts are merged by LSE: every key, far or flushed or neither, of every tree of merges. *)
From Attest Require Export lemma_4_far.

Section Theorem_lse.
Context (m : model) (g : lse_model) (r : limits) (n a N : nat) (s : state) (Y ell mu exact E X : key -> R).
Context (G_l G_O a_0 lambda GF Om far_share : R).

Definition of_exact e := exp (exact (of e) - top s).
Definition z e := z_merged m g Y ell mu (E (of e)) (X (of e)) n e.
Definition reaches e := reach m (X (of e)) (Y (of e)).
Definition T e := if Rlt_dec (x0 m) (reaches e) then Rmax 1 (exp (z e) - 1) else exp (z e) - 1.
Definition zeta e := if Rlt_dec (far m) (reaches e) then far_share * sum_W s else 0.
Definition counted e := if Rle_dec (reaches e) (Rmin (far m) (x0 m)) then if Rlt_dec (z e) 1 then true else false else false.
Definition D := total (fun e => if counted e then pi (seen s) of_exact e / (1 + T e) else 0) (seen s).
Definition A y := A_T (seen s) of_exact T zeta D (sum_W s) y.
Definition average y := mean (seen s) of_exact y.

(* Section 3's gamma_{h_L + R + S - 1}, and gamma of the path of O with mu(k_F + 1) more, as powers of 1 + u. *)
Definition Gamma_L := grown_l m G_l lambda n a - 1.
Definition A' := average (fun e => Rabs (v e)) + A (fun e => Rabs (v e)).
Definition Phi := (grown_O m g G_O n a - 1) * A' + lost_O m g G_l a_0 lambda N n a.
Definition B := A v + ((1 + GF) * Phi + (Rabs (average v) + A v) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.

Record keys_known := {
  scores_known : forall e, In e (seen s) -> Rabs (score (of e) - exact (of e)) <= E (of e);
  references_known : forall e, In e (seen s) -> Rabs (begun (of e) (path e)) <= Y (of e);
  arguments_known : forall e, In e (seen s) -> spans m e <= X (of e);
  some_counted : 0 < D }.

Lemma merged_weights excess : lse_known m g r Y ell mu -> far_known m r Y far_share excess -> merged m g r n a s -> keys_known ->
  weights_known (seen s) weight of_exact T zeta counted D (sum_W s).
Proof.
  intros K F H R. pose proof (some_share _ _ _ _ _ F) as S0.
  assert (Nn : forall e, In e (seen s) -> 0 <= weight e) by (intros e I; now apply (merged_not_negative m g r Y ell mu n a s)).
  assert (W0 : 0 <= far_share * sum_W s) by (apply Rmult_le_pos; [easy|now apply total_pos]).
  assert (L : forall e, In e (seen s) -> weight e = 0 /\ x0 m < reaches e \/
    near_or_far (weight e) (exact (of e) - top s) (z e) (far_share * sum_W s) (far m < reaches e)).
  { intros e I. apply (lemma_4_far m g r Y ell mu far_share excess n a s e); auto; now apply R. }
  assert (P : 0 < sum_W s).
  { destruct (total_of_counted (seen s) (fun e => if counted e then pi (seen s) of_exact e / (1 + T e) else 0) (some_counted R)) as (e & I & C).
    destruct (counted e) eqn:Ce; [|lra]. unfold counted in Ce. destruct (Rle_dec _ _) as [Re|]; [|easy].
    pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)).
    destruct (L e I) as [(_ & B)|(w & q & Ww & Pw & _ & _ & Z)]; [lra|]. rewrite Z in Ww by lra.
    pose proof (total_holds weight (seen s) e Nn I). unfold sum_W. lra. }
  apply (near_weights (seen s) weight (fun e => exact (of e) - top s) z reaches (far m) (x0 m) (far_share * sum_W s) (sum_W s)); auto; [apply R|unfold sum_W in *; lra|].
  intros e I. destruct (L e I); auto.
Qed.

Lemma grown_O_at_least_1 : sums_known m g r G_l G_O a_0 lambda -> 0 <= grown_O m g G_O n a - 1.
Proof.
  intros S. pose proof (growth_O _ _ _ _ _ _ _ S). pose proof (sums_u _ _ _ _ _ _ _ S) as Hu. pose proof (sums_state _ _ _ _ _ _ _ S).
  pose proof (pow_at_least_1 (a + n) (u m) Hu) as P1. pose proof (pow_at_least_1 (k_F g) (u m) Hu).
  assert (F1 : 1 <= growth_F m g) by (unfold growth_F; nra). pose proof (pow_R1_Rle (growth_F m g) n F1). unfold grown_O.
  assert (1 * 1 <= (1 + u m) ^ (a + n) * growth_F m g ^ n) by (apply Rmult_le_compat; lra). nra.
Qed.

Theorem theorem_O_lse excess o th beta : lse_known m g r Y ell mu -> far_known m r Y far_share excess -> sums_known m g r G_l G_O a_0 lambda ->
  keys_known -> merged m g r n a s ->
  (n <= N)%nat -> Gamma_L < 1 -> Rabs th <= GF -> Rabs beta <= Om -> o = O_hat s / l_hat s * (1 + th) + beta -> Rabs (o - average v) <= B.
Proof.
  intros K F S R H HN G1 Ht Hb ->. pose proof (merged_weights excess K F H R) as Wk. destruct (merged_sums m g r G_l G_O a_0 lambda N n a s S H HN) as (Dl & DO).
  pose proof (sum_positive _ _ _ _ _ _ _ _ Wk) as Sp. fold (sum_W s) in Sp. pose proof (grown_O_at_least_1 S) as GO1.
  apply (bound_of_weights (seen s) weight of_exact T zeta counted D (sum_W s) Wk v (l_hat s) (O_hat s) th beta Gamma_L Phi GF Om); auto.
  fold (sum_Wv s) (sum_W s). eapply Rle_trans; [exact DO|]. unfold Phi. rewrite Rmult_plus_distr_r. apply Rplus_le_compat_r.
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|]. exact (sum_of_sizes _ _ _ _ _ _ _ _ Wk v).
Qed.
End Theorem_lse.
