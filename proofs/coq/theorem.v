(* The theorem for O: |o^ - o| <= B, over every run of the machine. *)
From Attest Require Export lemma_3_far lemma_5 lemma_6 lemma_7 near_weights.

(* --- the sums of a run are its entries --------------------------------------------------------------------------------------- *)

Definition leaf_l e := Leaf (weight e) 1 (rescales e).
Definition leaf_O e := Leaf (weight e) (value (of e)) (S (rescales e)).

Lemma joined_leaves l s : joins l s -> Permutation (flat_map leaves l) (leaves s).
Proof.
  induction 1 as [|s|a b c s t _ IHa _ IHb _ _ P]; simpl; [easy|rewrite app_nil_r; easy|].
  rewrite <- P, flat_map_app. now apply Permutation_app.
Qed.
Lemma scaled_leaves f s : flat_map leaves (scaled f s) = match f with None => leaves s | Some (_, r) => map (rescaled r) (leaves s) end.
Proof. destruct f as [[x q]|], s; simpl; now rewrite ?app_nil_r. Qed.
Lemma through_leaf (lf : entry -> leaf) f es : (lf = leaf_l \/ lf = leaf_O) -> (forall e, In e es -> (1 <= length (path e))%nat) ->
  map lf (map (through f) es) = match f with None => map lf es | Some (_, r) => map (rescaled r) (map lf es) end.
Proof.
  intros L P. destruct f as [[a r]|]; rewrite !map_map; [|easy]. apply map_ext_in. intros e I. specialize (P e I).
  assert (rescales (through (Some (a, r)) e) = S (rescales e)) as Q by (unfold rescales; simpl; lia).
  destruct L as [-> | ->]; unfold leaf_l, leaf_O, rescaled; rewrite Q; reflexivity.
Qed.
Lemma new_leaves es : (forall e, In e es -> length (path e) = 1%nat) ->
  flat_map leaves (map in_l es) = map leaf_l es /\ flat_map leaves (map in_O es) = map leaf_O es.
Proof.
  induction es as [|e es IH]; simpl; intros P; [easy|]. destruct IH as (-> & ->); [auto|].
  unfold leaf_l, leaf_O, rescales. now rewrite (P e (or_introl eq_refl)).
Qed.

Theorem sums_are_entries m h p : run m h p ->
  Permutation (map leaf_l (entries p)) (leaves (sum_l p)) /\ Permutation (map leaf_O (entries p)) (leaves (sum_O p)).
Proof.
  induction 1 as [|h b p M f es l O H (IHl & IHO) _ _ W Jl JO|a b p q f g l O Ha (Al & AO) Hb (Bl & BO) _ _ Jl JO]; simpl; [easy| |].
  - assert (P : forall e, In e es -> length (path e) = 1%nat) by (intros; eapply weighed_paths; eauto).
    assert (Q : forall e, In e (entries p) -> (1 <= length (path e))%nat) by (intros e I; pose proof (path_lengths _ _ _ _ H I); lia).
    destruct (new_leaves es P) as (Nl & NO). rewrite !map_app, !through_leaf by auto.
    rewrite <- (joined_leaves _ _ Jl), <- (joined_leaves _ _ JO), !flat_map_app, Nl, NO, !scaled_leaves.
    destruct f as [[x r]|]; split; apply Permutation_app; auto; now apply Permutation_map.
  - assert (P : forall e, In e (entries p) -> (1 <= length (path e))%nat) by (intros e I; pose proof (path_lengths _ _ _ _ Ha I); lia).
    assert (Q : forall e, In e (entries q) -> (1 <= length (path e))%nat) by (intros e I; pose proof (path_lengths _ _ _ _ Hb I); lia).
    rewrite !map_app, !through_leaf by auto.
    rewrite <- (joined_leaves _ _ Jl), <- (joined_leaves _ _ JO), !flat_map_app, !scaled_leaves.
    destruct f as [[x r]|], g as [[y t]|]; split; apply Permutation_app; auto; now apply Permutation_map.
Qed.

(* A computed sum beside the exact one, key by key. *)
Lemma computed_beside m rho s y (es : list entry) lf : 0 <= u m -> 0 <= omega m -> 1 <= rho -> rescales_below rho s ->
  computed m s y -> Permutation (map lf es) (leaves s) ->
  Rabs (y - total (fun e => size (lf e)) es) <=
    total (fun e => Rabs (size (lf e)) * ((1 + u m) ^ (height s + products (lf e)) - 1)) es + losses m rho s.
Proof.
  intros. rewrite <- (total_map lf size), <- (total_map lf (fun f => Rabs (size f) * ((1 + u m) ^ (height s + products f) - 1))).
  now apply beside_leaves.
Qed.

(* --- the theorem's algebra: o^ = ((o~ + e)/(1 + rho))(1 + theta) + beta -------------------------------------------------------- *)

Theorem bound_algebra (o ot e rho th beta A Phi GL GF Om : R) :
  Rabs (ot - o) <= A -> Rabs e <= Phi -> Rabs rho <= GL -> GL < 1 -> Rabs th <= GF -> Rabs beta <= Om ->
  Rabs ((ot + e) / (1 + rho) * (1 + th) + beta - o) <= A + ((1 + GF) * Phi + (Rabs o + A) * (GL + GF)) / (1 - GL) + Om.
Proof.
  intros HA He Hr HG Ht Hb.
  assert (R1 : 1 - GL <= 1 + rho) by (unfold Rabs in Hr; destruct (Rcase_abs rho); lra).
  assert (R0 : 0 < 1 + rho) by lra.
  replace ((ot + e) / (1 + rho) * (1 + th) + beta - o)
    with ((ot - o) + (e * (1 + th) + ot * (th - rho)) / (1 + rho) + beta) by (field; lra).
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|exact Hb].
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [exact HA|].
  unfold Rdiv at 1. rewrite Rabs_mult, (Rabs_pos_eq (/ (1 + rho))) by (left; apply Rinv_0_lt_compat; lra).
  assert (T1 : Rabs (1 + th) <= 1 + GF). { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra. }
  assert (T2 : Rabs (th - rho) <= GL + GF). { unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
  assert (T3 : Rabs ot <= Rabs o + A). { replace ot with (o + (ot - o)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (N : Rabs (e * (1 + th) + ot * (th - rho)) <= (1 + GF) * Phi + (Rabs o + A) * (GL + GF)).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. apply Rplus_le_compat.
    - rewrite Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos.
    - apply Rmult_le_compat; auto using Rabs_pos. }
  apply Rmult_le_compat; auto using Rabs_pos.
  - left; apply Rinv_0_lt_compat; lra.
  - apply Rinv_le_contravar; lra.
Qed.

(* The same over any weights that (2) holds of: the theorem, as soon as both sums are near those of the weights. *)
Theorem bound_of_weights {A} (keys : list A) W E T zeta counted D Lambda (known : weights_known keys W E T zeta counted D Lambda)
    v l O th beta GL Phi GF Om :
  Rabs (l - total W keys) <= GL * total W keys -> Rabs (O - total (fun e => W e * v e) keys) <= Phi * total W keys -> GL < 1 ->
  Rabs th <= GF -> Rabs beta <= Om ->
  Rabs (O / l * (1 + th) + beta - mean keys E v) <=
    A_T keys E T zeta D Lambda v + ((1 + GF) * Phi + (Rabs (mean keys E v) + A_T keys E T zeta D Lambda v) * (GL + GF)) / (1 - GL) + Om.
Proof.
  intros Dl DO G1 Ht Hb. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as Sp. set (Sg := total W keys) in *.
  pose proof (lemma_7_T keys W E T zeta counted D Lambda known v) as L7. unfold computed_mean in L7. fold Sg in L7.
  set (ot := total (fun j => W j * v j) keys / Sg) in *.
  assert (Er : Rabs ((l - Sg) / Sg) <= GL).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ Sg)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with Sg; [easy|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Ee : Rabs (O / Sg - ot) <= Phi).
  { unfold ot. replace (O / Sg - total (fun j => W j * v j) keys / Sg)
      with ((O - total (fun j => W j * v j) keys) * / Sg) by (unfold Rdiv; ring).
    rewrite Rabs_mult, (Rabs_pos_eq (/ Sg)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with Sg; [easy|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Lp : 0 < l) by (apply between in Dl; nra).
  replace (O / l) with ((ot + (O / Sg - ot)) / (1 + (l - Sg) / Sg)) by (field; split; lra).
  now apply bound_algebra.
Qed.

(* Lemma 6 beside the shares of Lemma 5 (c), and with it the bound, over the leaves of two trees. *)
Section Sums.
Context (m : model) (rho : R) (es : list entry) (sl sO : sum) (E T zeta : entry -> R) (counted : entry -> bool) (D Lambda : R).
Definition v e := value (of e).
Definition Gamma_L_of := total (fun e => share es E T zeta D Lambda e * gamma (height sl + rescales e) (u m)) es
                         + losses m rho sl / Lambda.
Definition Phi_of := total (fun e => share es E T zeta D Lambda e * gamma (height sO + S (rescales e)) (u m) * Rabs (v e)) es
                     + losses m rho sO / Lambda.
Definition B_of GF Om := A_T es E T zeta D Lambda v + ((1 + GF) * Phi_of +
  (Rabs (mean es E v) + A_T es E T zeta D Lambda v) * (Gamma_L_of + GF)) / (1 - Gamma_L_of) + Om.

Theorem bound_of_sums l O th beta GF Om : weights_known es weight E T zeta counted D Lambda ->
  0 <= u m -> 0 <= omega m -> 1 <= rho -> rescales_below rho sl -> rescales_below rho sO ->
  Permutation (map leaf_l es) (leaves sl) -> Permutation (map leaf_O es) (leaves sO) ->
  (forall e, In e es -> INR (S (max (height sl) (height sO) + rescales e)) * u m < 1) ->
  computed m sl l -> computed m sO O -> Gamma_L_of < 1 -> Rabs th <= GF -> Rabs beta <= Om ->
  Rabs (O / l * (1 + th) + beta - mean es E v) <= B_of GF Om.
Proof.
  intros Wk Hu Hw Hr Rl RO Pl PO Few Cl CO G1 Ht Hb.
  assert (Few' : forall e n, In e es -> (n <= S (max (height sl) (height sO) + rescales e))%nat -> INR n * u m < 1).
  { intros e n I L. eapply Rle_lt_trans; [|exact (Few e I)]. apply Rmult_le_compat_r; [easy|]. now apply le_INR. }
  (* a leaf's roundings beside its share of the sum *)
  assert (Sh : forall e n c, In e es -> (n <= S (max (height sl) (height sO) + rescales e))%nat -> 0 <= c ->
    weight e * c * ((1 + u m) ^ n - 1) <= total weight es * (share es E T zeta D Lambda e * gamma n (u m) * c)).
  { intros e n c I L Hc. pose proof (Few' e n I L) as F. pose proof (powers_below_gamma n (u m) Hu F) as Pg. pose proof (gamma_pos _ _ Hu F) as G0.
    pose proof (not_negative _ _ _ _ _ _ _ _ Wk e I) as Nn. pose proof (lemma_5c _ _ _ _ _ _ _ _ Wk e I) as S5.
    apply Rle_trans with (weight e * c * gamma n (u m)); [apply Rmult_le_compat_l; [now apply Rmult_le_pos|easy]|].
    replace (total weight es * (share es E T zeta D Lambda e * gamma n (u m) * c))
      with (share es E T zeta D Lambda e * total weight es * (c * gamma n (u m))) by ring.
    rewrite Rmult_assoc. apply Rmult_le_compat_r; [now apply Rmult_le_pos|easy]. }
  assert (Dl : Rabs (l - total weight es) <= Gamma_L_of * total weight es).
  { pose proof (computed_beside m rho sl l es leaf_l Hu Hw Hr Rl Cl Pl) as C.
    rewrite (total_same (fun e => size (leaf_l e)) weight) in C by (intros; unfold size; simpl; ring).
    eapply Rle_trans; [exact C|]. unfold Gamma_L_of. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    - rewrite (Rmult_comm (total _ es)), <- total_times. apply total_below. intros e I. unfold size, leaf_l; simpl.
      pose proof (not_negative _ _ _ _ _ _ _ _ Wk e I). rewrite Rmult_1_r, Rabs_pos_eq by easy.
      pose proof (Sh e (height sl + rescales e)%nat 1 I ltac:(lia) ltac:(lra)) as S1. rewrite !Rmult_1_r in S1. exact S1.
    - apply (lost_beside_sum _ _ _ _ _ _ _ _ Wk). now apply losses_pos. }
  assert (DO : Rabs (O - total (fun e => weight e * v e) es) <= Phi_of * total weight es).
  { pose proof (computed_beside m rho sO O es leaf_O Hu Hw Hr RO CO PO) as C.
    rewrite (total_same (fun e => size (leaf_O e)) (fun e => weight e * v e)) in C by (intros; reflexivity).
    eapply Rle_trans; [exact C|]. unfold Phi_of. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    - rewrite (Rmult_comm (total _ es)), <- total_times. apply total_below. intros e I. unfold size, leaf_O; simpl. fold (v e).
      pose proof (not_negative _ _ _ _ _ _ _ _ Wk e I). rewrite Rabs_mult, (Rabs_pos_eq (weight e)) by easy.
      apply Sh; auto using Rabs_pos. lia.
    - apply (lost_beside_sum _ _ _ _ _ _ _ _ Wk). now apply losses_pos. }
  exact (bound_of_weights es weight E T zeta counted D Lambda Wk v l O th beta Gamma_L_of Phi_of GF Om Dl DO G1 Ht Hb).
Qed.
End Sums.

(* --- the theorem ------------------------------------------------------------------------------------------------------------------ *)

Section Theorem_O.
Context (m : model) (h : history) (p : part) (M rho l O : R) (exact E X Y : key -> R) (omega_W Lambda GF Om : R).

(* E_j C e^{s_j} of the text, with C = e^{-M}; X^_j, far and flushed; T_j, and what a far key may weigh beside it. *)
Definition of_exact e := exp (exact (of e) - M).
Definition z e := z_of m (E (of e)) (X (of e)) (Y (of e)) (rescales e).
Definition reaches e := reach m (X (of e)) (Y (of e)).
Definition T e := if Rlt_dec (x0 m) (reaches e) then Rmax 1 (exp (z e) - 1) else exp (z e) - 1.
Definition zeta e := if Rlt_dec (far m) (reaches e) then omega_W else 0.
Definition counted e := if Rle_dec (reaches e) (Rmin (far m) (x0 m)) then if Rlt_dec (z e) 1 then true else false else false.
Definition D := total (fun e => if counted e then pi (entries p) of_exact e / (1 + T e) else 0) (entries p).
Definition average := mean (entries p) of_exact.
Definition A y := A_T (entries p) of_exact T zeta D Lambda y.
Definition part_of := share (entries p) of_exact T zeta D Lambda.

Definition Gamma_L := Gamma_L_of m rho (entries p) (sum_l p) of_exact T zeta D Lambda.
Definition Phi := Phi_of m rho (entries p) (sum_O p) of_exact T zeta D Lambda.
Definition B := A v + ((1 + GF) * Phi + (Rabs (average v) + A v) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.

(* Scores that are known up to E (Lemma 1); some key is counted. *)
Record row_known := {
  model_sane : sane m;
  model_tinies : tinies m;
  reference_is : reference p = Some M;
  scores_known : forall k, In k (keys h) -> Rabs (score k - exact k) <= E k;
  distances : forall k, In k (keys h) -> M - exact k + E k + 2 * tau m <= X k;
  sizes_known : forall k, In k (keys h) -> Rabs (exact k) + E k + tau m <= Y k /\ M <= Y k;
  what_far_keys_weigh : forall e, In e (entries p) -> left_over m (Y (of e)) (rescales e) <= omega_W;
  some_counted : 0 < D;
  sum_at_least : 0 < Lambda <= total weight (entries p);                              (* Lemma 5 (a) *)
  factors_below : 1 <= rho /\ rescales_below rho (sum_l p) /\ rescales_below rho (sum_O p);
  roundings_few : INR (S (max (height (sum_l p)) (height (sum_O p)) + (blocks h + merges h))) * u m < 1 }.

Lemma row_weights : run m h p -> row_known -> weights_known (entries p) weight of_exact T zeta counted D Lambda.
Proof.
  intros H K. pose proof (model_sane K) as s.
  apply (near_weights (entries p) weight (fun e => exact (of e) - M) z reaches (far m) (x0 m) omega_W Lambda).
  - intros e I. now apply (weight_not_negative m h p).
  - destruct (entries p) as [|e es] eqn:N; [pose proof (some_counted K) as D0; unfold D in D0; rewrite N in D0; simpl in D0; lra|].
    eapply Rle_trans; [|apply (what_far_keys_weigh K e); rewrite N; now left]. unfold left_over.
    apply Rmult_le_pos; [apply (model_tinies K)|left; now apply grows_pos].
  - apply (some_counted K).
  - apply (sum_at_least K).
  - intros e I. pose proof (key_of_entry _ _ _ _ H I) as Ik. pose proof (what_far_keys_weigh K e I) as Fw.
    destruct (lemma_3_far m h p e M (exact (of e)) (E (of e)) (X (of e)) (Y (of e)) s (model_tinies K) H I) as [F|(a & n & Wa & Pa & Z & B & N0)];
      try apply K; auto; try apply (sizes_known K); auto.
    right. left. exists a, n. repeat split; auto. eapply Rle_trans; [exact B|exact Fw].
Qed.

Theorem theorem_O o th beta : run m h p -> row_known -> computed m (sum_l p) l -> computed m (sum_O p) O -> Gamma_L < 1 ->
  Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta -> Rabs (o - average v) <= B.
Proof.
  intros H K Cl CO G1 Ht Hb ->. pose proof (row_weights H K) as Wk. pose proof (model_sane K) as s.
  destruct (factors_below K) as (Hr & Rl & RO). destruct (sums_are_entries m h p H) as (Pl & PO).
  assert (Rs : forall e, In e (entries p) -> INR (S (max (height (sum_l p)) (height (sum_O p)) + rescales e)) * u m < 1).
  { intros e I. pose proof (path_lengths _ _ _ _ H I). eapply Rle_lt_trans; [|exact (roundings_few K)].
    apply Rmult_le_compat_r; [apply (some_u m s)|]. apply le_INR. unfold rescales. lia. }
  apply (bound_of_sums m rho (entries p) (sum_l p) (sum_O p) of_exact T zeta counted D Lambda l O th beta GF Om Wk); auto; apply s.
Qed.
End Theorem_O.
