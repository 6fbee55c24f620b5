(* docs/bound_backward.md, Lemmas 5, 6, 8 and 10: from weights and dP to Delta, dS, dX and dQ, over one row. *)
From Attest Require Export numbers.

Section Row.
Context {A : Type} (keys : list A) (pi W p w A_j T zeta N0 : A -> R) (lambda delta : R).

Definition Delta := total (fun j => pi j * W j) keys.
Definition y j := W j - Delta.
Definition P_plus j := pi j + A_j j.

(* What Lemmas 1 and 3 say of each weight, and of each dP. *)
Record row_known := {
  pi_positive : forall j, In j keys -> 0 <= pi j;
  weights_near : forall j, In j keys -> 0 <= p j /\ Rabs (p j - pi j) <= A_j j;
  dP_near : forall j, In j keys -> Rabs (w j - W j) <= N0 j }.
(* The weights with their common factor, delta of the row's LSE. *)
Definition common_factor := Rabs delta <= lambda /\ forall j, In j keys ->
  exists tau z, p j = exp (- delta) * pi j * (1 + tau) + z /\ Rabs tau <= T j /\ Rabs z <= zeta j.

Lemma mean_is_0 : total pi keys = 1 -> total (fun j => pi j * y j) keys = 0.
Proof.
  intros S. unfold y. rewrite (total_same _ (fun j => pi j * W j + - Delta * pi j)) by (intros; ring).
  rewrite total_plus, total_times. change (total (fun a => pi a) keys) with (total pi keys). rewrite S. unfold Delta. ring.
Qed.

(* r of Lemma 1. (Lemma 2 may have a smaller one.) *)
Lemma row_sum : row_known -> total pi keys = 1 -> Rabs (total p keys - 1) <= total A_j keys.
Proof.
  intros K S. rewrite <- S. replace (total p keys - total pi keys) with (total (fun j => p j + -1 * pi j) keys).
  - eapply Rle_trans; [apply total_abs|]. apply total_below. intros j I. replace (p j + -1 * pi j) with (p j - pi j) by ring. apply (weights_near K j I).
  - rewrite total_plus, total_times. change (fun a => p a) with p. change (fun a => pi a) with pi. ring.
Qed.

(* Lemma 5: Delta from the weights; the common factor costs nothing. eps_w is what n products and n - 1 additions round. *)
Theorem B5_delta D_hat eps_w r : row_known -> common_factor -> total pi keys = 1 -> Rabs (total p keys - 1) <= r ->
  Rabs (D_hat - total (fun j => p j * w j) keys) <= eps_w ->
  Rabs (D_hat - Delta) <= Rmin (total (fun j => A_j j * Rabs (y j)) keys) (total (fun j => (exp lambda * (pi j * T j) + zeta j) * Rabs (y j)) keys)
                          + Rabs Delta * r + total (fun j => P_plus j * N0 j) keys + eps_w.
Proof.
  intros K (HL & F) S Hr He.
  replace (D_hat - Delta) with ((D_hat - total (fun j => p j * w j) keys) + total (fun j => p j * y j + - pi j * y j) keys
    + Delta * total (fun j => p j + - pi j) keys + total (fun j => p j * (w j - W j)) keys).
  - assert (B1 : Rabs (total (fun j => p j * y j + - pi j * y j) keys) <= total (fun j => A_j j * Rabs (y j)) keys).
    { eapply Rle_trans; [apply total_abs|]. apply total_below. intros j I. replace (p j * y j + - pi j * y j) with ((p j - pi j) * y j) by ring.
      rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|apply (weights_near K j I)]. }
    assert (B2 : Rabs (total (fun j => p j * y j + - pi j * y j) keys) <= total (fun j => (exp lambda * (pi j * T j) + zeta j) * Rabs (y j)) keys).
    { assert (E : total (fun j => p j * y j + - pi j * y j) keys = total (fun j => p j * y j + - exp (- delta) * (pi j * y j)) keys).
      { rewrite !total_plus, total_times, mean_is_0 by easy.
        rewrite (total_same (fun j => - pi j * y j) (fun j => -1 * (pi j * y j))) by (intros; ring). rewrite total_times, mean_is_0 by easy. ring. }
      rewrite E. eapply Rle_trans; [apply total_abs|]. apply total_below. intros j I. destruct (F j I) as (tau & z & Ej & Ht & Hz). rewrite Ej.
      replace ((exp (- delta) * pi j * (1 + tau) + z) * y j + - exp (- delta) * (pi j * y j)) with ((exp (- delta) * (pi j * tau) + z) * y j) by ring.
      rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|]. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy].
      pose proof (exp_pos (- delta)). pose proof (pi_positive K j I). rewrite !Rabs_mult, (Rabs_pos_eq (exp _)), (Rabs_pos_eq (pi j)) by lra.
      apply between in HL. apply Rmult_le_compat; [lra|apply Rmult_le_pos; auto using Rabs_pos|apply exp_grows; lra|].
      now apply Rmult_le_compat_l. }
    assert (B3 : Rabs (Delta * total (fun j => p j + - pi j) keys) <= Rabs Delta * r).
    { rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|]. rewrite total_plus.
      rewrite (total_same (fun a => - pi a) (fun a => -1 * pi a)) by (intros; ring). rewrite total_times. change (fun a => p a) with p. change (fun a => pi a) with pi.
      rewrite S. eapply Rle_trans; [|exact Hr]. right. f_equal. ring. }
    assert (B4 : Rabs (total (fun j => p j * (w j - W j)) keys) <= total (fun j => P_plus j * N0 j) keys).
    { eapply Rle_trans; [apply total_abs|]. apply total_below. intros j I. destruct (weights_near K j I) as (P0 & B). apply between in B.
      rewrite Rabs_mult, (Rabs_pos_eq (p j)) by easy. unfold P_plus. apply Rmult_le_compat; auto using Rabs_pos; [lra|apply (dP_near K j I)]. }
    pose proof (Rmin_glb _ _ _ B1 B2). repeat (eapply Rle_trans; [apply Rabs_triang|]). 
    eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rplus_le_compat_r, Rabs_triang|]. lra.
  - rewrite (total_same (fun j => p j * (w j - W j)) (fun j => p j * w j + -1 * (p j * W j))) by (intros; ring).
    unfold y. rewrite (total_same (fun j => p j * (W j - Delta) + - pi j * (W j - Delta)) (fun j => (p j * W j + - Delta * p j) + (-1 * (pi j * W j) + Delta * pi j))) by (intros; ring).
    rewrite (total_same (fun j => p j + - pi j) (fun j => p j + -1 * pi j)) by (intros; ring).
    rewrite !total_plus, !total_times. change (total (fun a => p a) keys) with (total p keys). change (total (fun a => pi a) keys) with (total pi keys).
    fold Delta. rewrite S. ring.
Qed.

(* Lemma 8: the number that dS_j is, with a factor g (1, or the softcap's derivative). e is one number for all keys. *)
Context (g kappa_j N : A -> R) (psi e e_Delta : R).
Definition q j := (A_j j * g j + P_plus j * kappa_j j) * (1 + psi) + psi * (pi j * g j).
Record product_known (P_tilde xi : A -> R) := {
  factor_is : forall j, In j keys -> exists g_hat t, P_tilde j = p j * g_hat * (1 + t) /\ Rabs (g_hat - g j) <= kappa_j j /\ Rabs t <= psi;
  g_positive : forall j, In j keys -> 0 <= g j;
  xi_below : forall j, In j keys -> Rabs (xi j) <= N j;
  e_below : Rabs e <= e_Delta;
  psi_positive : 0 <= psi }.

Lemma factor_error P_tilde xi j : row_known -> product_known P_tilde xi -> In j keys -> Rabs (P_tilde j - pi j * g j) <= q j.
Proof.
  intros K G I. destruct (factor_is _ _ G j I) as (gh & t & -> & Hg & Ht). destruct (weights_near K j I) as (P0 & B). pose proof (pi_positive K j I) as Pp.
  pose proof (g_positive _ _ G j I) as G0. pose proof (psi_positive _ _ G) as Ps. apply between in B as B'.
  replace (p j * gh * (1 + t) - pi j * g j) with ((p j - pi j) * g j * (1 + t) + p j * (gh - g j) * (1 + t) + pi j * g j * t) by ring.
  assert (T1 : Rabs (1 + t) <= 1 + psi) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (Q1 : Rabs ((p j - pi j) * g j * (1 + t)) <= A_j j * g j * (1 + psi)).
  { rewrite !Rabs_mult, (Rabs_pos_eq (g j)) by easy. apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; auto using Rabs_pos|now apply Rmult_le_compat_r]. }
  assert (Q2 : Rabs (p j * (gh - g j) * (1 + t)) <= P_plus j * kappa_j j * (1 + psi)).
  { rewrite !Rabs_mult, (Rabs_pos_eq (p j)) by easy. apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; auto using Rabs_pos|].
    apply Rmult_le_compat; auto using Rabs_pos. unfold P_plus. lra. }
  assert (Q3 : Rabs (pi j * g j * t) <= psi * (pi j * g j)).
  { rewrite Rabs_mult, (Rabs_pos_eq (pi j * g j)), Rmult_comm by now apply Rmult_le_pos. apply Rmult_le_compat_r; [now apply Rmult_le_pos|easy]. }
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. unfold q. lra.
Qed.

Theorem B8_dS P_tilde xi nu nu_j dS_hat j : row_known -> product_known P_tilde xi -> In j keys ->
  dS_hat = P_tilde j * (y j + xi j - e) + nu -> Rabs nu <= nu_j ->
  Rabs (dS_hat - pi j * g j * y j) <= q j * (Rabs (y j) + e_Delta) + (pi j * g j + q j) * N j + pi j * g j * e_Delta + nu_j.
Proof.
  intros K G I -> Hn. pose proof (factor_error _ _ j K G I) as Q. pose proof (xi_below _ _ G j I) as X. pose proof (e_below _ _ G) as E.
  pose proof (pi_positive K j I) as Pp. pose proof (g_positive _ _ G j I) as G0. assert (PG : 0 <= pi j * g j) by now apply Rmult_le_pos.
  replace (P_tilde j * (y j + xi j - e) + nu - pi j * g j * y j) with ((P_tilde j - pi j * g j) * (y j + xi j - e) + pi j * g j * (xi j - e) + nu) by ring.
  assert (Y : Rabs (y j + xi j - e) <= Rabs (y j) + e_Delta + N j).
  { unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. pose proof (Rabs_triang (y j) (xi j)). lra. }
  assert (Z : Rabs (xi j - e) <= N j + e_Delta) by (unfold Rminus; eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; lra).
  assert (B1 : Rabs ((P_tilde j - pi j * g j) * (y j + xi j - e)) <= q j * (Rabs (y j) + e_Delta + N j)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  assert (B2 : Rabs (pi j * g j * (xi j - e)) <= pi j * g j * (N j + e_Delta)) by (rewrite Rabs_mult, (Rabs_pos_eq (pi j * g j)) by easy; now apply Rmult_le_compat_l).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.

(* Lemma 10 (a): e meets the mean key, and no sum of sizes. dQ_hat is sigma times the sum, up to what is lost. *)
Definition f_j j := q j * (Rabs (y j) + e_Delta) + (pi j * g j + q j) * N j.
Theorem B10_dQ P_tilde xi (k : A -> R) sigma dQ_hat U : row_known -> product_known P_tilde xi ->
  Rabs (dQ_hat - sigma * total (fun j => P_tilde j * (y j + xi j - e) * k j) keys) <= U ->
  Rabs (dQ_hat - sigma * total (fun j => pi j * g j * y j * k j) keys) <=
    Rabs sigma * (total (fun j => f_j j * Rabs (k j)) keys + e_Delta * Rabs (total (fun j => pi j * g j * k j) keys)) + U.
Proof.
  intros K G HU. set (S1 := total (fun j => P_tilde j * (y j + xi j - e) * k j) keys) in *. set (S2 := total (fun j => pi j * g j * y j * k j) keys).
  set (mean_k := total (fun j => pi j * g j * k j) keys).
  replace (dQ_hat - sigma * S2) with ((dQ_hat - sigma * S1) + sigma * ((S1 - S2 + e * mean_k) + - e * mean_k)) by ring.
  assert (B : Rabs (S1 - S2 + e * mean_k) <= total (fun j => f_j j * Rabs (k j)) keys).
  { replace (S1 - S2 + e * mean_k) with (total (fun j => ((P_tilde j - pi j * g j) * (y j + xi j - e) + pi j * g j * xi j) * k j) keys).
    - eapply Rle_trans; [apply total_abs|]. apply total_below. intros j I. rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
      pose proof (factor_error _ _ j K G I) as Q. pose proof (xi_below _ _ G j I) as X. pose proof (e_below _ _ G) as E.
      pose proof (pi_positive K j I) as Pp. pose proof (g_positive _ _ G j I) as G0. assert (PG : 0 <= pi j * g j) by now apply Rmult_le_pos.
      assert (Y : Rabs (y j + xi j - e) <= Rabs (y j) + e_Delta + N j).
      { unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. pose proof (Rabs_triang (y j) (xi j)). lra. }
      assert (B1 : Rabs ((P_tilde j - pi j * g j) * (y j + xi j - e)) <= q j * (Rabs (y j) + e_Delta + N j)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
      assert (B2 : Rabs (pi j * g j * xi j) <= pi j * g j * N j) by (rewrite Rabs_mult, (Rabs_pos_eq (pi j * g j)) by easy; now apply Rmult_le_compat_l).
      eapply Rle_trans; [apply Rabs_triang|]. unfold f_j. lra.
    - unfold S1, S2, mean_k. rewrite <- total_times.
      rewrite (total_same _ (fun j => (P_tilde j * (y j + xi j - e) * k j + -1 * (pi j * g j * y j * k j)) + e * (pi j * g j * k j))) by (intros; ring).
      rewrite !total_plus, !total_times. ring. }
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rplus_comm. apply Rplus_le_compat; [|easy]. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [easy|]. rewrite Rabs_mult, Rabs_Ropp. apply Rmult_le_compat_r; [apply Rabs_pos|apply (e_below _ _ G)].
Qed.
End Row.

(* Lemma 10 (b): where all weights of a row share e^{-delta}, so does dQ^. *)
Theorem B10_common_factor dQ G delta lambda B : Rabs delta <= lambda -> Rabs (G - dQ) <= B ->
  Rabs (exp (- delta) * G - dQ) <= (exp lambda - 1) * Rabs dQ + exp lambda * B.
Proof.
  intros Hd HB. replace (exp (- delta) * G - dQ) with ((exp (- delta) - 1) * dQ + exp (- delta) * (G - dQ)) by ring.
  apply between in Hd. pose proof (exp_pos (- delta)). assert (U : exp (- delta) <= exp lambda) by (apply exp_grows; lra).
  assert (V : exp (- lambda) <= exp (- delta)) by (apply exp_grows; lra). pose proof (exp_ineq1_le lambda). pose proof (exp_ineq1_le (- lambda)).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq (exp (- delta))) by lra. apply Rplus_le_compat.
  - apply Rmult_le_compat_r; [apply Rabs_pos|]. apply abs_below. lra.
  - apply Rmult_le_compat; auto using Rabs_pos; lra.
Qed.

(* Lemma 4: Delta from the output, whose errors are F_O together (in own mode at most the sum of |dO_c| B_c). *)
Theorem B4_delta {C} (columns : list C) (dO o o_hat m : C -> R) g lost F_O D_hat :
  (forall c, In c columns -> Rabs (o_hat c) <= m c) -> 0 <= g -> Rabs (total (fun c => dO c * (o_hat c - o c)) columns) <= F_O ->
  Rabs (D_hat - total (fun c => dO c * o_hat c) columns) <= g * total (fun c => Rabs (dO c * o_hat c)) columns + lost ->
  Rabs (D_hat - total (fun c => dO c * o c) columns) <= F_O + g * total (fun c => Rabs (dO c) * m c) columns + lost.
Proof.
  intros Hm Hg HF HD.
  replace (D_hat - total (fun c => dO c * o c) columns)
    with ((D_hat - total (fun c => dO c * o_hat c) columns) + total (fun c => dO c * (o_hat c - o c)) columns).
  - eapply Rle_trans; [apply Rabs_triang|].
    assert (g * total (fun c => Rabs (dO c * o_hat c)) columns <= g * total (fun c => Rabs (dO c) * m c) columns); [|lra].
    apply Rmult_le_compat_l; [easy|]. apply total_below. intros c I. rewrite Rabs_mult. apply Rmult_le_compat_l; auto using Rabs_pos.
  - rewrite (total_same (fun c => dO c * (o_hat c - o c)) (fun c => dO c * o_hat c + -1 * (dO c * o c))) by (intros; ring).
    rewrite total_plus, total_times. ring.
Qed.

(* Lemma 6: what p multiplies is y + xi - e, also where dS is p w - p Delta with roundings of either product. *)
Theorem B6_before_product p w W Delta D_hat d1 d2 N0 g e_Delta : Rabs (w - W) <= N0 -> Rabs (D_hat - Delta) <= e_Delta ->
  Rabs d1 <= g -> Rabs d2 <= g -> exists xi,
  p * w * (1 + d1) - p * D_hat * (1 + d2) = p * ((W - Delta) + xi - (D_hat - Delta)) /\
  Rabs xi <= N0 + g * (Rabs W + N0 + Rabs Delta + e_Delta).
Proof.
  intros HN HD H1 H2. exists ((w - W) + w * d1 + - (D_hat * d2)). split; [ring|].
  assert (Sw : Rabs w <= Rabs W + N0) by (replace w with (W + (w - W)) by ring; eapply Rle_trans; [apply Rabs_triang|]; lra).
  assert (SD : Rabs D_hat <= Rabs Delta + e_Delta) by (replace D_hat with (Delta + (D_hat - Delta)) by ring; eapply Rle_trans; [apply Rabs_triang|]; lra).
  assert (A1 : Rabs (w * d1) <= (Rabs W + N0) * g) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  assert (A2 : Rabs (- (D_hat * d2)) <= (Rabs Delta + e_Delta) * g) by (rewrite Rabs_Ropp, Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.
