(* H5 in the averages: rows with masked keys beyond Lambda_x. The theorem for O asks of these that H5 holds. *)
From Attest Require Export masked.

Section Masked.
Context (m : model) (h : history) (p : part) (M Y_plus omega_W Lambda : R) (exact E X Y : key -> R) (masked : key -> bool).

Definition at_masked i := exact (of i) - M.
Definition z_masked i := z_of m (E (of i)) (X (of i)) (Y (of i)) (rescales i).
Definition reaches_masked i := reach m (X (of i)) (Y (of i)).
Definition T_masked := T_of z_masked reaches_masked (x0 m).
Definition zeta_masked := zeta_of (A := entry) reaches_masked (far m) omega_W.
Definition counted_masked := counted_of z_masked reaches_masked (far m) (x0 m).
Definition D_masked := D_of (entries p) at_masked z_masked reaches_masked (far m) (x0 m).

(* Of a masked key Y_j is so large that it is far and its T_j at least 1; Y+ is at least Y of the keys that are not masked. *)
Record masked_row := {
  mr_sane : sane m; mr_tinies : tinies m; mr_reference : reference p = Some M; mr_H5 : H5 m h p masked omega_W;
  mr_scores : forall k, In k (keys h) -> Rabs (score k - exact k) <= E k;
  mr_distances : forall k, In k (keys h) -> M - exact k + E k + 2 * tau m <= X k;
  mr_sizes : forall k, In k (keys h) -> masked k = false -> Rabs (exact k) + E k + tau m <= Y k /\ Y k <= Y_plus;
  mr_top : forall k, In k (keys h) -> M <= Y k; mr_plus : M <= Y_plus;
  mr_masked : forall i, In i (entries p) -> masked (of i) = true -> Y_plus <= Y (of i) /\ far m < reaches_masked i /\ 1 <= T_masked i;
  mr_far : forall i, In i (entries p) -> left_over m (Y (of i)) (rescales i) <= omega_W /\ left_over m Y_plus (rescales i) <= omega_W;
  mr_counted : 0 < D_masked;
  mr_sum : 0 < Lambda <= total weight (entries p) }.

Theorem masked_row_weights : run m h p -> masked_row ->
  weights_known (entries p) weight (exact_weight at_masked) T_masked zeta_masked counted_masked D_masked Lambda.
Proof.
  intros H K. pose proof (mr_sane K) as sn. pose proof (gamma_x_pos m sn) as G. pose proof (gamma_pos (c_m m) (u m) (some_u m sn) (few_shared m sn)) as Gc.
  apply near_weights; try apply K.
  - intros i I. now apply (weight_not_negative m h p).
  - destruct (entries p) as [|e es] eqn:N; [pose proof (mr_counted K) as D0; unfold D_masked, D_of in D0; rewrite N in D0; simpl in D0; lra|].
    destruct (mr_far K e) as (F & _); [rewrite N; now left|]. eapply Rle_trans; [|exact F]. unfold left_over.
    apply Rmult_le_pos; [apply (mr_tinies K)|left; now apply grows_pos].
  - intros i I. pose proof (key_of_entry _ _ _ _ H I) as Ik. destruct (mr_far K i I) as (F1 & F2). destruct (masked (of i)) eqn:Mk.
    + destruct (mr_masked K i I Mk) as (YY & Far & T1).
      assert (Kp : kappa m Y_plus <= kappa m (Y (of i))) by (unfold kappa; apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy]).
      assert (Re : reach m (X (of i)) Y_plus <= reaches_masked i) by (unfold reaches_masked, reach; lra).
      destruct (lemma_3_masked m h p i M (exact (of i)) (E (of i)) (X (of i)) Y_plus masked omega_W sn (mr_tinies K) H I (mr_reference K) (mr_H5 K))
        as [(W0 & W1)|[(W0 & C)|(a & n & Wa & Pa & Z & B & N0)]].
      * intros k J Mf. destruct (mr_sizes K k J Mf) as (S1 & S2). pose proof (mr_scores K k J) as HE. apply between in HE.
        pose proof (between (exact k) _ (Rle_refl _)). lra.
      * apply (mr_plus K).
      * now apply (mr_scores K).
      * now apply (mr_distances K).
      * right. right. auto.
      * left. split; [easy|lra].
      * right. left. exists a, n. split; [easy|]. split; [easy|]. split; [|split; [lra|intros Nf; apply N0; lra]].
        eapply Rle_trans; [exact Z|]. unfold z_masked, z_of. lra.
    + destruct (mr_sizes K _ Ik Mk) as (S1 & _).
      destruct (lemma_3_far m h p i M (exact (of i)) (E (of i)) (X (of i)) (Y (of i)) sn (mr_tinies K) H I (mr_reference K)) as [F|(a & n & Wa & Pa & Z & B & N0)];
        try apply K; auto. right. left. exists a, n. repeat split; auto. lra.
Qed.

Theorem theorem_O_masked rho l O th beta GF Om : run m h p -> masked_row -> 1 <= rho -> rescales_below rho (sum_l p) -> rescales_below rho (sum_O p) ->
  INR (S (max (height (sum_l p)) (height (sum_O p)) + (blocks h + merges h))) * u m < 1 -> computed m (sum_l p) l -> computed m (sum_O p) O ->
  Gamma_L_of m rho (entries p) (sum_l p) (exact_weight at_masked) T_masked zeta_masked D_masked Lambda < 1 -> Rabs th <= GF -> Rabs beta <= Om ->
  Rabs (O / l * (1 + th) + beta - mean (entries p) (exact_weight at_masked) v)
    <= B_of m rho (entries p) (sum_l p) (sum_O p) (exact_weight at_masked) T_masked zeta_masked D_masked Lambda GF Om.
Proof.
  intros H K Hr Rl RO Few Cl CO G1 Ht Hb. pose proof (mr_sane K) as sn. destruct (sums_are_entries m h p H) as (Pl & PO).
  apply (bound_of_sums m rho (entries p) (sum_l p) (sum_O p) _ _ _ counted_masked D_masked Lambda l O th beta GF Om (masked_row_weights H K)); auto; try apply sn.
  intros i I. pose proof (path_lengths _ _ _ _ H I). eapply Rle_lt_trans; [|exact Few].
  apply Rmult_le_compat_r; [apply (some_u m sn)|]. apply le_INR. unfold rescales. lia.
Qed.
End Masked.
