(* Theorem T1, Clause D: a sink that is added behind the keys (b), and its argument t - M may be positive, is one key more: it dominates
   keys and is dominated. *)
From Attest Require Export clause_d sinks.

Section Sink.
Context (m : model) (h : history) (p : part) (e : entry) (M t : R) (exact E Y : key -> R) (masked : key -> bool) (top top_K Lambda omega_W : R).
Context (R_max : nat).
Let keys_K := row_extremes m h p M exact E Y masked top_K Lambda R_max.
Let bot := sink t.
Let all := entries p ++ [e].
Let eta_of k := eta m top (exact k) (E k) (Y k) R_max omega_W Lambda.

(* What is known of the sink: its score, its Y, and that its argument alone does not reach far. *)
Record sink_extremes := {
  sink_score : Rabs (t - exact bot) <= E bot;
  sink_size : Rabs (exact bot) + E bot + tau m <= Y bot /\ Rabs M <= Y bot;
  sink_near : reach m (2 * tau m) (Y bot) <= Rmin (far m) (x0 m);
  sink_tiny : tiny m * (1 + u_shared m) <= omega_W }.

Definition rest n := (INR n + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m).

Lemma sink_argument : keys_K -> sink_extremes -> behind m t p e -> exists x p' d, exps m x p' /\ Rabs d <= u_shared m /\ weight e = p' * (1 + d) /\
  (t <= M -> (1 + gamma_x m) * (t - M) - kappa m (Y bot) - lost m <= x <= (1 - gamma_x m) * (t - M) + kappa m (Y bot) + lost m) /\
  (M <= t -> (1 - gamma_x m) * (t - M) - kappa m (Y bot) - lost m <= x <= (1 + gamma_x m) * (t - M) + kappa m (Y bot) + lost m).
Proof.
  intros K S (y & c & x & p' & d & EM & Hc & (a & n & Ha & Hn & ->) & P & Hd & ->). pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s.
  rewrite (the_reference _ _ _ _ _ _ _ _ _ _ _ K) in EM. inversion EM. subst y. simpl in *. fold (gamma_x m) in Ha. destruct (sink_size S) as (_ & MY).
  pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)) as Gc. pose proof (gamma_x_pos m s) as G. apply between in Ha as Ha', Hn as Hn'.
  assert (Kc : Rabs (c * (1 + a)) <= kappa m (Y bot)).
  { unfold kappa. rewrite Rabs_mult, (Rmult_comm (gamma (c_m m) (u m))), Rmult_assoc, Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos.
    - eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra.
    - eapply Rle_trans; [exact Hc|]. now apply Rmult_le_compat_l. }
  apply between in Kc. exists ((t - M + c) * (1 + a) + n), p', d. repeat split; auto; try apply P.
  - assert (0 <= (M - t) * (gamma_x m - a)) by (apply Rmult_le_pos; lra). lra.
  - assert (0 <= (M - t) * (gamma_x m + a)) by (apply Rmult_le_pos; lra). lra.
  - assert (0 <= (t - M) * (gamma_x m + a)) by (apply Rmult_le_pos; lra). lra.
  - assert (0 <= (t - M) * (gamma_x m - a)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma rest_holds n : sane m -> log_loss (eps m) + lost m + log_loss (u_shared m) <= rest n.
Proof.
  intros s. pose proof (log_loss_pos _ (some_eps m s)). pose proof (lost_pos m s). pose proof (pos_INR n). unfold rest.
  assert (0 <= INR n * (log_loss (eps m) + lost m)) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma logs_near x f d : sane m -> Rabs f <= eps m -> Rabs d <= u_shared m ->
  exp (x - log_loss (eps m) - log_loss (u_shared m)) <= exp x * (1 + f) * (1 + d) <= exp (x + log_loss (eps m) + log_loss (u_shared m)).
Proof.
  intros s Hf Hd. destruct (log_near f (eps m) (some_eps m s) Hf) as (Pf & Df). destruct (log_near d (u_shared m) (some_shared m s) Hd) as (Pd & Dd).
  apply between in Df, Dd. rewrite <- (exp_ln (1 + f)), <- (exp_ln (1 + d)), <- !exp_plus by easy. split; apply exp_grows; lra.
Qed.

(* From below, where the sink lies above the keys' reference; from above, wherever it lies. *)
Lemma sink_keeps : keys_K -> sink_extremes -> behind m t p e -> M <= t -> exp ((1 - gamma_x m) * (t - M) - (kappa m (Y bot) + rest R_max)) <= weight e.
Proof.
  intros K S B L. pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s. destruct (sink_argument K S B) as (x & q & d & (_ & P) & Hd & -> & _ & X). specialize (X L).
  pose proof (sink_near S) as N. pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)). pose proof (gamma_x_pos m s) as G. pose proof (some_tau m s).
  assert (Up : - reach m (2 * tau m) (Y bot) <= x).
  { unfold reach. assert (0 <= (1 + gamma_x m) * (2 * tau m)) by (apply Rmult_le_pos; lra).
    assert (0 <= (1 - gamma_x m) * (t - M)) by (apply Rmult_le_pos; [pose proof (gamma_small _ _ _ _ _ _ _ _ _ _ _ K); lra|lra]). lra. }
  destruct P as [(F & _)|(f & z & Hf & _ & Z & ->)]; [lra|]. rewrite Z, Rplus_0_r by lra. destruct (logs_near x f d s Hf Hd) as (Lo & _).
  eapply Rle_trans; [|exact Lo]. apply exp_grows. pose proof (rest_holds R_max s). lra.
Qed.
Lemma sink_at_most : keys_K -> sink_extremes -> behind m t p e ->
  weight e <= exp (Rmax ((1 - gamma_x m) * (t - M)) ((1 + gamma_x m) * (t - M)) + (kappa m (Y bot) + rest R_max)) + omega_W.
Proof.
  intros K S B. pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s. destruct (sink_argument K S B) as (x & q & d & (_ & P) & Hd & -> & X1 & X2).
  pose proof (sink_tiny S) as Ty. pose proof (small_tinies _ _ _ _ _ _ _ _ _ _ _ K) as ti. pose proof (some_tiny m ti). pose proof (some_shared m s). apply between in Hd as Hd'.
  assert (0 <= tiny m * (1 + u_shared m)) by (apply Rmult_le_pos; lra).
  set (top_x := Rmax ((1 - gamma_x m) * (t - M)) ((1 + gamma_x m) * (t - M))).
  assert (Xt : x <= top_x + kappa m (Y bot) + lost m).
  { pose proof (Rmax_l ((1 - gamma_x m) * (t - M)) ((1 + gamma_x m) * (t - M))). pose proof (Rmax_r ((1 - gamma_x m) * (t - M)) ((1 + gamma_x m) * (t - M))).
    unfold top_x. destruct (Rle_dec t M); [specialize (X1 ltac:(lra))|specialize (X2 ltac:(lra))]; lra. }
  destruct P as [(_ & ->)|(f & z & Hf & Hz & _ & ->)].
  - pose proof (exp_pos (top_x + (kappa m (Y bot) + rest R_max))). lra.
  - rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    + destruct (logs_near x f d s Hf Hd) as (_ & Hi). eapply Rle_trans; [exact Hi|]. apply exp_grows. pose proof (rest_holds R_max s). lra.
    + eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult, (Rabs_pos_eq (1 + d)) by lra.
      assert (Rabs z * (1 + d) <= tiny m * (1 + u_shared m)) by (apply Rmult_le_compat; auto using Rabs_pos; lra). lra.
Qed.

Lemma total_all : total weight all = total weight (entries p) + weight e.
Proof. unfold all. rewrite total_app. simpl. lra. Qed.
Lemma sink_not_negative : sane m -> behind m t p e -> 0 <= weight e.
Proof.
  intros s (y & c & x & q & d & _ & _ & _ & (Q & _) & Hd & ->). pose proof (some_shared m s). apply between in Hd. simpl. apply Rmult_le_pos; lra.
Qed.

(* A weight beside one that is e^{d} times as large, but for omega_W. *)
Lemma below_eta k w x S : keys_K -> 0 <= omega_W -> Lambda <= S -> w <= exp (- (1 - gamma_x m) * gap m top (exact k) (E k) (Y k) + eta_plus m R_max + x) + omega_W ->
  exp x <= S -> w <= eta_of k * S.
Proof.
  intros K W0 LS Hw Hx. pose proof (Lambda_below _ _ _ _ _ _ _ _ _ _ _ K) as (L0 & _). unfold eta_of, eta. eapply Rle_trans; [exact Hw|].
  rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
  - rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|exact Hx].
  - apply Rle_trans with (omega_W / Lambda * Lambda); [right; field; lra|]. apply Rmult_le_compat_l; [|easy].
    unfold Rdiv. apply Rmult_le_pos; [easy|]. left. now apply Rinv_0_lt_compat.
Qed.

(* The gap of k beside the score of what attains the top: kappa's cancel where gamma_{k_x} is at most 1/2. *)
Lemma gap_below k score_top score_k kappa_top : keys_K -> 0 <= kappa_top -> 0 <= kappa m (Y k) -> top + (1 + 2 * gamma_x m) * kappa_top <= score_top ->
  score_k <= exact k + E k -> kappa_top + kappa m (Y k) + (1 - gamma_x m) * (score_k - score_top) <= - (1 - gamma_x m) * gap m top (exact k) (E k) (Y k).
Proof.
  intros K K0 K1 Ht Hk. pose proof (gamma_small _ _ _ _ _ _ _ _ _ _ _ K) as G2. pose proof (gamma_x_pos m (sane_model _ _ _ _ _ _ _ _ _ _ _ K)) as G.
  assert (Gp : gap m top (exact k) (E k) (Y k) + (1 + 2 * gamma_x m) * (kappa_top + kappa m (Y k)) <= score_top - score_k) by (unfold gap, e_of; lra).
  set (x := kappa_top + kappa m (Y k)) in *.
  assert (x <= (1 - gamma_x m) * ((1 + 2 * gamma_x m) * x)).
  { assert (0 <= gamma_x m * (1 - 2 * gamma_x m) * x) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|unfold x; lra]). lra. }
  assert ((1 - gamma_x m) * (gap m top (exact k) (E k) (Y k) + (1 + 2 * gamma_x m) * x) <= (1 - gamma_x m) * (score_top - score_k)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma sink_kappa : keys_K -> sink_extremes -> 0 <= kappa m (Y bot).
Proof.
  intros K S. pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s. pose proof (gamma_x_pos m s). pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)).
  destruct (sink_size S) as (_ & MY). pose proof (Rabs_pos M). unfold kappa. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
Qed.
Lemma two_rests : sane m -> 2 * rest R_max + 4 * gamma_x m * tau m = eta_plus m R_max.
Proof. intros _. unfold rest, eta_plus. ring. Qed.

(* The sink attains the top: it is the larger one where it lies above the reference, else the largest key is. *)
Theorem sink_dominates k w : run m h p -> keys_K -> sink_extremes -> behind m t p e -> 0 <= omega_W -> top <= exact bot - e_of m (E bot) (Y bot) ->
  In k (keys h) -> at_most_weight m M k (Y k) R_max omega_W w -> w <= eta_of k * total weight all.
Proof.
  intros H K S B W0 Top Ik Hw. pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s. pose proof (gamma_x_pos m s) as G. pose proof (some_tau m s) as T0.
  pose proof (kappa_not_negative _ _ _ _ _ _ _ _ _ _ _ k K Ik) as Kk. pose proof (sink_kappa K S) as Kb. pose proof (score_errors _ _ _ _ _ _ _ _ _ _ _ K k Ik) as Ek.
  pose proof (sink_score S) as Et. apply between in Ek, Et. pose proof (Lambda_below _ _ _ _ _ _ _ _ _ _ _ K) as (_ & HL). pose proof (sink_not_negative s B) as Nb.
  rewrite total_all. pose proof (two_rests s) as Tr. assert (Gt : 0 <= gamma_x m * tau m) by now apply Rmult_le_pos.
  assert (Nk : 0 <= total weight (entries p)) by (pose proof (Lambda_below _ _ _ _ _ _ _ _ _ _ _ K); lra).
  assert (Ht : top + (1 + 2 * gamma_x m) * kappa m (Y bot) <= t) by (unfold e_of in Top; lra).
  destruct (Rle_dec M t) as [L|L].
  - pose proof (gap_below k t (score k) (kappa m (Y bot)) K Kb Kk Ht ltac:(lra)) as Gp. pose proof (sink_keeps K S B L) as Kp.
    apply (below_eta k w ((1 - gamma_x m) * (t - M) - (kappa m (Y bot) + rest R_max))); auto; try lra.
    eapply Rle_trans; [exact Hw|]. apply Rplus_le_compat_r, exp_grows. fold (rest R_max) in *. unfold rest in *. lra.
  - destruct (largest_exists _ _ _ _ _ _ _ _ _ _ _ H K) as (i & _ & Mi & _ & Wi). destruct (sink_size S) as (S1 & S2). pose proof (Rle_abs M). pose proof (between (exact bot) _ (Rle_refl _)).
    specialize (Wi (Y bot) ltac:(lra) ltac:(lra) (sink_near S)).
    pose proof (gap_below k (score i) (score k) (kappa m (Y bot)) K Kb Kk ltac:(lra) ltac:(lra)) as Gp.
    refine (below_eta k w _ _ K W0 _ _ (Rle_trans _ _ _ Wi _)); [lra| |lra].
    eapply Rle_trans; [exact Hw|]. apply Rplus_le_compat_r, exp_grows. assert (0 <= gamma_x m * (score i - M)) by (apply Rmult_le_pos; lra). unfold rest in *. lra.
Qed.

(* A key attains the top, and the sink lies below it. *)
Theorem sink_dominated : run m h p -> keys_K -> sink_extremes -> behind m t p e -> top <= top_K -> 0 <= gap m top (exact bot) (E bot) (Y bot) ->
  weight e <= eta_of bot * total weight all.
Proof.
  intros H K S B Top Gap. pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s. pose proof (gamma_x_pos m s) as G. pose proof (some_tau m s) as T0.
  destruct (top_attained _ _ _ _ _ _ _ _ _ _ _ K) as (q & Iq & Mq & Tq). destruct (largest_keeps _ _ _ _ _ _ _ _ _ _ _ q H K Iq Mq) as (i & _ & Mi & Li & Wi).
  pose proof (kappa_not_negative _ _ _ _ _ _ _ _ _ _ _ q K Iq) as Kq. pose proof (sink_kappa K S) as Kb. pose proof (score_errors _ _ _ _ _ _ _ _ _ _ _ K q Iq) as Eq.
  pose proof (sink_score S) as Et. apply between in Eq, Et. pose proof (sink_not_negative s B) as Nb. pose proof (Lambda_below _ _ _ _ _ _ _ _ _ _ _ K) as (L0 & HL).
  pose proof (some_tiny m (small_tinies _ _ _ _ _ _ _ _ _ _ _ K)). pose proof (some_shared m s). pose proof (sink_tiny S).
  assert (W0 : 0 <= omega_W) by (assert (0 <= tiny m * (1 + u_shared m)) by (apply Rmult_le_pos; lra); lra).
  assert (Hq : top + (1 + 2 * gamma_x m) * kappa m (Y q) <= score i) by (unfold e_of in Tq; lra).
  pose proof (gap_below bot (score i) t (kappa m (Y q)) K Kq Kb Hq ltac:(lra)) as Gp. rewrite total_all. pose proof (two_rests s) as Tr.
  assert (Below : t <= score i) by (unfold gap, e_of in Gap; assert (0 <= (1 + 2 * gamma_x m) * kappa m (Y bot)) by (apply Rmult_le_pos; lra);
    assert (0 <= (1 + 2 * gamma_x m) * kappa m (Y q)) by (apply Rmult_le_pos; lra); lra).
  refine (below_eta bot (weight e) _ _ K W0 _ _ (Rle_trans _ _ _ Wi _)); [lra| |lra].
  eapply Rle_trans; [apply (sink_at_most K S B)|]. apply Rplus_le_compat_r, exp_grows.
  assert (Rmax ((1 - gamma_x m) * (t - M)) ((1 + gamma_x m) * (t - M)) - (1 + gamma_x m) * (score i - M) <= (1 - gamma_x m) * (t - score i)).
  { assert (0 <= gamma_x m * (score i - t)) by (apply Rmult_le_pos; lra). assert (0 <= gamma_x m * (score i - M)) by (apply Rmult_le_pos; lra).
    unfold Rmax. destruct (Rle_dec _ _); lra. }
  assert (0 <= gamma_x m * tau m) by now apply Rmult_le_pos. unfold rest in *. lra.
Qed.

(* Clause D, with the sink among the keys: of each of them that is not in J. *)
Theorem clause_D_sink j : run m h p -> keys_K -> sink_extremes -> behind m t p e -> top <= top_K \/ top <= exact bot - e_of m (E bot) (Y bot) ->
  In j all -> masked (of j) = false \/ j = e -> left_over m (Y (of j)) (rescales j) <= omega_W -> 0 < gap m top (exact (of j)) (E (of j)) (Y (of j)) ->
  weight j <= eta_of (of j) * total weight all.
Proof.
  intros H K S B Top I Mj HW Gap. pose proof (left_over_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ K HW) as W0. pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s.
  assert (Oe : of e = bot) by (destruct B as (y & c & x & q & d & _ & _ & _ & _ & _ & ->); reflexivity).
  pose proof (sink_kappa K S) as Kb. pose proof (gamma_x_pos m s) as G. pose proof (sink_score S) as Et. pose proof (Rabs_pos (t - exact bot)).
  assert (Sink : j = e -> weight j <= eta_of (of j) * total weight all).
  { intros ->. rewrite Oe in *. destruct Top as [Top|Top]; [now apply sink_dominated; auto; lra|]. exfalso. unfold gap, e_of in *.
    assert (0 <= (1 + 2 * gamma_x m) * kappa m (Y bot)) by (apply Rmult_le_pos; lra). lra. }
  destruct Mj as [Mj|Mj]; [|now apply Sink]. unfold all in I. apply in_app_iff in I as [I|[I|[]]]; [|now apply Sink].
  pose proof (key_of_entry _ _ _ _ H I) as Ik. destruct (reference_sizes _ _ _ _ _ _ _ _ _ _ _ K _ Ik Mj) as (Bs & MY).
  pose proof (score_errors _ _ _ _ _ _ _ _ _ _ _ K _ Ik) as HE. apply between in HE. pose proof (between (exact (of j)) _ (Rle_refl _)). pose proof (begun_above m h p j H I).
  pose proof (weight_at_most m h p M exact E Y masked top_K Lambda R_max j (Y (of j)) omega_W H K I HW MY ltac:(lra)) as Q.
  destruct Top as [Top|Top]; [|now apply sink_dominates with (k := of j)].
  pose proof (dominated m h p M exact E Y masked top_K Lambda R_max (of j) omega_W _ H K Ik W0 Q) as D. eapply Rle_trans; [exact D|]. rewrite total_all.
  pose proof (Lambda_below _ _ _ _ _ _ _ _ _ _ _ K) as (L0 & HL). pose proof (sink_not_negative s B). pose proof (gamma_small _ _ _ _ _ _ _ _ _ _ _ K).
  assert (Q1 : 0 <= omega_W / Lambda) by (unfold Rdiv; apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
  apply Rmult_le_compat; try lra.
  - unfold eta. match goal with |- 0 <= exp ?x + _ => pose proof (exp_pos x) end. lra.
  - unfold eta_of, eta. apply Rplus_le_compat_r, exp_grows. unfold gap.
    assert ((1 - gamma_x m) * (top - (exact (of j) + e_of m (E (of j)) (Y (of j)))) <= (1 - gamma_x m) * (top_K - (exact (of j) + e_of m (E (of j)) (Y (of j))))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
End Sink.
