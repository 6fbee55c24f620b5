(* Lemma 4, (2) for far and flushed keys: what tiny factors and cut ones of exp leave of a weight, over every tree of merges. *)
From Attest Require Export merged_sums.

(* The exact arguments of exp telescope: their sum. Only the first may be positive, by tau. *)
Definition along e := total (fun a => a) (path e).
Definition spans m e := 2 * tau m - along e.

Lemma made_along m k M w l : made m k M w l -> total (fun a => a) l = score k - M.
Proof. induction 1; simpl; lra. Qed.

Section Lemma_4_far.
Context (m : model) (g : lse_model) (r : limits) (Y ell mu : key -> R) (share excess : R).

(* share is omega_W/Lambda. A part's far keys have it by (2), and what one merge cuts from a weight is below it; excess is
   what the sums of weights may have beside those that were computed, 1/(1 - Gamma_L). *)
Record far_known := {
  far_tinies : tinies m; some_share : 0 <= share; some_excess : 0 <= excess;
  far_in_parts : forall s e, part_known r s -> In e (seen s) -> left_over m (Y (of e)) (rescales e) <= share * sum_W s;
  sums_of_states : forall s, state_known r s -> sum_W s <= excess * l_hat s;
  far_in_merges : forall s, state_known r s -> is_part s = false -> excess * (tiny m + 2 * exp (- far m) * share) <= share * sum_W s }.

Lemma merged_not_negative n a s e : lse_known m g r Y ell mu -> merged m g r n a s -> In e (seen s) -> 0 <= weight e.
Proof.
  intros K H. revert e. pose proof (lse_sane m g r Y ell mu K) as sn.
  induction H as [h p M l O s H EM _ _ _ _|n a inputs T tl tO l O s Hm IH He _ _ _ _ _ _ _ _|]; intros e I; [|
    |now apply IHmerged].
  - simpl in I. now apply (weight_not_negative m h p).
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I). simpl.
    destruct (lse_sized _ _ _ _ _ _ K _ (state_is_known _ _ _ _ _ _ (Hm i Ii))) as (P & _).
    destruct (He i Ii) as (_ & _ & (x & _ & (X & _)) & _).
    apply Rmult_le_pos; [now apply (IH i Ii)|]. unfold Rdiv. apply Rmult_le_pos; [easy|]. left. now apply Rinv_0_lt_compat.
Qed.

(* A part's share of a merged sum is no more than the sum. *)
Lemma share_of_merged n a inputs T l O i : lse_known m g r Y ell mu -> (forall i, In i inputs -> merged m g r n a (from i)) ->
  (forall i, In i inputs -> enters m g T i) -> In i inputs ->
  factor_of i / l_hat (from i) * sum_W (from i) <= sum_W (State false T (flat_map (fun i => map (behind T i) (seen (from i))) inputs) l O).
Proof.
  intros K Hm He Ii. unfold sum_W. simpl. rewrite total_flat.
  replace (factor_of i / l_hat (from i) * total weight (seen (from i))) with (total weight (map (behind T i) (seen (from i)))).
  2:{ rewrite total_map, <- total_times. apply total_same. intros e _. simpl. ring. }
  apply (total_holds (fun i => total weight (map (behind T i) (seen (from i))))); [|easy].
  intros j Ij. rewrite total_map. apply total_pos. intros e I. simpl.
  destruct (lse_sized _ _ _ _ _ _ K _ (state_is_known _ _ _ _ _ _ (Hm j Ij))) as (P & _).
  destruct (He j Ij) as (_ & _ & (x & _ & (X & _)) & _).
  apply Rmult_le_pos; [apply (merged_not_negative n a (from j)); auto|]. unfold Rdiv. apply Rmult_le_pos; [easy|]. left. now apply Rinv_0_lt_compat.
Qed.

Lemma along_at_most_tau n a s e : lse_known m g r Y ell mu -> merged m g r n a s -> In e (seen s) -> along e <= tau m.
Proof.
  intros K H. revert e. induction H as [h p M l O s H EM _ _ _ _|n a inputs T tl tO l O s Hm IH He _ _ _ _ _ _ _ _|]; intros e I; [|
    |now apply IHmerged].
  - simpl in I. destruct (entries_made m h p e H I) as (M' & _ & Md). unfold along. rewrite (made_along _ _ _ _ _ Md).
    pose proof (made_covers _ _ _ _ _ Md). lra.
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I).
    destruct (He i Ii) as (_ & LT & _). specialize (IH i Ii e0 I). unfold along in *. simpl. lra.
Qed.

(* xi_j has room for what a rounded argument loses. *)
Lemma xi_holds_lost n a s e : lse_known m g r Y ell mu -> merged m g r n a s -> In e (seen s) -> Rabs (begun (of e) (path e)) <= Y (of e) ->
  0 <= xi_of m g Y ell mu (of e) - lost m.
Proof.
  intros K H I HY. destruct (lse_sized _ _ _ _ _ _ K _ (state_is_known _ _ _ _ _ _ H)) as (Pl & Each). destruct (Each e I) as (B & B1 & B2).
  pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (Rabs_pos (begun (of e) (path e))). pose proof (Rabs_pos (ln (l_hat s))).
  destruct (log_errors _ _ _ _ _ _ K) as (E0 & W0 & Sm). pose proof (some_u m sn) as Hu. pose proof (few_k_lse _ _ _ _ _ _ K) as Fk.
  assert (Gk : u m <= gamma (max (k_lse g) 2) (u m)).
  { pose proof (powers_below_gamma _ (u m) Hu Fk). pose proof (Rle_pow (1 + u m) 1 (max (k_lse g) 2) ltac:(lra) ltac:(lia)). simpl in *. lra. }
  pose proof (little_lost _ _ _ _ _ _ K). pose proof (some_omega m sn).
  assert (0 <= eps_log g * ell (of e)) by (apply Rmult_le_pos; lra). pose proof (some_mu _ _ _ _ _ _ K (of e)).
  assert (u m * / 2 <= gamma (max (k_lse g) 2) (u m) * (Y (of e) + ell (of e) + mu (of e))) by (apply Rmult_le_compat; lra).
  unfold xi_of, xi. lra.
Qed.

Definition reaches_far e := reach m (spans m e) (Y (of e)).
Definition off n e := gamma_x m * spans m e + kappa m (Y (of e)) + INR (length (path e)) * (log_loss (eps m) + lost m)
  + log_loss (u_shared m) + INR n * (xi_of m g Y ell mu (of e) - lost m).

Theorem lemma_4_any_key n a s e : lse_known m g r Y ell mu -> far_known -> merged m g r n a s -> In e (seen s) ->
  Rabs (begun (of e) (path e)) <= Y (of e) ->
  weight e = 0 /\ x0 m < reaches_far e \/
  near_or_far (weight e) (score (of e) - top s) (off n e) (share * sum_W s) (far m < reaches_far e).
Proof.
  intros K F H. pose proof (lse_sane m g r Y ell mu K) as sn. pose proof (gamma_x_pos m sn) as G. pose proof (far_tinies F) as ti.
  pose proof (lost_pos m sn) as L0. pose proof (some_tiny m ti) as Ty. pose proof (some_eps m sn) as E0. pose proof (some_share F) as S0.
  revert e. induction H as [h p M l O s H EM Cl CO Pk Sk|n a inputs T tl tO l O s Hm IH He Hx J1 J2 C1 C2 L1 L2 Sk|n a n' a' s Hm IH Ln La];
    intros e I HY.
  - pose proof (far_in_parts F _ _ Pk I) as FP. destruct (lse_sized _ _ _ _ _ _ K _ Sk) as (_ & Each). destruct (Each e I) as (_ & _ & Bt).
    specialize (Bt eq_refl). simpl in I, Bt. apply between in HY as HY'. pose proof (Rle_abs M).
    destruct (entries_made m h p e H I) as (M' & EM' & Md). assert (M' = M) by congruence. subst M'.
    pose proof (made_along _ _ _ _ _ Md) as Al. fold (along e) in Al. pose proof (path_lengths _ _ _ _ H I) as Ln.
    assert (Sp : M - score (of e) + 2 * tau m = spans m e) by (unfold spans; lra).
    destruct (signed_weight m h p e M (Y (of e)) sn ti H I EM) as [(W0 & B)|(x & z & Wx & Px & D & B & Z)]; [lra|lra| |].
    + left. rewrite Sp in B. now split.
    + right. exists x, z. rewrite Sp in Z. split; [easy|]. split; [easy|]. split; [|split; [lra|intros N; apply Z; unfold reaches_far in N; lra]].
      unfold signed in D. replace (S (rescales e)) with (length (path e)) in D by (unfold rescales; lia). change (top s) with M.
      unfold off. simpl (INR 0). unfold spans. apply abs_below. rewrite Al. lra.
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I).
    destruct (He i Ii) as (HL & LT & (x & A & X) & _). pose proof (merged_paths m g r _ _ _ _ (Hm i Ii) I) as Np.
    pose proof (state_is_known _ _ _ _ _ _ (Hm i Ii)) as Sk'. destruct (lse_sized _ _ _ _ _ _ K _ Sk') as (Pl & Each). destruct (Each e0 I) as (B & B1 & B2).
    simpl in HY. replace (begun (of e0) (log_sum i - T :: path e0)) with (begun (of e0) (path e0)) in HY by (unfold begun; simpl; now destruct (path e0)).
    pose proof (along_at_most_tau n a (from i) e0 K (Hm i Ii) I) as At. pose proof (some_tau m sn) as T0.
    pose proof (merged_not_negative n a (from i) e0 K (Hm i Ii) I) as W0.
    assert (K0 : 0 <= kappa m (Y (of e0))).
    { unfold kappa. pose proof (Rabs_pos (begun (of e0) (path e0))). pose proof (gamma_pos (c_m m) (u m) (some_u m sn) (few_shared m sn)).
      apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    set (d := T - log_sum i). assert (D0 : 0 <= d) by (unfold d; lra).
    assert (Sp : spans m (behind T i e0) = spans m e0 + d) by (unfold spans, along, d; simpl; lra).
    assert (Re : reaches_far e0 <= reaches_far (behind T i e0) /\ (1 + gamma_x m) * d + lost m <= reaches_far (behind T i e0)).
    { unfold reaches_far, reach. rewrite Sp. simpl (of (behind T i e0)).
      assert (0 <= (1 + gamma_x m) * d) by (apply Rmult_le_pos; lra). assert (0 <= (1 + gamma_x m) * spans m e0) by (apply Rmult_le_pos; unfold spans; lra). lra. }
    destruct Re as (Re1 & Re2). simpl (weight (behind T i e0)).
    destruct (IH i Ii e0 I HY) as [(Wz & B0)|(w & n0 & Ww & Pw & Dw & Bn & Nz)]; [left; rewrite Wz; split; [ring|lra]|].
    assert (A0 : argument m (log_sum i - T + 0) x) by (now rewrite Rplus_0_r).
    destruct (any_factor m sn (log_sum i - T) 0 x (factor_of i) A0 X) as [(Fz & B0)|(f & z & Ef & Hf & Hz & Zz & Dx)];
      rewrite Rabs_R0, (Rabs_left1 (log_sum i - T)) in * by lra.
    { left. rewrite Fz. unfold Rdiv. split; [ring|unfold d in *; lra]. }
    right. destruct (log_near f (eps m) E0 Hf) as (Pf & Df). pose proof (exp_pos x) as Pe.
    set (c := exp x * (1 + f)) in *. assert (Pc : 0 < c) by (apply Rmult_lt_0_compat; lra).
    assert (Pi : 0 < / l_hat (from i)) by now apply Rinv_0_lt_compat.
    exists (w * (c / l_hat (from i))), (n0 * (c / l_hat (from i)) + weight e0 * (z / l_hat (from i))).
    split; [rewrite Ef, Ww; unfold Rdiv; ring|]. split; [apply Rmult_lt_0_compat; [easy|now apply Rdiv_lt_0_compat]|].
    split; [|split].
    + unfold Rdiv. rewrite !ln_mult, ln_Rinv by (try apply Rmult_lt_0_compat; easy). unfold c. rewrite ln_mult, ln_exp by easy.
      assert (Xi : Rabs (log_sum i - (top (from i) + ln (l_hat (from i)))) <= xi_of m g Y ell mu (of e0) - lost m).
      { destruct (log_errors _ _ _ _ _ _ K) as (G0 & O0 & Sm). pose proof (Rabs_pos (begun (of e0) (path e0))).
        pose proof (lemma_4_xi m g (is_part (from i)) (top (from i)) (l_hat (from i)) (log_sum i) (Y (of e0)) (ell (of e0)) (mu (of e0)) sn
          (few_k_lse _ _ _ _ _ _ K) ltac:(lra) (some_mu _ _ _ _ _ _ K _) HL B B1 B2 G0 O0 (Sm _) (little_lost _ _ _ _ _ _ K)). unfold xi_of. lra. }
      unfold off in *. rewrite Sp. simpl (of (behind T i e0)). change (top s) with T.
      change (length (path (behind T i e0))) with (S (length (path e0))). rewrite !S_INR.
      apply between in Dw, Xi, Dx, Df. unfold d. apply abs_below. lra.
    + (* what is lost: of before, and one tiny factor *)
      pose proof (share_of_merged n a inputs T l O i K Hm He Ii) as Sh. fold s in Sh.
      assert (Wi : 0 <= sum_W (from i)) by (apply total_pos; intros e' I'; apply (merged_not_negative n a (from i)); auto).
      destruct (Rle_dec (- far m) x) as [Fx|Fx].
      * rewrite (Zz Fx) in *. rewrite Rplus_0_r in Ef. replace (n0 * (c / l_hat (from i)) + weight e0 * (0 / l_hat (from i))) with (n0 * (c / l_hat (from i))) by (unfold Rdiv; ring).
        rewrite <- Ef. assert (Q0 : 0 <= factor_of i / l_hat (from i)) by (rewrite Ef; left; now apply Rdiv_lt_0_compat).
        rewrite Rabs_mult, (Rabs_pos_eq (factor_of i / _)) by easy.
        apply Rle_trans with (share * sum_W (from i) * (factor_of i / l_hat (from i))); [now apply Rmult_le_compat_r|].
        replace (share * sum_W (from i) * (factor_of i / l_hat (from i))) with (share * (factor_of i / l_hat (from i) * sum_W (from i))) by ring.
        now apply Rmult_le_compat_l.
      * assert (Cf : c <= 2 * exp (- far m)).
        { unfold c. assert (exp x <= exp (- far m)) by (apply exp_grows; lra). rewrite Rmult_comm. apply between in Hf.
          apply Rmult_le_compat; lra. }
        pose proof (sums_of_states F _ Sk') as Ex. pose proof (some_excess F) as X0.
        assert (We : weight e0 <= sum_W (from i)).
        { apply (total_holds weight); [|easy]. intros e' I'. apply (merged_not_negative n a (from i)); auto. }
        assert (Part : sum_W (from i) / l_hat (from i) <= excess).
        { apply Rmult_le_reg_r with (l_hat (from i)); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
        eapply Rle_trans; [|apply (far_in_merges F s Sk eq_refl)]. eapply Rle_trans; [apply Rabs_triang|].
        assert (Q1 : Rabs (n0 * (c / l_hat (from i))) <= share * (2 * exp (- far m)) * excess).
        { rewrite Rabs_mult, (Rabs_pos_eq (c / _)) by (left; now apply Rdiv_lt_0_compat).
          apply Rle_trans with (share * sum_W (from i) * (c / l_hat (from i))); [apply Rmult_le_compat_r; [left; now apply Rdiv_lt_0_compat|easy]|].
          replace (share * sum_W (from i) * (c / l_hat (from i))) with (share * c * (sum_W (from i) / l_hat (from i))) by (unfold Rdiv; ring).
          apply Rmult_le_compat; [apply Rmult_le_pos; lra|unfold Rdiv; apply Rmult_le_pos; lra|now apply Rmult_le_compat_l|easy]. }
        assert (Q2 : Rabs (weight e0 * (z / l_hat (from i))) <= excess * tiny m).
        { replace (weight e0 * (z / l_hat (from i))) with (weight e0 / l_hat (from i) * z) by (unfold Rdiv; ring).
          assert (0 <= weight e0 / l_hat (from i)) by (unfold Rdiv; apply Rmult_le_pos; lra).
          rewrite Rabs_mult, (Rabs_pos_eq (weight e0 / _)) by easy. apply Rmult_le_compat; auto using Rabs_pos.
          eapply Rle_trans; [|exact Part]. unfold Rdiv. apply Rmult_le_compat_r; lra. }
        lra.
    + intros N. rewrite Nz by (intros N'; lra). rewrite Zz; [unfold Rdiv; ring|]. apply between in Dx. unfold d in *. lra.
  - destruct (IH e I HY) as [B|(w & n0 & Ww & Pw & Dw & Bn & Nz)]; [now left|right]. exists w, n0. split; [easy|split; [easy|split; [|now split]]].
    eapply Rle_trans; [exact Dw|]. unfold off. apply Rplus_le_compat_l. apply Rmult_le_compat_r; [|now apply le_INR].
    now apply (xi_holds_lost n a s).
Qed.

(* (2) of Lemma 3 for every key of a merged state, with the X_j, z_j and X^_j of section 3. *)
Theorem lemma_4_far n a s e x E X : lse_known m g r Y ell mu -> far_known -> merged m g r n a s -> In e (seen s) ->
  Rabs (begun (of e) (path e)) <= Y (of e) -> Rabs (score (of e) - x) <= E -> spans m e <= X ->
  weight e = 0 /\ x0 m < reach m X (Y (of e)) \/
  near_or_far (weight e) (x - top s) (z_merged m g Y ell mu E X n e) (share * sum_W s) (far m < reach m X (Y (of e))).
Proof.
  intros K F H I HY HE HX. pose proof (gamma_x_pos m (lse_sane _ _ _ _ _ _ K)) as G.
  assert (Gs : gamma_x m * spans m e <= gamma_x m * X) by now apply Rmult_le_compat_l.
  assert (Re : reaches_far e <= reach m X (Y (of e))) by (unfold reaches_far, reach; lra).
  destruct (lemma_4_any_key n a s e K F H I HY) as [(W0 & B)|(w & z & Ww & Pw & D & B & Z)]; [left; split; [easy|lra]|right].
  exists w, z. split; [easy|]. split; [easy|]. split; [|split; [easy|intros N; apply Z; lra]].
  pose proof (merged_paths m g r n a s e H I) as Np. unfold z_merged, z_of, off, rescales in *. apply between in D, HE.
  destruct (path e) as [|b q]; [easy|]. simpl (length (b :: q) - 1)%nat. rewrite Nat.sub_0_r.
  change (length (b :: q)) with (S (length q)) in D. rewrite S_INR in D. apply abs_below. lra.
Qed.

(* What X_j holds: ell_0 of the part's sum, and what each later maximum may lie below an earlier one. *)
Theorem lemma_4_spans n a s e ell_0 low : lse_known m g r Y ell mu -> merged m g r n a s -> In e (seen s) -> Rabs (begun (of e) (path e)) <= Y (of e) ->
  0 <= low -> (forall s' e, state_known r s' -> In e (seen s') -> - (if is_part s' then ell_0 (of e) else low) <= ln (l_hat s')) ->
  0 <= ell_0 (of e) -> spans m e <= top s - score (of e) + 2 * tau m + (if is_part s then 0 else ell_0 (of e) + INR n * (xi_of m g Y ell mu (of e) + low)).
Proof.
  intros K H I HY L0 Low E0. pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (lost_pos m sn) as Lp. revert e I HY E0.
  induction H as [h p M l O s H EM Cl CO Pk Sk|n a inputs T tl tO l O s Hm IH He Hx J1 J2 C1 C2 L1 L2 Sk|n a n' a' s Hm IH Ln La];
    intros e I HY E0.
  - simpl in *. destruct (entries_made m h p e H I) as (M' & EM' & Md). assert (M' = M) by congruence. subst M'.
    unfold spans, along. rewrite (made_along _ _ _ _ _ Md). lra.
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I).
    destruct (He i Ii) as (HL & LT & _). pose proof (merged_paths _ _ _ _ _ _ _ (Hm i Ii) I) as Np. simpl in HY, E0.
    replace (begun (of e0) (log_sum i - T :: path e0)) with (begun (of e0) (path e0)) in HY by (unfold begun; simpl; now destruct (path e0)).
    pose proof (state_is_known _ _ _ _ _ _ (Hm i Ii)) as Sk'. destruct (lse_sized _ _ _ _ _ _ K _ Sk') as (P & Each). destruct (Each e0 I) as (B & B1 & B2).
    destruct (log_errors _ _ _ _ _ _ K) as (Eg & W0 & Sm). pose proof (Rabs_pos (begun (of e0) (path e0))).
    pose proof (lemma_4_xi m g _ _ _ _ (Y (of e0)) (ell (of e0)) (mu (of e0)) sn (few_k_lse _ _ _ _ _ _ K) ltac:(lra) (some_mu _ _ _ _ _ _ K _) HL B B1 B2 Eg W0 (Sm _) (little_lost _ _ _ _ _ _ K)) as Xi.
    fold (xi_of m g Y ell mu (of e0)) in Xi. pose proof (xi_holds_lost n a (from i) e0 K (Hm i Ii) I HY) as X0.
    specialize (IH i Ii e0 I HY E0). specialize (Low _ e0 Sk' I).
    assert (D : Rabs (log_sum i - (top (from i) + ln (l_hat (from i)))) <= xi_of m g Y ell mu (of e0)) by lra. apply between in D.
    unfold spans, along in *. simpl. change (match n with O => 1 | S _ => INR n + 1 end) with (INR (S n)). rewrite S_INR.
    pose proof (Rmult_le_pos (INR n) (xi_of m g Y ell mu (of e0) + low) (pos_INR n) ltac:(lra)). destruct (is_part (from i)); lra.
  - specialize (IH e I HY E0). destruct (is_part s); [easy|]. pose proof (xi_holds_lost n a s e K Hm I HY).
    assert (INR n * (xi_of m g Y ell mu (of e) + low) <= INR n' * (xi_of m g Y ell mu (of e) + low)) by (apply Rmult_le_compat_r; [lra|now apply le_INR]). lra.
Qed.
End Lemma_4_far.
