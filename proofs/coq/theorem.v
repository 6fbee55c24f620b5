(* The theorem for O: |o^ - o| <= B, over a run of the machine (all keys near: none far, none flushed). *)
From Attest Require Export lemma_5 lemma_6 lemma_7.

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
  intros Hu Hw Hr R C P. destruct (lemma_6_path_by_path m rho s y Hu Hw Hr R C) as (g & E & B & Y).
  rewrite <- !(total_map lf size), <- (total_map lf (fun f => Rabs (size f) * ((1 + u m) ^ (height s + products f) - 1))).
  rewrite !(total_permuted _ _ _ P), <- E, !total_map.
  replace (y - total (fun p => size (fst p)) g) with
    (total (fun p => size (fst p) * (snd p - 1)) g + (y - total (fun p => size (fst p) * snd p) g)).
  - eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|exact Y].
    eapply Rle_trans; [apply total_abs|]. apply total_below. intros p I. rewrite Rabs_mult.
    apply Rmult_le_compat_l; [apply Rabs_pos|]. now apply B.
  - rewrite (total_same (fun p => size (fst p) * (snd p - 1)) (fun p => size (fst p) * snd p + -1 * size (fst p))) by (intros; ring).
    rewrite total_plus, total_times. ring.
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

(* --- the theorem ------------------------------------------------------------------------------------------------------------------ *)

Section Theorem_O.
Context (m : model) (h : history) (p : part) (M rho l O : R) (exact E X Y : key -> R) (Lambda GF Om : R).

(* E_j C e^{s_j} of the text, with C = e^{-M}; T_j = e^{z_j} - 1. *)
Definition of_exact e := exp (exact (of e) - M).
Definition z e := z_of m (E (of e)) (X (of e)) (Y (of e)) (rescales e).
Definition T e := exp (z e) - 1.
Definition nothing_far (e : entry) := 0.
Definition D := total (fun e => pi (entries p) of_exact e / (1 + T e)) (entries p).
Definition average := mean (entries p) of_exact.
Definition A y := A_T (entries p) of_exact T nothing_far D Lambda y.
Definition part_of := share (entries p) of_exact T nothing_far D Lambda.

Definition v e := value (of e).
Definition Gamma_L := total (fun e => part_of e * gamma (height (sum_l p) + rescales e) (u m)) (entries p)
                      + losses m rho (sum_l p) / Lambda.
Definition Phi := total (fun e => part_of e * gamma (height (sum_O p) + S (rescales e)) (u m) * Rabs (v e)) (entries p)
                  + losses m rho (sum_O p) / Lambda.
Definition B := A v + ((1 + GF) * Phi + (Rabs (average v) + A v) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.

(* Scores that are known up to E (Lemma 1), and keys that are neither far nor flushed. *)
Record row_known := {
  model_sane : sane m;
  some_key : entries p <> [];
  reference_is : reference p = Some M;
  scores_known : forall k, In k (keys h) -> Rabs (score k - exact k) <= E k;
  distances : forall k, In k (keys h) -> M - exact k + E k + 2 * tau m <= X k;
  sizes_known : forall k, In k (keys h) -> Rabs (exact k) + E k + tau m <= Y k /\ M <= Y k;
  near : forall k, In k (keys h) -> reach m (X k) (Y k) <= Rmin (far m) (x0 m);
  sum_at_least : 0 < Lambda <= total weight (entries p);                              (* Lemma 5 (a) *)
  factors_below : 1 <= rho /\ rescales_below rho (sum_l p) /\ rescales_below rho (sum_O p);
  roundings_few : INR (S (max (height (sum_l p)) (height (sum_O p)) + (blocks h + merges h))) * u m < 1 }.

Lemma row_weights : run m h p -> row_known -> weights_known (entries p) weight of_exact T nothing_far (fun _ => true) D Lambda.
Proof.
  intros H K. pose proof (model_sane K) as s.
  assert (L : forall e, In e (entries p) -> 0 < weight e /\ Rabs (ln (weight e) - (exact (of e) - M)) <= z e).
  { intros e I. pose proof (key_of_entry _ _ _ _ H I) as Ik.
    apply (lemma_3 m h p e M (exact (of e)) (E (of e)) (X (of e)) (Y (of e))); auto; try apply K; auto;
      apply (sizes_known K); auto. }
  assert (Zp : forall e, In e (entries p) -> 0 <= z e) by (intros e I; destruct (L e I) as (_ & Z); eapply Rle_trans; [apply Rabs_pos|exact Z]).
  assert (Tp : forall e, In e (entries p) -> 0 <= T e).
  { intros e I. unfold T. pose proof (exp_ineq1_le (z e)). specialize (Zp e I). lra. }
  assert (Wb : forall e, In e (entries p) -> of_exact e * exp (- z e) <= weight e <= of_exact e * exp (z e)).
  { intros e I. destruct (L e I) as (P & Z). apply between in Z. unfold of_exact. rewrite <- (exp_ln (weight e)) by easy.
    rewrite <- !exp_plus. split; apply exp_grows; lra. }
  assert (Ep : forall e, 0 < of_exact e) by (intros; apply exp_pos).
  assert (Inv : forall e, exp (- z e) = / (1 + T e)) by (intros; unfold T; rewrite exp_Ropp; f_equal; ring).
  constructor; auto.
  - intros e I. left. now apply L.
  - intros e I. unfold nothing_far. rewrite Rplus_0_r. specialize (Wb e I). specialize (Tp e I). specialize (Ep e). rewrite Inv in Wb.
    assert (exp (z e) = 1 + T e) as Q by (unfold T; ring). rewrite Q in Wb. apply abs_below. split; [|nra].
    assert (1 - T e <= / (1 + T e)); [|nra]. apply Rmult_le_reg_r with (1 + T e); [lra|]. rewrite Rinv_l by lra. nra.
  - intros e I. split; [auto|unfold nothing_far; lra].
  - intros e I _. specialize (Wb e I). rewrite Inv in Wb. unfold Rdiv. lra.
  - unfold D. apply total_positive; [apply (some_key K)|]. intros i I. specialize (Tp i I). unfold pi.
    apply Rdiv_lt_0_compat; [|lra]. apply Rdiv_lt_0_compat; [easy|]. apply total_positive; [apply (some_key K)|auto].
  - unfold D. lra.
  - apply (sum_at_least K).
Qed.

Theorem theorem_O o th beta : run m h p -> row_known -> computed m (sum_l p) l -> computed m (sum_O p) O -> Gamma_L < 1 ->
  Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta -> Rabs (o - average v) <= B.
Proof.
  intros H K Cl CO G1 Ht Hb ->. pose proof (row_weights H K) as Wk. pose proof (model_sane K) as s.
  destruct (factors_below K) as (Hr & Rl & RO). destruct (sums_are_entries m h p H) as (Pl & PO).
  pose proof (sum_positive _ _ _ _ _ _ _ _ Wk) as Sp. pose proof (lemma_5a _ _ _ _ _ _ _ _ Wk) as La.
  pose proof (roundings_few K) as Rf. pose proof (some_u m s) as Hu.
  assert (Few : forall n, (n <= S (max (height (sum_l p)) (height (sum_O p)) + (blocks h + merges h)))%nat -> INR n * u m < 1).
  { intros n L. eapply Rle_lt_trans; [|exact Rf]. apply Rmult_le_compat_r; [easy|]. now apply le_INR. }
  assert (Rs : forall e, In e (entries p) -> (S (rescales e) <= blocks h + merges h)%nat).
  { intros e I. pose proof (path_lengths _ _ _ _ H I). unfold rescales. lia. }
  (* the sum of the weights *)
  assert (Dl : Rabs (l - total weight (entries p)) <= Gamma_L * total weight (entries p)).
  { pose proof (computed_beside m rho (sum_l p) l (entries p) leaf_l Hu (some_omega m s) Hr Rl Cl Pl) as C.
    rewrite (total_same (fun e => size (leaf_l e)) weight) in C by (intros; unfold size; simpl; ring).
    eapply Rle_trans; [exact C|]. unfold Gamma_L. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    - rewrite Rmult_comm, <- total_times. apply total_below. intros e I. unfold size, leaf_l; simpl.
      pose proof (not_negative _ _ _ _ _ _ _ _ Wk e I). rewrite Rmult_1_r, Rabs_pos_eq by easy.
      pose proof (lemma_5c _ _ _ _ _ _ _ _ Wk e I) as Sh. fold (part_of e) in Sh. specialize (Rs e I).
      pose proof (powers_below_gamma (height (sum_l p) + rescales e) (u m) Hu) as Pg.
      assert (INR (height (sum_l p) + rescales e) * u m < 1) as F by (apply Few; lia). specialize (Pg F).
      pose proof (gamma_pos _ _ Hu F).
      apply Rle_trans with (weight e * gamma (height (sum_l p) + rescales e) (u m)); [now apply Rmult_le_compat_l|].
      replace (total weight (entries p) * (part_of e * gamma (height (sum_l p) + rescales e) (u m)))
        with (part_of e * total weight (entries p) * gamma (height (sum_l p) + rescales e) (u m)) by ring.
      now apply Rmult_le_compat_r.
    - apply (lost_beside_sum _ _ _ _ _ _ _ _ Wk). apply losses_pos; auto. apply (some_omega m s). }
  (* the sum of the weighted values *)
  assert (DO : Rabs (O - total (fun e => weight e * v e) (entries p)) <= Phi * total weight (entries p)).
  { pose proof (computed_beside m rho (sum_O p) O (entries p) leaf_O Hu (some_omega m s) Hr RO CO PO) as C.
    rewrite (total_same (fun e => size (leaf_O e)) (fun e => weight e * v e)) in C by (intros; reflexivity).
    eapply Rle_trans; [exact C|]. unfold Phi. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    - rewrite Rmult_comm, <- total_times. apply total_below. intros e I. unfold size, leaf_O; simpl. fold (v e).
      pose proof (not_negative _ _ _ _ _ _ _ _ Wk e I). rewrite Rabs_mult, (Rabs_pos_eq (weight e)) by easy.
      pose proof (lemma_5c _ _ _ _ _ _ _ _ Wk e I) as Sh. fold (part_of e) in Sh. specialize (Rs e I).
      pose proof (powers_below_gamma (height (sum_O p) + S (rescales e)) (u m) Hu) as Pg.
      assert (INR (height (sum_O p) + S (rescales e)) * u m < 1) as F by (apply Few; lia). specialize (Pg F).
      pose proof (gamma_pos _ _ Hu F). pose proof (Rabs_pos (v e)).
      set (g := gamma (height (sum_O p) + S (rescales e)) (u m)) in *.
      apply Rle_trans with (weight e * Rabs (v e) * g); [apply Rmult_le_compat_l; [now apply Rmult_le_pos|easy]|].
      replace (total weight (entries p) * (part_of e * g * Rabs (v e)))
        with (part_of e * total weight (entries p) * Rabs (v e) * g) by ring.
      apply Rmult_le_compat_r; [easy|]. now apply Rmult_le_compat_r.
    - apply (lost_beside_sum _ _ _ _ _ _ _ _ Wk). apply losses_pos; auto. apply (some_omega m s). }
  (* the algebra *)
  set (Sg := total weight (entries p)) in *.
  pose proof (lemma_7_T (entries p) weight of_exact T nothing_far (fun _ => true) D Lambda Wk v) as L7.
  unfold computed_mean in L7. fold Sg in L7. fold average in L7. fold (A v) in L7.
  set (ot := total (fun j => weight j * v j) (entries p) / Sg) in *.
  assert (Er : Rabs ((l - Sg) / Sg) <= Gamma_L).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ Sg)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with Sg; [easy|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Ee : Rabs (O / Sg - ot) <= Phi).
  { unfold ot. replace (O / Sg - total (fun j => weight j * v j) (entries p) / Sg)
      with ((O - total (fun j => weight j * v j) (entries p)) * / Sg) by (unfold Rdiv; ring).
    rewrite Rabs_mult, (Rabs_pos_eq (/ Sg)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with Sg; [easy|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Lp : 0 < l) by (apply between in Dl; nra).
  replace (O / l) with ((ot + (O / Sg - ot)) / (1 + (l - Sg) / Sg)) by (field; split; lra).
  unfold B. now apply bound_algebra.
Qed.
End Theorem_O.
