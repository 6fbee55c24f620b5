(* Lemma 4 (merges by LSE): (2) of Lemma 3 with mu_j in z_j, and what both sums are, over every tree of merges. *)
From Attest Require Export machine_lse masked corollary_l.

(* --- the error of an LSE: xi_j of section 3 --------------------------------------------------------------------------- *)

Definition xi m g Y ell mu := gamma (max (k_lse g) 2) (u m) * (Y + ell + mu) + eps_log g * ell + omega_log g.

(* The k_lse roundings, of M + ln l^ or before of M alone, and the error of log^. The 1/2 of |ln l^| <= ell - 1/2 is the room
   of the second order, and of what is lost. *)
Theorem lemma_4_xi m g part M l L Y ell mu : sane m -> INR (max (k_lse g) 2) * u m < 1 -> 0 <= Y -> 0 <= mu -> lse m g part M l L ->
  Rabs (ln l) <= ell - / 2 -> Rabs (M + ln l) <= Y + ell + mu - / 2 -> (part = true -> Rabs M <= Y) -> 0 <= eps_log g -> 0 <= omega_log g ->
  eps_log g * ell + omega_log g <= 4 / 10 -> 2 * omega m + lost m <= u m / 10 -> Rabs (L - (M + ln l)) + lost m <= xi m g Y ell mu.
Proof.
  intros s Hk HY Hmu (i & a & y & d & n & Hi & Ha & (e & w & He & Hw & ->) & Hd & Hn & ->) Hl HML HM E0 W0 Small Lost.
  set (k := max (k_lse g) 2) in *. pose proof (some_u m s) as Hu. assert (Kk : (k_lse g <= k)%nat) by (unfold k; lia).
  assert (Le : forall x z, (x <= z)%nat -> (1 + u m) ^ x <= (1 + u m) ^ z) by (intros; apply Rle_pow; [lra|easy]).
  pose proof (powers_below_gamma k (u m) Hu Hk) as Gk. pose proof (Le (k_lse g - i)%nat k ltac:(lia)) as L1.
  pose proof (gamma_pos k (u m) Hu Hk) as G0. assert (D : Rabs d <= gamma k (u m)) by lra.
  assert (Gu : u m <= gamma k (u m)).
  { pose proof (Le 1%nat k ltac:(unfold k; lia)). simpl in *. lra. }
  assert (MA : Rabs (M * ((1 + a) * (1 + d) - 1) + d * ln l) <= gamma k (u m) * (Y + ell + mu - / 2)).
  { destruct part.
    - assert (C : Rabs ((1 + a) * (1 + d) - 1) <= gamma k (u m)).
      { pose proof (pow_at_least_1 i (u m) Hu). pose proof (pow_at_least_1 (k_lse g - i) (u m) Hu).
        apply Rle_trans with ((1 + u m) ^ i * (1 + ((1 + u m) ^ (k_lse g - i) - 1)) - 1).
        - apply one_more; try lra. now replace (1 + a - 1) with a by ring.
        - replace (1 + ((1 + u m) ^ (k_lse g - i) - 1)) with ((1 + u m) ^ (k_lse g - i)) by ring. rewrite <- pow_add.
          pose proof (Le (i + (k_lse g - i))%nat k ltac:(lia)). lra. }
      eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. specialize (HM eq_refl).
      apply Rle_trans with (Y * gamma k (u m) + gamma k (u m) * (ell - / 2)).
      + apply Rplus_le_compat; apply Rmult_le_compat; auto using Rabs_pos.
      + assert (0 <= gamma k (u m) * mu) by now apply Rmult_le_pos. lra.
    - subst i. simpl in Ha. rewrite Rminus_eq_0 in Ha. pose proof (Rabs_pos a). assert (a = 0) as -> by (revert Ha; unfold Rabs; destruct (Rcase_abs a); lra).
      replace (M * ((1 + 0) * (1 + d) - 1) + d * ln l) with (d * (M + ln l)) by ring.
      rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos. }
  assert (EW : Rabs (e * ln l + w) <= eps_log g * ell + omega_log g).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. apply Rplus_le_compat; [|easy]. apply Rmult_le_compat; auto using Rabs_pos. lra. }
  replace ((M * (1 + a) + (ln l * (1 + e) + w)) * (1 + d) + n - (M + ln l))
    with ((M * ((1 + a) * (1 + d) - 1) + d * ln l) + (e * ln l + w) + d * (e * ln l + w) + n) by ring.
  assert (A2 : Rabs (d * (e * ln l + w)) <= gamma k (u m) * (4 / 10)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos; lra).
  assert (Tri : forall p q x z : R, Rabs (p + q + x + z) <= Rabs p + Rabs q + Rabs x + Rabs z).
  { intros. repeat (eapply Rle_trans; [apply Rabs_triang|]; apply Rplus_le_compat_r). lra. }
  eapply Rle_trans; [apply Rplus_le_compat_r, Tri|]. unfold xi. fold k. lra.
Qed.

(* --- the weights --------------------------------------------------------------------------------------------------------- *)

Lemma made_weight_of_sizes m k M w l Y : sane m -> made m k M w l -> Rabs (begun k l) <= Y -> 
  (1 + gamma_x m) * sizes l + kappa m Y + lost m <= Rmin (far m) (x0 m) ->
  0 < w /\ Rabs (ln w - (score k - M)) <= gamma_x m * sizes l + kappa m Y +
                                           INR (length l) * (log_loss (eps m) + lost m) + log_loss (u_shared m).
Proof.
  intros s H. pose proof (gamma_x_pos m s) as G. pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)) as Gc.
  induction H as [M c x p d Hc A X Hd C|M M' w l x r Hm IH L A X]; intros HY HX; unfold sizes in *; simpl in *.
  - replace (begun k [score k - M]) with M in HY by (unfold begun; simpl; ring).
    assert (K : (1 + gamma_x m) * Rabs c <= kappa m Y).
    { unfold kappa. rewrite (Rmult_comm (gamma (c_m m) (u m))), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
      eapply Rle_trans; [exact Hc|]. now apply Rmult_le_compat_l. }
    destruct (one_factor m (score k - M) c x p s A X) as (P & D); [lra|].
    destruct (log_near d (u_shared m) (some_shared m s) Hd) as (Pd & Dd).
    split; [now apply Rmult_lt_0_compat|]. rewrite ln_mult by easy.
    replace (ln p + ln (1 + d) - (score k - M)) with ((ln p - (score k - M)) + ln (1 + d)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
  - replace (begun k (M - M' :: l)) with (begun k l) in HY by (unfold begun; now destruct Hm).
    pose proof (Rabs_pos (M - M')). assert (K0 : 0 <= kappa m Y).
    { unfold kappa. pose proof (Rabs_pos (begun k l)). apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    assert (T0 : 0 <= total Rabs l) by (apply total_pos; auto using Rabs_pos).
    assert (0 <= (1 + gamma_x m) * Rabs (M - M')) by (apply Rmult_le_pos; lra).
    assert (0 <= (1 + gamma_x m) * total Rabs l) by (apply Rmult_le_pos; lra).
    destruct IH as (P & D); [easy|lra|].
    assert (A0 : argument m (M - M' + 0) x) by (now rewrite Rplus_0_r).
    destruct (one_factor m (M - M') 0 x r s A0 X) as (Pr & Dr); rewrite Rabs_R0 in *; [lra|].
    split; [now apply Rmult_lt_0_compat|]. rewrite ln_mult by easy.
    replace (ln w + ln r - (score k - M')) with ((ln w - (score k - M)) + (ln r - (M - M'))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. change (match length l with O => 1 | S _ => INR (length l) + 1 end) with (INR (S (length l))).
    rewrite S_INR. lra.
Qed.

(* Of each key of a state: the sizes that xi_j counts with. *)
Definition sized (Y ell mu : key -> R) s := 0 < l_hat s /\ forall e, In e (seen s) -> Rabs (ln (l_hat s)) <= ell (of e) - / 2 /\
  Rabs (top s + ln (l_hat s)) <= Y (of e) + ell (of e) + mu (of e) - / 2 /\ (is_part s = true -> Rabs (top s) <= Y (of e)).

Section Lemma_4.
Context (m : model) (g : lse_model) (r : limits) (Y ell mu : key -> R).
Definition xi_of k := xi m g (Y k) (ell k) (mu k).
Record lse_known := {
  lse_sane : sane m;
  lse_sized : forall s, state_known r s -> sized Y ell mu s;
  few_k_lse : INR (max (k_lse g) 2) * u m < 1;
  log_errors : 0 <= eps_log g /\ 0 <= omega_log g /\ forall k, eps_log g * ell k + omega_log g <= 4 / 10;
  some_mu : forall k, 0 <= mu k;
  little_lost : 2 * omega m + lost m <= u m / 10 }.

Lemma state_is_known n a s : merged m g r n a s -> state_known r s.
Proof. induction 1; auto. Qed.
Lemma merged_paths n a s e : merged m g r n a s -> In e (seen s) -> path e <> [].
Proof.
  intros H. revert e. induction H as [h p M l O s H EM _ _ _ _|n a inputs T tl tO l O s _ IH _ _ _ _ _ _ _ _ _|]; simpl; intros e I; [|
    |now apply IHmerged].
  - now apply (path_not_empty m h p).
  - apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e' & <- & I). easy.
Qed.

(* Y_0 bounds the reference that p was formed beside: Y of the key, or of another one (Clause D). *)
Lemma weight_by_sizes n a s e Y_0 : lse_known -> merged m g r n a s -> In e (seen s) -> Rabs (begun (of e) (path e)) <= Y (of e) ->
  Rabs (begun (of e) (path e)) <= Y_0 -> (1 + gamma_x m) * sizes (path e) + kappa m Y_0 + lost m <= Rmin (far m) (x0 m) ->
  0 < weight e /\ Rabs (ln (weight e) - (score (of e) - top s)) <=
    gamma_x m * sizes (path e) + kappa m Y_0 + INR (length (path e)) * (log_loss (eps m) + lost m) + log_loss (u_shared m)
    + INR n * (xi_of (of e) - lost m).
Proof.
  intros K H. revert e. pose proof (lse_sane K) as sn. pose proof (gamma_x_pos m sn) as G.
  assert (Xi : forall n a s e L, merged m g r n a s -> In e (seen s) -> lse m g (is_part s) (top s) (l_hat s) L -> Rabs (begun (of e) (path e)) <= Y (of e) ->
    0 < l_hat s /\ Rabs (L - (top s + ln (l_hat s))) <= xi_of (of e) - lost m).
  { intros n' a' s' e L Ms Ie HL HY. destruct (lse_sized K s' (state_is_known _ _ _ Ms)) as (P & Each). destruct (Each e Ie) as (B & B1 & B2).
    split; [easy|]. destruct (log_errors K) as (E0 & W0 & Sm). pose proof (Rabs_pos (begun (of e) (path e))).
    pose proof (lemma_4_xi m g (is_part s') (top s') (l_hat s') L (Y (of e)) (ell (of e)) (mu (of e)) sn (few_k_lse K) ltac:(lra) (some_mu K _) HL B B1 B2 E0 W0 (Sm _) (little_lost K)).
    unfold xi_of. lra. }
  induction H as [h p M l O s H EM Cl CO Pk Sk|n a inputs T tl tO l O s Hm IH He Hx J1 J2 C1 C2 L1 L2 Sk|n a n' a' s Hm IH Ln La];
    intros e I HY HB HX.
  - simpl in I. destruct (entries_made m h p e H I) as (M' & EM' & Md). assert (M' = M) by congruence. subst M'.
    destruct (made_weight_of_sizes m (of e) M (weight e) (path e) Y_0 sn Md HB HX) as (P & D). split; [easy|]. simpl (INR 0). simpl (top s). lra.
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I).
    destruct (He i Ii) as (HL & LT & (x & A & X) & _). pose proof (merged_paths _ _ _ _ (Hm i Ii) I) as Np.
    simpl in HX, HY, HB. replace (begun (of e0) (log_sum i - T :: path e0)) with (begun (of e0) (path e0)) in HY, HB by (unfold begun; simpl; now destruct (path e0)).
    simpl. unfold sizes in *. simpl in HX |- *. pose proof (Rabs_pos (log_sum i - T)).
    assert (T0 : 0 <= total Rabs (path e0)) by (apply total_pos; auto using Rabs_pos).
    assert (0 <= (1 + gamma_x m) * Rabs (log_sum i - T)) by (apply Rmult_le_pos; lra).
    assert (0 <= (1 + gamma_x m) * total Rabs (path e0)) by (apply Rmult_le_pos; lra).
    assert (K0 : 0 <= kappa m Y_0).
    { unfold kappa. pose proof (Rabs_pos (begun (of e0) (path e0))). pose proof (gamma_pos (c_m m) (u m) (some_u m sn) (few_shared m sn)).
      apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    destruct (IH i Ii e0 I HY HB) as (P & D); [lra|].
    assert (A0 : argument m (log_sum i - T + 0) x) by (now rewrite Rplus_0_r).
    destruct (one_factor m (log_sum i - T) 0 x (factor_of i) sn A0 X) as (Pc & Dc); rewrite Rabs_R0 in *; [lra|].
    destruct (Xi n a (from i) e0 (log_sum i) (Hm i Ii) I HL HY) as (Pl & DL).
    split; [apply Rmult_lt_0_compat; [easy|]; now apply Rdiv_lt_0_compat|].
    unfold Rdiv. rewrite !ln_mult, ln_Rinv by (try apply Rmult_lt_0_compat; try apply Rinv_0_lt_compat; easy).
    replace (ln (weight e0) + (ln (factor_of i) + - ln (l_hat (from i))) - (score (of e0) - T))
      with ((ln (weight e0) - (score (of e0) - top (from i))) + (ln (factor_of i) - (log_sum i - T))
            + (log_sum i - (top (from i) + ln (l_hat (from i))))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
    change (match length (path e0) with O => 1 | S _ => INR (length (path e0)) + 1 end) with (INR (S (length (path e0)))).
    change (match n with O => 1 | S _ => INR n + 1 end) with (INR (S n)). rewrite !S_INR. lra.
  - destruct (IH e I HY HB HX) as (P & D). split; [easy|]. eapply Rle_trans; [exact D|]. apply Rplus_le_compat_l.
    apply Rmult_le_compat_r; [|now apply le_INR].
    destruct (lse_sized K s (state_is_known _ _ _ Hm)) as (Pl & Each). destruct (Each e I) as (B & B1 & B2).
    pose proof (Rabs_pos (begun (of e) (path e))). pose proof (Rabs_pos (ln (l_hat s))). destruct (log_errors K) as (E0 & W0 & Sm).
    pose proof (some_u m sn) as Hu. pose proof (few_k_lse K) as Fk.
    assert (Gk : u m <= gamma (max (k_lse g) 2) (u m)).
    { pose proof (powers_below_gamma _ (u m) Hu Fk). pose proof (Rle_pow (1 + u m) 1 (max (k_lse g) 2) ltac:(lra) ltac:(lia)). simpl in *. lra. }
    pose proof (little_lost K). pose proof (some_omega m sn). pose proof (Rabs_pos (top s + ln (l_hat s))).
    assert (0 <= eps_log g * ell (of e)) by (apply Rmult_le_pos; lra). pose proof (some_mu K (of e)).
    assert (u m * / 2 <= gamma (max (k_lse g) 2) (u m) * (Y (of e) + ell (of e) + mu (of e))) by (apply Rmult_le_compat; lra).
    unfold xi_of, xi. lra.
Qed.

(* z_j of section 3: mu_j joins it, xi_j and one exp for each merge (which rescales e counts); X_j holds every argument. *)
Definition z_merged E X n e := z_of m E X (Y (of e)) (rescales e) + INR n * (xi_of (of e) - lost m).
Theorem lemma_4 n a s e x E X : lse_known -> merged m g r n a s -> In e (seen s) -> Rabs (score (of e) - x) <= E ->
  Rabs (begun (of e) (path e)) <= Y (of e) -> sizes (path e) <= X -> reach m X (Y (of e)) <= Rmin (far m) (x0 m) ->
  0 < weight e /\ Rabs (ln (weight e) - (x - top s)) <= z_merged E X n e.
Proof.
  intros K H I HE HY HS HX. pose proof (gamma_x_pos m (lse_sane K)) as G. pose proof (merged_paths _ _ _ _ H I) as Np. unfold reach in HX.
  assert ((1 + gamma_x m) * sizes (path e) <= (1 + gamma_x m) * X) by (apply Rmult_le_compat_l; lra).
  assert (gamma_x m * sizes (path e) <= gamma_x m * X) by (apply Rmult_le_compat_l; lra).
  destruct (weight_by_sizes n a s e (Y (of e)) K H I HY HY) as (P & D); [lra|]. split; [easy|].
  replace (ln (weight e) - (x - top s)) with ((ln (weight e) - (score (of e) - top s)) + (score (of e) - x)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. unfold z_merged, z_of, rescales. destruct (path e) as [|b q]; [easy|].
  simpl (length (b :: q) - 1)%nat. rewrite Nat.sub_0_r. simpl (length (b :: q)) in D. rewrite S_INR in D. lra.
Qed.

(* The arguments of merges telescope as references do: X_j grows by ell_0 of the part's sum, and by what a later maximum
   may lie below an earlier one. *)
Theorem lemma_4_arguments n a s e ell_0 low : lse_known -> merged m g r n a s -> In e (seen s) -> Rabs (begun (of e) (path e)) <= Y (of e) ->
  0 <= low -> (forall s' e, state_known r s' -> In e (seen s') -> - (if is_part s' then ell_0 (of e) else low) <= ln (l_hat s')) -> 0 <= xi_of (of e) ->
  0 <= ell_0 (of e) -> sizes (path e) <= top s - score (of e) + 2 * tau m + (if is_part s then 0 else ell_0 (of e) + INR n * (xi_of (of e) + low)).
Proof.
  intros K H I HY L0 Low X0 E0. pose proof (lse_sane K) as sn. pose proof (lost_pos m sn) as Lp. revert e I HY X0 E0.
  induction H as [h p M l O s H EM Cl CO Pk Sk|n a inputs T tl tO l O s Hm IH He Hx J1 J2 C1 C2 L1 L2 Sk|n a n' a' s Hm IH Ln La];
    intros e I HY X0 E0.
  - simpl in *. destruct (entries_made m h p e H I) as (M' & EM' & Md). assert (M' = M) by congruence. subst M'.
    pose proof (sizes_below m (of e) M _ _ (some_tau m sn) Md). lra.
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I).
    destruct (He i Ii) as (HL & LT & _). pose proof (merged_paths _ _ _ _ (Hm i Ii) I) as Np. simpl in HY, X0, E0.
    replace (begun (of e0) (log_sum i - T :: path e0)) with (begun (of e0) (path e0)) in HY by (unfold begun; simpl; now destruct (path e0)).
    pose proof (state_is_known _ _ _ (Hm i Ii)) as Sk'. destruct (lse_sized K _ Sk') as (P & Each). destruct (Each e0 I) as (B & B1 & B2).
    destruct (log_errors K) as (Eg & W0 & Sm). pose proof (Rabs_pos (begun (of e0) (path e0))).
    pose proof (lemma_4_xi m g _ _ _ _ (Y (of e0)) (ell (of e0)) (mu (of e0)) sn (few_k_lse K) ltac:(lra) (some_mu K _) HL B B1 B2 Eg W0 (Sm _) (little_lost K)) as Xi.
    fold (xi_of (of e0)) in Xi.
    specialize (IH i Ii e0 I HY X0 E0). specialize (Low _ e0 Sk' I).
    assert (D : Rabs (log_sum i - (top (from i) + ln (l_hat (from i)))) <= xi_of (of e0)) by lra. apply between in D.
    simpl. unfold sizes in *. simpl. rewrite (Rabs_left1 (log_sum i - T)) by lra.
    change (match n with O => 1 | S _ => INR n + 1 end) with (INR (S n)). rewrite S_INR.
    pose proof (Rmult_le_pos (INR n) (xi_of (of e0) + low) (pos_INR n) ltac:(lra)). destruct (is_part (from i)); lra.
  - specialize (IH e I HY X0 E0). destruct (is_part s); [easy|].
    assert (INR n * (xi_of (of e) + low) <= INR n' * (xi_of (of e) + low)) by (apply Rmult_le_compat_r; [lra|now apply le_INR]). lra.
Qed.
End Lemma_4.
