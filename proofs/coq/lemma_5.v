(* Lemma 5 (a): the sum of the weights is at least Lambda, as the key that set the reference keeps a large weight. *)
From Attest Require Export lemma_3.

(* What is left of the weight 1 of that key, after n rescales. *)
Definition kept m Y n :=
  exp (- (gamma_x m * (2 * tau m) + kappa m Y + (INR n + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m))).

Theorem lemma_5a m h p M Y : sane m -> run m h p -> reference p = Some M -> M <= Y ->
  (forall k, In k (keys h) -> - Y <= score k - tau m) -> reach m (2 * tau m) Y <= Rmin (far m) (x0 m) ->
  exists e, In e (entries p) /\ M <= score (of e) /\ kept m Y (rescales e) <= weight e.
Proof.
  intros s H EM HM HY HX. pose proof (references _ _ _ H) as C. rewrite EM in C. destruct C as (_ & k & Ik & Lk).
  rewrite <- (entries_keys _ _ _ H) in Ik. apply in_map_iff in Ik as (e & <- & I). exists e. repeat split; auto.
  destruct (entries_made m h p e H I) as (M' & EM' & Md). assert (M' = M) by congruence. subst M'.
  pose proof (gamma_x_pos m s) as G. pose proof (some_tau m s) as T.
  destruct (made_weight m (of e) M (weight e) (path e) Y s Md) as (P & D); auto.
  - apply HY, (key_of_entry _ _ _ _ H I).
  - unfold reach in *. nra.
  - rewrite <- (exp_ln (weight e)) by easy. unfold kept. apply exp_grows. apply between in D.
    pose proof (sizes_below m (of e) M _ _ T Md) as Sz. pose proof (path_lengths _ _ _ _ H I) as Ln.
    assert (gamma_x m * sizes (path e) <= gamma_x m * (2 * tau m)) by (apply Rmult_le_compat_l; lra).
    unfold rescales. rewrite minus_INR by lia. simpl (INR 1).
    replace (INR (length (path e)) - 1 + 1) with (INR (length (path e))) by ring. lra.
Qed.

(* Where exp(0) = 1 and nothing is lazy, that key meets no rescale. *)
Theorem no_rescale_of_the_largest m h p M e : exact_at_0 m = true -> tau m = 0 -> run m h p -> reference p = Some M ->
  In e (entries p) -> M <= score (of e) -> rescales e = O.
Proof.
  intros X T H EM I L. pose proof (lemma_2_rank m h p e X (Req_le_sym _ _ T) H I) as R. unfold lazy in R.
  destruct (Req_EM_T (tau m) 0) as [_|]; [|easy].
  pose proof (references _ _ _ H) as C. rewrite EM in C. destruct C as (C & _).
  enough (Z : rank (score (of e)) (keys h) = O) by lia. unfold rank. clear -C L T. induction (keys h) as [|k ks IH]; simpl; [easy|].
  assert (score k <= score (of e)) by (specialize (C k (or_introl eq_refl)); lra).
  destruct (Rlt_dec (score (of e)) (score k)); [lra|]. apply IH. intros i Ii. apply C. now right.
Qed.

Lemma exp_of_half : 5967 / 10000 <= exp (- / 2).
Proof.
  assert (E : exp (- / 2) = exp (- / 16) ^ 8).
  { simpl pow. rewrite Rmult_1_r, <- !exp_plus. f_equal. lra. }
  rewrite E. apply Rle_trans with ((15 / 16) ^ 8); [lra|]. apply pow_incr. pose proof (exp_ineq1_le (- / 16)). lra.
Qed.

(* Lambda of section 3, with tau = 0, exp(0) = 1 and what H4 leaves of the small losses. *)
Theorem kept_is_Lambda m Y g : sane m -> tau m = 0 -> kappa m Y <= g -> eps m <= / 8 ->
  lost m + log_loss (u_shared m) <= / 32 -> / 2 * Rmin 1 (exp (/ 2 - g)) <= kept m Y 0.
Proof.
  intros s T K He Hl. unfold kept. rewrite T. simpl INR. pose proof (exp_pos (/ 2 - g)) as Pg.
  assert (N : 7 / 8 * (31 / 32) * exp (- g) <= exp (- (gamma_x m * (2 * 0) + kappa m Y + (0 + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m)))).
  { assert (7 / 8 <= exp (- log_loss (eps m))).
    { unfold log_loss. rewrite Ropp_involutive, exp_ln; destruct s; lra. }
    assert (31 / 32 <= exp (- / 32)) by (pose proof (exp_ineq1_le (- / 32)); lra).
    apply Rle_trans with (exp (- log_loss (eps m)) * exp (- / 32) * exp (- g)).
    - apply Rmult_le_compat_r; [left; apply exp_pos|]. apply Rmult_le_compat; lra.
    - rewrite <- !exp_plus. apply exp_grows. lra. }
  pose proof exp_of_half as H. eapply Rle_trans; [|exact N]. pose proof (exp_pos (- g)). destruct (Rle_dec g (/ 2)) as [L|L].
  - assert (exp (- / 2) <= exp (- g)) by (apply exp_grows; lra). pose proof (Rmin_l 1 (exp (/ 2 - g))). lra.
  - pose proof (Rmin_r 1 (exp (/ 2 - g))). assert (Eq : exp (/ 2 - g) = exp (/ 2) * exp (- g)) by (rewrite <- exp_plus; f_equal; lra).
    assert (exp (/ 2) * exp (- / 2) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
    assert (exp (/ 2) <= 10000 / 5967) by (pose proof (exp_pos (/ 2)); nra).
    assert (exp (/ 2) * exp (- g) <= 10000 / 5967 * exp (- g)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* Three quarters of it where the weight of that key is rescaled, by a rounded exp(0), as H4 leaves (1 - eps)^R. *)
Theorem kept_is_Lambda_rescaled m Y g n : sane m -> tau m = 0 -> kappa m Y <= g -> eps m <= / 8 ->
  lost m + log_loss (u_shared m) <= / 32 -> 3 / 4 <= exp (- (INR n * (log_loss (eps m) + lost m))) ->
  3 / 4 * (/ 2 * Rmin 1 (exp (/ 2 - g))) <= kept m Y n.
Proof.
  intros s T K He Hl Hn. pose proof (kept_is_Lambda m Y g s T K He Hl) as L.
  assert (E : kept m Y n = exp (- (INR n * (log_loss (eps m) + lost m))) * kept m Y 0).
  { unfold kept. rewrite <- exp_plus. f_equal. simpl INR. ring. }
  rewrite E. assert (0 <= / 2 * Rmin 1 (exp (/ 2 - g))).
  { pose proof (exp_pos (/ 2 - g)). unfold Rmin. destruct (Rle_dec 1 (exp (/ 2 - g))); lra. }
  apply Rmult_le_compat; lra.
Qed.
