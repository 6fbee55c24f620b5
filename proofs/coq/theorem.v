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
    rewrite total_plus, total_times. change (total (fun a => size (fst a)) g) with (total (fun p : leaf * R => size (fst p)) g). ring.
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
