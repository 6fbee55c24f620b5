(* docs/bound_backward.md, Lemma 1: a weight that a backward pass forms again from the LSE. (B1, B4, ... are that page's.) *)
From Attest Require Export machine.

Record gradient_model := GradientModel { k_xb : nat; c_l : nat; u_lse : R; u_pd : R; omega_pd : R }.

(* The stored LSE, and the number that all scores of the row meet (HB2): c_l more roundings. *)
Definition lse_of_row m g Lf L' := exists d n t n', Rabs d <= u_lse g /\ Rabs n <= omega m /\ Rabs t <= gamma (c_l g) (u m) /\
  Rabs n' <= 2 * INR (c_l g) * omega m /\ L' = (Lf * (1 + d) + n) * (1 + t) + n'.
(* exp^(s - L') and the rounding of p that follows; where p is subnormal, what a product flushes of it is lost, too. *)
Definition formed_again m g s L' p := exists t b x q d n f, Rabs t <= gamma (k_xb g) (u m) /\ Rabs b <= (INR (k_xb g) + 1) * omega m /\
  x = (s - L') * (1 + t) + b /\ exps m x q /\ Rabs d <= u_pd g /\ Rabs n <= omega_pd g /\
  Rabs f <= tiny m /\ (- far m <= x -> f = 0) /\ p = (q + f) * (1 + d) + n.

Definition lambda_1 g L lambda_f := u_lse g * Rabs L + (1 + u_lse g) * lambda_f.
Definition lambda_of m g L lambda_f := lambda_1 g L lambda_f + gamma (c_l g) (u m) * (Rabs L + lambda_1 g L lambda_f)
                                       + 2 * (1 + INR (c_l g)) * omega m.

Theorem B1_lambda m g L Lf L' lambda_f : 0 <= omega m -> 0 <= gamma (c_l g) (u m) <= 1 -> 0 <= u_lse g -> Rabs (Lf - L) <= lambda_f ->
  lse_of_row m g Lf L' -> Rabs (L' - L) <= lambda_of m g L lambda_f.
Proof.
  intros Hw Hg Hu HL (d & n & t & n' & Hd & Hn & Ht & Hn' & ->). unfold lambda_of.
  assert (S : Rabs (Lf * (1 + d) - L) <= lambda_1 g L lambda_f).
  { unfold lambda_1. replace (Lf * (1 + d) - L) with (L * d + (Lf - L) * (1 + d)) by ring. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    assert (Rabs (1 + d) <= 1 + u_lse g) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    apply Rplus_le_compat; [rewrite Rmult_comm; apply Rmult_le_compat_r; auto using Rabs_pos|rewrite Rmult_comm; apply Rmult_le_compat; auto using Rabs_pos]. }
  set (l1 := lambda_1 g L lambda_f) in *.
  assert (Sz : Rabs (Lf * (1 + d)) <= Rabs L + l1).
  { replace (Lf * (1 + d)) with (L + (Lf * (1 + d) - L)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  replace ((Lf * (1 + d) + n) * (1 + t) + n' - L) with ((Lf * (1 + d) - L) + Lf * (1 + d) * t + n * (1 + t) + n') by ring.
  assert (A : Rabs (Lf * (1 + d) * t) <= gamma (c_l g) (u m) * (Rabs L + l1)) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat; auto using Rabs_pos).
  assert (C : Rabs (n * (1 + t)) <= omega m * 2).
  { rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra. }
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
  eapply Rle_trans; [apply Rplus_le_compat_r, Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.

Definition log_loss e := - ln (1 - e).
Definition rho s L E lambda := Rabs (s - L) + E + lambda.
Definition z_again m g E rho := E + gamma (k_xb g) (u m) * rho + log_loss (eps m) + log_loss (u_pd g) + (INR (k_xb g) + 1) * omega m.
Definition reach_again m g rho := rho * (1 + gamma (k_xb g) (u m)) + (INR (k_xb g) + 1) * omega m.
(* tiny is omega_w/2 of HB1: half of what the text has. *)
Definition zeta_again m g := 2 * (1 + u_pd g) * tiny m.

Lemma log_of_error e eps : 0 <= eps < 1 -> Rabs e <= eps -> 0 < 1 + e /\ Rabs (ln (1 + e)) <= log_loss eps.
Proof.
  intros He H. apply between in H. split; [lra|]. unfold log_loss. apply abs_below. split.
  - rewrite Ropp_involutive. apply log_grows; lra.
  - rewrite <- ln_Rinv by lra. apply log_grows; [lra|]. apply Rmult_le_reg_r with (1 - eps); [lra|]. rewrite Rinv_l by lra. nra.
Qed.

(* With delta = L' - L, one number for the row: p = e^{-delta} pi (1 + tau) + zeta', ln(1 + tau) within z_j; or it is cut. *)
Theorem B1_weight m g s s' L L' p E lambda : 0 <= eps m < 1 -> 0 <= u_pd g < 1 -> 0 <= tiny m -> 0 <= omega m -> 0 <= gamma (k_xb g) (u m) ->
  formed_again m g s' L' p -> Rabs (s' - s) <= E -> Rabs (L' - L) <= lambda ->
  Rabs p <= omega_pd g + zeta_again m g /\ x0 m < reach_again m g (rho s L E lambda) /\
    (reach_again m g (rho s L E lambda) <= far m -> Rabs p <= omega_pd g) \/
  exists a n, p = exp (- (L' - L)) * exp (s - L) * a + n /\ 0 < a /\ Rabs (ln a) <= z_again m g E (rho s L E lambda) /\
    Rabs n <= omega_pd g + zeta_again m g /\ (reach_again m g (rho s L E lambda) <= far m -> Rabs n <= omega_pd g).
Proof.
  intros He Hu Ht Hw Hg (t & b & x & q & d & n & f & Bt & Bb & -> & (_ & X) & Bd & Bn & Bf & Zf & ->) HE HL.
  set (r := rho s L E lambda).
  assert (R0 : Rabs (s' - L') <= r).
  { unfold r, rho. replace (s' - L') with ((s - L) + (s' - s) + - (L' - L)) by ring. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp.
    apply Rplus_le_compat; [eapply Rle_trans; [apply Rabs_triang|]|]; lra. }
  set (x := (s' - L') * (1 + t) + b) in *.
  assert (Dx : Rabs (x - (s' - L')) <= gamma (k_xb g) (u m) * r + (INR (k_xb g) + 1) * omega m).
  { unfold x. replace ((s' - L') * (1 + t) + b - (s' - L')) with ((s' - L') * t + b) by ring. eapply Rle_trans; [apply Rabs_triang|].
    apply Rplus_le_compat; [|easy]. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos. }
  assert (Lx : - reach_again m g r <= x).
  { unfold reach_again. apply between in Dx. pose proof (between (s' - L') _ R0). lra. }
  apply between in Bd as Bd'. assert (D1 : Rabs (1 + d) <= 1 + u_pd g) by (apply abs_below; lra).
  assert (Z0 : 0 <= tiny m * (1 + u_pd g)) by (apply Rmult_le_pos; lra).
  assert (Lost : forall z, Rabs z <= tiny m -> Rabs ((z + f) * (1 + d) + n) <= omega_pd g + zeta_again m g).
  { intros z Hz. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. unfold zeta_again.
    assert (Rabs (z + f) * Rabs (1 + d) <= 2 * tiny m * (1 + u_pd g)).
    { apply Rmult_le_compat; auto using Rabs_pos. eapply Rle_trans; [apply Rabs_triang|]. lra. } lra. }
  destruct X as [(Cut & ->)|(e & z & Be & Bz & Zz & ->)].
  - left. split; [|split; [lra|]]; [apply Lost; rewrite Rabs_R0; lra|].
    intros F. rewrite Zf by lra. replace ((0 + 0) * (1 + d) + n) with n by ring. easy.
  - right. destruct (log_of_error e (eps m) He Be) as (Pe & De). destruct (log_of_error d (u_pd g) Hu Bd) as (Pd & Dd).
    exists (exp (x - (s' - L') + (s' - s)) * (1 + e) * (1 + d)), ((z + f) * (1 + d) + n).
    pose proof (exp_pos (x - (s' - L') + (s' - s))). assert (0 < exp (x - (s' - L') + (s' - s)) * (1 + e)) by now apply Rmult_lt_0_compat.
    split; [|split; [now apply Rmult_lt_0_compat|split; [|split; [now apply Lost|]]]].
    + assert (Ex : exp x = exp (- (L' - L)) * exp (s - L) * exp (x - (s' - L') + (s' - s))) by (rewrite <- !exp_plus; f_equal; ring).
      rewrite Ex. ring.
    + rewrite !ln_mult, ln_exp by easy. apply between in Dx, De, Dd, HE. unfold z_again. apply abs_below. lra.
    + intros F. rewrite Zz, Zf by lra. replace ((0 + 0) * (1 + d) + n) with n by ring. easy.
Qed.

(* |p - pi| <= A_j = pi(e^{lambda + z} - 1) + zeta. *)
Theorem B1_distance pi delta a n lambda z zeta : 0 <= pi -> 0 < a -> Rabs delta <= lambda -> Rabs (ln a) <= z -> Rabs n <= zeta ->
  Rabs (exp (- delta) * pi * a + n - pi) <= pi * (exp (lambda + z) - 1) + zeta.
Proof.
  intros Hp Ha Hd Hz Hn. replace (exp (- delta) * pi * a + n - pi) with (pi * (exp (- delta) * a - 1) + n) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. rewrite Rabs_mult, (Rabs_pos_eq pi) by easy.
  apply Rmult_le_compat_l; [easy|]. rewrite <- (exp_ln a) by easy. rewrite <- exp_plus. apply between in Hd, Hz.
  assert (U : exp (- delta + ln a) <= exp (lambda + z)) by (apply exp_grows; lra).
  assert (V : exp (- (lambda + z)) <= exp (- delta + ln a)) by (apply exp_grows; lra).
  pose proof (exp_ineq1_le (lambda + z)). pose proof (exp_ineq1_le (- (lambda + z))). apply abs_below. lra.
Qed.
