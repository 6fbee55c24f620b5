(* Clause D, and Corollaries L and W, of rows with masked keys (H5). Clause H asks nothing of the scores, so that it holds of these too. *)
From Attest Require Export masked_theorem clause_d results.

Section Clause_D.
Context (m : model) (h : history) (p : part) (M : R) (exact E Y : key -> R) (masked : key -> bool) (top Lambda : R) (R_max : nat).

Lemma kappa_grows Y1 Y2 : sane m -> Y1 <= Y2 -> kappa m Y1 <= kappa m Y2.
Proof.
  intros s L. pose proof (gamma_x_pos m s). pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)).
  unfold kappa. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy].
Qed.

(* Of a masked key: Y_j is at least Y+, as in the theorem, and M. *)
Theorem clause_D_masked j Y_plus omega_W : run m h p -> row_extremes m h p M exact E Y masked top Lambda R_max -> H5 m h p masked omega_W ->
  (forall k, In k (keys h) -> masked k = false -> - Y_plus <= score k - tau m) -> M <= Y_plus ->
  In j (entries p) -> masked (of j) = true -> Y_plus <= Y (of j) -> left_over m Y_plus (rescales j) <= omega_W ->
  weight j <= eta m top (exact (of j)) (E (of j)) (Y (of j)) R_max omega_W Lambda * total weight (entries p).
Proof.
  intros H K Five HY HM I Mj YY HW. pose proof (sane_model _ _ _ _ _ _ _ _ _ _ _ K) as s. pose proof (key_of_entry _ _ _ _ H I) as Ij.
  pose proof (left_over_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ K HW) as W0. destruct (alone_or_beside m h p j Y_plus masked omega_W H I Five HY) as [A|B].
  - pose proof (beside_Lambda _ _ _ _ _ _ _ _ _ _ _ omega_W K W0) as L. pose proof (Lambda_below _ _ _ _ _ _ _ _ _ _ _ K) as La.
    unfold eta. rewrite Rmult_plus_distr_r.
    assert (0 <= exp (- (1 - gamma_x m) * gap m top (exact (of j)) (E (of j)) (Y (of j)) + eta_plus m R_max) * total weight (entries p)).
    { apply Rmult_le_pos; [left; apply exp_pos|lra]. }
    lra.
  - apply (dominated m h p M exact E Y masked top Lambda R_max (of j) omega_W); auto.
    pose proof (weight_at_most m h p M exact E Y masked top Lambda R_max j Y_plus omega_W H K I HW HM B) as Q. unfold at_most_weight in *.
    eapply Rle_trans; [exact Q|]. apply Rplus_le_compat_r, exp_grows. pose proof (kappa_grows Y_plus (Y (of j)) s YY). lra.
Qed.
End Clause_D.

Section Corollaries.
Context (m mO : model) (nearest_l nearest_O : bool) (rho l O : R) (h : history) (p : part).
Context (M Y_plus omega_W Lambda Gamma_L Phi GF Om : R) (exact E X Y : key -> R) (masked : key -> bool).
Let of_exact := exact_weight (at_masked M exact).
Let T := T_masked m E X Y.
Let zeta := zeta_masked m omega_W X Y.
Let D := D_masked m p M exact E X Y.
Context (H : run m h p) (row : masked_row m h p M Y_plus omega_W Lambda exact E X Y masked).
Context (sums : are_sums m mO nearest_l nearest_O rho (entries p) (sum_l p) (sum_O p) l O of_exact T zeta D Lambda Gamma_L Phi).

Theorem masked_O o th beta : Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta ->
  let o_exact := mean (entries p) of_exact v in let A := A_T (entries p) of_exact T zeta D Lambda v in
  Rabs (o - o_exact) <= A + ((1 + GF) * Phi + (Rabs o_exact + A) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.
Proof. exact (result_O _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ GF Om sums (run_has_leaves m h p H) (masked_row_weights _ _ _ _ _ _ _ _ _ _ _ _ H row) o th beta). Qed.

Theorem masked_L : far_part (entries p) zeta Lambda <= / 2 ->
  Rabs (M + ln l - ln (total (fun e => exp (exact (of e))) (entries p))) <= Lambda_T (entries p) of_exact T zeta D Lambda + Gamma_L / (1 - Gamma_L).
Proof. exact (result_L _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ sums (run_has_leaves m h p H) (masked_row_weights _ _ _ _ _ _ _ _ _ _ _ _ H row) M (fun e => exact (of e)) (fun _ => eq_refl)). Qed.

Theorem masked_W j others eta a th nu beta GW alpha : Permutation (entries p) (j :: others) -> weight j <= eta * total weight (entries p) ->
  Rabs th <= GW -> Rabs nu <= alpha * ((1 - Gamma_L) * Lambda) -> Rabs beta <= Om -> a = weight j / l * (1 + th) + nu / l + beta ->
  let pi_j := pi (entries p) of_exact j in
  let A := Rmin (A_j (entries p) of_exact T zeta D Lambda j others) (Rmin 1 (Rmax pi_j eta)) in
  Rabs (a - pi_j) <= A + (pi_j + A) * (Gamma_L + GW) / (1 - Gamma_L) + Om + alpha.
Proof. exact (result_W _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ Om sums (run_has_leaves m h p H) (masked_row_weights _ _ _ _ _ _ _ _ _ _ _ _ H row) j others eta a th nu beta GW alpha). Qed.
End Corollaries.
