(* Theorem T2: Xi, what log-add-exp adds: max + log^(1 + exp^(min - max)) beside ln(e^a + e^b) of the same two numbers. *)
From Attest Require Export sink_factor.
From Attest Require Import corollary_l.

(* w/(1 + e^w) is below 0.28: e^w lies above its tangent at ln(1/0.28). *)
Lemma tangent_point : ln (25 / 7) <= 128 / 100.
Proof.
  rewrite <- (ln_exp (128 / 100)). apply log_grows; [lra|].
  assert (Sq : forall x k j, 0 <= k -> j <= k * k -> k <= exp x -> j <= exp (2 * x)).
  { intros x k j K J H. replace (2 * x) with (x + x) by ring. rewrite exp_plus. eapply Rle_trans; [exact J|]. apply Rmult_le_compat; easy. }
  replace (128 / 100) with (2 * (2 * (2 * (2 * (2 * (2 * (2 * (1 / 100)))))))) by lra. pose proof (exp_ineq1_le (1 / 100)).
  apply (Sq _ (18899 / 10000)); [lra|lra|]. apply (Sq _ (137475 / 100000)); [lra|lra|]. apply (Sq _ (117252 / 100000)); [lra|lra|].
  apply (Sq _ (108284 / 100000)); [lra|lra|]. apply (Sq _ (10406 / 10000)); [lra|lra|]. apply (Sq _ (10201 / 10000)); [lra|lra|].
  apply (Sq _ (101 / 100)); lra.
Qed.
Lemma below_its_exp w : w <= 28 / 100 * (1 + exp w).
Proof.
  set (c := ln (25 / 7)). assert (Ec : exp c = 25 / 7) by (apply exp_ln; lra). pose proof tangent_point as C. fold c in C.
  pose proof (exp_ineq1_le (w - c)) as E. assert (exp w = exp c * exp (w - c)) by (rewrite <- exp_plus; f_equal; ring). rewrite H, Ec. lra.
Qed.

(* ln(1 + p) moves by no more than p, and as the argument of an exp by its share of the sum. *)
Lemma log_1_moves p q : 0 <= p -> 0 <= q -> Rabs (ln (1 + p) - ln (1 + q)) <= Rabs (p - q).
Proof.
  assert (Up : forall p q, 0 <= p -> 0 <= q -> ln (1 + p) - ln (1 + q) <= Rabs (p - q)).
  { intros a b A B. assert (E : ln (1 + a) - ln (1 + b) = ln ((1 + a) / (1 + b))) by (unfold Rdiv; rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra); ring).
    rewrite E. eapply Rle_trans; [apply log_below; apply Rdiv_lt_0_compat; lra|]. replace ((1 + a) / (1 + b) - 1) with ((a - b) * / (1 + b)) by (field; lra).
    assert (I : 0 < / (1 + b) <= 1) by (split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_le_contravar; lra]). pose proof (Rle_abs (a - b)). pose proof (Rabs_pos (a - b)).
    apply Rle_trans with (Rabs (a - b) * / (1 + b)); [apply Rmult_le_compat_r; lra|]. rewrite <- (Rmult_1_r (Rabs (a - b))) at 2. apply Rmult_le_compat_l; lra. }
  intros P Q. pose proof (Up p q P Q). pose proof (Up q p Q P) as U. rewrite Rabs_minus_sym in U. apply abs_below. lra.
Qed.
Lemma exp_argument_moves a b : a <= b -> 0 <= ln (1 + exp (- a)) - ln (1 + exp (- b)) <= (b - a) / (1 + exp a).
Proof.
  intros L. pose proof (exp_pos (- a)) as A. pose proof (exp_pos (- b)). pose proof (exp_grows (- b) (- a) ltac:(lra)). pose proof (exp_pos a) as Pa.
  split; [pose proof (log_grows (1 + exp (- b)) (1 + exp (- a)) ltac:(lra) ltac:(lra)); lra|].
  set (p := / (1 + exp a)). assert (Hp : 0 <= p <= 1) by (unfold p; split; [left; apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
  pose proof (mean_of_exp p (a - b) Hp) as M. apply log_grows in M; [|apply exp_pos]. rewrite ln_exp in M.
  assert (E : 1 + p * (exp (a - b) - 1) = (1 + exp (- b)) * / (1 + exp (- a))).
  { unfold p. replace (a - b) with (a + - b) by ring. rewrite exp_plus, !exp_Ropp. pose proof (exp_pos b). field. repeat split; lra. }
  rewrite E, ln_mult, ln_Rinv in M by (try apply Rinv_0_lt_compat; lra). unfold Rdiv. fold p. lra.
Qed.
Lemma rounded_argument y t g : 0 <= y -> 0 <= g < 1 -> Rabs t <= g ->
  Rabs (ln (1 + exp (- (y * (1 + t)))) - ln (1 + exp (- y))) <= 28 / 100 * g / (1 - g).
Proof.
  intros Hy Hg Ht. apply between in Ht.
  assert (Q : forall a b, y * (1 - g) <= a -> a <= b -> b - a <= g * y -> 0 <= ln (1 + exp (- a)) - ln (1 + exp (- b)) <= 28 / 100 * g / (1 - g)).
  { intros a b A L D. pose proof (exp_argument_moves a b L) as M. split; [lra|]. eapply Rle_trans; [apply M|]. pose proof (below_its_exp (y * (1 - g))) as W.
    pose proof (exp_grows _ _ A) as Ea. pose proof (exp_pos (y * (1 - g))). apply Rmult_le_reg_r with ((1 + exp a) * (1 - g)); [apply Rmult_lt_0_compat; lra|].
    replace ((b - a) / (1 + exp a) * ((1 + exp a) * (1 - g))) with ((b - a) * (1 - g)) by (field; lra).
    replace (28 / 100 * g / (1 - g) * ((1 + exp a) * (1 - g))) with (g * (28 / 100 * (1 + exp a))) by (field; lra).
    apply Rle_trans with (g * y * (1 - g)); [apply Rmult_le_compat_r; lra|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; lra. }
  assert (G : 0 <= y * (g + t) /\ 0 <= y * (g - t)) by (split; apply Rmult_le_pos; lra). apply abs_below.
  destruct (Rle_dec (y * (1 + t)) y) as [L|L].
  - specialize (Q (y * (1 + t)) y ltac:(lra) L ltac:(lra)). lra.
  - specialize (Q y (y * (1 + t)) ltac:(assert (0 <= g * y) by (apply Rmult_le_pos; lra); lra) ltac:(lra) ltac:(lra)). lra.
Qed.
(* exp has at most half of the sum. *)
Lemma half_of_exp p e eps : 0 <= p <= 1 -> 0 <= eps < 1 -> Rabs e <= eps -> 0 <= p * (1 + e) /\ Rabs (ln (1 + p * (1 + e)) - ln (1 + p)) <= log_loss eps / 2.
Proof.
  intros Hp He H. apply between in H. set (s := p / (1 + p)). assert (Hs : 0 <= s <= / 2).
  { unfold s. split; [unfold Rdiv; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|]. apply Rmult_le_reg_r with (1 + p); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (P0 : 0 <= p * (1 + e)) by (apply Rmult_le_pos; lra). split; [easy|].
  assert (E : ln (1 + p * (1 + e)) - ln (1 + p) = ln (1 + s * e)).
  { replace (1 + s * e) with ((1 + p * (1 + e)) * / (1 + p)) by (unfold s; field; lra). rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra). ring. }
  assert (Ll : eps <= log_loss eps) by (unfold log_loss; pose proof (log_below (1 - eps) ltac:(lra)); lra).
  assert (Se : s * - eps <= s * e <= s * eps) by (split; apply Rmult_le_compat_l; lra).
  assert (Sh : s * eps <= / 2 * eps) by (apply Rmult_le_compat_r; lra). rewrite E. apply abs_below. split.
  - pose proof (mean_of_exp s (ln (1 - eps)) ltac:(lra)) as M. rewrite exp_ln in M by lra. apply log_grows in M; [|apply exp_pos]. rewrite ln_exp in M.
    assert (L : ln (1 + s * (1 - eps - 1)) <= ln (1 + s * e)) by (apply log_grows; lra).
    assert (s * log_loss eps <= / 2 * log_loss eps) by (apply Rmult_le_compat_r; lra). unfold log_loss in *. lra.
  - pose proof (log_below (1 + s * e) ltac:(lra)). lra.
Qed.

Section Log_add_exp.
Context (m : model) (a b eps_log omega_log Y : R) (k_lse : nat).
Let M := Rmax a b.
Let y := M - Rmin a b.
Definition lambda_0 := Rmax (tiny m) (exp (- x0 m)).
Definition xi_1 := gamma 1 (u m) + 28 / 100 * gamma_x m / (1 - gamma_x m) + log_loss (eps m) / 2 + lost m + lambda_0.
Definition xi_2 := xi_1 + eps_log * (ln 2 + xi_1) + omega_log.
Definition Xi := xi_2 + gamma k_lse (u m) * (Y + ln 2 + xi_2) + 2 * omega m.

Lemma both_of_max : both a b = M + ln (1 + exp (- y)) /\ 0 <= y.
Proof.
  unfold both, y, M, Rmax, Rmin. destruct (Rle_dec a b); (split; [|lra]).
  - rewrite <- (ln_exp b) at 2. pose proof (exp_pos (- (b - a))). rewrite <- ln_mult by (try apply exp_pos; lra). f_equal. rewrite Rmult_plus_distr_l, <- exp_plus.
    replace (b + - (b - a)) with a by ring. ring.
  - rewrite <- (ln_exp a) at 2. pose proof (exp_pos (- (a - b))). rewrite <- ln_mult by (try apply exp_pos; lra). f_equal. rewrite Rmult_plus_distr_l, <- exp_plus.
    replace (a + - (a - b)) with b by ring. ring.
Qed.

(* The sum 1 + exp^, one rounding of it; its log; and k_lse roundings of both parts of the result. *)
Theorem log_add_exp x q d e w r1 r2 n result : sane m -> 0 <= tiny m -> gamma_x m < 1 -> u m < 1 -> 0 <= eps_log -> Rabs M <= Y -> 0 <= gamma k_lse (u m) ->
  argument m (- y) x -> exps m x q -> Rabs d <= u m -> Rabs e <= eps_log -> Rabs w <= omega_log ->
  Rabs r1 <= gamma k_lse (u m) -> Rabs r2 <= gamma k_lse (u m) -> Rabs n <= 2 * omega m ->
  result = M * (1 + r1) + (ln ((1 + q) * (1 + d)) * (1 + e) + w) * (1 + r2) + n -> Rabs (result - both a b) <= Xi.
Proof.
  intros s Ty G1 U1 El HM Gk (t & n' & Ht & Hn' & ->) (Q0 & X) Hd He Hw H1 H2 Hn ->. fold (gamma_x m) in Ht. pose proof (gamma_x_pos m s) as G. pose proof (some_u m s) as Hu.
  destruct both_of_max as (-> & Y0). pose proof (Rmax_l (tiny m) (exp (- x0 m))) as L1. pose proof (Rmax_r (tiny m) (exp (- x0 m))) as L2. fold lambda_0 in L1, L2.
  pose proof (log_loss_pos _ (some_eps m s)) as E0. pose proof (rounded_argument y t (gamma_x m) Y0 ltac:(lra) Ht) as A1.
  set (z := - (y * (1 + t))) in *. replace (- y * (1 + t) + n') with (z + n') in X by (unfold z; ring).
  assert (Z1 : exp z <= 1). { rewrite <- exp_0. apply exp_grows. unfold z. apply between in Ht. assert (0 <= y * (1 + t)) by (apply Rmult_le_pos; lra). lra. }
  pose proof (exp_pos z) as Pz.
  (* what is lost in a rounded argument moves the log by no more *)
  assert (A2 : forall p, 0 <= p -> Rabs (ln (1 + p * exp n') - ln (1 + p)) <= lost m).
  { intros p P. set (sh := p / (1 + p)). assert (Hs : 0 <= sh <= 1).
    { unfold sh. split; [unfold Rdiv; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|]. apply Rmult_le_reg_r with (1 + p); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    destruct (moved_sum sh n' (lost m) Hs Hn') as (P1 & Mv). replace (1 + sh * (exp n' - 1)) with ((1 + p * exp n') * / (1 + p)) in Mv by (unfold sh; field; lra).
    pose proof (exp_pos n'). assert (0 <= p * exp n') by (apply Rmult_le_pos; lra). rewrite ln_mult, ln_Rinv in Mv by (try apply Rinv_0_lt_compat; lra).
    eapply Rle_trans; [|eapply Rle_trans; [exact Mv|apply Rmin_l]]. right. f_equal. }
  assert (In : Rabs (ln (1 + q) - ln (1 + exp (- y))) <= 28 / 100 * gamma_x m / (1 - gamma_x m) + log_loss (eps m) / 2 + lost m + lambda_0).
  { destruct X as [(Cut & ->)|(f & zeta & Hf & Hz & _ & Eq)].
    - specialize (A2 (exp z) ltac:(lra)). rewrite <- exp_plus in A2. pose proof (log_1_moves 0 (exp (z + n')) ltac:(lra) ltac:(left; apply exp_pos)) as C.
      replace (Rabs (0 - exp (z + n'))) with (exp (z + n')) in C by (rewrite Rminus_0_l, Rabs_Ropp, Rabs_pos_eq; [easy|left; apply exp_pos]). pose proof (exp_grows (z + n') (- x0 m) ltac:(lra)).
      apply between in A1, A2, C. apply abs_below. lra.
    - destruct (half_of_exp (exp z) f (eps m) ltac:(lra) (some_eps m s) Hf) as (P0 & A3). specialize (A2 (exp z * (1 + f)) P0).
      replace (exp z * (1 + f) * exp n') with (exp (z + n') * (1 + f)) in A2 by (rewrite exp_plus; ring).
      assert (P1 : 0 <= exp (z + n') * (1 + f)) by (apply between in Hf; pose proof (some_eps m s); apply Rmult_le_pos; [left; apply exp_pos|lra]).
      pose proof (log_1_moves q (exp (z + n') * (1 + f)) Q0 P1) as C. rewrite Eq in C at 2. replace (exp (z + n') * (1 + f) + zeta - exp (z + n') * (1 + f)) with zeta in C by ring.
      apply between in A1, A2, A3, C. apply abs_below. lra. }
  assert (Dl : 0 < 1 + d /\ Rabs (ln (1 + d)) <= gamma 1 (u m)).
  { destruct (log_near d (u m) ltac:(lra) Hd) as (P & L). split; [easy|]. eapply Rle_trans; [exact L|]. unfold log_loss. rewrite <- ln_Rinv by lra.
    eapply Rle_trans; [apply log_below, Rinv_0_lt_compat; lra|]. unfold gamma. simpl INR. right. field. lra. }
  destruct Dl as (Pd & Dl). set (l := ln ((1 + q) * (1 + d))). set (exact_l := ln (1 + exp (- y))) in *.
  assert (L : Rabs (l - exact_l) <= xi_1).
  { unfold l. rewrite ln_mult by lra. replace (ln (1 + q) + ln (1 + d) - exact_l) with ((ln (1 + q) - exact_l) + ln (1 + d)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. unfold xi_1. lra. }
  assert (El2 : 0 <= exact_l <= ln 2).
  { unfold exact_l. pose proof (exp_pos (- y)). pose proof (exp_grows (- y) 0 ltac:(lra)) as E1. rewrite exp_0 in E1. rewrite <- ln_1 at 1. split; apply log_grows; lra. }
  assert (Sl : Rabs l <= ln 2 + xi_1) by (replace l with (exact_l + (l - exact_l)) by ring; eapply Rle_trans; [apply Rabs_triang|]; rewrite (Rabs_pos_eq exact_l); lra).
  set (ll := l * (1 + e) + w). assert (LL : Rabs (ll - exact_l) <= xi_2).
  { unfold ll. replace (l * (1 + e) + w - exact_l) with ((l - exact_l) + l * e + w) by ring. eapply Rle_trans; [apply Rabs_triang|].
    eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. rewrite Rabs_mult, (Rmult_comm (Rabs l)). unfold xi_2.
    assert (Rabs e * Rabs l <= eps_log * (ln 2 + xi_1)) by (apply Rmult_le_compat; auto using Rabs_pos). lra. }
  assert (SL : Rabs ll <= ln 2 + xi_2) by (replace ll with (exact_l + (ll - exact_l)) by ring; eapply Rle_trans; [apply Rabs_triang|]; rewrite (Rabs_pos_eq exact_l); lra).
  replace (M * (1 + r1) + ll * (1 + r2) + n - (M + exact_l)) with ((ll - exact_l) + M * r1 + ll * r2 + n) by ring.
  assert (B1 : Rabs (M * r1) <= Y * gamma k_lse (u m)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  assert (B2 : Rabs (ll * r2) <= (ln 2 + xi_2) * gamma k_lse (u m)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
  eapply Rle_trans; [apply Rplus_le_compat_r, Rplus_le_compat_r, Rabs_triang|]. unfold Xi. lra.
Qed.
End Log_add_exp.
