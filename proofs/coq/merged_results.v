(* Clause H and Corollaries L and W where parts are merged by LSE, over every tree of merges. *)
From Attest Require Export clause_h corollary_w theorem_lse.

Section Merged_results.
Context (m : model) (g : lse_model) (r : limits) (n a N : nat) (s : state) (Y ell mu exact E X : key -> R).
Context (G_l G_O a_0 lambda far_share excess : R).
Context (sums : sums_known m g r G_l G_O a_0 lambda) (tree : merged m g r n a s) (few : (n <= N)%nat).

Let Gamma_L := Gamma_L m n a G_l lambda.

(* --- Clause H: nothing is asked of the scores ---------------------------------------------------------------------------- *)

Definition Phi_hull size_ := (grown_O m g G_O n a - 1) * size_ + lost_O m g G_l a_0 lambda N n a.
Definition H_lse size_ GF Om := ((1 + GF) * Phi_hull size_ + size_ * (Gamma_L + GF)) / (1 - Gamma_L) + Om.

Theorem clause_H_lse o th beta low high size_ GF Om : 0 < sum_W s ->
  (forall e, In e (seen s) -> low <= v e <= high /\ Rabs (v e) <= size_) -> Gamma_L < 1 -> Rabs th <= GF -> Rabs beta <= Om ->
  o = O_hat s / l_hat s * (1 + th) + beta -> low - H_lse size_ GF Om <= o <= high + H_lse size_ GF Om.
Proof.
  intros Sp V G1 Ht Hb ->. destruct (merged_sums m g r G_l G_O a_0 lambda N n a s sums tree few) as (Dl & DO).
  destruct (states_weigh _ _ _ _ _ _ _ sums s (state_is_known _ _ _ _ _ _ tree)) as (_ & Nn & _).
  pose proof (grown_O_at_least_1 m g r n a G_l G_O a_0 lambda sums) as G0.
  apply (hull_of_sums (seen s) weight v); auto. fold (sum_Wv s) (sum_W s). eapply Rle_trans; [exact DO|].
  unfold Phi_hull. rewrite Rmult_plus_distr_r. apply Rplus_le_compat_r. rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|].
  unfold sum_abs, sum_W. rewrite <- total_times. apply total_below. intros e I. destruct (V e I) as (_ & Vs). specialize (Nn e I).
  rewrite Rmult_comm. now apply Rmult_le_compat_r.
Qed.

(* --- with what is known of the keys ----------------------------------------------------------------------------------------- *)

Context (sizes : lse_known m g r Y ell mu) (fars : far_known m r Y far_share excess) (keys : keys_known m g n s Y ell mu exact E X).

Let of_exact := theorem_lse.of_exact s exact.
Let T := theorem_lse.T m g n Y ell mu E X.
Let zeta := theorem_lse.zeta m s Y X far_share.
Let counted := theorem_lse.counted m g n Y ell mu E X.
Let D := theorem_lse.D m g n s Y ell mu exact E X.
Let known := merged_weights m g r n a s Y ell mu exact E X far_share excess sizes fars tree keys.

(* Corollary L. The result is M + log^ l^ of the last state; of Lambda_H the text has nothing here. *)
Definition LSE := ln (total (fun e => exp (exact (of e))) (seen s)).
Definition Lambda_0 := Lambda_T (seen s) of_exact T zeta D (sum_W s) + Gamma_L / (1 - Gamma_L).

Theorem corollary_L_lse : far_part (seen s) zeta (sum_W s) <= / 2 -> Gamma_L < 1 -> Rabs (top s + ln (l_hat s) - LSE) <= Lambda_0.
Proof.
  intros Hf G1. destruct (merged_sums m g r G_l G_O a_0 lambda N n a s sums tree few) as (Dl & _).
  pose proof (corollary_L (seen s) weight of_exact T zeta counted D (sum_W s) known (l_hat s) Gamma_L Hf Dl G1) as C.
  assert (Z : LSE = top s + ln (total of_exact (seen s))).
  { unfold LSE. rewrite (total_same (fun e => exp (exact (of e))) (fun e => exp (top s) * of_exact e)).
    - rewrite total_times, ln_mult, ln_exp; [easy|apply exp_pos|exact (exact_sum_positive _ _ _ _ _ _ _ _ known)].
    - intros e _. unfold of_exact, theorem_lse.of_exact. rewrite <- exp_plus. f_equal. ring. }
  rewrite Z. replace (top s + ln (l_hat s) - (top s + ln (total of_exact (seen s)))) with (ln (l_hat s) - ln (total of_exact (seen s))) by ring.
  exact C.
Qed.

Theorem corollary_L_result M_size L : far_part (seen s) zeta (sum_W s) <= / 2 -> Gamma_L < 1 -> 0 <= M_size -> (1 <= k_lse g)%nat ->
  (is_part s = true -> Rabs (top s) <= M_size) -> lse m g (is_part s) (top s) (l_hat s) L ->
  Rabs (L - LSE) <= (1 + gamma (k_lse g) (u m)) * (Lambda_0 + eps_log g * (Rabs (LSE - top s) + Lambda_0) + omega_log g)
    + gamma (k_lse g) (u m) * Rabs LSE + gamma (k_lse g - 1) (u m) * M_size + 2 * omega m.
Proof.
  intros Hf G1 S0 K1 HM (i & b & y & d & q & Hi & Hb & (e & w & He & Hw & ->) & Hd & Hq & ->).
  pose proof (lse_sane _ _ _ _ _ _ sizes) as sn. pose proof (some_u m sn) as Hu. pose proof (corollary_L_lse Hf G1) as C.
  assert (Hk : INR (k_lse g) * u m < 1).
  { eapply Rle_lt_trans; [|exact (few_k_lse _ _ _ _ _ _ sizes)]. apply Rmult_le_compat_r; [easy|]. apply le_INR. lia. }
  apply (lse_result (k_lse g) i (u m) (top s) LSE (ln (l_hat s)) Lambda_0 (eps_log g) (omega_log g) _ M_size (omega m) b e w d q); auto.
  - destruct (is_part s); lia.
  - replace (ln (l_hat s)) with ((top s + ln (l_hat s) - LSE) + (LSE - top s)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
  - intros Ni. apply HM. destruct (is_part s); [easy|]. now subst i.
Qed.

(* Corollary W: a weight of the last sum. th holds all that rounds on its way behind p: each division and each product of a
   merge, k_F + mu(k_F + 1) roundings where p of a part is divided with its O, and rounded again in each merge. *)
Theorem corollary_W_lse j others al th nu beta GW alpha Om : Permutation (seen s) (j :: others) -> Gamma_L < 1 -> Rabs th <= GW ->
  Rabs nu <= alpha * ((1 - Gamma_L) * sum_W s) -> Rabs beta <= Om -> al = weight j / l_hat s * (1 + th) + nu / l_hat s + beta ->
  let pi_j := pi (seen s) of_exact j in let Aj := A_j (seen s) of_exact T zeta D (sum_W s) j others in
  Rabs (al - pi_j) <= Aj + (pi_j + Aj) * (Gamma_L + GW) / (1 - Gamma_L) + Om + alpha.
Proof.
  intros P G1 Ht Hn Hb Ea. destruct (merged_sums m g r G_l G_O a_0 lambda N n a s sums tree few) as (Dl & _).
  pose proof (weight_share (seen s) weight of_exact T zeta counted D (sum_W s) known j others P) as S.
  exact (corollary_W_one_pass (seen s) weight of_exact T zeta counted D (sum_W s) known j others P al (l_hat s) th nu beta _ Gamma_L GW alpha Om S Dl G1 Ht Hn Hb Ea).
Qed.
End Merged_results.
