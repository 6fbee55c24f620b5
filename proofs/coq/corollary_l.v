(* Corollary L (LSE), Lambda_T and Gamma_L: how far M + ln l^ lies from the exact LSE, before its own roundings. *)
From Attest Require Import lemma_7.

Lemma log_below x : 0 < x -> ln x <= x - 1.
Proof. intros Hx. rewrite <- (exp_ln x Hx) at 2. pose proof (exp_ineq1_le (ln x)). lra. Qed.
Lemma log_of_less y : 0 <= y <= / 2 -> - ln (1 - y) <= 2 * y.
Proof.
  intros H. rewrite <- ln_Rinv by lra. eapply Rle_trans; [apply log_below, Rinv_0_lt_compat; lra|].
  apply Rmult_le_reg_r with (1 - y); [lra|]. rewrite Rmult_minus_distr_r, Rinv_l by lra. nra.
Qed.

Section LSE.
Context {A : Type} (keys : list A) (W E T zeta : A -> R) (counted : A -> bool) (D Lambda : R).
Context (known : weights_known keys W E T zeta counted D Lambda).

(* 2 n_far omega_W/Lambda of the text, where zeta is omega_W for a far key and 0 for the others. *)
Definition far_part := total zeta keys / Lambda.
Definition Lambda_T := Rmax (ln (1 + total (fun j => pi keys E j * T j) keys)) (- ln D) + 2 * far_part.

Lemma U_not_negative : 0 <= total (fun j => pi keys E j * T j) keys.
Proof.
  apply total_pos. intros j I. apply Rmult_le_pos; [left; exact (pi_positive _ _ _ _ _ _ _ _ known j I)|].
  apply (spread_positive _ _ _ _ _ _ _ _ known j I).
Qed.
Lemma far_part_not_negative : 0 <= far_part.
Proof.
  pose proof (lemma_5a _ _ _ _ _ _ _ _ known). unfold far_part, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
  apply total_pos. intros j I. apply (spread_positive _ _ _ _ _ _ _ _ known j I).
Qed.

Lemma sum_from_above : total W keys * (1 - far_part) <= total E keys * (1 + total (fun j => pi keys E j * T j) keys).
Proof.
  pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as S. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW.
  pose proof far_part_not_negative as F0. pose proof (lemma_5a _ _ _ _ _ _ _ _ known) as La.
  assert (Z : total W keys - total zeta keys <= total E keys * (1 + total (fun j => pi keys E j * T j) keys)).
  { apply Rle_trans with (total (fun j => W j + -1 * zeta j) keys).
    - rewrite total_plus, total_times. change (fun a => W a) with W. change (fun a => zeta a) with zeta. lra.
    - rewrite Rmult_plus_distr_l, Rmult_1_r, <- total_times, <- total_plus. apply total_below. intros j I.
      pose proof (near_exact _ _ _ _ _ _ _ _ known j I) as N. apply between in N. unfold pi.
      replace (total E keys * (E j / total E keys * T j)) with (E j * T j) by (field; lra). lra. }
  assert (total zeta keys <= far_part * total W keys); [|lra].
  replace (total zeta keys) with (far_part * Lambda) by (unfold far_part; field; lra). apply Rmult_le_compat_l; lra.
Qed.

Theorem corollary_L_weights : far_part <= / 2 -> Rabs (ln (total W keys) - ln (total E keys)) <= Lambda_T.
Proof.
  intros Hf. pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as S. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW.
  pose proof (D_positive _ _ _ _ _ _ _ _ known) as HD. pose proof (lemma_5b _ _ _ _ _ _ _ _ known) as B.
  pose proof U_not_negative as U0. pose proof far_part_not_negative as F0. pose proof sum_from_above as U.
  unfold Lambda_T. pose proof (Rmax_l (ln (1 + total (fun j => pi keys E j * T j) keys)) (- ln D)).
  pose proof (Rmax_r (ln (1 + total (fun j => pi keys E j * T j) keys)) (- ln D)). pose proof (log_of_less far_part).
  apply log_grows in B; [|now apply Rmult_lt_0_compat]. apply log_grows in U; [|apply Rmult_lt_0_compat; lra].
  rewrite ln_mult in B, U by lra. rewrite ln_mult in U by lra. apply abs_below. lra.
Qed.

(* -ln D may be ln(1/pi_j) + z_j of one key that is counted. *)
Theorem one_near_key j : In j keys -> counted j = true -> ln (total E keys) - ln (total W keys) <= ln (/ pi keys E j) + ln (1 + T j).
Proof.
  intros I C. pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as S. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW.
  pose proof (exact_positive _ _ _ _ _ _ _ _ known j I) as P. pose proof (spread_positive _ _ _ _ _ _ _ _ known j I).
  assert (L : E j / (1 + T j) <= total W keys).
  { eapply Rle_trans; [apply (counted_weigh _ _ _ _ _ _ _ _ known j I C)|]. apply (total_holds W); auto.
    intros; now apply (not_negative _ _ _ _ _ _ _ _ known). }
  apply log_grows in L; [|apply Rdiv_lt_0_compat; lra]. unfold Rdiv in L. rewrite ln_mult, ln_Rinv in L by (lra || apply Rinv_0_lt_compat; lra).
  unfold pi, Rdiv. rewrite ln_Rinv, ln_mult, ln_Rinv by (try apply Rmult_lt_0_compat; try apply Rinv_0_lt_compat; lra). lra.
Qed.

(* The computed sum, within Gamma_L of the exact one (Lemma 6). *)
Theorem corollary_L l GL : far_part <= / 2 -> Rabs (l - total W keys) <= GL * total W keys -> GL < 1 ->
  Rabs (ln l - ln (total E keys)) <= Lambda_T + GL / (1 - GL).
Proof.
  intros Hf Hl HG. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as S. apply between in Hl.
  assert (G0 : 0 <= GL) by nra. assert (P : 0 < l) by nra. pose proof (corollary_L_weights Hf) as C.
  assert (F : Rabs (ln l - ln (total W keys)) <= GL / (1 - GL)).
  { apply abs_below. split.
    - assert (L : ln ((1 - GL) * total W keys) <= ln l) by (apply log_grows; [apply Rmult_lt_0_compat; lra|lra]).
      rewrite ln_mult in L by lra. pose proof (log_below (/ (1 - GL))) as I. rewrite ln_Rinv in I by lra.
      assert (0 < / (1 - GL)) by (apply Rinv_0_lt_compat; lra).
      replace (GL / (1 - GL)) with (/ (1 - GL) - 1) by (field; lra). lra.
    - assert (L : ln l <= ln ((1 + GL) * total W keys)) by (apply log_grows; lra).
      rewrite ln_mult in L by lra. pose proof (log_below (1 + GL)). apply Rle_trans with GL; [lra|].
      apply Rmult_le_reg_r with (1 - GL); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  replace (ln l - ln (total E keys)) with ((ln l - ln (total W keys)) + (ln (total W keys) - ln (total E keys))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
End LSE.

(* (1 + d) a of i roundings of M and of those that follow: (1 + u)^k - (1 + u)^(k - i) <= (1 + u)((1 + u)^(k - 1) - 1). *)
Lemma scaled_first k i u a d : 0 <= u -> INR k * u < 1 -> (i + 1 <= k)%nat -> Rabs a <= (1 + u) ^ i - 1 ->
  Rabs d <= (1 + u) ^ (k - i) - 1 -> Rabs ((1 + d) * a) <= gamma (k - 1) u.
Proof.
  intros Hu Hk Hi Ha Hd. assert (Le : forall x y, (x <= y)%nat -> (1 + u) ^ x <= (1 + u) ^ y) by (intros; apply Rle_pow; [lra|easy]).
  rewrite Rabs_mult. apply Rle_trans with ((1 + u) ^ (k - i) * ((1 + u) ^ i - 1)).
  - apply Rmult_le_compat; auto using Rabs_pos. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra.
  - replace ((1 + u) ^ (k - i) * ((1 + u) ^ i - 1)) with ((1 + u) ^ (k - i + i) - (1 + u) ^ (k - i)) by (rewrite pow_add; ring).
    replace (k - i + i)%nat with k by lia.
    destruct k as [|k]; [lia|]. replace (S k - 1)%nat with k by lia. pose proof (Le 1%nat (S k - i)%nat ltac:(lia)) as L2. simpl pow in *.
    apply Rle_trans with ((1 + u) * ((1 + u) ^ k - 1)); [lra|]. destruct k as [|k]; [simpl; unfold gamma; simpl; lra|].
    rewrite S_INR in Hk. destruct (inequality_1 (S k) u) as (_ & Q); [lia|easy|nra|].
    assert (Hk' : INR (S k) * u < 1) by nra. pose proof (gamma_pos (S k) u Hu Hk').
    apply Rle_trans with ((1 + u) * ((1 - u) * gamma (S k) u)); [apply Rmult_le_compat_l; lra|].
    assert (0 <= u * u * gamma (S k) u) by (apply Rmult_le_pos; nra). lra.
Qed.

(* The result: M may be scaled first, i roundings; the sum of M and log^ l^ meets the other ones. *)
Theorem lse_result k i u M LSE logl Lambda_0 eps_log omega_log N M_size omega a e w d n result :
  0 <= u -> INR k * u < 1 -> (i + 1 <= k)%nat -> Rabs (M + logl - LSE) <= Lambda_0 -> Rabs logl <= N ->
  0 <= M_size -> (i <> O -> Rabs M <= M_size) ->
  Rabs a <= (1 + u) ^ i - 1 -> Rabs e <= eps_log -> Rabs w <= omega_log -> Rabs d <= (1 + u) ^ (k - i) - 1 -> Rabs n <= 2 * omega ->
  result = (M * (1 + a) + (logl * (1 + e) + w)) * (1 + d) + n ->
  Rabs (result - LSE) <=
    (1 + gamma k u) * (Lambda_0 + eps_log * N + omega_log) + gamma k u * Rabs LSE + gamma (k - 1) u * M_size + 2 * omega.
Proof.
  intros Hu Hk Hi H0 HN S0 HM Ha He Hw Hd Hn ->.
  assert (Le : forall x y, (x <= y)%nat -> (1 + u) ^ x <= (1 + u) ^ y) by (intros; apply Rle_pow; [lra|easy]).
  pose proof (powers_below_gamma k u Hu Hk) as Gk. pose proof (Le (k - i)%nat k ltac:(lia)) as L1.
  assert (D : Rabs d <= gamma k u) by lra.
  pose proof (scaled_first k i u a d Hu Hk Hi Ha Hd) as DA.
  replace ((M * (1 + a) + (logl * (1 + e) + w)) * (1 + d) + n - LSE)
    with ((1 + d) * (M + logl - LSE + (e * logl + w)) + d * LSE + (1 + d) * a * M + n) by ring.
  assert (E1 : Rabs (M + logl - LSE + (e * logl + w)) <= Lambda_0 + eps_log * N + omega_log).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rplus_assoc Lambda_0). apply Rplus_le_compat; [easy|].
    eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos. }
  assert (D1 : Rabs (1 + d) <= 1 + gamma k u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy].
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
  - eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos; lra.
  - rewrite Rabs_mult. destruct i as [|i].
    + simpl in Ha. rewrite Rminus_eq_0 in Ha. pose proof (Rabs_pos a). assert (a = 0) as -> by (revert Ha; unfold Rabs; destruct (Rcase_abs a); lra).
      rewrite Rmult_0_r, Rabs_R0, Rmult_0_l. apply Rmult_le_pos; [|easy]. eapply Rle_trans; [apply Rabs_pos|exact DA].
    + apply Rmult_le_compat; auto using Rabs_pos.
Qed.
