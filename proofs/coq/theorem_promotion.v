(* The theorem for O where a matrix unit sums it: P rounded beside an unrounded l, additions in u_pv, and a promotion. *)
From Attest Require Export promotion theorem_entries.

Section Promotion.
Context (m : model) (nearest_l : bool) (h : history) (p : part) (M rho l O : R) (exact E X Y : key -> R) (omega_W Lambda GF Om : R).
Context (u_p omega_p u_pv : R) (n k q : nat).
Let A' := A'_of (entries p) v (of_exact M exact) (T m E X Y) (zeta m X Y omega_W) (D m p M exact E X Y) Lambda.
Let average := average p M exact.
Let A := A m p M exact E X Y omega_W Lambda.

(* Gamma_O of section 3, with the n additions in u_pv of the longest path, k in u, and q products. *)
Definition Gamma_O := (1 + u_p) * ((1 + gamma n u_pv) * (1 + gamma (k + q) (u m))) - 1.
Definition Phi := Gamma_O * A' + losses_in m omega_p u_pv rho (sum_O p) n k / Lambda.

Theorem lemma_6_promoted : run m h p -> row_known m h p M rho exact E X Y omega_W Lambda ->
  0 <= u_p -> 0 <= omega_p -> 0 <= u_pv -> INR n * u_pv < 1 -> INR (k + q) * u m < 1 ->
  (forall e, In e (entries p) -> (S (rescales e) <= q)%nat) -> matrix_sum m u_p omega_p u_pv (sum_O p) n k O ->
  Rabs (O - total (fun e => weight e * v e) (entries p)) <= Phi * total weight (entries p).
Proof.
  intros H K Hp Hwp Hv Fn Fk Hq C. pose proof (model_sane _ _ _ _ _ _ _ _ _ _ _ K) as sn. pose proof (row_weights _ _ _ _ _ _ _ _ _ _ _ H K) as Wk.
  destruct (factors_below _ _ _ _ _ _ _ _ _ _ _ K) as (Hr & _ & RO). destruct (sums_are_entries m h p H) as (_ & PO).
  pose proof (some_u m sn) as Hu. pose proof (some_omega m sn) as Hw.
  pose proof (matrix_sum_beside m u_p omega_p u_pv rho Hu Hw Hp Hwp Hv Hr (sum_O p) n k O RO C) as B.
  unfold exact_sum in B. rewrite <- (total_permuted _ _ _ PO), total_map in B. rewrite (total_same (fun e => weight e * v e) (fun e => size (leaf_O e))) by reflexivity.
  eapply Rle_trans; [exact B|]. unfold Phi. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
  - unfold off. rewrite <- (total_permuted _ _ _ PO), total_map.
    pose proof (powers_below_gamma n u_pv Hv Fn) as Gn. pose proof (powers_below_gamma (k + q) (u m) Hu Fk) as Gk.
    pose proof (pow_at_least_1 n u_pv Hv) as Pn. pose proof (pow_at_least_1 (k + q) (u m) Hu) as Pk.
    assert (G0 : 0 <= Gamma_O).
    { unfold Gamma_O. assert (1 * 1 <= (1 + gamma n u_pv) * (1 + gamma (k + q) (u m))) by (apply Rmult_le_compat; lra).
      assert (1 * 1 <= (1 + u_p) * ((1 + gamma n u_pv) * (1 + gamma (k + q) (u m)))) by (apply Rmult_le_compat; lra). lra. }
    rewrite Rmult_assoc. apply Rle_trans with (Gamma_O * total (fun e => weight e * Rabs (v e)) (entries p)).
    + rewrite <- total_times. apply total_below. intros e I. pose proof (weight_not_negative m h p e sn H I) as W0.
      unfold size, leaf_O. simpl meets. simpl times. simpl products. fold (v e). rewrite Rabs_mult, (Rabs_pos_eq (weight e)), Rmult_comm by easy.
      apply Rmult_le_compat_r; [apply Rmult_le_pos; auto using Rabs_pos|]. unfold Gamma_O. apply Rplus_le_compat_r. unfold on_path.
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite Rmult_assoc, <- pow_add. specialize (Hq e I).
      assert ((1 + u m) ^ (k + S (rescales e)) <= (1 + u m) ^ (k + q)) by (apply Rle_pow; [lra|lia]).
      apply Rmult_le_compat; try lra. apply pow_le. lra.
    + apply Rmult_le_compat_l; [easy|]. exact (sum_of_sizes _ _ _ _ _ _ _ _ Wk v).
  - apply (lost_beside_sum _ _ _ _ _ _ _ _ Wk). now apply losses_in_pos.
Qed.

Theorem theorem_O_promoted o th beta Gamma_L : run m h p -> row_known m h p M rho exact E X Y omega_W Lambda ->
  few_on (sum_l p) m -> computed_as m nearest_l (sum_l p) l -> entry_of_l m nearest_l p M rho exact E X Y omega_W Lambda Gamma_L ->
  0 <= u_p -> 0 <= omega_p -> 0 <= u_pv -> INR n * u_pv < 1 -> INR (k + q) * u m < 1 ->
  (forall e, In e (entries p) -> (S (rescales e) <= q)%nat) -> matrix_sum m u_p omega_p u_pv (sum_O p) n k O ->
  Gamma_L < 1 -> Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta ->
  Rabs (o - average v) <= A v + ((1 + GF) * Phi + (Rabs (average v) + A v) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.
Proof.
  intros H K Fl Cl El Hp Hwp Hv Fn Fk Hq CO G1 Ht Hb ->. pose proof (row_weights _ _ _ _ _ _ _ _ _ _ _ H K) as Wk.
  pose proof (lemma_6_promoted H K Hp Hwp Hv Fn Fk Hq CO) as DO. pose proof (l_near m nearest_l h p M rho l exact E X Y omega_W Lambda Gamma_L H K Fl Cl El) as Dl.
  exact (bound_of_weights _ _ _ _ _ _ _ _ Wk v l O th beta Gamma_L Phi GF Om Dl DO G1 Ht Hb).
Qed.
End Promotion.
