(* The theorem for O where parts are merged by LSE, for keys that are neither far nor flushed. *)
From Attest Require Export merged_sums.

Section Theorem_lse.
Context (m : model) (g : lse_model) (r : limits) (n a N : nat) (s : state) (Y ell mu exact E X : key -> R) (G_l G_O a_0 lambda GF Om : R).

Definition of_exact e := exp (exact (of e) - top s).
Definition T e := exp (z_merged m g Y ell mu (E (of e)) (X (of e)) n e) - 1.
Definition zeta (_ : entry) := 0.
Definition counted (_ : entry) := true.
Definition D := total (fun e => if counted e then pi (seen s) of_exact e / (1 + T e) else 0) (seen s).
Definition A y := A_T (seen s) of_exact T zeta D (sum_W s) y.
Definition average y := mean (seen s) of_exact y.

(* Section 3's gamma_{h_L + R + S - 1}, and gamma of the path of O with mu(k_F + 1) more, as powers of 1 + u. *)
Definition Gamma_L := grown_l m G_l lambda n a - 1.
Definition A' := average (fun e => Rabs (v e)) + A (fun e => Rabs (v e)).
Definition Phi := (grown_O m g G_O n a - 1) * A' + lost_O m g G_l a_0 lambda N n a.
Definition B := A v + ((1 + GF) * Phi + (Rabs (average v) + A v) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.

Record keys_known := {
  some_key : seen s <> [];
  scores_known : forall e, In e (seen s) -> Rabs (score (of e) - exact (of e)) <= E (of e);
  references_known : forall e, In e (seen s) -> Rabs (begun (of e) (path e)) <= Y (of e);
  arguments_known : forall e, In e (seen s) -> sizes (path e) <= X (of e);
  none_far : forall e, In e (seen s) -> reach m (X (of e)) (Y (of e)) <= Rmin (far m) (x0 m) }.

Lemma merged_weights : lse_known m g r Y ell mu -> merged m g r n a s -> keys_known ->
  weights_known (seen s) weight of_exact T zeta counted D (sum_W s).
Proof.
  intros K H R.
  assert (L : forall e, In e (seen s) -> 0 < weight e /\ 0 <= T e /\ of_exact e / (1 + T e) <= weight e <= of_exact e * (1 + T e)).
  { intros e I. destruct (lemma_4 m g r Y ell mu n a s e (exact (of e)) (E (of e)) (X (of e)) K H I) as (P & Z); try now apply R.
    unfold T. set (z := z_merged m g Y ell mu (E (of e)) (X (of e)) n e) in *. assert (0 <= z) by (eapply Rle_trans; [apply Rabs_pos|exact Z]).
    pose proof (exp_ineq1_le z). replace (1 + (exp z - 1)) with (exp z) by ring. split; [easy|]. split; [lra|].
    apply between in Z. unfold of_exact, Rdiv. rewrite <- exp_Ropp, <- !exp_plus, <- (exp_ln (weight e)) by easy. split; apply exp_grows; lra. }
  assert (Ep : forall e, 0 < of_exact e) by (intros; apply exp_pos).
  assert (Sp : 0 < sum_W s) by (apply total_positive; [apply (some_key R)|intros e I; apply (L e I)]).
  assert (Se : 0 < total of_exact (seen s)) by (apply total_positive; [apply (some_key R)|auto]).
  constructor; auto.
  - intros e I. left. apply (L e I).
  - intros e I. destruct (L e I) as (P & T0 & (A1 & A2)). specialize (Ep e). unfold zeta. rewrite Rplus_0_r. apply abs_below.
    assert (of_exact e * (1 - T e) <= of_exact e / (1 + T e)); [|lra]. unfold Rdiv. apply Rmult_le_compat_l; [lra|].
    apply Rmult_le_reg_r with (1 + T e); [lra|]. rewrite Rinv_l by lra. nra.
  - intros e I. split; [apply (L e I)|unfold zeta; lra].
  - intros e I _. apply (L e I).
  - unfold D. apply total_positive; [apply (some_key R)|]. intros e I. simpl. destruct (L e I) as (_ & T0 & _).
    apply Rdiv_lt_0_compat; [now apply Rdiv_lt_0_compat|lra].
  - unfold D. lra.
  - unfold sum_W in *. lra.
Qed.

Theorem theorem_O_lse o th beta : lse_known m g r Y ell mu -> sums_known m g r G_l G_O a_0 lambda -> keys_known -> merged m g r n a s ->
  (n <= N)%nat -> Gamma_L < 1 -> Rabs th <= GF -> Rabs beta <= Om -> o = O_hat s / l_hat s * (1 + th) + beta -> Rabs (o - average v) <= B.
Proof.
  intros K S R H HN G1 Ht Hb ->. pose proof (merged_weights K H R) as Wk. destruct (merged_sums m g r G_l G_O a_0 lambda N n a s S H HN) as (Dl & DO).
  pose proof (sum_positive _ _ _ _ _ _ _ _ Wk) as Sp. fold (sum_W s) in Sp.
  assert (GO1 : 0 <= grown_O m g G_O n a - 1).
  { pose proof (growth_O _ _ _ _ _ _ _ S). pose proof (sums_u _ _ _ _ _ _ _ S) as Hu. pose proof (sums_state _ _ _ _ _ _ _ S).
    pose proof (pow_at_least_1 (a + n) (u m) Hu) as P1. pose proof (pow_at_least_1 (k_F g) (u m) Hu).
    assert (F1 : 1 <= growth_F m g) by (unfold growth_F; nra). pose proof (pow_R1_Rle (growth_F m g) n F1). unfold grown_O.
    assert (1 * 1 <= (1 + u m) ^ (a + n) * growth_F m g ^ n) by (apply Rmult_le_compat; lra). nra. }
  apply (bound_of_weights (seen s) weight of_exact T zeta counted D (sum_W s) Wk v (l_hat s) (O_hat s) th beta Gamma_L Phi GF Om); auto.
  fold (sum_Wv s) (sum_W s). eapply Rle_trans; [exact DO|]. unfold Phi. rewrite Rmult_plus_distr_r. apply Rplus_le_compat_r.
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|].
  pose proof (lemma_7_T _ _ _ _ _ _ _ _ Wk (fun e => Rabs (v e))) as L7. unfold computed_mean in L7. apply between in L7.
  fold (sum_abs s) (sum_W s) in L7. fold (A (fun e => Rabs (v e))) in L7. fold (average (fun e => Rabs (v e))) in L7.
  apply Rmult_le_reg_r with (/ sum_W s); [now apply Rinv_0_lt_compat|]. rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra.
  unfold A'. fold (sum_abs s / sum_W s). unfold Rdiv in L7. lra.
Qed.
End Theorem_lse.
