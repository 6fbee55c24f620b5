(* Clause H (hull): however large the scores are, o^ lies between the smallest and the largest v, up to roundings. *)
From Attest Require Export theorem.

(* Over any weights: a weighted mean lies in the hull, and two sums near those of the weights leave it by H. *)
Theorem hull_of_sums {A} (keys : list A) (W v : A -> R) l O th beta low high size_ GL Phi GF Om :
  (forall e, In e keys -> 0 <= W e) -> 0 < total W keys -> (forall e, In e keys -> low <= v e <= high /\ Rabs (v e) <= size_) ->
  Rabs (l - total W keys) <= GL * total W keys -> Rabs (O - total (fun e => W e * v e) keys) <= Phi * total W keys -> GL < 1 ->
  Rabs th <= GF -> Rabs beta <= Om -> let H := ((1 + GF) * Phi + size_ * (GL + GF)) / (1 - GL) + Om in
  low - H <= O / l * (1 + th) + beta <= high + H.
Proof.
  intros Nn Sp V Dl DO G1 Ht Hb H. set (Sg := total W keys) in *. set (ot := total (fun e => W e * v e) keys / Sg).
  assert (Hull : low <= ot <= high /\ Rabs ot <= size_).
  { assert (Le : forall f c, (forall e, In e keys -> f e <= c) -> total (fun e => W e * f e) keys / Sg <= c).
    { intros f c B. apply Rmult_le_reg_r with Sg; [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      unfold Sg. rewrite <- total_times. apply total_below. intros e I. rewrite Rmult_comm. apply Rmult_le_compat_r; auto. }
    assert (Up : ot <= high) by (apply Le; intros e I; apply (V e I)).
    assert (Ab : Rabs ot <= size_).
    { apply Rle_trans with (total (fun e => W e * Rabs (v e)) keys / Sg); [|apply Le; intros e I; apply (V e I)].
      unfold ot, Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ Sg)) by (left; now apply Rinv_0_lt_compat).
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. eapply Rle_trans; [apply total_abs|].
      apply total_below. intros e I. rewrite Rabs_mult, (Rabs_pos_eq (W e)) by auto. lra. }
    split; [split; [|exact Up]|exact Ab].
    assert (- ot <= - low); [|lra]. unfold ot.
    replace (- (total (fun e => W e * v e) keys / Sg)) with (total (fun e => W e * - v e) keys / Sg).
    { apply Le. intros e I. destruct (V e I). lra. }
    rewrite (total_same _ (fun e => -1 * (W e * v e))) by (intros; ring). rewrite total_times. field. lra. }
  destruct Hull as ((Lo & Hi) & Ab).
  assert (Er : Rabs ((l - Sg) / Sg) <= GL).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ Sg)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with Sg; [easy|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Ee : Rabs (O / Sg - ot) <= Phi).
  { unfold ot. replace (O / Sg - total (fun e => W e * v e) keys / Sg) with ((O - total (fun e => W e * v e) keys) * / Sg) by (unfold Rdiv; ring).
    rewrite Rabs_mult, (Rabs_pos_eq (/ Sg)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with Sg; [easy|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Lp : 0 < l) by (apply between in Dl; nra).
  assert (Eq : O / l = (ot + (O / Sg - ot)) / (1 + (l - Sg) / Sg)) by (field; split; lra).
  assert (Zero : Rabs (ot - ot) <= 0) by (rewrite Rminus_eq_0, Rabs_R0; lra).
  pose proof (bound_algebra ot ot _ _ th beta 0 _ _ GF Om Zero Ee Er G1 Ht Hb) as F. rewrite <- Eq in F.
  assert (GF0 : 0 <= GF) by (eapply Rle_trans; [apply Rabs_pos|exact Ht]).
  assert (GL0 : 0 <= GL) by (eapply Rle_trans; [apply Rabs_pos|exact Er]).
  assert (F2 : Rabs (O / l * (1 + th) + beta - ot) <= H).
  { eapply Rle_trans; [exact F|]. unfold H. rewrite Rplus_0_l. apply Rplus_le_compat_r. unfold Rdiv.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply Rplus_le_compat_l. rewrite Rplus_0_r.
    apply Rmult_le_compat_r; lra. }
  apply between in F2. lra.
Qed.

Section Clause_H.
Context (m : model) (h : history) (p : part) (rho l O : R) (Lambda GF Om low high size_ : R) (R_max : nat).

Definition Gamma_L_all := gamma (height (sum_l p) + R_max) (u m) + losses m rho (sum_l p) / Lambda.
Definition Gamma_O_all := gamma (height (sum_O p) + S R_max) (u m).
Definition H_c :=
  ((1 + GF) * (Gamma_O_all * size_ + losses m rho (sum_O p) / Lambda) + size_ * (Gamma_L_all + GF)) / (1 - Gamma_L_all) + Om.

(* Nothing is asked of the scores. *)
Record hull_known := {
  hull_sane : sane m;
  hull_sum : 0 < Lambda <= total weight (entries p);                                  (* Lemma 5 (a) *)
  hull_values : forall e, In e (entries p) -> low <= v e <= high /\ Rabs (v e) <= size_;
  hull_rescales : forall e, In e (entries p) -> (rescales e <= R_max)%nat;            (* Lemma 2 *)
  hull_factors : 1 <= rho /\ rescales_below rho (sum_l p) /\ rescales_below rho (sum_O p);
  hull_few : INR (S (max (height (sum_l p)) (height (sum_O p)) + R_max)) * u m < 1 }.

Lemma beside_all s y lf c : 0 <= u m -> 0 <= omega m -> 1 <= rho -> rescales_below rho s -> computed m s y ->
  Permutation (map lf (entries p)) (leaves s) -> INR (height s + c) * u m < 1 ->
  (forall e, In e (entries p) -> (products (lf e) <= c)%nat /\ Rabs (size (lf e)) <= weight e * size_) ->
  (forall e, In e (entries p) -> 0 <= weight e) -> 0 <= size_ ->
  Rabs (y - total (fun e => size (lf e)) (entries p)) <= gamma (height s + c) (u m) * (total weight (entries p) * size_) + losses m rho s.
Proof.
  intros Hu Hw Hr Rb C P F B N Hs. eapply Rle_trans; [apply (computed_beside m rho s y _ lf Hu Hw Hr Rb C P)|].
  apply Rplus_le_compat_r. apply Rle_trans with (total (fun e => gamma (height s + c) (u m) * size_ * weight e) (entries p)).
  - apply total_below. intros e I. destruct (B e I) as (Bp & Bs). specialize (N e I).
    replace (gamma (height s + c) (u m) * size_ * weight e) with (weight e * size_ * gamma (height s + c) (u m)) by ring.
    apply Rmult_le_compat; [apply Rabs_pos| |easy|].
    + pose proof (pow_at_least_1 (height s + products (lf e)) (u m) Hu). lra.
    + eapply Rle_trans; [|apply powers_below_gamma; [easy|exact F]]. apply Rplus_le_compat_r. apply Rle_pow; [lra|lia].
  - rewrite total_times. right. change (fun a => weight a) with weight. ring.
Qed.

(* Of any state whose sums have its entries for leaves, as a run has, or a run and a sink behind it. *)
Theorem hull_of_part o th beta : (forall e, In e (entries p) -> 0 <= weight e) -> Permutation (map leaf_l (entries p)) (leaves (sum_l p)) ->
  Permutation (map leaf_O (entries p)) (leaves (sum_O p)) -> hull_known -> computed m (sum_l p) l -> computed m (sum_O p) O -> Gamma_L_all < 1 ->
  Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta -> low - H_c <= o <= high + H_c.
Proof.
  intros Nn Pl PO K Cl CO G1 Ht Hb ->. pose proof (hull_sane K) as s. destruct (hull_factors K) as (Hr & Rl & RO).
  destruct (hull_sum K) as (L0 & HL).
  pose proof (some_u m s) as Hu. pose proof (some_omega m s) as Hw.
  assert (Few : forall n, (n <= S (max (height (sum_l p)) (height (sum_O p)) + R_max))%nat -> INR n * u m < 1).
  { intros n L. eapply Rle_lt_trans; [|exact (hull_few K)]. apply Rmult_le_compat_r; [easy|]. now apply le_INR. }
  set (Sg := total weight (entries p)) in *. assert (Sp : 0 < Sg) by lra.
  assert (Some : exists e, In e (entries p)).
  { unfold Sg in Sp. destruct (entries p) as [|e es]; [simpl in Sp; lra|exists e; now left]. }
  assert (Hs : 0 <= size_).
  { destruct Some as (e & I). destruct (hull_values K e I) as (_ & V). eapply Rle_trans; [apply Rabs_pos|exact V]. }
  assert (Lost : forall t, 0 <= losses m rho t -> losses m rho t <= losses m rho t / Lambda * Sg).
  { intros t P. apply Rle_trans with (losses m rho t / Lambda * Lambda); [right; field; lra|].
    apply Rmult_le_compat_l; [|easy]. unfold Rdiv. apply Rmult_le_pos; [easy|]. left. now apply Rinv_0_lt_compat. }
  assert (Dl : Rabs (l - Sg) <= Gamma_L_all * Sg).
  { assert (C : Rabs (l - total (fun e => size (leaf_l e)) (entries p))
                <= gamma (height (sum_l p) + R_max) (u m) * Sg + losses m rho (sum_l p)).
    { eapply Rle_trans; [apply (computed_beside m rho (sum_l p) l _ leaf_l Hu Hw Hr Rl Cl Pl)|]. apply Rplus_le_compat_r.
      unfold Sg. rewrite <- total_times. apply total_below. intros e I. unfold size, leaf_l; simpl. specialize (Nn e I).
      rewrite Rmult_1_r, Rabs_pos_eq, Rmult_comm by easy. apply Rmult_le_compat_r; [easy|].
      eapply Rle_trans; [|apply powers_below_gamma; [easy|apply Few; lia]]. apply Rplus_le_compat_r. apply Rle_pow; [lra|].
      pose proof (hull_rescales K e I). lia. }
    rewrite (total_same (fun e => size (leaf_l e)) weight) in C by (intros; unfold size; simpl; ring). fold Sg in C.
    unfold Gamma_L_all. pose proof (Lost (sum_l p) (losses_pos m rho (sum_l p) Hu Hw Hr)). lra. }
  apply (hull_of_sums (entries p) weight v l O th beta low high size_ Gamma_L_all (Gamma_O_all * size_ + losses m rho (sum_O p) / Lambda) GF Om); auto;
    [apply (hull_values K)|]. fold Sg.
  eapply Rle_trans; [apply (beside_all (sum_O p) O leaf_O (S R_max)); auto; [apply Few; lia|]|].
  - intros e I. pose proof (hull_rescales K e I). destruct (hull_values K e I) as (_ & V). specialize (Nn e I). split; [simpl; lia|].
    unfold size, leaf_O; simpl. fold (v e). rewrite Rabs_mult, (Rabs_pos_eq (weight e)) by easy. now apply Rmult_le_compat_l.
  - fold Sg. unfold Gamma_O_all. pose proof (Lost (sum_O p) (losses_pos m rho (sum_O p) Hu Hw Hr)). lra.
Qed.
Theorem clause_H o th beta : run m h p -> hull_known -> computed m (sum_l p) l -> computed m (sum_O p) O -> Gamma_L_all < 1 ->
  Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta -> low - H_c <= o <= high + H_c.
Proof.
  intros H K. destruct (sums_are_entries m h p H) as (Pl & PO). pose proof (hull_sane K) as s.
  apply (hull_of_part o th beta); auto. intros. now apply (weight_not_negative m h p).
Qed.
End Clause_H.
