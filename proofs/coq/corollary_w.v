(* Corollary W (returned weights), and R and V, which are sums of it and of the theorem. *)
From Attest Require Export theorem corollary_l.

Section Weights.
Context {A : Type} (keys : list A) (W E T zeta : A -> R) (counted : A -> bool) (D Lambda : R).
Context (known : weights_known keys W E T zeta counted D Lambda).
Context (j : A) (others : list A) (split : Permutation keys (j :: others)).

Let pi := pi keys E.
Definition P_over_D i := P keys E T i / D + zeta i / Lambda.
(* The middle entry of A_j: zeta of the others counts pi_j, that of key j counts 1 - pi_j. *)
Definition A_j := (1 - pi j) * P_over_D j + pi j * total P_over_D others.

Lemma key_in : In j keys.
Proof. apply (Permutation_in j (Permutation_sym split)). now left. Qed.
Lemma share_of_pi : 0 <= pi j <= 1.
Proof.
  pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as S. pose proof key_in as I.
  pose proof (exact_positive _ _ _ _ _ _ _ _ known) as Ep. split; [left; exact (pi_positive _ _ _ _ _ _ _ _ known j I)|].
  unfold pi, lemma_7.pi. apply Rmult_le_reg_r with (total E keys); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  assert (E j <= total E keys); [|lra]. apply (total_holds E); [|easy]. intros i Ii. left. now apply Ep.
Qed.

Theorem weight_share : Rabs (W j / total W keys - pi j) <= A_j.
Proof.
  pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as S. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW.
  pose proof share_of_pi as Pj. pose proof (weight_error _ _ _ _ _ _ _ _ known) as B.
  assert (TW : total W keys = W j + total W others) by (rewrite (total_permuted W _ _ split); reflexivity).
  assert (TE : total E keys = E j + total E others) by (rewrite (total_permuted E _ _ split); reflexivity).
  replace (W j / total W keys - pi j)
    with (((1 - pi j) * (W j - E j) - pi j * total (fun i => W i + -1 * E i) others) / total W keys).
  - unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ _)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with (total W keys); [easy|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, !Rabs_mult, (Rabs_pos_eq (1 - pi j)), (Rabs_pos_eq (pi j)) by lra.
    unfold A_j. rewrite Rmult_plus_distr_r, !Rmult_assoc. apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; [apply B, key_in|].
    eapply Rle_trans; [apply total_abs|]. rewrite Rmult_comm, <- total_times. apply total_below. intros i I.
    replace (W i + -1 * E i) with (W i - E i) by ring. rewrite Rmult_comm. apply B.
    apply (Permutation_in i (Permutation_sym split)). now right.
  - rewrite total_plus, total_times. change (fun a => W a) with W. change (fun a => E a) with E.
    replace (total W others) with (total W keys - W j) by lra. replace (total E others) with (total E keys - E j) by lra.
    unfold pi, lemma_7.pi. field. lra.
Qed.

(* Its other entries: 1, and Clause D's. *)
Theorem weight_share_clauses eta : W j <= eta * total W keys -> Rabs (W j / total W keys - pi j) <= Rmin 1 (Rmax (pi j) eta).
Proof.
  intros H. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW. pose proof share_of_pi as Pj. pose proof key_in as I.
  pose proof (not_negative _ _ _ _ _ _ _ _ known j I) as Wj.
  assert (Q : 0 <= W j / total W keys <= eta /\ W j / total W keys <= 1).
  { assert (W j <= total W keys) by (apply (total_holds W); auto; intros; now apply (not_negative _ _ _ _ _ _ _ _ known)).
    repeat split; apply Rmult_le_reg_r with (total W keys); try easy; unfold Rdiv; rewrite ?Rmult_assoc, ?Rinv_l; lra. }
  pose proof (Rmax_l (pi j) eta). pose proof (Rmax_r (pi j) eta). apply Rmin_glb; apply abs_below; lra.
Qed.

(* One pass: a^ = fl(p/l), p the weight of the sum, perhaps rounded to P's format: Gamma_W, and nu beside l^. *)
Theorem corollary_W_one_pass a l th nu beta Aj GL GW alpha Om : Rabs (W j / total W keys - pi j) <= Aj ->
  Rabs (l - total W keys) <= GL * total W keys -> GL < 1 -> Rabs th <= GW -> Rabs nu <= alpha * ((1 - GL) * Lambda) -> Rabs beta <= Om ->
  a = W j / l * (1 + th) + nu / l + beta -> Rabs (a - pi j) <= Aj + (pi j + Aj) * (GL + GW) / (1 - GL) + Om + alpha.
Proof.
  intros HA Hl HG Ht Hn Hb ->. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW. pose proof (lemma_5a _ _ _ _ _ _ _ _ known) as La.
  pose proof share_of_pi as Pj. set (S := total W keys) in *.
  assert (Er : Rabs ((l - S) / S) <= GL).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ S)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with S; [easy|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  apply between in Hl as Hl'. assert (Lp : (1 - GL) * Lambda <= l).
  { apply Rle_trans with ((1 - GL) * S); [apply Rmult_le_compat_l; lra|lra]. }
  assert (L0 : 0 < (1 - GL) * Lambda) by (apply Rmult_lt_0_compat; lra).
  assert (A0 : 0 <= alpha).
  { apply Rmult_le_reg_r with ((1 - GL) * Lambda); [easy|]. rewrite Rmult_0_l. eapply Rle_trans; [apply Rabs_pos|exact Hn]. }
  assert (Nu : Rabs (nu / l) <= alpha).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ l)) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with l; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    eapply Rle_trans; [exact Hn|]. now apply Rmult_le_compat_l. }
  assert (Zero : Rabs 0 <= 0) by (rewrite Rabs_R0; lra).
  pose proof (bound_algebra (pi j) (W j / S) 0 ((l - S) / S) th beta Aj 0 GL GW Om HA Zero Er HG Ht Hb) as F.
  replace ((W j / S + 0) / (1 + (l - S) / S)) with (W j / l) in F by (field; lra).
  rewrite Rmult_0_r, Rplus_0_l, (Rabs_pos_eq (pi j)) in F by lra.
  replace (W j / l * (1 + th) + nu / l + beta - pi j) with ((W j / l * (1 + th) + beta - pi j) + nu / l) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* Second pass: p was formed again from the same score. It need not be below the sum, so that U_j has no cap here; and where
   the sum is too large, the weight is too small: that is Sum U_i, not 1 - D. *)
Definition U i := pi i * T i.
Definition too_large := Rmin 1 (total U keys + far_part keys zeta Lambda).
Definition off_sum := Rmax (1 - D) too_large.
Definition second_pass GL GW := (U j * (1 + GW) + pi j * (GW + off_sum + GL)) / (D * (1 - GL)).

Lemma second_pass_from_below p l th GL GW : E j / (1 + T j) <= p -> 0 < l -> l <= (1 + GL) * total W keys -> 0 <= GL -> 0 <= GW <= 1 ->
  - GW <= th -> far_part keys zeta Lambda <= 1 ->
  pi j * (1 - T j - GW - (total U keys + far_part keys zeta Lambda) - GL) <= p / l * (1 + th).
Proof.
  intros Hp Lp Hl HG HW Ht Hf. pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as SE. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW.
  pose proof (sum_from_above _ _ _ _ _ _ _ _ known) as Up. pose proof (U_not_negative _ _ _ _ _ _ _ _ known) as V0.
  change (total (fun i => lemma_7.pi keys E i * T i) keys) with (total U keys) in *.
  pose proof (far_part_not_negative _ _ _ _ _ _ _ _ known) as F0. pose proof share_of_pi as Pj. pose proof key_in as I.
  pose proof (spread_positive _ _ _ _ _ _ _ _ known j I) as (Tj & _). pose proof (exact_positive _ _ _ _ _ _ _ _ known j I) as Ej.
  set (f := far_part keys zeta Lambda) in *. set (V := total U keys) in *.
  apply Rmult_le_reg_r with l; [easy|]. replace (p / l * (1 + th) * l) with (p * (1 + th)) by (field; lra).
  set (c := 1 - T j - GW - (V + f) - GL) in *.
  assert (P0 : 0 < E j / (1 + T j)) by (apply Rdiv_lt_0_compat; lra).
  destruct (Rle_dec c 0) as [N|N].
  { apply Rle_trans with 0; [|apply Rmult_le_pos; lra].
    assert (0 <= pi j * - c * l) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra. }
  assert (C : c * (1 + T j) * (1 + V) * (1 + GL) <= (1 - GW) * (1 - f)).
  { assert (R1 : (1 - GW - T j) * (1 + T j) <= 1 - GW).
    { assert (0 <= GW * T j) by (apply Rmult_le_pos; lra). assert (0 <= T j * T j) by now apply Rmult_le_pos. lra. }
    assert (R2 : (1 - GW - T j - f - V) * (1 + V) <= (1 - GW - T j) * (1 - f)).
    { assert (0 <= (GW + T j + f) * V) by (apply Rmult_le_pos; lra). assert (0 <= V * V) by now apply Rmult_le_pos.
      assert (0 <= (GW + T j) * f) by (apply Rmult_le_pos; lra). lra. }
    assert (R3 : c * (1 + GL) <= 1 - GW - T j - f - V).
    { unfold c. assert (0 <= (T j + GW + (V + f) + GL) * GL) by (apply Rmult_le_pos; lra). lra. }
    apply Rle_trans with ((1 - GW - T j - f - V) * (1 + V) * (1 + T j)).
    - replace (c * (1 + T j) * (1 + V) * (1 + GL)) with (c * (1 + GL) * (1 + V) * (1 + T j)) by ring.
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra.
    - apply Rle_trans with ((1 - GW - T j) * (1 - f) * (1 + T j)); [apply Rmult_le_compat_r; lra|].
      replace ((1 - GW - T j) * (1 - f) * (1 + T j)) with ((1 - GW - T j) * (1 + T j) * (1 - f)) by ring. apply Rmult_le_compat_r; lra. }
  assert (F1 : f < 1) by (unfold c in N; lra).
  (* c pi l <= E/(1 + T) (1 - GW) *)
  apply Rle_trans with (E j / (1 + T j) * (1 - GW)); [|apply Rmult_le_compat; lra].
  apply Rmult_le_reg_r with ((1 + T j) * (1 - f)); [apply Rmult_lt_0_compat; lra|].
  replace (E j / (1 + T j) * (1 - GW) * ((1 + T j) * (1 - f))) with (E j * ((1 - GW) * (1 - f))) by (field; lra).
  rewrite (exact_of_pi _ _ _ _ _ _ _ _ known). fold pi.
  apply Rle_trans with (pi j * c * ((1 + GL) * (total E keys * (1 + V))) * (1 + T j)).
  - replace (pi j * c * l * ((1 + T j) * (1 - f))) with (pi j * c * (l * (1 - f)) * (1 + T j)) by ring.
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
    apply Rle_trans with ((1 + GL) * total W keys * (1 - f)); [apply Rmult_le_compat_r; lra|].
    rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
  - replace (pi j * c * ((1 + GL) * (total E keys * (1 + V))) * (1 + T j)) with (pi j * total E keys * (c * (1 + T j) * (1 + V) * (1 + GL))) by ring.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact C].
Qed.

Lemma second_pass_from_above p l th GL GW : 0 <= p <= E j * (1 + T j) -> (1 - GL) * total W keys <= l -> 0 <= GL < 1 -> 0 <= 1 + th <= 1 + GW ->
  p / l * (1 + th) - pi j <= (U j * (1 + GW) + pi j * (GW + (1 - D) + GL)) / (D * (1 - GL)).
Proof.
  intros Hp Hl HG Ht. pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as SE. pose proof (D_positive _ _ _ _ _ _ _ _ known) as HD.
  pose proof (lemma_5b _ _ _ _ _ _ _ _ known) as B. pose proof (D_at_most_1 _ _ _ _ _ _ _ _ known) as D1.
  pose proof share_of_pi as Pj. pose proof (spread_positive _ _ _ _ _ _ _ _ known j key_in) as (Tj & _).
  assert (DG : 0 < D * (1 - GL)) by (apply Rmult_lt_0_compat; lra).
  assert (Dl : D * (1 - GL) * total E keys <= l).
  { eapply Rle_trans; [|exact Hl]. replace (D * (1 - GL) * total E keys) with ((1 - GL) * (total E keys * D)) by ring.
    apply Rmult_le_compat_l; lra. }
  assert (Lp : 0 < l) by (eapply Rlt_le_trans; [|exact Dl]; now apply Rmult_lt_0_compat).
  assert (Up : p / l * (1 + th) * (D * (1 - GL)) <= pi j * (1 + T j) * (1 + GW)).
  { apply Rmult_le_reg_r with l; [easy|]. replace (p / l * (1 + th) * (D * (1 - GL)) * l) with (p * (1 + th) * (D * (1 - GL))) by (field; lra).
    apply Rle_trans with (E j * (1 + T j) * (1 + GW) * (D * (1 - GL))).
    - apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra.
    - rewrite (exact_of_pi _ _ _ _ _ _ _ _ known). fold pi.
      replace (pi j * total E keys * (1 + T j) * (1 + GW) * (D * (1 - GL)))
        with (pi j * (1 + T j) * (1 + GW) * (D * (1 - GL) * total E keys)) by ring.
      apply Rmult_le_compat_l; [|exact Dl]. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
  apply Rmult_le_reg_r with (D * (1 - GL)); [easy|].
  replace ((U j * (1 + GW) + pi j * (GW + (1 - D) + GL)) / (D * (1 - GL)) * (D * (1 - GL))) with (U j * (1 + GW) + pi j * (GW + (1 - D) + GL)) by (field; lra).
  assert (pi j * (D * GL) <= pi j * GL).
  { apply Rmult_le_compat_l; [lra|]. rewrite <- (Rmult_1_l GL) at 2. apply Rmult_le_compat_r; lra. }
  unfold U. lra.
Qed.

(* n is what the weight loses where it is far (zeta), nu what its rounding to P's format loses. *)
Theorem corollary_W_second_pass a p n l th nu beta GL GW alpha Om :
  0 <= p <= E j * (1 + T j) -> E j / (1 + T j) <= p \/ 1 <= T j -> far_part keys zeta Lambda <= 1 ->
  Rabs (l - total W keys) <= GL * total W keys -> 0 <= GL < 1 -> Rabs th <= GW -> GW <= 1 ->
  Rabs (n * (1 + th) + nu) <= alpha * ((1 - GL) * Lambda) -> Rabs beta <= Om ->
  a = (p + n) / l * (1 + th) + nu / l + beta -> Rabs (a - pi j) <= second_pass GL GW + Om + alpha.
Proof.
  intros Hp Lo Hf Hl HG Ht G1 Hn Hb ->. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW. pose proof (lemma_5a _ _ _ _ _ _ _ _ known) as La.
  pose proof share_of_pi as Pj. pose proof (D_positive _ _ _ _ _ _ _ _ known) as HD. pose proof (D_at_most_1 _ _ _ _ _ _ _ _ known) as D1.
  pose proof (spread_positive _ _ _ _ _ _ _ _ known j key_in) as (Tj & _).
  apply between in Hl as Hl', Ht as Ht'.
  assert (Ll : (1 - GL) * Lambda <= l) by (apply Rle_trans with ((1 - GL) * total W keys); [apply Rmult_le_compat_l; lra|lra]).
  assert (L0 : 0 < (1 - GL) * Lambda) by (apply Rmult_lt_0_compat; lra).
  assert (A0 : 0 <= alpha).
  { apply Rmult_le_reg_r with ((1 - GL) * Lambda); [easy|]. rewrite Rmult_0_l. eapply Rle_trans; [apply Rabs_pos|exact Hn]. }
  assert (Nu : Rabs ((n * (1 + th) + nu) / l) <= alpha).
  { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ l)) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_reg_r with l; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    eapply Rle_trans; [exact Hn|]. now apply Rmult_le_compat_l. }
  pose proof (Rmax_l (1 - D) too_large) as ML. pose proof (Rmax_r (1 - D) too_large) as MR.
  fold off_sum in ML, MR. assert (DG : 0 < D * (1 - GL)) by (apply Rmult_lt_0_compat; lra).
  assert (UP : 0 <= U j) by (apply Rmult_le_pos; lra).
  assert (O0 : 0 <= pi j * (GW + off_sum + GL)) by (apply Rmult_le_pos; lra).
  assert (Wide : U j + pi j * (GW + off_sum + GL) <= second_pass GL GW).
  { unfold second_pass. apply Rmult_le_reg_r with (D * (1 - GL)); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (0 <= U j * GW) by (apply Rmult_le_pos; lra). assert (D * (1 - GL) <= 1 * 1) by (apply Rmult_le_compat; lra).
    apply Rle_trans with ((U j + pi j * (GW + off_sum + GL)) * 1); [apply Rmult_le_compat_l; lra|lra]. }
  assert (Core : Rabs (p / l * (1 + th) - pi j) <= second_pass GL GW).
  { apply abs_below. split.
    - assert (pi j - p / l * (1 + th) <= U j + pi j * (GW + off_sum + GL)); [|lra]. destruct Lo as [Lo|Lo].
      + assert (B : pi j * (1 - T j - GW - (total U keys + far_part keys zeta Lambda) - GL) <= p / l * (1 + th))
          by (apply second_pass_from_below; lra).
        change (U j) with (pi j * T j) in *. unfold too_large, Rmin in MR. destruct (Rle_dec 1 _).
        * assert (pi j * 1 <= pi j * off_sum) by (apply Rmult_le_compat_l; lra).
          assert (0 <= p / l * (1 + th)) by (apply Rmult_le_pos; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|lra]).
          assert (0 <= pi j * (GW + GL)) by (apply Rmult_le_pos; lra). lra.
        * assert (pi j * (total U keys + far_part keys zeta Lambda) <= pi j * off_sum) by (apply Rmult_le_compat_l; lra). lra.
      + assert (0 <= p / l * (1 + th)) by (apply Rmult_le_pos; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|lra]).
        assert (pi j * 1 <= U j) by (apply Rmult_le_compat_l; lra). lra.
    - eapply Rle_trans; [apply (second_pass_from_above p l th GL GW); lra|]. unfold second_pass, Rdiv.
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. apply Rplus_le_compat_l, Rmult_le_compat_l; lra. }
  replace ((p + n) / l * (1 + th) + nu / l + beta - pi j) with ((p / l * (1 + th) - pi j) + (n * (1 + th) + nu) / l + beta) by (field; lra).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.
End Weights.

(* Corollaries R and V: the numbers whose exact values sum to 1, each within its bound, sum to 1 within the sum of these. *)
Theorem corollaries_R_V {A} (l : list A) (exact computed bound : A -> R) : total exact l = 1 ->
  (forall i, In i l -> Rabs (computed i - exact i) <= bound i) -> Rabs (total computed l - 1) <= total bound l.
Proof.
  intros One B. rewrite <- One. replace (total computed l - total exact l) with (total (fun i => computed i + -1 * exact i) l).
  - eapply Rle_trans; [apply total_abs|]. apply total_below. intros i I.
    replace (computed i + -1 * exact i) with (computed i - exact i) by ring. now apply B.
  - rewrite total_plus, total_times. change (fun a => computed a) with computed. change (fun a => exact a) with exact. ring.
Qed.
