(* Theorems T2 and T3: a sink or dropout as a factor behind the keys. *)
From Attest Require Export lemma_3.

(* The weighted mean of 1 and e^d is at least e^{pi d}. *)
Lemma mean_of_exp p d : 0 <= p <= 1 -> exp (p * d) <= 1 + p * (exp d - 1).
Proof.
  intros Hp. pose proof (exp_ineq1_le (d - p * d)) as A. pose proof (exp_ineq1_le (- (p * d))) as B. pose proof (exp_pos (p * d)) as Y.
  assert (EA : exp d = exp (p * d) * exp (d - p * d)) by (rewrite <- exp_plus; f_equal; ring).
  assert (EB : 1 = exp (p * d) * exp (- (p * d))) by (rewrite <- exp_plus, Rplus_opp_r; symmetry; apply exp_0).
  assert (LA : exp (p * d) * (1 + (d - p * d)) <= exp d) by (rewrite EA; apply Rmult_le_compat_l; lra).
  assert (LB : exp (p * d) * (1 - p * d) <= 1) by (rewrite EB at 2; apply Rmult_le_compat_l; lra).
  assert (p * (exp (p * d) * (1 + (d - p * d))) <= p * exp d) by (apply Rmult_le_compat_l; lra).
  assert ((1 - p) * (exp (p * d) * (1 - p * d)) <= (1 - p) * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* M(delta): what a factor e^{d} on one term of a sum does to the logarithm of the sum; pi is the term's share. *)
Definition moved p delta := Rmin delta (p * (exp delta - 1)).
Theorem moved_sum p d delta : 0 <= p <= 1 -> Rabs d <= delta ->
  0 < 1 + p * (exp d - 1) /\ Rabs (ln (1 + p * (exp d - 1))) <= moved p delta.
Proof.
  intros Hp Hd. apply between in Hd. pose proof (mean_of_exp p d Hp) as Low. pose proof (exp_pos (p * d)) as P.
  pose proof (exp_ineq1_le delta) as E1. split; [lra|]. apply log_grows in Low as Ll; [|easy]. rewrite ln_exp in Ll.
  assert (D0 : 0 <= delta) by lra. assert (Pd : p * delta <= p * (exp delta - 1)) by (apply Rmult_le_compat_l; lra).
  assert (p * delta <= 1 * delta) by (apply Rmult_le_compat_r; lra).
  assert (Up : ln (1 + p * (exp d - 1)) <= Rmax 0 d /\ ln (1 + p * (exp d - 1)) <= p * (exp delta - 1)).
  { split.
    - unfold Rmax. destruct (Rle_dec 0 d).
      + rewrite <- (ln_exp d) at 2. apply log_grows; [lra|]. pose proof (exp_ineq1_le d).
        assert (p * (exp d - 1) <= 1 * (exp d - 1)) by (apply Rmult_le_compat_r; lra). lra.
      + rewrite <- ln_1. apply log_grows; [lra|]. assert (exp d <= 1) by (rewrite <- exp_0; apply exp_grows; lra).
        assert (p * (exp d - 1) <= p * 0) by (apply Rmult_le_compat_l; lra). lra.
    - assert (X : 0 < 1 + p * (exp d - 1)) by lra. rewrite <- (exp_ln _ X) at 1. pose proof (exp_ineq1_le (ln (1 + p * (exp d - 1)))) as Q.
      rewrite exp_ln in Q by easy. rewrite ln_exp. assert (exp d <= exp delta) by (apply exp_grows; lra).
      assert (p * (exp d - 1) <= p * (exp delta - 1)) by (apply Rmult_le_compat_l; lra). lra. }
  destruct Up as (U1 & U2). assert (LP : - (p * delta) <= p * d).
  { assert (p * - delta <= p * d) by (apply Rmult_le_compat_l; lra). lra. }
  unfold moved. apply Rmin_glb; apply abs_below; split; try lra. revert U1. unfold Rmax. destruct (Rle_dec 0 d); lra.
Qed.

(* The first form: f^ = 1/(1 + e^{t - L}) with an error of the exponential's argument and of exp. *)
Theorem first_form y d delta f f_hat : 0 <= y -> Rabs d <= delta -> f = / (1 + y) -> f_hat = / (1 + y * exp d) ->
  Rabs (ln f_hat - ln f) <= moved (1 - f) delta.
Proof.
  intros Hy Hd -> ->. pose proof (exp_pos d). assert (0 <= y * exp d) by (apply Rmult_le_pos; lra).
  assert (Pf : 0 <= 1 - / (1 + y) <= 1).
  { assert (0 < / (1 + y)) by (apply Rinv_0_lt_compat; lra). assert (/ (1 + y) <= / 1) by (apply Rinv_le_contravar; lra). lra. }
  destruct (moved_sum (1 - / (1 + y)) d delta Pf Hd) as (P & M). rewrite !ln_Rinv by lra.
  replace (1 + (1 - / (1 + y)) * (exp d - 1)) with ((1 + y * exp d) * / (1 + y)) in M by (field; lra).
  rewrite ln_mult, ln_Rinv in M by (try apply Rinv_0_lt_compat; lra). rewrite <- Rabs_Ropp.
  replace (- (- ln (1 + y * exp d) - - ln (1 + y))) with (ln (1 + y * exp d) + - ln (1 + y)) by ring. exact M.
Qed.

(* The statement of T2: o^ = o^_K f^, where the factor is off by Phi, and by nu where exp is cut or underflows. *)
Theorem theorem_T2 oK oK_hat f f_hat phi lost o B_K Phi nu Om : 0 <= f -> Rabs (oK_hat - oK) <= B_K -> Rabs phi <= Phi -> Rabs lost <= nu ->
  f_hat = f * (1 + phi) + lost -> Rabs (o - oK_hat * f_hat) <= Om ->
  Rabs (o - f * oK) <= f * (1 + Phi) * B_K + f * Phi * Rabs oK + nu * (Rabs oK + B_K) + Om.
Proof.
  intros Hf HK Hp Hl -> Ho.
  replace (o - f * oK) with ((o - oK_hat * (f * (1 + phi) + lost)) + (oK_hat - oK) * (f * (1 + phi) + lost) + oK * (f * phi + lost)) by ring.
  assert (F : Rabs (f * (1 + phi) + lost) <= f * (1 + Phi) + nu).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq f) by easy.
    assert (Rabs (1 + phi) <= 1 + Phi) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    assert (f * Rabs (1 + phi) <= f * (1 + Phi)) by now apply Rmult_le_compat_l. lra. }
  assert (G : Rabs (f * phi + lost) <= f * Phi + nu).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq f) by easy.
    assert (f * Rabs phi <= f * Phi) by now apply Rmult_le_compat_l. lra. }
  assert (A : Rabs ((oK_hat - oK) * (f * (1 + phi) + lost)) <= B_K * (f * (1 + Phi) + nu)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  assert (C : Rabs (oK * (f * phi + lost)) <= Rabs oK * (f * Phi + nu)) by (rewrite Rabs_mult; apply Rmult_le_compat_l; auto using Rabs_pos).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.

(* T3: a p that is rounded first, to p(1 + d), in kappa = 1/(1 - p): gamma_{kappa - 1}(u_rate). *)
Theorem theorem_T3_rate p d u_rate kappa_ : 0 <= p < 1 -> Rabs d <= u_rate -> kappa_ = / (1 - p) -> (kappa_ - 1) * u_rate < 1 ->
  Rabs (/ (1 - p * (1 + d)) / kappa_ - 1) <= (kappa_ - 1) * u_rate / (1 - (kappa_ - 1) * u_rate).
Proof.
  intros Hp Hd Hk Hx. assert (K : kappa_ - 1 = p * kappa_) by (rewrite Hk; field; lra).
  assert (K0 : 0 < kappa_) by (rewrite Hk; apply Rinv_0_lt_compat; lra). assert (K1 : 0 <= kappa_ - 1) by (rewrite K; apply Rmult_le_pos; lra).
  set (x := (kappa_ - 1) * d). assert (X : Rabs x <= (kappa_ - 1) * u_rate).
  { unfold x. rewrite Rabs_mult, (Rabs_pos_eq (kappa_ - 1)) by easy. now apply Rmult_le_compat_l. }
  apply between in X as X'. assert (Eq : 1 - p * (1 + d) = (1 - x) / kappa_).
  { unfold x. rewrite K. apply Rmult_eq_reg_r with kappa_; [|lra]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert (kappa_ * (1 - p) = 1) by (rewrite Hk; field; lra). lra. }
  rewrite Eq. replace (/ ((1 - x) / kappa_) / kappa_ - 1) with (x / (1 - x)) by (field; lra).
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ (1 - x))) by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_compat; [apply Rabs_pos|left; apply Rinv_0_lt_compat; lra|exact X|apply Rinv_le_contravar; lra].
Qed.
