(* The theorem for O with any entry of Gamma_L and any entry of Phi_c, which are the smallest of several in section 3. mO is the model
   of the sums of O: where a matrix unit adds them, its u is u_pv. *)
From Attest Require Export lemma_6_entries.

(* A'_c of l, all of whose values are 1, is 1. *)
Theorem A'_of_ones es E T zeta counted D Lambda : weights_known es weight E T zeta counted D Lambda -> A'_of es (fun _ => 1) E T zeta D Lambda = 1.
Proof.
  intros K. pose proof (exact_sum_positive _ _ _ _ _ _ _ _ K) as S. assert (M : mean es E (fun _ => Rabs 1) = 1).
  { unfold mean. rewrite Rabs_R1. rewrite (total_same _ (fun j => / total E es * E j)) by (intros; unfold pi, Rdiv; ring). rewrite total_times.
    change (fun a => E a) with E. now field_simplify; [|lra]. }
  unfold A'_of, A_of, A_T. rewrite M. rewrite (total_same _ (fun j => 0 * E j)).
  - rewrite total_times. ring.
  - intros j _. rewrite Rabs_R1, Rminus_eq_0, Rabs_R0. ring.
Qed.

Section Theorem_O.
Context (m mO : model) (nearest_l nearest_O : bool) (h : history) (p : part) (M rho l O : R).
Context (exact E X Y : key -> R) (omega_W Lambda GF Om : R).
Let of_exact := of_exact M exact.
Let T := T m E X Y.
Let zeta := zeta m X Y omega_W.
Let D := D m p M exact E X Y.
Let average := average p M exact.
Let A := A m p M exact E X Y omega_W Lambda.

Definition entry_of_l := an_entry m nearest_l rho (entries p) (sum_l p) leaf_l (fun _ => 1) of_exact T zeta D Lambda.
Definition entry_of_O := an_entry mO nearest_O rho (entries p) (sum_O p) leaf_O v of_exact T zeta D Lambda.
Definition few_on s q := INR (height s + depth s) * u q < 1 /\ 0 < u q <= 1 /\ 0 <= omega q.

Lemma l_near Gamma_L : run m h p -> row_known m h p M rho exact E X Y omega_W Lambda -> few_on (sum_l p) m ->
  computed_as m nearest_l (sum_l p) l -> entry_of_l Gamma_L -> Rabs (l - total weight (entries p)) <= Gamma_L * total weight (entries p).
Proof.
  intros H K (Fl & Ul & Wl) Cl El. pose proof (row_weights _ _ _ _ _ _ _ _ _ _ _ H K) as Wk.
  destruct (factors_below _ _ _ _ _ _ _ _ _ _ _ K) as (Hr & Rl & _). destruct (sums_are_entries m h p H) as (Pl & _).
  destruct (run_summed m h p H) as (Sl & _).
  pose proof (lemma_6 m nearest_l rho (entries p) (sum_l p) leaf_l (fun _ => 1) _ _ _ _ _ Lambda Wk Fl Ul Wl Hr Rl Pl (fun _ => eq_refl) Sl Gamma_L l El Cl) as Dl.
  now rewrite (total_same (fun e => weight e * 1) weight) in Dl by (intros; ring).
Qed.

Theorem theorem_O_entries o th beta Gamma_L Phi : run m h p -> row_known m h p M rho exact E X Y omega_W Lambda ->
  few_on (sum_l p) m -> few_on (sum_O p) mO -> computed_as m nearest_l (sum_l p) l -> computed_as mO nearest_O (sum_O p) O ->
  entry_of_l Gamma_L -> entry_of_O Phi -> Gamma_L < 1 -> Rabs th <= GF -> Rabs beta <= Om -> o = O / l * (1 + th) + beta ->
  Rabs (o - average v) <= A v + ((1 + GF) * Phi + (Rabs (average v) + A v) * (Gamma_L + GF)) / (1 - Gamma_L) + Om.
Proof.
  intros H K Fl (FO & UO & WO) Cl CO El EO G1 Ht Hb ->. pose proof (row_weights _ _ _ _ _ _ _ _ _ _ _ H K) as Wk.
  destruct (factors_below _ _ _ _ _ _ _ _ _ _ _ K) as (Hr & _ & RO). destruct (sums_are_entries m h p H) as (_ & PO).
  destruct (run_summed m h p H) as (_ & SO). pose proof (l_near Gamma_L H K Fl Cl El) as Dl.
  pose proof (lemma_6 mO nearest_O rho (entries p) (sum_O p) leaf_O v _ _ _ _ _ Lambda Wk FO UO WO Hr RO PO (fun _ => eq_refl) SO Phi O EO CO) as DO.
  exact (bound_of_weights _ _ _ _ _ _ _ _ Wk v l O th beta Gamma_L Phi GF Om Dl DO G1 Ht Hb).
Qed.
End Theorem_O.
