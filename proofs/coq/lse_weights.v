(* The theorem of weights formed by the LSE, key by key: where exp is not cut below the LSE, z^L holds every rounding of
   the second pass, a shared rounding of P, too. And Lemma 4's factors of a merge without a division, some of them cut. *)
From Attest Require Export lemma_3.

(* exp^(s^ - L^) of a second pass: its reference is the computed LSE, which is within lambda of ln Z + the maximum. *)
Definition second_pass m k L w := exists c x p d, Rabs c <= gamma (c_m m) (u m) * Rabs L /\
  argument m (score k - L + c) x /\ exps m x p /\ Rabs d <= u_shared m /\ w = p * (1 + d).

(* X^L, kappa^L and z^L of section 5; x = s - m <= 0, Y bounds the reference's maximum, log_Z = ln Z. *)
Definition X_L x log_Z E lambda := Rabs x + log_Z + E + lambda.
Definition kappa_L m Y log_Z := kappa m Y + gamma (c_m m) (u m) * (1 + gamma_x m) * log_Z.
Definition flushed_L m X Y log_Z := (1 + gamma_x m) * X + kappa_L m Y log_Z + lost m.
Definition z_L m E X Y log_Z :=
  E + gamma_x m * X + kappa_L m Y log_Z + log_loss (eps m) + log_loss (u_shared m) + lost m.

Theorem weights_by_lse m k max log_Z L w s E lambda Y : sane m -> second_pass m k L w -> s <= max -> 0 <= log_Z ->
  Rabs (L - (max + log_Z)) <= lambda -> Rabs (score k - s) <= E -> Rabs L <= Y + log_Z ->
  flushed_L m (X_L (s - max) log_Z E lambda) Y log_Z <= Rmin (far m) (x0 m) ->
  0 < w /\ Rabs (ln w - (s - L)) <= z_L m E (X_L (s - max) log_Z E lambda) Y log_Z.
Proof.
  intros Sn (c & x & p & d & Hc & A & P & Hd & ->) Hs HZ HL HE HY HX.
  pose proof (gamma_x_pos m Sn) as G. pose proof (gamma_pos (c_m m) (u m) (some_u m Sn) (few_shared m Sn)) as Gc.
  assert (K : (1 + gamma_x m) * Rabs c <= kappa_L m Y log_Z).
  { unfold kappa_L, kappa. rewrite <- Rmult_plus_distr_l.
    rewrite (Rmult_comm (gamma (c_m m) (u m))), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [exact Hc|]. now apply Rmult_le_compat_l. }
  assert (Sz : Rabs (score k - L) <= X_L (s - max) log_Z E lambda).
  { unfold X_L. apply between in HL, HE. rewrite (Rabs_left1 (s - max)) by lra. apply abs_below. lra. }
  unfold flushed_L in HX.
  destruct (one_factor m (score k - L) c x p Sn A P) as (Pp & D); [nra|].
  destruct (log_near d (u_shared m) (some_shared m Sn) Hd) as (Pd & Dd).
  split; [now apply Rmult_lt_0_compat|]. rewrite ln_mult by easy.
  replace (ln p + ln (1 + d) - (s - L)) with ((ln p - (score k - L)) + ln (1 + d) + (score k - s)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
  assert (gamma_x m * Rabs (score k - L) <= gamma_x m * X_L (s - max) log_Z E lambda) by now apply Rmult_le_compat_l.
  unfold z_L. lra.
Qed.

(* Merges without a division: the factors exp^(L_s - L) of S parts, whose exact sum is 1; a cut one is missing, and is at
   most e^{-x0}. (An argument without roundings, and none that underflows: those are in xi beside this.) *)
Theorem undivided_factors m (parts : list R) (factor_of : R -> R) : 0 <= eps m ->
  (forall a, In a parts -> exps m a (factor_of a) /\ - far m <= a) -> total exp parts = 1 ->
  Rabs (total factor_of parts - 1) <= eps m + INR (length parts) * exp (- x0 m).
Proof.
  intros He H S1. rewrite <- S1.
  replace (total factor_of parts - total exp parts) with (total (fun a => factor_of a - exp a) parts).
  - eapply Rle_trans; [apply total_abs|].
    apply Rle_trans with (total (fun a => eps m * exp a + exp (- x0 m)) parts).
    + apply total_below. intros a I. destruct (H a I) as ((_ & X) & F). pose proof (exp_pos a). pose proof (exp_pos (- x0 m)).
      destruct X as [(C & ->)|(e & z & Ee & _ & Z & ->)].
      * rewrite Rminus_0_l, Rabs_Ropp, Rabs_pos_eq by lra. assert (exp a <= exp (- x0 m)) by (apply exp_grows; lra). nra.
      * rewrite (Z F). replace (exp a * (1 + e) + 0 - exp a) with (e * exp a) by ring.
        rewrite Rabs_mult, (Rabs_pos_eq (exp a)) by lra. nra.
    + rewrite total_plus, total_times. apply Rplus_le_compat; [rewrite S1; lra|].
      rewrite total_const. lra.
  - rewrite (total_same _ (fun a => factor_of a + -1 * exp a)) by (intros; ring).
    rewrite total_plus, total_times. change (total (fun a => exp a) parts) with (total exp parts).
    change (total (fun a => factor_of a) parts) with (total factor_of parts). ring.
Qed.
