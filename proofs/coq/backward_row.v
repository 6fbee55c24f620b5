(* docs/bound_backward.md, one row of the theorem: from the scores, dO and V of a row, and from how its numbers were computed, to what
   Lemmas 8 to 11 take for known: A_j, N_j and e_Delta. *)
From Attest Require Export backward_weights backward_saved backward_sums backward_products backward_gradients.

(* A row: exact numbers, what a kernel computed of them, and the bounds that come from elsewhere (E_j, lambda_f, kappa_j, o_c). *)
Record row {A C : Type} := Row {
  keys_of : list A; columns_of : list C;
  s_of : A -> R; v_of : A -> C -> R; dO_of : C -> R; drop_of : A -> R; slope_of : A -> R;
  lse_hat : R; lse_used : R; s_hat : A -> R; p_hat : A -> R; w_hat : A -> R; Delta_0 : R; Delta_hat : R; diff_hat : A -> R;
  slope_hat : A -> R; theta_of : A -> R;
  E_of : A -> R; lambda_f : R; N0_of : A -> R; N_of : A -> R; kappa_of : A -> R; e_0 : R }.
Arguments row : clear implicits.

(* One rounding to a format. *)
Definition stored_as u_s omega_s x z := exists d n, Rabs d <= u_s /\ Rabs n <= omega_s /\ z = x * (1 + d) + n.

Section Row.
Context {A C : Type}.
Implicit Types r : row A C.

(* --- the exact numbers ------------------------------------------------------------------------------------------------------------ *)

Definition L_of r := ln (total (fun j => exp (s_of r j)) (keys_of r)).
Definition pi_of r j := exp (s_of r j - L_of r).
Definition W_of r j := drop_of r j * total (fun a => dO_of r a * v_of r j a) (columns_of r).
Definition Delta_of r := backward_sums.Delta (keys_of r) (pi_of r) (W_of r).
Definition y_of r := backward_sums.y (keys_of r) (pi_of r) (W_of r).
Definition o_of r a := total (fun j => pi_of r j * (drop_of r j * v_of r j a)) (keys_of r).
Definition dX_of_row r j := pi_of r j * slope_of r j * y_of r j.

Theorem weights_sum_to_1 r : keys_of r <> [] -> total (pi_of r) (keys_of r) = 1.
Proof.
  intros N. set (Z := total (fun j => exp (s_of r j)) (keys_of r)). assert (P : 0 < Z) by (apply total_positive; [easy|intros; apply exp_pos]).
  rewrite (total_same (pi_of r) (fun j => / Z * exp (s_of r j))).
  - rewrite total_times. fold Z. field. lra.
  - intros j _. unfold pi_of, L_of. fold Z. unfold Rminus. rewrite exp_plus, exp_Ropp, exp_ln by easy. ring.
Qed.
Lemma pi_pos r j : 0 <= pi_of r j.
Proof. left. apply exp_pos. Qed.

(* Delta is dO o: the sums over keys and columns change places. *)
Theorem Delta_of_output r : Delta_of r = total (fun a => dO_of r a * o_of r a) (columns_of r).
Proof.
  unfold Delta_of, backward_sums.Delta, W_of, o_of. induction (columns_of r) as [|a l IH]; simpl.
  - rewrite (total_same _ (fun _ => 0)) by (intros; ring). rewrite total_const. ring.
  - rewrite <- IH, <- total_times, <- total_plus. apply total_same. intros. ring.
Qed.

(* What is known of the weights of a row: A_j, and the common factor of Lemma 5. *)
Record weights_are r (A_j T zeta : A -> R) lambda delta := {
  their_distance : forall j, In j (keys_of r) -> 0 <= p_hat r j /\ Rabs (p_hat r j - pi_of r j) <= A_j j;
  their_factor : common_factor (keys_of r) (pi_of r) (p_hat r) T zeta lambda delta }.

(* --- Lemma 1: weights from the LSE ------------------------------------------------------------------------------------------------------------------------ *)

Section Lse.
Context (m : model) (g : gradient_model).
Definition lambda_at r := lambda_of m g (L_of r) (lambda_f r).
Definition rho_at r j := rho (s_of r j) (L_of r) (E_of r j) (lambda_at r).
Definition z_at r j := z_again m g (E_of r j) (rho_at r j).
Definition cut r j := Rlt_dec (x0 m) (reach_again m g (rho_at r j)).
Definition T_at r j := if cut r j then Rmax 1 (exp (z_at r j) - 1) else exp (z_at r j) - 1.
Definition zeta_at r j := omega_pd g + if Rlt_dec (far m) (reach_again m g (rho_at r j)) then zeta_again m g else 0.
Definition A_at r j := pi_of r j * (if cut r j then Rmax 1 (exp (lambda_at r + z_at r j) - 1) else exp (lambda_at r + z_at r j) - 1) + zeta_at r j.

Record sane_gradient := {
  g_eps : 0 <= eps m < 1; g_pd : 0 <= u_pd g < 1; g_tiny : 0 <= tiny m; g_omega : 0 <= omega m; g_omega_pd : 0 <= omega_pd g;
  g_gamma : 0 <= gamma (k_xb g) (u m); g_shared : 0 <= gamma (c_l g) (u m) <= 1; g_lse : 0 <= u_lse g }.

(* HB1, HB2: one LSE for the row, weights formed again from scores within E_j. *)
Record weights_formed r := {
  lse_near : Rabs (lse_hat r - L_of r) <= lambda_f r;
  lse_is : lse_of_row m g (lse_hat r) (lse_used r);
  scores_near : forall j, In j (keys_of r) -> Rabs (s_hat r j - s_of r j) <= E_of r j;
  formed : forall j, In j (keys_of r) -> formed_again m g (s_hat r j) (lse_used r) (p_hat r j) /\ 0 <= p_hat r j }.

Lemma near_1 a z : 0 < a -> Rabs (ln a) <= z -> Rabs (a - 1) <= exp z - 1.
Proof.
  intros P H. apply between in H. rewrite <- (exp_ln a P). pose proof (exp_ineq1_le z). pose proof (exp_grows (ln a) z ltac:(lra)).
  pose proof (exp_grows (- z) (ln a) ltac:(lra)). pose proof (exp_ineq1_le (- z)). pose proof (exp_pos z). apply abs_below.
  assert (1 - (exp z - 1) <= exp (- z)); [|lra]. rewrite exp_Ropp. apply Rmult_le_reg_r with (exp z); [easy|]. rewrite Rinv_l by lra. nra.
Qed.

Theorem weights_from_lse r : sane_gradient -> weights_formed r ->
  weights_are r (A_at r) (T_at r) (zeta_at r) (lambda_at r) (lse_used r - L_of r).
Proof.
  intros S K. destruct S as [He Hu Ht Hw Hwp Hg Hs Hl].
  assert (HL : Rabs (lse_used r - L_of r) <= lambda_at r) by (apply (B1_lambda m g _ (lse_hat r)); auto; apply K).
  assert (Key : forall j, In j (keys_of r) -> (x0 m < reach_again m g (rho_at r j) /\ Rabs (p_hat r j) <= zeta_at r j) \/
    exists a n, p_hat r j = exp (- (lse_used r - L_of r)) * pi_of r j * a + n /\ 0 < a /\ Rabs (ln a) <= z_at r j /\ Rabs n <= zeta_at r j).
  { intros j I. destruct (formed r K j I) as (F & _). unfold zeta_at.
    destruct (B1_weight m g (s_of r j) (s_hat r j) (L_of r) (lse_used r) (p_hat r j) (E_of r j) (lambda_at r) He Hu Ht Hw Hg F (scores_near r K j I) HL)
      as [(B & X & N)|(a & n & Ea & Pa & Z & B & N)]; fold (rho_at r j) in *; [left; split; [easy|]|right; exists a, n; repeat split; auto];
      (destruct (Rlt_dec _ _); [easy|]; specialize (N ltac:(lra)); lra). }
  split; [|split; [exact HL|]]; intros j I; pose proof (pi_pos r j) as Pp; destruct (Key j I) as [(X & B)|(a & n & Ea & Pa & Z & B)].
  - split; [apply (formed r K j I)|]. unfold A_at, cut. destruct (Rlt_dec _ _) as [_|]; [|easy].
    pose proof (Rmax_l 1 (exp (lambda_at r + z_at r j) - 1)) as M. replace (p_hat r j - pi_of r j) with (p_hat r j + - pi_of r j) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, (Rabs_pos_eq (pi_of r j)) by easy.
    assert (pi_of r j * 1 <= pi_of r j * Rmax 1 (exp (lambda_at r + z_at r j) - 1)) by now apply Rmult_le_compat_l. lra.
  - split; [apply (formed r K j I)|]. rewrite Ea. eapply Rle_trans; [apply (B1_distance (pi_of r j) (lse_used r - L_of r) a n (lambda_at r) (z_at r j) (zeta_at r j)); auto|].
    unfold A_at. apply Rplus_le_compat_r, Rmult_le_compat_l; [easy|]. destruct (cut r j); [apply Rmax_r|lra].
  - exists (- 1), (p_hat r j). split; [ring|]. split; [|easy]. unfold T_at, cut. destruct (Rlt_dec _ _) as [_|]; [|easy].
    rewrite Rabs_left by lra. pose proof (Rmax_l 1 (exp (z_at r j) - 1)). lra.
  - exists (a - 1), n. split; [rewrite Ea; ring|]. split; [|easy]. pose proof (near_1 a _ Pa Z) as N. unfold T_at. destruct (cut r j); [|easy].
    eapply Rle_trans; [exact N|apply Rmax_r].
Qed.
End Lse.

(* --- Lemma 2: weights that the forward pass saved, within C_j of Corollary W ---------------------------------------------------------- *)

Definition A_saved u_pd omega_pd (C_j : A -> R) r j := (1 + u_pd) * C_j j + u_pd * pi_of r j + omega_pd.
Theorem weights_saved u_pd omega_pd C_j r (a : A -> R) : 0 <= u_pd ->
  (forall j, In j (keys_of r) -> 0 <= p_hat r j /\ Rabs (a j - pi_of r j) <= C_j j /\ stored_as u_pd omega_pd (a j) (p_hat r j)) ->
  weights_are r (A_saved u_pd omega_pd C_j r) (fun j => A_saved u_pd omega_pd C_j r j / pi_of r j) (fun _ => 0) 0 0.
Proof.
  intros Hu H. assert (B : forall j, In j (keys_of r) -> Rabs (p_hat r j - pi_of r j) <= A_saved u_pd omega_pd C_j r j).
  { intros j I. destruct (H j I) as (_ & Ha & St). apply (B2_weight (pi_of r j) (a j)); auto. apply pi_pos. }
  constructor; [intros j I; split; [apply (H j I)|auto]|]. split; [rewrite Rabs_R0; lra|]. intros j I.
  assert (P : 0 < pi_of r j) by apply exp_pos. exists ((p_hat r j - pi_of r j) / pi_of r j), 0. split; [rewrite Ropp_0, exp_0; field; lra|]. split; [|rewrite Rabs_R0; lra].
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ pi_of r j)) by (left; now apply Rinv_0_lt_compat). apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|auto].
Qed.

(* --- Lemmas 3 to 6 ------------------------------------------------------------------------------------------------------------------- *)

Context (c : accumulator) (flush u_delta omega_delta theta g_e : R).
Context (A_j T zeta : row A C -> A -> R) (lambda delta : row A C -> R).
Definition given r := weights_are r (A_j r) (T r) (zeta r) (lambda r) (delta r).
Definition P_at r := P_plus (pi_of r) (A_j r).
Record sane_sums := { g_acc : sane_accumulator c /\ omega_acc c <= / 4 /\ 0 <= flush <= omega_acc c; g_delta : 0 <= u_delta; g_theta : 0 <= theta }.

(* dP: a sum over columns in any tree, the factor of dropout, perhaps a narrower format; or 0, of a sink and of a dropped key. *)
Inductive dP_formed r j : Prop :=
  | dP_nothing : w_hat r j = W_of r j -> 0 <= N0_of r j -> dP_formed r j
  | dP_summed (leaf : C -> R) k s e z x Delta_d kappa_plus lost_d t n u_dps omega_dps : INR k * u_acc c < 1 -> gamma k (u_acc c) <= / 4 ->
      dot (columns_of r) c (dO_of r) (v_of r j) leaf flush k s e z x -> 0 <= drop_of r j -> 0 <= Delta_d -> drop_of r j * (1 + Delta_d) <= kappa_plus ->
      Rabs t <= Delta_d -> Rabs n <= lost_d -> 0 <= u_dps -> stored_as u_dps omega_dps (x * (drop_of r j * (1 + t)) + n) (w_hat r j) ->
      (1 + u_dps) * (((1 + gamma k (u_acc c)) * (1 + Delta_d) - 1) * (drop_of r j * total (fun a => Rabs (dO_of r a * v_of r j a)) (columns_of r))
        + kappa_plus * dot_loses (columns_of r) c (dO_of r) (v_of r j) flush + lost_d) + u_dps * Rabs (W_of r j) + omega_dps <= N0_of r j -> dP_formed r j.
Theorem row_dP r j : sane_sums -> dP_formed r j -> Rabs (w_hat r j - W_of r j) <= N0_of r j.
Proof.
  intros S [E N|leaf k s e z x Dd kp ld t n us os Fk Gk H D0 Dd0 Kp Ht Hn Us St N]; [rewrite E, Rminus_eq_0, Rabs_R0; lra|].
  destruct (g_acc S) as (Ac & W4 & Fl). eapply Rle_trans; [|exact N]. pose proof (gamma_pos k _ (acc_u c Ac) Fk) as G0.
  apply (B3_stored (x * (drop_of r j * (1 + t)) + n) (W_of r j) (w_hat r j)); auto.
  apply (B3_dropped (total (fun a => dO_of r a * v_of r j a) (columns_of r)) _ (gamma k (u_acc c)) x _ (drop_of r j) Dd kp); auto.
  - exact (dot_product (columns_of r) c (dO_of r) (v_of r j) leaf flush k s e z x Ac W4 Fl Fk Gk H).
  - apply total_abs.
  - unfold dot_loses. pose proof (acc_w c Ac). pose proof (pos_INR (length (columns_of r))).
    assert (0 <= total (fun b => Rabs (dO_of r b)) (columns_of r)) by (apply total_pos; intros; apply Rabs_pos).
    assert (0 <= total (fun b => Rabs (v_of r j b)) (columns_of r)) by (apply total_pos; intros; apply Rabs_pos).
    assert (0 <= (4 * INR (length (columns_of r)) + 2) * omega_acc c) by (apply Rmult_le_pos; lra).
    assert (0 <= 2 * flush * (total (fun b => Rabs (dO_of r b)) (columns_of r) + total (fun b => Rabs (v_of r j b)) (columns_of r))) by (apply Rmult_le_pos; lra). lra.
  - exists t, n. auto.
Qed.
Definition dP_known r := forall j, In j (keys_of r) -> Rabs (w_hat r j - W_of r j) <= N0_of r j.
Theorem row_is_known r : sane_sums -> given r -> dP_known r ->
  row_known (keys_of r) (pi_of r) (W_of r) (p_hat r) (w_hat r) (A_j r) (N0_of r).
Proof. intros S K D. constructor; [intros; apply pi_pos|apply K|exact D]. Qed.

(* Delta from the output o^, or from the weights; k roundings, and dot says how. e_0 is the bound of Lemma 4 or of Lemma 5. *)
Inductive delta_formed r : Prop :=
  | from_output (o_hat size leaf : C -> R) F_O k s e z : INR k * u_acc c < 1 -> gamma k (u_acc c) <= / 4 ->
      dot (columns_of r) c (dO_of r) o_hat leaf flush k s e z (Delta_0 r) -> (forall a, In a (columns_of r) -> Rabs (o_hat a) <= size a) ->
      Rabs (total (fun a => dO_of r a * (o_hat a - o_of r a)) (columns_of r)) <= F_O ->
      F_O + gamma k (u_acc c) * total (fun a => Rabs (dO_of r a) * size a) (columns_of r) + dot_loses (columns_of r) c (dO_of r) o_hat flush <= e_0 r -> delta_formed r
  | from_weights (leaf : A -> R) k s e z sum_off : INR k * u_acc c < 1 -> gamma k (u_acc c) <= / 4 ->
      dot (keys_of r) c (p_hat r) (w_hat r) leaf flush k s e z (Delta_0 r) -> Rabs (total (p_hat r) (keys_of r) - 1) <= sum_off ->
      Rmin (total (fun j => A_j r j * Rabs (y_of r j)) (keys_of r)) (total (fun j => (exp (lambda r) * (pi_of r j * T r j) + zeta r j) * Rabs (y_of r j)) (keys_of r))
        + Rabs (Delta_of r) * sum_off + total (fun j => P_at r j * N0_of r j) (keys_of r)
        + (gamma k (u_acc c) * total (fun j => P_at r j * (Rabs (W_of r j) + N0_of r j)) (keys_of r)
           + ((4 * INR (length (keys_of r)) + 2) * omega_acc c + 2 * flush * total (fun j => Rabs (W_of r j) + N0_of r j + P_at r j) (keys_of r))) <= e_0 r -> delta_formed r.
Definition e_Delta_of r := (1 + u_delta) * e_0 r + u_delta * Rabs (Delta_of r) + omega_delta.

Theorem row_delta r : sane_sums -> keys_of r <> [] -> given r -> dP_known r -> delta_formed r ->
  stored_as u_delta omega_delta (Delta_0 r) (Delta_hat r) -> Rabs (Delta_hat r - Delta_of r) <= e_Delta_of r.
Proof.
  intros S N K D F St. pose proof (row_is_known r S K D) as RK. pose proof (their_factor _ _ _ _ _ _ K) as CF. destruct (g_acc S) as (Ac & W4 & Fl).
  unfold e_Delta_of. assert (B : Rabs (Delta_0 r - Delta_of r) <= e_0 r).
  { destruct F as [o_hat sz leaf F_O k s e z Fk Gk H Ho HF HE|leaf k s e z off Fk Gk H Hs HE].
    - eapply Rle_trans; [|exact HE]. rewrite Delta_of_output.
      apply (B4_delta (columns_of r) (dO_of r) (o_of r) o_hat sz (gamma k (u_acc c)) _ F_O); auto; [apply gamma_pos; [apply Ac|easy]|].
      exact (dot_product (columns_of r) c (dO_of r) o_hat leaf flush k s e z (Delta_0 r) Ac W4 Fl Fk Gk H).
    - eapply Rle_trans; [|exact HE].
      apply (B5_delta (keys_of r) (pi_of r) (W_of r) (p_hat r) (w_hat r) (A_j r) (T r) (zeta r) (N0_of r) (lambda r) (delta r)); auto;
        [now apply weights_sum_to_1|].
      pose proof (B5_eps_w (keys_of r) c (p_hat r) (w_hat r) leaf (P_at r) (W_of r) (N0_of r) flush k s e z (Delta_0 r) Ac W4 Fl Fk Gk H) as Q.
      eapply Rle_trans; [apply Q|lra]. intros j I. destruct (weights_near _ _ _ _ _ _ _ RK j I) as (P0 & Pn). specialize (D j I). split.
      + rewrite Rabs_pos_eq by easy. apply between in Pn. unfold P_at, P_plus. lra.
      + replace (w_hat r j) with (W_of r j + (w_hat r j - W_of r j)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  rewrite Rmult_comm. exact (B13_stored (Delta_of r) (e_0 r) (Delta_0 r) (Delta_hat r) u_delta omega_delta (g_delta S) B St).
Qed.

(* The number that p multiplies is y + xi - e: a difference of what was stored, an accumulator that begins at -Delta^, or two products. *)
Inductive before r j : R -> Prop :=
  | subtracted : N0_of r j <= N_of r j -> before r j (w_hat r j - Delta_hat r)
  | two_products d1 d2 x : Rabs d1 <= g_e -> Rabs d2 <= g_e -> 0 <= g_e ->
      x = w_hat r j * (1 + d1) - Delta_hat r * (1 + d2) ->
      N0_of r j + g_e * (Rabs (W_of r j) + N0_of r j + Rabs (Delta_of r) + e_Delta_of r) <= N_of r j -> before r j x
  | from_delta z N1 k u_dps omega_dps x : 0 <= k -> 0 <= u_dps -> Rabs (z - (W_of r j - Delta_hat r)) <= N1 + k * Rabs (Delta_hat r) ->
      stored_as u_dps omega_dps z x -> N_first N1 k u_dps omega_dps (W_of r j - Delta_of r) (Delta_of r) (e_Delta_of r) <= N_of r j -> before r j x.

Theorem row_before r j x : Rabs (w_hat r j - W_of r j) <= N0_of r j -> Rabs (Delta_hat r - Delta_of r) <= e_Delta_of r -> before r j x ->
  Rabs (x - (y_of r j - (Delta_hat r - Delta_of r))) <= N_of r j.
Proof.
  intros Hw HD B. assert (Ey : y_of r j = W_of r j - Delta_of r) by reflexivity. rewrite Ey. destruct B as [N|d1 d2 x H1 H2 G0 -> N|z N1 k u_dps omega_dps x K0 U0 Hz St N].
  - replace (w_hat r j - Delta_hat r - (W_of r j - Delta_of r - (Delta_hat r - Delta_of r))) with (w_hat r j - W_of r j) by ring. lra.
  - eapply Rle_trans; [|exact N]. replace (w_hat r j * (1 + d1) - Delta_hat r * (1 + d2) - (W_of r j - Delta_of r - (Delta_hat r - Delta_of r)))
      with ((w_hat r j - W_of r j) + w_hat r j * d1 + - (Delta_hat r * d2)) by ring.
    assert (Sw : Rabs (w_hat r j) <= Rabs (W_of r j) + N0_of r j) by (replace (w_hat r j) with (W_of r j + (w_hat r j - W_of r j)) by ring; eapply Rle_trans; [apply Rabs_triang|]; lra).
    assert (SD : Rabs (Delta_hat r) <= Rabs (Delta_of r) + e_Delta_of r) by (replace (Delta_hat r) with (Delta_of r + (Delta_hat r - Delta_of r)) by ring; eapply Rle_trans; [apply Rabs_triang|]; lra).
    assert (Rabs (w_hat r j * d1) <= (Rabs (W_of r j) + N0_of r j) * g_e) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
    assert (Rabs (Delta_hat r * d2) <= (Rabs (Delta_of r) + e_Delta_of r) * g_e) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
  - destruct (B6_first (W_of r j) (Delta_of r) (Delta_hat r) z x N1 k (e_Delta_of r) u_dps omega_dps K0 U0 HD Hz St) as (xi & -> & X).
    replace (W_of r j - Delta_of r + xi - (Delta_hat r - Delta_of r) - (W_of r j - Delta_of r - (Delta_hat r - Delta_of r))) with xi by ring. lra.
Qed.
End Row.
