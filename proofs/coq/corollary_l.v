(* Corollary L (LSE), Lambda_T and Gamma_L: how far M + ln l^ lies from the exact LSE, before its own roundings. *)
From Attest Require Import lemma_7.

Section LSE.
Context {A : Type} (keys : list A) (W E T : A -> R) (counted : A -> bool) (D Lambda : R).
Context (known : weights_known keys W E T (fun _ => 0) counted D Lambda).

Definition Lambda_T := Rmax (ln (1 + total (fun j => pi keys E j * T j) keys)) (- ln D).

Theorem corollary_L_weights : Rabs (ln (total W keys) - ln (total E keys)) <= Lambda_T.
Proof.
  pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as S. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW.
  pose proof (D_positive _ _ _ _ _ _ _ _ known) as HD. pose proof (lemma_5b _ _ _ _ _ _ _ _ known) as B.
  assert (U0 : 0 <= total (fun j => pi keys E j * T j) keys).
  { apply total_pos. intros j I. apply Rmult_le_pos; [left; exact (pi_positive _ _ _ _ _ _ _ _ known j I)|].
    apply (spread_positive _ _ _ _ _ _ _ _ known j I). }
  assert (U : total W keys <= total E keys * (1 + total (fun j => pi keys E j * T j) keys)).
  { rewrite Rmult_plus_distr_l, Rmult_1_r, <- total_times, <- total_plus. apply total_below. intros j I.
    pose proof (near_exact _ _ _ _ _ _ _ _ known j I) as N. apply between in N. unfold pi.
    replace (total E keys * (E j / total E keys * T j)) with (E j * T j) by (field; lra). lra. }
  unfold Lambda_T. pose proof (Rmax_l (ln (1 + total (fun j => pi keys E j * T j) keys)) (- ln D)).
  pose proof (Rmax_r (ln (1 + total (fun j => pi keys E j * T j) keys)) (- ln D)).
  apply log_grows in B; [|now apply Rmult_lt_0_compat]. apply log_grows in U; [|easy].
  rewrite ln_mult in B, U by lra. apply abs_below. lra.
Qed.

(* The computed sum, within Gamma_L of the exact one (Lemma 6). *)
Theorem corollary_L l GL : Rabs (l - total W keys) <= GL * total W keys -> GL < 1 ->
  Rabs (ln l - ln (total E keys)) <= Lambda_T + GL / (1 - GL).
Proof.
  intros Hl HG. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as S. apply between in Hl.
  assert (G0 : 0 <= GL) by nra. assert (P : 0 < l) by nra. pose proof corollary_L_weights as C.
  assert (Q : forall x, 0 < x -> ln x <= x - 1).
  { intros x Hx. rewrite <- (exp_ln x Hx) at 2. pose proof (exp_ineq1_le (ln x)). lra. }
  assert (F : Rabs (ln l - ln (total W keys)) <= GL / (1 - GL)).
  { apply abs_below. split.
    - assert (L : ln ((1 - GL) * total W keys) <= ln l) by (apply log_grows; [apply Rmult_lt_0_compat; lra|lra]).
      rewrite ln_mult in L by lra. pose proof (Q (/ (1 - GL))) as I. rewrite ln_Rinv in I by lra.
      assert (0 < / (1 - GL)) by (apply Rinv_0_lt_compat; lra).
      replace (GL / (1 - GL)) with (/ (1 - GL) - 1) by (field; lra). lra.
    - assert (L : ln l <= ln ((1 + GL) * total W keys)) by (apply log_grows; lra).
      rewrite ln_mult in L by lra. pose proof (Q (1 + GL)). apply Rle_trans with GL; [lra|].
      apply Rmult_le_reg_r with (1 - GL); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  replace (ln l - ln (total E keys)) with ((ln l - ln (total W keys)) + (ln (total W keys) - ln (total E keys))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
End LSE.
