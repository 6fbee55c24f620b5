(* Corollary L, Lambda_H: how far M + ln Sigma W lies from the exact LSE where errors of scores exceed 1. *)
From Attest Require Export clause_d.

Section Lambda_H.
Context (m : model) (h : history) (p : part) (M : R) (exact E Y : key -> R) (biggest up low kappa_star omega_W Lambda : R) (R_max : nat).

Definition LSE := ln (total (fun e => exp (exact (of e))) (entries p)).
Definition small := (INR R_max + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m).
Definition Lambda_H := Rmax (up - biggest) (biggest - low) + tau m * (1 + gamma_x m) + ln (INR (length (entries p)))
                       + small + kappa_star + INR (length (entries p)) * omega_W / Lambda.

Record extremes_known := {
  scores_within : forall k, In k (keys h) -> Rabs (score k - exact k) <= E k;
  sizes_within : forall k, In k (keys h) -> Rabs (exact k) + E k + tau m <= Y k /\ M <= Y k;
  largest_near : forall k, In k (keys h) -> reach m (2 * tau m) (Y k) <= Rmin (far m) (x0 m);
  biggest_is : (forall k, In k (keys h) -> exact k <= biggest) /\ exists e, In e (entries p) /\ exact (of e) = biggest;
  up_is : forall k, In k (keys h) -> exact k + E k <= up;
  low_is : exists k, In k (keys h) /\ low <= exact k - E k;
  kappa_star_is : 0 <= kappa_star /\ forall k, In k (keys h) -> kappa m (Y k) - (1 - gamma_x m) * Rmax 0 (low - exact k - E k) <= kappa_star;
  rescales_below_R : forall e, In e (entries p) -> (rescales e <= R_max)%nat;
  far_weigh : forall e, In e (entries p) -> left_over m (Y (of e)) (rescales e) <= omega_W;
  sum_at_least_Lambda : 0 < Lambda <= total weight (entries p) /\ Lambda <= 1 }.

Theorem lambda_H : sane m -> tinies m -> run m h p -> reference p = Some M -> extremes_known ->
  Rabs (M + ln (total weight (entries p)) - LSE) <= Lambda_H.
Proof.
  intros s t H EM K. pose proof (gamma_x_pos m s) as G. pose proof (some_tau m s) as T0. pose proof (few_k_x m t) as G1.
  pose proof (log_loss_pos _ (some_eps m s)) as E0. pose proof (lost_pos m s) as Ls. pose proof (log_loss_pos _ (some_shared m s)) as S0.
  assert (Nn : forall e, In e (entries p) -> 0 <= weight e) by (intros; eapply weight_not_negative; eauto).
  destruct (sum_at_least_Lambda K) as ((L0 & HL) & L1). destruct (kappa_star_is K) as (Ks & Kj).
  destruct (low_is K) as (k0 & Ik0 & Lw). destruct (biggest_is K) as (Big & eb & Ieb & Eb).
  assert (Sc : forall q, In q (keys h) -> - Y q + tau m <= exact q - E q <= score q /\ score q <= exact q + E q /\ M <= Y q).
  { intros q Iq. destruct (sizes_within K q Iq) as (B & MY). pose proof (scores_within K q Iq) as HE. apply between in HE.
    pose proof (between (exact q) _ (Rle_refl _)). lra. }
  assert (Rs : forall e, In e (entries p) -> INR (S (rescales e)) * (log_loss (eps m) + lost m) <= (INR R_max + 1) * (log_loss (eps m) + lost m)).
  { intros e I. rewrite S_INR. assert (INR (rescales e) <= INR R_max) by (apply le_INR, (rescales_below_R K e I)).
    apply Rmult_le_compat_r; lra. }
  destruct (largest_score (keys h)) as (q & Iq & Lq); [intros N; rewrite N in Ik0; easy|].
  pose proof (references _ _ _ H) as C. rewrite EM in C. destruct C as (Cov & k' & Ik' & Lk'). pose proof (Lq k' Ik') as Mq.
  assert (ML : low - tau m <= M <= up).
  { pose proof (Cov q Iq). pose proof (Lq k0 Ik0). pose proof (Sc k0 Ik0). pose proof (Sc k' Ik'). pose proof (up_is K k' Ik'). lra. }
  set (Sg := total weight (entries p)) in *. set (n := length (entries p)) in *.
  assert (N1 : 1 <= INR n).
  { unfold n. destruct (entries p); [easy|]. simpl length. rewrite S_INR. pose proof (pos_INR (length l)). lra. }
  assert (W0 : 0 <= omega_W).
  { eapply Rle_trans; [|apply (far_weigh K eb Ieb)]. unfold left_over. apply Rmult_le_pos; [apply t|left; now apply grows_pos]. }
  (* the exact sum *)
  set (Z := total (fun e => exp (exact (of e))) (entries p)).
  assert (Zs : exp biggest <= Z <= INR n * exp biggest).
  { split.
    - rewrite <- Eb. apply (total_holds (fun e => exp (exact (of e)))); [intros; left; apply exp_pos|easy].
    - apply Rle_trans with (total (fun _ => exp biggest) (entries p)).
      + apply total_below. intros e I. apply exp_grows, Big, (key_of_entry _ _ _ _ H I).
      + rewrite total_const. fold n. lra. }
  assert (Lse : biggest <= LSE <= biggest + ln (INR n)).
  { unfold LSE. fold Z. pose proof (exp_pos biggest). rewrite <- (ln_exp biggest) at 1 2. rewrite Rplus_comm, <- ln_mult by lra.
    split; apply log_grows; lra. }
  (* from below *)
  rewrite <- (entries_keys _ _ _ H) in Iq. apply in_map_iff in Iq as (i & <- & Ii).
  assert (Low : low - (2 * gamma_x m * tau m + kappa_star + small) <= M + ln Sg).
  { pose proof (key_of_entry _ _ _ _ H Ii) as Iki. pose proof (Sc _ Iki) as Si. pose proof (Lq k0 Ik0). pose proof (Sc k0 Ik0).
    pose proof (largest_near K _ Iki) as HX. pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)).
    assert (Re : reach m (M - score (of i) + 2 * tau m) (Y (of i)) <= reach m (2 * tau m) (Y (of i))).
    { unfold reach. apply Rplus_le_compat_r, Rplus_le_compat_r, Rmult_le_compat_l; lra. }
    pose proof (begun_above m h p i H Ii).
    destruct (signed_weight m h p i M (Y (of i)) s t H Ii EM) as [(_ & F)|(a & r & Wa & Pa & (D & _) & _ & N0)]; [lra|lra|lra|].
    rewrite N0, Rplus_0_r in Wa by lra. pose proof (total_holds weight (entries p) i Nn Ii) as Hi. fold Sg in Hi. rewrite Wa in Hi.
    apply log_grows in Hi; [|easy]. pose proof (Rs i Ii). pose proof (Kj _ Iki) as Kk.
    rewrite (Rmax_left 0 (low - exact (of i) - E (of i))) in Kk by lra.
    assert (0 <= gamma_x m * (score (of i) - M)) by (apply Rmult_le_pos; lra). unfold small. lra. }
  (* from above *)
  set (B := tau m * (1 + gamma_x m) + kappa_star + small).
  assert (B0 : 0 <= B).
  { unfold B, small. assert (0 <= tau m * (1 + gamma_x m)) by (apply Rmult_le_pos; lra).
    assert (0 <= (INR R_max + 1) * (log_loss (eps m) + lost m)) by (apply Rmult_le_pos; [pose proof (pos_INR R_max)|]; lra). lra. }
  assert (Each : forall e, In e (entries p) -> weight e <= exp B + omega_W).
  { intros e I. pose proof (key_of_entry _ _ _ _ H I) as Ik. pose proof (Sc _ Ik) as Se. pose proof (exp_pos B).
    pose proof (begun_above m h p e H I).
    destruct (signed_weight m h p e M (Y (of e)) s t H I EM) as [(-> & _)|(a & r & -> & Pa & (_ & D) & F & _)]; [lra|lra|lra|].
    pose proof (far_weigh K e I). pose proof (Rle_abs r). apply Rplus_le_compat; [|lra].
    rewrite <- (exp_ln a) by easy. apply exp_grows. eapply Rle_trans; [exact D|]. pose proof (Rs e I). pose proof (Kj _ Ik) as Kk.
    pose proof (Cov _ Ik). unfold B, small.
    assert ((1 - gamma_x m) * (score (of e) - M) <= (1 - gamma_x m) * (tau m - Rmax 0 (low - exact (of e) - E (of e)))).
    { apply Rmult_le_compat_l; [lra|]. unfold Rmax. destruct (Rle_dec 0 _); lra. }
    lra. }
  assert (Up : ln Sg <= ln (INR n) + B + omega_W).
  { assert (Q : Sg <= INR n * (exp B + omega_W)).
    { unfold Sg. apply Rle_trans with (total (fun _ => exp B + omega_W) (entries p)); [now apply total_below|].
      rewrite total_const. fold n. lra. }
    pose proof (exp_pos B) as EB. assert (EB1 : 1 <= exp B) by (rewrite <- exp_0; now apply exp_grows).
    apply log_grows in Q; [|lra]. rewrite ln_mult in Q by lra.
    assert (ln (exp B + omega_W) <= B + omega_W); [|lra].
    apply Rle_trans with (ln (exp (B + omega_W))); [|rewrite ln_exp; lra]. apply log_grows; [lra|]. rewrite exp_plus.
    pose proof (exp_ineq1_le omega_W). assert (exp B * (1 + omega_W) <= exp B * exp omega_W) by (apply Rmult_le_compat_l; lra).
    assert (1 * omega_W <= exp B * omega_W) by (apply Rmult_le_compat_r; lra). lra. }
  assert (Fw : omega_W <= INR n * omega_W / Lambda).
  { apply Rmult_le_reg_r with Lambda; [easy|]. unfold Rdiv. rewrite (Rmult_assoc (INR n * omega_W)), Rinv_l, Rmult_1_r by lra.
    assert (omega_W * Lambda <= omega_W * 1) by (apply Rmult_le_compat_l; lra).
    assert (1 * omega_W <= INR n * omega_W) by (apply Rmult_le_compat_r; lra). lra. }
  pose proof (Rmax_l (up - biggest) (biggest - low)). pose proof (Rmax_r (up - biggest) (biggest - low)).
  assert (gamma_x m * tau m <= 1 * tau m) by (apply Rmult_le_compat_r; lra).
  assert (Ln : 0 <= ln (INR n)) by (rewrite <- ln_1; apply log_grows; lra).
  unfold Lambda_H. fold n. unfold B in *. apply abs_below. split; lra.
Qed.
End Lambda_H.
