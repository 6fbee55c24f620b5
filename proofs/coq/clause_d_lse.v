(* Clause D where parts are merged by LSE: the share of a key far below the largest computed score, whatever the errors are. *)
From Attest Require Export clause_d lemma_4_far.

Lemma begun_in_merged m g r n a s i : merged m g r n a s -> In i (seen s) -> score (of i) - tau m <= begun (of i) (path i).
Proof.
  intros H. revert i. induction H as [h p M l O s H EM _ _ _ _|n a inputs T tl tO l O s Hm IH He _ _ _ _ _ _ _ _|]; intros e I; [|
    |now apply IHmerged].
  - simpl in I. now apply (begun_above m h p).
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I). specialize (IH i Ii e0 I).
    pose proof (merged_paths m g r _ _ _ _ (Hm i Ii) I) as Np. simpl.
    replace (begun (of e0) (log_sum i - T :: path e0)) with (begun (of e0) (path e0)) by (unfold begun; simpl; now destruct (path e0)). easy.
Qed.

Lemma sizes_below_spans m g r n a s i : sane m -> merged m g r n a s -> In i (seen s) -> sizes (path i) <= spans m i.
Proof.
  intros sn H. pose proof (some_tau m sn) as T0. revert i.
  induction H as [h p M l O s H EM _ _ _ _|n a inputs T tl tO l O s Hm IH He _ _ _ _ _ _ _ _|]; intros e I; [|
    |now apply IHmerged].
  - simpl in I. destruct (entries_made m h p e H I) as (M' & _ & Md). unfold spans, along. rewrite (made_along _ _ _ _ _ Md).
    pose proof (sizes_below m _ _ _ _ T0 Md). lra.
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I). specialize (IH i Ii e0 I).
    destruct (He i Ii) as (_ & LT & _). unfold sizes, spans, along in *. simpl. rewrite Rabs_left1 by lra. lra.
Qed.

Section Clause_D_lse.
Context (m : model) (g : lse_model) (r : limits) (n a : nat) (s : state) (Y ell mu exact E ell_0 : key -> R).
Context (dominant rise low share excess most_nu : R) (R_max : nat).

Let T := top s.
Let xi_at k := xi_of m g Y ell mu k - lost m.
(* What the sums of states on a key's way add to its arguments, and nu_j of section 3: mu_j, and the roundings of these. *)
Definition fall k := if is_part s then 0 else ell_0 k + INR n * (xi_of m g Y ell mu k + low).
Definition nu k := INR n * xi_at k + gamma_x m * fall k.

(* rise is how far the largest LSE may lie above the largest score: ln n and more; dominant is max_i (s_i - e_i). *)
Record merged_extremes := {
  few_roundings_x : gamma_x m <= / 2;
  score_errors_of : forall e, In e (seen s) -> Rabs (score (of e) - exact (of e)) <= E (of e);
  sizes_of : forall e, In e (seen s) -> Rabs (exact (of e)) + E (of e) + tau m <= Y (of e);
  references_below : forall e i, In e (seen s) -> In i (seen s) -> begun (of i) (path i) <= Y (of e);
  sums_from_below : forall s' e, state_known r s' -> In e (seen s') -> - (if is_part s' then ell_0 (of e) else low) <= ln (l_hat s');
  falls_positive : 0 <= low /\ forall e, In e (seen s) -> 0 <= ell_0 (of e);
  top_rises : forall c, (forall e, In e (seen s) -> score (of e) <= c) -> T <= c + rise;
  largest_near_of : forall e i, In e (seen s) -> In i (seen s) -> reach m (rise + 2 * tau m + fall (of i)) (Y (of e)) <= Rmin (far m) (x0 m);
  dominant_attained : exists e, In e (seen s) /\ dominant <= exact (of e) - e_of m (E (of e)) (Y (of e));
  few_rescales_of : forall e, In e (seen s) -> (rescales e <= R_max)%nat;
  nu_of_largest : forall i, In i (seen s) -> (forall e, In e (seen s) -> score (of e) <= score (of i)) -> nu (of i) <= most_nu }.

Context (K : lse_known m g r Y ell mu) (tree : merged m g r n a s) (X : merged_extremes).

Lemma begun_size e i : In e (seen s) -> In i (seen s) -> score (of e) <= score (of i) -> Rabs (begun (of i) (path i)) <= Y (of e).
Proof.
  intros Ie Ii L. pose proof (begun_in_merged m g r n a s i tree Ii). pose proof (references_below X e i Ie Ii). pose proof (sizes_of X e Ie).
  pose proof (score_errors_of X e Ie) as HE. apply between in HE. pose proof (between (exact (of e)) _ (Rle_refl _)). apply abs_below. lra.
Qed.
Lemma spans_of i : In i (seen s) -> spans m i <= T - score (of i) + 2 * tau m + fall (of i).
Proof.
  intros I. destruct (falls_positive X) as (L0 & F0).
  apply (lemma_4_spans m g r Y ell mu n a s i ell_0 low); auto; [|apply (sums_from_below X)]. apply (begun_size i i I I). lra.
Qed.
Lemma rounds_of i : In i (seen s) -> INR (length (path i)) * (log_loss (eps m) + lost m) <= (INR R_max + 1) * (log_loss (eps m) + lost m).
Proof.
  intros I. pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (log_loss_pos _ (some_eps m sn)). pose proof (lost_pos m sn).
  pose proof (few_rescales_of X i I) as Fr. pose proof (merged_paths m g r n a s i tree I) as Np. apply Rmult_le_compat_r; [lra|].
  rewrite <- S_INR. apply le_INR. unfold rescales in Fr. destruct (path i); [easy|simpl in *; lia].
Qed.

(* The weight of the largest computed score, from below: kappa is no larger than that of any other key. *)
Lemma largest_keeps_merged e : In e (seen s) -> exists i, In i (seen s) /\ score (of e) <= score (of i) /\ T <= score (of i) + rise /\
  exp ((1 + gamma_x m) * (score (of i) - T) - (2 * gamma_x m * tau m + kappa m (Y (of e)) + (INR R_max + 1) * (log_loss (eps m) + lost m)
       + log_loss (u_shared m) + most_nu)) <= sum_W s.
Proof.
  intros Ie. pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (gamma_x_pos m sn) as G.
  destruct (largest_score (map of (seen s))) as (q & Iq & Lq); [destruct (seen s); easy|].
  apply in_map_iff in Iq as (i & <- & Ii). assert (Li : forall e, In e (seen s) -> score (of e) <= score (of i)) by (intros; apply Lq; now apply in_map).
  pose proof (top_rises X (score (of i)) Li) as Tr. exists i. repeat split; auto.
  pose proof (spans_of i Ii) as Sp. pose proof (sizes_below_spans m g r n a s i sn tree Ii) as Sz. pose proof (largest_near_of X e i Ie Ii) as Near. unfold reach in Near.
  assert (sizes (path i) <= rise + 2 * tau m + fall (of i)) by lra.
  assert ((1 + gamma_x m) * sizes (path i) <= (1 + gamma_x m) * (rise + 2 * tau m + fall (of i))) by (apply Rmult_le_compat_l; lra).
  assert (B0 : Rabs (begun (of i) (path i)) <= Y (of i)) by (apply begun_size; auto; lra).
  destruct (weight_by_sizes m g r Y ell mu n a s i (Y (of e)) K tree Ii B0 (begun_size e i Ie Ii (Li e Ie))) as (P & D); [lra|].
  apply Rle_trans with (weight i).
  - rewrite <- (exp_ln (weight i)) by easy. apply exp_grows. apply between in D. pose proof (rounds_of i Ii). pose proof (nu_of_largest X i Ii Li) as Nu.
    assert (gamma_x m * sizes (path i) <= gamma_x m * (T - score (of i) + 2 * tau m + fall (of i))) by (apply Rmult_le_compat_l; lra).
    unfold nu, xi_at in Nu. fold T in D. lra.
  - apply (total_holds weight); [|easy]. intros x Ix. now apply (merged_not_negative m g r Y ell mu n a s).
Qed.

(* eta+ and eta_j of section 3, with 1 - gamma for its 1 - 2 gamma. *)
Definition eta_plus_lse := 2 * gamma_x m * (2 * tau m + rise) + 2 * (INR R_max + 1) * (log_loss (eps m) + lost m) + 2 * log_loss (u_shared m) + most_nu.
Definition eta_lse k := exp (- (1 - gamma_x m) * gap m dominant (exact k) (E k) (Y k) + eta_plus_lse + nu k) + share.
Definition at_most_merged k w := w <=
  exp ((1 - gamma_x m) * (score k - T) + (2 * gamma_x m * tau m + kappa m (Y k) + (INR R_max + 1) * (log_loss (eps m) + lost m)
       + log_loss (u_shared m) + nu k)) + share * sum_W s.

Lemma kappa_of_key e : In e (seen s) -> 0 <= kappa m (Y (of e)).
Proof.
  intros I. pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (gamma_x_pos m sn). pose proof (some_tau m sn).
  pose proof (gamma_pos (c_m m) (u m) (some_u m sn) (few_shared m sn)). pose proof (sizes_of X e I) as B.
  pose proof (score_errors_of X e I) as HE. pose proof (Rabs_pos (score (of e) - exact (of e))). pose proof (Rabs_pos (exact (of e))).
  unfold kappa. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
Qed.

Theorem dominated_lse j w : In j (seen s) -> at_most_merged (of j) w -> w <= eta_lse (of j) * sum_W s.
Proof.
  intros Ij Hw. pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (gamma_x_pos m sn) as G. pose proof (few_roundings_x X) as G2.
  destruct (dominant_attained X) as (q & Iq & Top). destruct (largest_keeps_merged q Iq) as (i & Ii & Li & Tr & Wi).
  eapply Rle_trans; [exact Hw|]. unfold eta_lse. rewrite (Rmult_plus_distr_r (exp _) share). apply Rplus_le_compat_r.
  eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|exact Wi]]. rewrite <- exp_plus. apply exp_grows.
  pose proof (score_errors_of X j Ij) as Ej. pose proof (score_errors_of X q Iq) as Eq. apply between in Ej, Eq.
  assert (Gp : gap m dominant (exact (of j)) (E (of j)) (Y (of j)) + (1 + 2 * gamma_x m) * (kappa m (Y (of q)) + kappa m (Y (of j))) <= score (of i) - score (of j))
    by (unfold gap, e_of in *; lra).
  pose proof (kappa_of_key q Iq). pose proof (kappa_of_key j Ij). set (x := kappa m (Y (of q)) + kappa m (Y (of j))) in *.
  assert (Sx : x <= (1 - gamma_x m) * ((1 + 2 * gamma_x m) * x)).
  { assert (0 <= gamma_x m * (1 - 2 * gamma_x m) * x) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|unfold x in *; lra]). lra. }
  assert (Q : (1 - gamma_x m) * (gap m dominant (exact (of j)) (E (of j)) (Y (of j)) + (1 + 2 * gamma_x m) * x)
              <= (1 - gamma_x m) * (score (of i) - score (of j))) by (apply Rmult_le_compat_l; lra).
  assert (gamma_x m * (T - score (of i)) <= gamma_x m * rise) by (apply Rmult_le_compat_l; lra).
  unfold eta_plus_lse, x in *. lra.
Qed.

(* On J: a weight that is formed again, from the same score, may exceed the sum. *)
Theorem formed_again_lse j w : In j (seen s) -> at_most_merged (of j) w ->
  w <= (exp (eta_plus_lse + 2 * kappa m (Y (of j)) + nu (of j)) + share) * sum_W s.
Proof.
  intros Ij Hw. pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (gamma_x_pos m sn) as G. pose proof (few_roundings_x X) as G2.
  destruct (largest_keeps_merged j Ij) as (i & Ii & Li & Tr & Wi). eapply Rle_trans; [exact Hw|].
  rewrite (Rmult_plus_distr_r (exp _) share). apply Rplus_le_compat_r.
  eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|exact Wi]]. rewrite <- exp_plus. apply exp_grows.
  assert ((1 - gamma_x m) * (score (of j) - score (of i)) <= 0).
  { assert (0 <= (1 - gamma_x m) * (score (of i) - score (of j))) by (apply Rmult_le_pos; lra). lra. }
  assert (gamma_x m * (T - score (of i)) <= gamma_x m * rise) by (apply Rmult_le_compat_l; lra). unfold eta_plus_lse. lra.
Qed.

Theorem clause_D_lse j : far_known m r Y share excess -> In j (seen s) -> weight j <= eta_lse (of j) * sum_W s.
Proof.
  intros F I. apply dominated_lse; [easy|]. pose proof (lse_sane _ _ _ _ _ _ K) as sn. pose proof (gamma_x_pos m sn) as G.
  pose proof (some_share _ _ _ _ _ F) as S0. assert (W0 : 0 <= sum_W s) by (apply total_pos; intros; now apply (merged_not_negative m g r Y ell mu n a s)).
  assert (SW : 0 <= share * sum_W s) by now apply Rmult_le_pos. unfold at_most_merged.
  destruct (lemma_4_any_key m g r Y ell mu share excess n a s j K F tree I) as [(-> & _)|(w & z & -> & P & D & B & _)];
    [apply (begun_size j j I I); lra| |].
  - match goal with |- _ <= exp ?x + _ => pose proof (exp_pos x) end. lra.
  - pose proof (Rle_abs z). apply Rplus_le_compat; [|lra]. rewrite <- (exp_ln w) by easy. apply exp_grows. apply between in D.
    unfold off in D. pose proof (rounds_of j I). pose proof (spans_of j I).
    assert (gamma_x m * spans m j <= gamma_x m * (T - score (of j) + 2 * tau m + fall (of j))) by (apply Rmult_le_compat_l; lra).
    unfold nu, xi_at. fold T in D. lra.
Qed.
End Clause_D_lse.
