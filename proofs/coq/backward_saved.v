(* docs/bound_backward.md, Lemma 2: weights that the forward pass returned, and what their row may sum to. *)
From Attest Require Export numbers.

(* One rounding behind a weight that Corollary W bounds: pi_j T_j, with lambda = 0 and zeta_j = 0. *)
Theorem B2_weight pi a p C u_pd omega_pd : 0 <= pi -> 0 <= u_pd -> Rabs (a - pi) <= C ->
  (exists d n, Rabs d <= u_pd /\ Rabs n <= omega_pd /\ p = a * (1 + d) + n) -> Rabs (p - pi) <= (1 + u_pd) * C + u_pd * pi + omega_pd.
Proof.
  intros Hp Hu HC (d & n & Hd & Hn & ->). replace (a * (1 + d) + n - pi) with ((a - pi) * (1 + d) + pi * d + n) by ring.
  assert (D1 : Rabs (1 + d) <= 1 + u_pd) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (Rabs ((a - pi) * (1 + d)) <= (1 + u_pd) * C) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat; auto using Rabs_pos).
  assert (Rabs (pi * d) <= u_pd * pi) by (rewrite Rabs_mult, (Rabs_pos_eq pi), Rmult_comm by easy; now apply Rmult_le_compat_r).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.

Section Row_sum.
Context {A : Type} (keys : list A) (W a : A -> R) (l Gamma_L Gamma_W alpha u_out omega_out u_pd omega_pd : R).
Let n := INR (length keys).

(* What one more rounding makes of numbers whose sum, and the sum of whose sizes, is near 1. *)
Lemma rounded_row (x y : A -> R) e u w : 0 <= u -> Rabs (total x keys - 1) <= e -> total (fun j => Rabs (x j)) keys <= 1 + e ->
  (forall j, In j keys -> exists d q, Rabs d <= u /\ Rabs q <= w /\ y j = x j * (1 + d) + q) ->
  let e' := e * (1 + u) + u + n * w in Rabs (total y keys - 1) <= e' /\ total (fun j => Rabs (y j)) keys <= 1 + e'.
Proof.
  intros Hu He Hs H e'. assert (D : total (fun j => Rabs (y j + -1 * x j)) keys <= u * (1 + e) + n * w).
  { apply Rle_trans with (total (fun j => u * Rabs (x j) + w) keys).
    - apply total_below. intros j I. destruct (H j I) as (d & q & Hd & Hq & ->). replace (x j * (1 + d) + q + -1 * x j) with (x j * d + q) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, Rmult_comm. apply Rplus_le_compat; [|easy]. apply Rmult_le_compat_r; [apply Rabs_pos|easy].
    - rewrite total_plus, total_times, total_const. apply Rplus_le_compat_r. now apply Rmult_le_compat_l. }
  split.
  - replace (total y keys - 1) with (total (fun j => y j + -1 * x j) keys + (total x keys - 1)).
    + eapply Rle_trans; [apply Rabs_triang|]. pose proof (total_abs (fun j => y j + -1 * x j) keys). unfold e'. lra.
    + rewrite total_plus, total_times. change (fun a => y a) with y. change (fun a => x a) with x. ring.
  - apply Rle_trans with (total (fun j => Rabs (y j + -1 * x j) + Rabs (x j)) keys).
    + apply total_below. intros j _. replace (y j) with (y j + -1 * x j + x j) at 1 by ring. apply Rabs_triang.
    + rewrite total_plus. unfold e'. lra.
Qed.

Definition r_divided := (Gamma_L + Gamma_W) / (1 - Gamma_L) + n * alpha.
Definition r_1 := r_divided * (1 + u_out) + u_out + n * omega_out.
Definition r_saved := (1 + u_pd) * r_1 + u_pd + n * omega_pd.

(* One pass: a_j = p_j/l^ of the very weights that l sums (alpha is 2 omega + alpha_W), then the output's rounding; then u_pd. *)
Theorem B2_row_sum (divided p : A -> R) : (forall j, In j keys -> 0 <= W j) -> 0 < total W keys ->
  Rabs (l - total W keys) <= Gamma_L * total W keys -> Gamma_L < 1 -> 0 <= Gamma_W -> 0 <= u_out -> 0 <= u_pd ->
  (forall j, In j keys -> exists t b, Rabs t <= Gamma_W /\ Rabs b <= alpha /\ divided j = W j / l * (1 + t) + b) ->
  (forall j, In j keys -> exists d q, Rabs d <= u_out /\ Rabs q <= omega_out /\ a j = divided j * (1 + d) + q) ->
  (forall j, In j keys -> exists d q, Rabs d <= u_pd /\ Rabs q <= omega_pd /\ p j = a j * (1 + d) + q) ->
  Rabs (total p keys - 1) <= r_saved.
Proof.
  intros Nn Sp Hl G1 GW U0 U1 HD HA HP. set (S := total W keys) in *. apply between in Hl as Hl'.
  assert (GL0 : 0 <= Gamma_L). { destruct (Rle_dec 0 Gamma_L); [easy|]. pose proof (Rabs_pos (l - S)). nra. }
  assert (L0 : (1 - Gamma_L) * S <= l) by lra. assert (Lp : 0 < l) by (eapply Rlt_le_trans; [|exact L0]; apply Rmult_lt_0_compat; lra).
  assert (Q : total (fun j => W j / l) keys = S / l).
  { unfold Rdiv. rewrite (total_same _ (fun j => / l * W j)) by (intros; ring). rewrite total_times. change (fun a => W a) with W. fold S. ring. }
  assert (Up : S / l <= / (1 - Gamma_L)).
  { apply Rmult_le_reg_r with l; [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rmult_le_reg_l with (1 - Gamma_L); [lra|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  assert (Sz : Rabs (S / l - 1) <= Gamma_L / (1 - Gamma_L)).
  { replace (S / l - 1) with (- (l - S) * / l) by (field; lra). rewrite Rabs_mult, Rabs_Ropp, (Rabs_pos_eq (/ l)) by (left; now apply Rinv_0_lt_compat).
    apply Rle_trans with (Gamma_L * S * / l); [apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|easy]|].
    rewrite Rmult_assoc. unfold Rdiv. apply Rmult_le_compat_l; [easy|]. exact Up. }
  assert (D : total (fun j => Rabs (divided j + -1 * (W j / l))) keys <= Gamma_W * (S / l) + n * alpha).
  { apply Rle_trans with (total (fun j => Gamma_W * (W j / l) + alpha) keys).
    - apply total_below. intros j I. destruct (HD j I) as (t & b & Ht & Hb & ->). specialize (Nn j I).
      assert (0 <= W j / l) by (unfold Rdiv; apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
      replace (W j / l * (1 + t) + b + -1 * (W j / l)) with (W j / l * t + b) by ring. eapply Rle_trans; [apply Rabs_triang|].
      rewrite Rabs_mult, (Rabs_pos_eq (W j / l)), Rmult_comm by easy. apply Rplus_le_compat; [|easy]. now apply Rmult_le_compat_r.
    - rewrite total_plus, total_times, total_const, Q. unfold n. lra. }
  assert (GU : Gamma_W * (S / l) <= Gamma_W / (1 - Gamma_L)) by (unfold Rdiv; apply Rmult_le_compat_l; easy).
  assert (R0 : Gamma_L / (1 - Gamma_L) + Gamma_W / (1 - Gamma_L) + n * alpha = r_divided) by (unfold r_divided, Rdiv; ring).
  assert (B1 : Rabs (total divided keys - 1) <= r_divided).
  { replace (total divided keys - 1) with (total (fun j => divided j + -1 * (W j / l)) keys + (S / l - 1)).
    - eapply Rle_trans; [apply Rabs_triang|]. pose proof (total_abs (fun j => divided j + -1 * (W j / l)) keys). lra.
    - rewrite total_plus, total_times, Q. change (fun a => divided a) with divided. ring. }
  assert (B2 : total (fun j => Rabs (divided j)) keys <= 1 + r_divided).
  { apply Rle_trans with (total (fun j => Rabs (divided j + -1 * (W j / l)) + W j / l) keys).
    - apply total_below. intros j I. specialize (Nn j I). replace (divided j) with (divided j + -1 * (W j / l) + W j / l) at 1 by ring.
      eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l. rewrite Rabs_pos_eq; [lra|].
      unfold Rdiv. apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat].
    - rewrite total_plus, Q. apply between in Sz. lra. }
  destruct (rounded_row divided a r_divided u_out omega_out U0 B1 B2 HA) as (C1 & C2). fold r_1 in C1, C2.
  destruct (rounded_row a p r_1 u_pd omega_pd U1 C1 C2 HP) as (E1 & _). unfold r_saved. rewrite (Rmult_comm (1 + u_pd)). exact E1.
Qed.
End Row_sum.
