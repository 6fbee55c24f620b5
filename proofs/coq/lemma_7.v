(* Lemmas 5 (b, c) and 7: from what (2) of Lemma 3 says of each weight to the average of any numbers y_j. *)
From Attest Require Export numbers.

Section Averages.
Context {A : Type} (keys : list A) (W E T zeta : A -> R) (counted : A -> bool) (D Lambda : R).

Definition pi j := E j / total E keys.                    (* E_j = C e^{s_j} *)
Definition mean y := total (fun j => pi j * y j) keys.
Definition computed_mean y := total (fun j => W j * y j) keys / total W keys.
Definition P j := Rmin 1 (pi j * T j).
Definition share j := Rmin 1 ((pi j + pi j * T j) / D + zeta j / Lambda).

(* (2) of Lemma 3, D of section 3 and Lemma 5 (a). A flushed key is one with T_j >= 1 that is not counted. *)
Record weights_known := {
  exact_positive : forall j, In j keys -> 0 < E j;
  not_negative : forall j, In j keys -> 0 <= W j;
  near_exact : forall j, In j keys -> Rabs (W j - E j) <= E j * T j + zeta j;
  spread_positive : forall j, In j keys -> 0 <= T j /\ 0 <= zeta j;
  counted_weigh : forall j, In j keys -> counted j = true -> E j / (1 + T j) <= W j;
  D_positive : 0 < D;
  D_below : D <= total (fun j => if counted j then pi j / (1 + T j) else 0) keys;
  lemma_5a : 0 < Lambda <= total W keys }.

Context (known : weights_known).

Lemma exact_sum_positive : 0 < total E keys.
Proof.
  destruct keys as [|j ks] eqn:K.
  - pose proof (D_below known). pose proof (D_positive known). rewrite K in *. simpl in *. lra.
  - simpl. assert (0 < E j) by (apply (exact_positive known); rewrite K; now left).
    assert (0 <= total E ks); [|lra]. apply total_pos. intros i I. left. apply (exact_positive known). rewrite K. now right.
Qed.

Theorem lemma_5b : total E keys * D <= total W keys.
Proof.
  pose proof exact_sum_positive as S. apply Rle_trans with (total E keys * total (fun j => if counted j then pi j / (1 + T j) else 0) keys).
  - apply Rmult_le_compat_l; [lra|apply (D_below known)].
  - rewrite <- total_times. apply total_below. intros j I. destruct (counted j) eqn:C.
    + eapply Rle_trans; [|apply (counted_weigh known j I C)]. right. unfold pi, Rdiv.
      pose proof (spread_positive known j I). field. lra.
    + rewrite Rmult_0_r. now apply (not_negative known).
Qed.
Lemma sum_positive : 0 < total W keys.
Proof. pose proof (lemma_5a known). lra. Qed.
Lemma D_at_most_1 : D <= 1.
Proof.
  pose proof exact_sum_positive as S. eapply Rle_trans; [apply (D_below known)|]. apply Rle_trans with (total pi keys).
  - apply total_below. intros j I. assert (P0 : 0 < pi j) by (apply Rdiv_lt_0_compat; [apply (exact_positive known); auto|easy]).
    destruct (counted j); [|lra]. pose proof (spread_positive known j I).
    apply Rmult_le_reg_r with (1 + T j); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
  - unfold pi, Rdiv. rewrite (total_same _ (fun j => / total E keys * E j)) by (intros; ring).
    rewrite total_times, Rinv_l by lra. lra.
Qed.
Lemma exact_of_pi j : E j = pi j * total E keys.
Proof. unfold pi. field. pose proof exact_sum_positive. lra. Qed.
Lemma pi_positive j : In j keys -> 0 < pi j.
Proof. intros I. apply Rdiv_lt_0_compat; [now apply (exact_positive known)|apply exact_sum_positive]. Qed.

Lemma beside_sum x : 0 <= x -> x * total E keys <= x / D * total W keys.
Proof.
  intros Hx. pose proof lemma_5b. pose proof (D_positive known). unfold Rdiv. rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|].
  apply Rmult_le_reg_l with D; [easy|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.
Lemma lost_beside_sum x : 0 <= x -> x <= x / Lambda * total W keys.
Proof.
  intros Hx. pose proof (lemma_5a known). apply Rle_trans with (x / Lambda * Lambda); [right; field; lra|].
  apply Rmult_le_compat_l; [|lra]. unfold Rdiv. apply Rmult_le_pos; [easy|]. left. apply Rinv_0_lt_compat. lra.
Qed.

Theorem lemma_5c j : In j keys -> W j <= share j * total W keys.
Proof.
  intros I. pose proof sum_positive. unfold share, Rmin. destruct (Rle_dec _ _).
  - rewrite Rmult_1_l. apply (total_holds W); auto. intros; now apply (not_negative known).
  - pose proof (near_exact known j I) as N. apply between in N. pose proof (spread_positive known j I). pose proof (pi_positive j I).
    pose proof (beside_sum (pi j + pi j * T j)). pose proof (lost_beside_sum (zeta j)). pose proof (exact_of_pi j). nra.
Qed.

(* --- Lemma 7 ------------------------------------------------------------------------------------------------------------------ *)

Lemma mean_is_mean y : total (fun j => E j * (y j - mean y)) keys = 0.
Proof.
  pose proof exact_sum_positive. rewrite (total_same _ (fun j => total E keys * (pi j * y j) + - mean y * E j)).
  - rewrite total_plus, !total_times. change (total E keys * mean y + - mean y * total E keys = 0). ring.
  - intros j _. unfold pi. field. lra.
Qed.

(* (3) of the text. *)
Lemma identity_3 y : computed_mean y - mean y = total (fun j => (W j - E j) * (y j - mean y)) keys / total W keys.
Proof.
  pose proof sum_positive. apply Rmult_eq_reg_r with (total W keys); [|lra]. unfold computed_mean, Rdiv.
  rewrite Rmult_minus_distr_r, !Rmult_assoc, Rinv_l, !Rmult_1_r by lra.
  rewrite (total_same (fun j => (W j - E j) * (y j - mean y)) (fun j => (W j * y j + - mean y * W j) + -1 * (E j * (y j - mean y)))) by (intros; ring).
  rewrite !total_plus, !total_times, mean_is_mean.
  change (total (fun a => W a) keys) with (total W keys). ring.
Qed.

Lemma weight_error j : In j keys -> Rabs (W j - E j) <= (P j / D + zeta j / Lambda) * total W keys.
Proof.
  intros I. pose proof (spread_positive known j I) as (HT & Hz). pose proof (pi_positive j I) as Hp. pose proof (D_positive known).
  pose proof sum_positive. pose proof (lost_beside_sum (zeta j) Hz) as L. unfold P, Rmin. destruct (Rle_dec _ _) as [C|C].
  - apply Rle_trans with (Rmax (W j) (E j)).
    + apply abs_below. pose proof (not_negative known j I). pose proof (exact_positive known j I).
      pose proof (Rmax_l (W j) (E j)). pose proof (Rmax_r (W j) (E j)). lra.
    + assert (1 * total E keys <= 1 / D * total W keys) by (apply beside_sum; lra).
      assert (W j <= total W keys) by (apply (total_holds W); auto; intros; now apply (not_negative known)).
      assert (E j <= total E keys) by (apply (total_holds E); auto; intros; left; now apply (exact_positive known)).
      assert (1 * total W keys <= 1 / D * total W keys).
      { apply Rmult_le_compat_r; [lra|]. pose proof D_at_most_1. apply Rmult_le_reg_r with D; [easy|].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
      apply Rmax_lub; lra.
  - eapply Rle_trans; [apply (near_exact known j I)|]. rewrite Rmult_plus_distr_r. apply Rplus_le_compat; [|exact L].
    rewrite (exact_of_pi j). replace (pi j * total E keys * T j) with (pi j * T j * total E keys) by ring.
    apply beside_sum. nra.
Qed.

Definition A_T y := total (fun j => (P j / D + zeta j / Lambda) * Rabs (y j - mean y)) keys.

Theorem lemma_7_T y : Rabs (computed_mean y - mean y) <= A_T y.
Proof.
  pose proof sum_positive as S. rewrite identity_3. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ _)) by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_reg_r with (total W keys); [exact S|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  eapply Rle_trans; [apply total_abs|]. rewrite (Rmult_comm _ (total W keys)). unfold A_T. rewrite <- total_times.
  apply total_below. intros j I. rewrite Rabs_mult, <- Rmult_assoc, (Rmult_comm (total W keys)).
  apply Rmult_le_compat_r; [apply Rabs_pos|]. now apply weight_error.
Qed.

(* The sum of the sizes of the terms, which roundings act on: A' of section 3 times the sum of the weights. *)
Corollary sum_of_sizes v :
  total (fun j => W j * Rabs (v j)) keys <= (mean (fun j => Rabs (v j)) + A_T (fun j => Rabs (v j))) * total W keys.
Proof.
  pose proof sum_positive as S. pose proof (lemma_7_T (fun j => Rabs (v j))) as L. unfold computed_mean in L.
  pose proof (Rle_abs (total (fun j => W j * Rabs (v j)) keys / total W keys - mean (fun j => Rabs (v j)))) as U.
  apply Rmult_le_reg_r with (/ total W keys); [now apply Rinv_0_lt_compat|]. rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra.
  unfold Rdiv in *. lra.
Qed.
End Averages.

(* Entry A^D, with any eta_j >= W_j/Sigma W (Clause D); with eta_j = 1 for all keys, and one largest distance, entry A^H. *)
Theorem lemma_7_D {A} (keys : list A) (W y : A -> R) (J : A -> bool) (eta : A -> R) c d :
  (forall j, In j keys -> 0 <= W j) -> 0 < total W keys ->
  (forall j, In j keys -> J j = true -> Rabs (y j - c) <= d) -> 0 <= d ->
  (forall j, In j keys -> J j = false -> W j / total W keys <= eta j) ->
  Rabs (total (fun j => W j * y j) keys / total W keys - c)
    <= d + total (fun j => if J j then 0 else eta j * Rabs (y j - c)) keys.
Proof.
  intros HW S HJ Hd He.
  replace (total (fun j => W j * y j) keys / total W keys - c) with (total (fun j => W j / total W keys * (y j - c)) keys).
  - eapply Rle_trans; [apply total_abs|].
    apply Rle_trans with (total (fun j => d / total W keys * W j + (if J j then 0 else eta j * Rabs (y j - c))) keys).
    + apply total_below. intros j I. assert (0 <= W j / total W keys).
      { unfold Rdiv. apply Rmult_le_pos; [auto|]. left. now apply Rinv_0_lt_compat. }
      rewrite Rabs_mult, (Rabs_pos_eq (W j / _)) by easy. pose proof (Rabs_pos (y j - c)).
      assert (d / total W keys * W j = d * (W j / total W keys)) as -> by (unfold Rdiv; ring).
      destruct (J j) eqn:B; [specialize (HJ j I B); nra|specialize (He j I B); nra].
    + rewrite total_plus, total_times. apply Rplus_le_compat_r. right. field. lra.
  - rewrite (total_same _ (fun j => / total W keys * (W j * y j) + - c * / total W keys * W j)) by (intros; unfold Rdiv; ring).
    rewrite total_plus, !total_times. field. lra.
Qed.
