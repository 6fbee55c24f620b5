(* Theorem T2: the second form of a sink's factor, f^ = exp^(L^_K - L^), and the LSE of keys and sink. *)
From Attest Require Export factors.

(* ln(e^a + e^b) moves by no more than its arguments do. *)
Definition both a b := ln (exp a + exp b).
Lemma both_pos a b : 0 < exp a + exp b.
Proof. pose proof (exp_pos a). pose proof (exp_pos b). lra. Qed.
Lemma both_shifted a b d : both (a + d) (b + d) = both a b + d.
Proof.
  unfold both. rewrite !exp_plus, <- Rmult_plus_distr_r, ln_mult, ln_exp; [easy|apply both_pos|apply exp_pos].
Qed.
Lemma both_grows a b a' b' : a <= a' -> b <= b' -> both a b <= both a' b'.
Proof. intros A B. unfold both. apply log_grows; [apply both_pos|]. apply Rplus_le_compat; now apply exp_grows. Qed.
Theorem both_moves a b a' b' d : Rabs (a' - a) <= d -> Rabs (b' - b) <= d -> Rabs (both a' b' - both a b) <= d.
Proof.
  intros A B. apply between in A, B. apply abs_below. pose proof (both_grows (a + - d) (b + - d) a' b' ltac:(lra) ltac:(lra)).
  pose proof (both_grows a' b' (a + d) (b + d) ltac:(lra) ltac:(lra)). rewrite both_shifted in *. lra.
Qed.

(* The factor of the keys, and its logarithm. *)
Definition factor_of a b := exp (a - both a b).
Lemma log_factor a b : a - both a b = - ln (1 + exp (b - a)).
Proof.
  unfold both. replace (exp a + exp b) with (exp a * (1 + exp (b - a))).
  - pose proof (exp_pos (b - a)). rewrite ln_mult, ln_exp by (try apply exp_pos; lra). ring.
  - rewrite Rmult_plus_distr_l, Rmult_1_r, <- exp_plus. f_equal. f_equal. ring.
Qed.
Lemma factor_is a b : factor_of a b = / (1 + exp (b - a)).
Proof. unfold factor_of. rewrite log_factor, exp_Ropp, exp_ln; [easy|]. pose proof (exp_pos (b - a)). lra. Qed.
Lemma factor_moves L_K t L_K' t' delta : Rabs ((t' - L_K') - (t - L_K)) <= delta ->
  Rabs ((L_K' - both L_K' t') - (L_K - both L_K t)) <= moved (1 - factor_of L_K t) delta.
Proof.
  intros H. pose proof (exp_pos (t - L_K)) as P.
  pose proof (first_form (exp (t - L_K)) ((t' - L_K') - (t - L_K)) delta (factor_of L_K t) (/ (1 + exp (t' - L_K'))) ltac:(lra) H (factor_is L_K t)) as F.
  rewrite !log_factor. rewrite factor_is in *. rewrite <- exp_plus in F. replace (t - L_K + (t' - L_K' - (t - L_K))) with (t' - L_K') in F by ring.
  pose proof (exp_pos (t' - L_K')). rewrite !ln_Rinv in F by lra. now apply F.
Qed.
Lemma log_factor_size a b : Rabs (a - both a b) <= Rmax 0 (b - a) + ln 2.
Proof.
  rewrite log_factor, Rabs_Ropp. pose proof (exp_pos (b - a)) as P. assert (0 <= ln (1 + exp (b - a))) by (rewrite <- ln_1; apply log_grows; lra).
  rewrite Rabs_pos_eq by easy. rewrite <- (ln_exp (Rmax 0 (b - a))), <- ln_mult by (try apply exp_pos; lra). apply log_grows; [lra|].
  pose proof (exp_grows _ _ (Rmax_l 0 (b - a))) as E0. rewrite exp_0 in E0. pose proof (exp_grows _ _ (Rmax_r 0 (b - a))). lra.
Qed.

(* L^ = ln(e^{L^_K} + e^{t^}) + xi; x is the argument L^_K - L^ with its roundings a and what these lose; e is exp's error. *)
Definition eta_second m pi_sink t L_K lambda E Xi :=
  let M := moved pi_sink (lambda + E) in M + Xi + gamma_x m * (Rmax 0 (t - L_K) + ln 2 + M + Xi) + log_loss (eps m) + lost m.
Theorem second_form m t L_K t_hat L_hat xi x e lambda E Xi : sane m -> Rabs (L_hat - L_K) <= lambda -> Rabs (t_hat - t) <= E -> Rabs xi <= Xi ->
  argument m (L_hat - (both L_hat t_hat + xi)) x -> Rabs e <= eps m ->
  let f := factor_of L_K t in let f_hat := exp x * (1 + e) in
  0 < f_hat /\ Rabs (ln f_hat - ln f) <= eta_second m (1 - f) t L_K lambda E Xi.
Proof.
  intros s HL Ht Hx (a & n & Ha & Hn & ->) He f f_hat. fold (gamma_x m) in Ha. destruct (log_near e (eps m) (some_eps m s) He) as (Pe & De).
  split; [apply Rmult_lt_0_compat; [apply exp_pos|easy]|]. unfold f_hat. rewrite ln_mult, ln_exp by (try apply exp_pos; easy).
  unfold f at 1. unfold factor_of at 1. rewrite ln_exp.
  assert (Mv : Rabs ((L_hat - both L_hat t_hat) - (L_K - both L_K t)) <= moved (1 - f) (lambda + E)).
  { apply factor_moves. replace (t_hat - L_hat - (t - L_K)) with ((t_hat - t) + - (L_hat - L_K)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    rewrite Rabs_Ropp. lra. }
  pose proof (log_factor_size L_K t) as Sz. unfold eta_second. set (M := moved (1 - f) (lambda + E)) in *.
  set (y := L_hat - both L_hat t_hat) in *. set (z := L_K - both L_K t) in *. replace (L_hat - (both L_hat t_hat + xi)) with (y - xi) by (unfold y; ring).
  assert (Y : Rabs (y - xi) <= Rmax 0 (t - L_K) + ln 2 + M + Xi).
  { replace (y - xi) with (z + (y - z) + - xi) by ring. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp.
    eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra. }
  replace ((y - xi) * (1 + a) + n + ln (1 + e) - z) with ((y - z) + - xi + (y - xi) * a + ln (1 + e) + n) by ring.
  assert (A : Rabs ((y - xi) * a) <= gamma_x m * (Rmax 0 (t - L_K) + ln 2 + M + Xi)) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat; auto using Rabs_pos).
  apply between in Mv, Hx, A, De, Hn. apply abs_below. lra.
Qed.

(* The LSE: by no more than its arguments move, or one after the other. *)
Theorem T2_lse t L_K t_hat L_hat xi lambda E Xi : Rabs (L_hat - L_K) <= lambda -> Rabs (t_hat - t) <= E -> Rabs xi <= Xi ->
  let f := factor_of L_K t in
  Rabs (both L_hat t_hat + xi - both L_K t) <= Rmin (Rmax lambda E) (lambda + moved (1 - f) E) + Xi.
Proof.
  intros HL Ht Hx f. replace (both L_hat t_hat + xi - both L_K t) with ((both L_hat t_hat - both L_K t) + xi) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. apply Rmin_glb.
  - apply both_moves; [eapply Rle_trans; [exact HL|apply Rmax_l]|eapply Rle_trans; [exact Ht|apply Rmax_r]].
  - replace (both L_hat t_hat - both L_K t) with ((both L_hat t_hat - both L_K t_hat) + (both L_K t_hat - both L_K t)) by ring.
    assert (A : Rabs (both L_hat t_hat - both L_K t_hat) <= lambda).
    { apply both_moves; [easy|]. rewrite Rminus_eq_0, Rabs_R0. eapply Rle_trans; [apply Rabs_pos|exact HL]. }
    assert (B : Rabs (both L_K t_hat - both L_K t) <= moved (1 - f) E).
    { pose proof (factor_moves L_K t L_K t_hat E) as F. replace (t_hat - L_K - (t - L_K)) with (t_hat - t) in F by ring. specialize (F Ht).
      replace (L_K - both L_K t_hat - (L_K - both L_K t)) with (- (both L_K t_hat - both L_K t)) in F by ring. now rewrite Rabs_Ropp in F. }
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
