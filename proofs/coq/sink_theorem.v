(* Theorem T1 (b), from the row: (2) of every key and of the sink that is added once behind them, and with it the bound. *)
From Attest Require Export sinks.

Section Sink.
Context (m : model) (rho : R) (h : history) (p : part) (M t X_below omega_W Lambda : R) (e : entry) (exact E X Y reach_of : key -> R).
Let es := entries p ++ [e].

(* X of the sink is the size of its argument, whatever its sign; far and flushed ask how far it may lie below 0 (X_below). *)
Definition at_sink i := exact (of i) - M.
Definition z_sink i := z_of m (E (of i)) (X (of i)) (Y (of i)) (rescales i).
Definition reaches_sink i := reach_of (of i).
Definition T_sink := T_of z_sink reaches_sink (x0 m).
Definition zeta_sink := zeta_of (A := entry) reaches_sink (far m) omega_W.
Definition counted_sink := counted_of z_sink reaches_sink (far m) (x0 m).
Definition D_sink := D_of es at_sink z_sink reaches_sink (far m) (x0 m).

Record sink_row := {
  sr_sane : sane m; sr_tinies : tinies m; sr_reference : reference p = Some M;
  sr_scores : forall k, In k (keys h) -> Rabs (score k - exact k) <= E k;
  sr_distances : forall k, In k (keys h) -> M - exact k + E k + 2 * tau m <= X k;
  sr_sizes : forall k, In k (keys h) -> Rabs (exact k) + E k + tau m <= Y k /\ M <= Y k /\ reach m (X k) (Y k) <= reach_of k;
  sr_far : forall i, In i (entries p) -> left_over m (Y (of i)) (rescales i) <= omega_W;
  sr_t : Rabs (t - exact (sink t)) <= E (sink t) /\ Rabs M <= Y (sink t);
  sr_X : Rabs (exact (sink t) - M) + E (sink t) <= X (sink t) /\ M - exact (sink t) + E (sink t) <= X_below /\ 0 <= X_below;
  sr_reach : reach m X_below (Y (sink t)) <= reach_of (sink t);
  sr_tiny : tiny m * (1 + u_shared m) <= omega_W;
  sr_counted : 0 < D_sink;
  sr_sum : 0 < Lambda <= total weight es }.                                            (* Lemma 5 (a), of the keys *)

Lemma sink_of : behind m t p e -> of e = sink t /\ rescales e = O.
Proof. intros (y & c & x & q & d & _ & _ & _ & _ & _ & Ee). now rewrite Ee. Qed.

Theorem sink_row_weights : run m h p -> behind m t p e -> sink_row ->
  weights_known es weight (exact_weight at_sink) T_sink zeta_sink counted_sink D_sink Lambda.
Proof.
  intros H B K. pose proof (sr_sane K) as sn. destruct (sink_of B) as (Oe & Re). pose proof (some_shared m sn). pose proof (some_tiny m (sr_tinies K)) as Ty.
  apply near_weights; try apply K.
  - intros i I. apply in_app_iff in I as [I|[Ei|[]]]; [now apply (weight_not_negative m h p)|]. subst i.
    destruct B as (y & c & x & q & d & _ & _ & _ & (Q & _) & Hd & Ee). apply between in Hd. rewrite Ee. simpl. apply Rmult_le_pos; lra.
  - eapply Rle_trans; [|exact (sr_tiny K)]. apply Rmult_le_pos; lra.
  - intros i I. apply in_app_iff in I as [I|[Ei|[]]]; [|subst i].
    + pose proof (key_of_entry _ _ _ _ H I) as Ik. destruct (sr_sizes K _ Ik) as (S1 & S2 & S3). pose proof (sr_far K i I) as F.
      destruct (lemma_3_far m h p i M (exact (of i)) (E (of i)) (X (of i)) (Y (of i)) sn (sr_tinies K) H I (sr_reference K)) as [(W & C)|(a & n & Wa & Pa & Z & Bn & N0)];
        try apply K; auto.
      * left. split; [easy|]. unfold reaches_sink. lra.
      * right. left. exists a, n. split; [easy|]. split; [easy|]. split; [exact Z|]. split; [lra|]. intros N. apply N0. unfold reaches_sink in N. lra.
    + destruct (sr_t K) as (T1 & T2). destruct (sr_X K) as (X1 & X2 & X3). pose proof (sr_reach K) as R.
      destruct (sink_weight m t p e M (exact (sink t)) (E (sink t)) (X (sink t)) X_below (Y (sink t)) sn (sr_tinies K) B (sr_reference K) T1 T2 X1 X2 X3)
        as [(W & C)|(a & n & Wa & Pa & Z & Bn & N0)].
      * left. split; [easy|]. unfold reaches_sink. rewrite Oe. lra.
      * right. left. exists a, n. unfold at_sink, z_sink, reaches_sink. rewrite Oe, Re. split; [easy|]. split; [easy|]. split; [exact Z|].
        pose proof (sr_tiny K). split; [lra|]. intros N. apply N0. lra.
Qed.

Theorem theorem_T1_b l O th beta GF Om : run m h p -> behind m t p e -> sink_row ->
  1 <= rho -> rescales_below rho (sum_l p) -> rescales_below rho (sum_O p) ->
  INR (S (S (max (height (sum_l p)) (height (sum_O p)) + (blocks h + merges h)))) * u m < 1 ->
  let q := with_sink p e in computed m (sum_l q) l -> computed m (sum_O q) O ->
  Gamma_L_of m rho es (sum_l q) (exact_weight at_sink) T_sink zeta_sink D_sink Lambda < 1 -> Rabs th <= GF -> Rabs beta <= Om ->
  Rabs (O / l * (1 + th) + beta - mean es (exact_weight at_sink) v)
    <= B_of m rho es (sum_l q) (sum_O q) (exact_weight at_sink) T_sink zeta_sink D_sink Lambda GF Om.
Proof.
  intros H B K Hr Rl RO Few q Cl CO G1 Ht Hb.
  exact (theorem_T1 m rho h p e t _ _ _ _ _ Lambda l O th beta GF Om (sr_sane K) H B (sink_row_weights H B K) Hr Rl RO Few Cl CO G1 Ht Hb).
Qed.
End Sink.
