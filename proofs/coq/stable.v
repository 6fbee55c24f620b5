(* Stable large scores: a kernel that promises of its arguments of exp what the size of its scores does not grant. However large the
   scores are, the sum of its weights is at least 1/2. *)
From Attest Require Export clause_h lemma_5.

(* A key that is weighed, with the argument x of its exp. *)
Definition weighs_at m (M : option R) k x e := exists y c p d, M = Some y /\
  Rabs c <= gamma (c_m m) (u m) * Rabs y /\ argument m (score k - y + c) x /\ exps m x p /\
  Rabs d <= u_shared m /\ e = Entry k (p * (1 + d)) [score k - y].

(* The promise (H0): no argument exceeds tau + 1/2, and that of the key which set the reference is at least -1/2. *)
Record weighed := Weighed { its_key : key; its_argument : R; its_entry : entry }.
Definition promised m (M M' : option R) (l : list weighed) :=
  (forall w, In w l -> weighs_at m M' (its_key w) (its_argument w) (its_entry w) /\ its_argument w <= tau m + / 2) /\
  (M = M' \/ exists w y, In w l /\ M' = Some y /\ y <= score (its_key w) /\ - / 2 <= its_argument w).

Inductive stable_run (m : model) : history -> part -> Prop :=
  | stable_nothing : stable_run m Nothing (Part None [] Zero Zero)
  | stable_take h b p M f ws l O :
      stable_run m h p -> moves m (reference p) (visible b) M -> factor m (reference p) M f ->
      promised m (reference p) M ws -> visible b = map its_key ws ->
      joins (scaled f (sum_l p) ++ map in_l (map its_entry ws)) l -> joins (scaled f (sum_O p) ++ map in_O (map its_entry ws)) O ->
      stable_run m (Take h b) (Part M (map (through f) (entries p) ++ map its_entry ws) l O)
  | stable_merge a b p q f g l O :
      stable_run m a p -> stable_run m b q ->
      factor m (reference p) (common (reference p) (reference q)) f ->
      factor m (reference q) (common (reference p) (reference q)) g ->
      joins (scaled f (sum_l p) ++ scaled g (sum_l q)) l -> joins (scaled f (sum_O p) ++ scaled g (sum_O q)) O ->
      stable_run m (Merge a b)
        (Part (common (reference p) (reference q)) (map (through f) (entries p) ++ map (through g) (entries q)) l O).

Theorem stable_is_run m h p : stable_run m h p -> run m h p.
Proof.
  induction 1 as [|h b p M f ws l O _ IH Mv F (P & _) V Jl JO|]; [constructor| |econstructor; eauto].
  apply (take m h b p M f (map its_entry ws)); auto. rewrite V. clear -P. induction ws as [|w ws IH]; simpl; [constructor|]. constructor.
  - destruct (P w (or_introl eq_refl)) as ((y & c & q & d & E & Hc & A & X & Hd & Ee) & _). exists y, c, (its_argument w), q, d. auto 10.
  - apply IH. intros w' I. apply P. now right.
Qed.

(* What is left of the weight of the key that set the last reference, after n rescales by exp(0). *)
Definition kept_stable m n := exp (- (/ 2 + (INR n + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m))).

Section Stable.
Context (m : model) (sn : sane m) (near : / 2 <= Rmin (far m) (x0 m) /\ lost m <= Rmin (far m) (x0 m)).

Lemma exp_keeps x r b : exps m x r -> - b <= x -> b <= Rmin (far m) (x0 m) -> exp (- (b + log_loss (eps m))) <= r.
Proof.
  intros (_ & X) B L. pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)). destruct X as [(F & _)|(e & z & He & _ & Z & ->)]; [lra|].
  rewrite Z, Rplus_0_r by lra. destruct (log_near e (eps m) (some_eps m sn) He) as (Pe & De). apply between in De.
  rewrite <- (exp_ln (1 + e)), <- exp_plus by easy. apply exp_grows. lra.
Qed.

(* A factor from a reference to itself: none, or exp(0). *)
Lemma same_reference M f e : factor m (Some M) (Some M) f -> path e <> [] -> kept_stable m (rescales e) <= weight e ->
  (exact_at_0 m = true -> rescales e = O) ->
  kept_stable m (rescales (through f e)) <= weight (through f e) /\ (exact_at_0 m = true -> rescales (through f e) = O).
Proof.
  intros F N W Z. destruct f as [[a r]|]; [|now split]. destruct F as (y & z & x & Ey & Ez & -> & D & (t & n & _ & Hn & Ex) & X).
  inversion Ey. inversion Ez. subst y z. destruct D as [D|D]; [easy|]. split; [|congruence]. rewrite Rminus_eq_0, Rmult_0_l, Rplus_0_l in Ex. subst x.
  apply between in Hn. pose proof (exp_keeps n r (lost m) X ltac:(lra) ltac:(lra)) as R.
  assert (S : rescales (through (Some (M - M, r)) e) = Datatypes.S (rescales e)) by (unfold rescales; simpl; destruct (path e); [easy|simpl; lia]).
  rewrite S. simpl weight. unfold kept_stable in *. rewrite S_INR.
  replace (- (/ 2 + (INR (rescales e) + 1 + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m)))
    with (- (/ 2 + (INR (rescales e) + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m)) + - (lost m + log_loss (eps m))) by ring.
  rewrite exp_plus. apply Rmult_le_compat; try easy; left; apply exp_pos.
Qed.

Lemma path_filled h p e : stable_run m h p -> In e (entries p) -> path e <> [].
Proof. intros H I E. pose proof (path_lengths m h p e (stable_is_run m h p H) I) as L. rewrite E in L. simpl in L. lia. Qed.
Theorem lemma_5a_stable h p M : stable_run m h p -> reference p = Some M -> exists e, In e (entries p) /\
  kept_stable m (rescales e) <= weight e /\ (exact_at_0 m = true -> rescales e = O).
Proof.
  intros H. revert M. induction H as [|h b p M' f ws l O H IH Mv F (P & Set_) V Jl JO|a b p q f g l O Ha IHa Hb IHb F G Jl JO]; simpl; intros M E; [easy| |].
  - destruct Set_ as [Same|(w & y & I & Ey & _ & X)].
    + rewrite E in Same. destruct (IH M Same) as (e & I & W & Z). exists (through f e). split; [apply in_app_iff; left; now apply in_map|].
      rewrite E, Same in F. apply (same_reference M f e F); auto. exact (path_filled h p e H I).
    + exists (its_entry w). split; [apply in_app_iff; right; now apply in_map|].
      destruct (P w I) as ((y' & c & q & d & _ & _ & _ & Xq & Hd & ->) & _). unfold rescales. simpl. split; [|easy]. unfold kept_stable. simpl INR.
      pose proof (exp_keeps (its_argument w) q (/ 2) Xq ltac:(lra) ltac:(lra)) as R. destruct (log_near d (u_shared m) (some_shared m sn) Hd) as (Pd & Dd).
      apply between in Dd. pose proof (lost_pos m sn). apply Rle_trans with (exp (- (/ 2 + log_loss (eps m))) * exp (- log_loss (u_shared m))).
      * rewrite <- exp_plus. apply exp_grows. lra.
      * apply Rmult_le_compat; try (left; apply exp_pos); [exact R|]. rewrite <- (exp_ln (1 + d)) by easy. apply exp_grows. lra.
  - unfold common in *. assert (Side : reference p = Some M \/ reference q = Some M).
    { destruct (reference p) as [x|], (reference q) as [y|]; auto. unfold Rmax in E. destruct (Rle_dec x y); auto. }
    destruct Side as [S|S].
    + destruct (IHa M S) as (e & I & W & Z). exists (through f e). split; [apply in_app_iff; left; now apply in_map|].
      apply (same_reference M f e); auto; [rewrite E, S in F; exact F|exact (path_filled a p e Ha I)].
    + destruct (IHb M S) as (e & I & W & Z). exists (through g e). split; [apply in_app_iff; right; now apply in_map|].
      apply (same_reference M g e); auto; [rewrite E, S in G; exact G|exact (path_filled b q e Hb I)].
Qed.

(* Lambda of section 3 for g = 0: 1/2, and 3/4 of that where exp(0) is rounded in a rescale. *)
Theorem stable_Lambda h p M : stable_run m h p -> reference p = Some M -> eps m <= / 8 -> lost m + log_loss (u_shared m) <= / 32 ->
  (forall e, In e (entries p) -> exact_at_0 m = false -> 3 / 4 <= exp (- (INR (rescales e) * (log_loss (eps m) + lost m)))) ->
  (if exact_at_0 m then / 2 else 3 / 4 * / 2) <= total weight (entries p).
Proof.
  intros H E He Hl HR. destruct (lemma_5a_stable h p M H E) as (e & I & W & Z). pose proof (stable_is_run m h p H) as Hr.
  assert (N : / 2 <= kept_stable m 0).
  { unfold kept_stable. simpl INR. assert (7 / 8 <= exp (- log_loss (eps m))).
    { unfold log_loss. rewrite Ropp_involutive, exp_ln; destruct sn; lra. }
    assert (31 / 32 <= exp (- / 32)) by (pose proof (exp_ineq1_le (- / 32)); lra). pose proof exp_of_half.
    apply Rle_trans with (exp (- / 2) * (exp (- log_loss (eps m)) * exp (- / 32))).
    - assert (7 / 8 * (31 / 32) <= exp (- log_loss (eps m)) * exp (- / 32)) by (apply Rmult_le_compat; lra).
      apply Rle_trans with (5967 / 10000 * (7 / 8 * (31 / 32))); [lra|]. apply Rmult_le_compat; lra.
    - rewrite <- !exp_plus. apply exp_grows. lra. }
  apply Rle_trans with (weight e); [|apply (total_holds weight); [intros i Ii; now apply (weight_not_negative m h p)|easy]].
  eapply Rle_trans; [|exact W]. destruct (exact_at_0 m) eqn:X; [rewrite Z by easy; exact N|].
  assert (Q : kept_stable m (rescales e) = exp (- (INR (rescales e) * (log_loss (eps m) + lost m))) * kept_stable m 0).
  { unfold kept_stable. rewrite <- exp_plus. f_equal. simpl INR. ring. }
  rewrite Q. specialize (HR e I eq_refl). apply Rmult_le_compat; lra.
Qed.
End Stable.
