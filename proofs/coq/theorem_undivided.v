(* The theorem for O and the LSE where parts are merged without a final division, over every tree of such merges. No key is far or
   flushed; a part's factor may be cut. *)
From Attest Require Export clause_h undivided_weights near_weights.

Section Theorem_undivided.
Context (m : model) (g : lse_model) (r : limits) (most_off : R) (a_most N : nat) (xi : key -> R).
Context (R_0 F G_O a_0 lambda K_x S H : R).
Let known := undivided_known m g r most_off a_most xi R_0 F G_O a_0 lambda K_x S H.
Let tree := undivided m g r most_off.
Let off n := sum_off R_0 F n.

(* O: the paths of Lemma 4, without a division in the merges: k_F of the part, a product and the additions of each. *)
Definition grown_undivided n a := (1 + u m) ^ (a + n) * growth_F m g ^ n * G_O.
Definition lost_undivided n a := (1 + u m) ^ (a + n) * growth_F m g ^ n * (a_0 + INR n * (lost_F g * off N + lambda)).

Theorem undivided_O n a s : known -> tree n a s -> (a <= a_most)%nat -> (n <= N)%nat ->
  Rabs (O_hat s - sum_Wv s) <= (grown_undivided n a - 1) * sum_abs s + lost_undivided n a * sum_W s.
Proof.
  intros K Hs. destruct (un_F _ _ _ _ _ _ _ _ _ _ _ _ _ _ K) as (R1 & F1 & _). pose proof (un_sane _ _ _ _ _ _ _ _ _ _ _ _ _ _ K) as sn.
  destruct (un_losses _ _ _ _ _ _ _ _ _ _ _ _ _ _ K) as (OF & WS & US & ML & A0 & GO & La). pose proof (some_u m sn) as Hu. pose proof (some_omega m sn) as Hw.
  assert (P1 : forall k, 1 <= (1 + u m) ^ k) by (intros; now apply pow_at_least_1).
  assert (GF : 1 + u_state g <= growth_F m g) by (unfold growth_F; specialize (P1 (k_F g)); nra). assert (GF1 : 1 <= growth_F m g) by lra.
  assert (FP : forall k, 1 <= growth_F m g ^ k) by (intros; now apply pow_R1_Rle). assert (LF : omega_state g <= lost_F g) by (unfold lost_F; nra).
  assert (R0 : 1 <= off N) by (apply (sum_off_grows R_0 F N N R1 F1); lia). set (beta := lost_F g * off N + lambda). assert (B0 : 0 <= beta) by (unfold beta; nra).
  assert (Pos : forall n a, 0 <= grown_undivided n a /\ 0 <= lost_undivided n a).
  { intros n0 a0. unfold grown_undivided, lost_undivided. fold beta. specialize (P1 (a0 + n0)%nat). specialize (FP n0). pose proof (pos_INR n0).
    assert (0 <= INR n0 * beta) by (now apply Rmult_le_pos). split; apply Rmult_le_pos; try lra; apply Rmult_le_pos; lra. }
  induction Hs as [h p M l O s Hr EM Cl CO Pk Sk|n a inputs cs T C L tc tO O s Hm IH He F2 Hx J1 C1 L1 PC HL Off J2 C2 L2 Sk|n a n' a' s Hm IH Ln La']; intros Ha Hn.
  - destruct (un_parts _ _ _ _ _ _ _ _ _ _ _ _ _ _ K s Pk) as (_ & _ & _ & _ & _ & B). unfold grown_undivided, lost_undivided.
    simpl (_ ^ _). simpl (INR 0). rewrite !Rmult_0_l, !Rplus_0_r, !Rmult_1_l. exact B.
  - assert (W : forall i, In i inputs -> well R_0 F (from i) n) by (intros i Ii; apply (undivided_sums m g r most_off a_most xi R_0 F G_O a_0 lambda K_x S H n a); auto; lia).
    assert (f0 : forall i, In i inputs -> 0 <= factor_of i) by (intros i Ii; destruct (He i Ii) as (_ & _ & (x & _ & (X & _)) & _); easy).
    set (q := fun i => factor_of i / l_hat (from i)). set (h := max (height tc) (height tO)).
    assert (Sum : forall (f f' : entry -> R), (forall i e, f (behind L i e) = q i * f' e) ->
      total f (seen s) = total (fun i => q i * total f' (seen (from i))) inputs).
    { intros f f' E. unfold s. simpl. rewrite total_flat. apply total_same. intros i _. rewrite total_map, <- total_times. apply total_same. intros e _. apply E. }
    assert (SW : sum_W s = total (fun i => q i * sum_W (from i)) inputs) by (apply Sum; intros; simpl; fold (q i); ring).
    assert (SV : sum_Wv s = total (fun i => q i * sum_Wv (from i)) inputs) by (apply (Sum (fun e => weight e * v e) (fun e => weight e * v e)); intros; unfold v; simpl; fold (q i); ring).
    assert (SA : sum_abs s = total (fun i => q i * sum_abs (from i)) inputs)
      by (apply (Sum (fun e => weight e * Rabs (v e)) (fun e => weight e * Rabs (v e))); intros; unfold v; simpl; fold (q i); ring).
    destruct (un_keys _ _ _ _ _ _ _ _ _ _ _ _ _ _ K s Sk) as (_ & LW). destruct (sum_off_grows R_0 F n N R1 F1 ltac:(lia)) as (Rn1 & RnN). set (Rn := off n).
    assert (csW : total factor_of inputs <= Rn * sum_W s).
    { rewrite SW, <- total_times. apply total_below. intros i Ii. destruct (W i Ii) as (P & _ & _ & _ & _ & A2). specialize (f0 i Ii). unfold q.
      replace (Rn * (factor_of i / l_hat (from i) * sum_W (from i))) with (factor_of i * (Rn * sum_W (from i) / l_hat (from i))) by (unfold Rdiv; ring).
      rewrite <- (Rmult_1_r (factor_of i)) at 1. apply Rmult_le_compat_l; [easy|]. apply Rmult_le_reg_r with (l_hat (from i)); [easy|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. unfold Rn, off. lra. }
    destruct (Pos n a) as (Go0 & ao0).
    assert (OM : Rabs (O - sum_Wv s) <= ((1 + u m) ^ (h + 1) * growth_F m g * grown_undivided n a - 1) * sum_abs s
      + ((1 + u m) ^ (h + 1) * growth_F m g * lost_undivided n a + (1 + u m) ^ (h + 1) * (lost_F g * Rn) + lambda) * sum_W s).
    { apply (one_merge_O m inputs s tO O h (grown_undivided n a) (lost_undivided n a) (growth_F m g) (lost_F g) Rn lambda); auto; try (unfold h; lia); try lra.
      - intros i Ii. destruct (W i Ii) as (P & Wp & _). auto.
      - intros i Ii. apply IH; auto; lia.
      - intros i Ii. destruct (W i Ii) as (_ & _ & _ & One & _). destruct (He i Ii) as (_ & _ & _ & (o & Dv & St)). destruct (is_part (from i)) eqn:Ip.
        + exact (divided_and_stored m g _ _ _ _ Hu US Dv St).
        + destruct St as (d & nn & Hd & Hnn & ->). exists d, nn. rewrite Dv, (One eq_refl). split; [lra|]. split; [lra|field]. }
    simpl (O_hat s). eapply Rle_trans; [exact OM|]. set (Q := (1 + u m) ^ (h + 1)). assert (Q1 : 1 <= Q) by apply P1.
    assert (EG : grown_undivided (Datatypes.S n) (h + a) = Q * growth_F m g * grown_undivided n a).
    { unfold grown_undivided, Q. replace (h + a + Datatypes.S n)%nat with ((h + 1) + (a + n))%nat by lia. rewrite (pow_add _ (h + 1)). simpl (growth_F m g ^ Datatypes.S n). ring. }
    set (P := (1 + u m) ^ (a + n) * growth_F m g ^ n).
    assert (EL : lost_undivided (Datatypes.S n) (h + a) = Q * growth_F m g * lost_undivided n a + Q * growth_F m g * P * beta).
    { unfold lost_undivided, Q. replace (h + a + Datatypes.S n)%nat with ((h + 1) + (a + n))%nat by lia.
      rewrite (pow_add _ (h + 1)), S_INR. simpl (growth_F m g ^ Datatypes.S n). unfold P, beta. ring. }
    assert (Pp : 1 <= P) by (apply Rle_trans with (1 * 1); [lra|apply Rmult_le_compat; try lra; auto]).
    assert (QF : Q <= Q * growth_F m g) by (rewrite <- (Rmult_1_r Q) at 1; apply Rmult_le_compat_l; lra).
    assert (Lf : 0 <= lost_F g * Rn <= lost_F g * off N) by (split; [apply Rmult_le_pos; unfold Rn, off; lra|apply Rmult_le_compat_l; unfold Rn, off; lra]).
    assert (Sl : Q * (lost_F g * Rn) + lambda <= Q * growth_F m g * P * beta).
    { assert (Q * growth_F m g <= Q * growth_F m g * P) by (rewrite <- (Rmult_1_r (Q * growth_F m g)) at 1; apply Rmult_le_compat_l; lra).
      assert (Q * (lost_F g * Rn) <= Q * growth_F m g * P * (lost_F g * off N)) by (apply Rmult_le_compat; lra).
      assert (1 * lambda <= Q * growth_F m g * P * lambda) by (apply Rmult_le_compat_r; lra). unfold beta. lra. }
    rewrite EG, EL. assert (W00 : 0 <= sum_W s).
    { rewrite SW. apply total_pos. intros i Ii. destruct (W i Ii) as (Pl & Wp & _). unfold q, Rdiv. apply Rmult_le_pos; [apply Rmult_le_pos; [auto|left; now apply Rinv_0_lt_compat]|now apply total_pos]. }
    assert ((Q * (lost_F g * Rn) + lambda) * sum_W s <= Q * growth_F m g * P * beta * sum_W s) by now apply Rmult_le_compat_r. lra.
  - specialize (IH ltac:(lia) ltac:(lia)). destruct (undivided_sums m g r most_off a_most xi R_0 F G_O a_0 lambda K_x S H n a s K Hm ltac:(lia)) as (_ & Wp & _).
    assert (W00 : 0 <= sum_W s) by now apply total_pos. assert (A00 : 0 <= sum_abs s) by (apply total_pos; intros; apply Rmult_le_pos; auto using Rabs_pos).
    assert (EP : (1 + u m) ^ (a + n) * growth_F m g ^ n <= (1 + u m) ^ (a' + n') * growth_F m g ^ n').
    { apply Rmult_le_compat; [specialize (P1 (a + n)%nat); lra|specialize (FP n); lra|apply Rle_pow; [lra|lia]|now apply Rle_pow]. }
    assert (In' : INR n * beta <= INR n' * beta) by (apply Rmult_le_compat_r; [easy|now apply le_INR]). assert (0 <= INR n * beta) by (apply Rmult_le_pos; auto using pos_INR).
    assert (Og : grown_undivided n a <= grown_undivided n' a') by (unfold grown_undivided; apply Rmult_le_compat_r; lra).
    assert (Lg : lost_undivided n a <= lost_undivided n' a').
    { unfold lost_undivided. fold beta. apply Rmult_le_compat; try lra. specialize (P1 (a + n)%nat). specialize (FP n). nra. }
    eapply Rle_trans; [exact IH|]. apply Rplus_le_compat; apply Rmult_le_compat_r; lra.
Qed.

(* --- the theorem: o is the average of the last state --------------------------------------------------------------------------- *)

Context (n a : nat) (s : state) (exact E X Y : key -> R).
Definition of_exact e := exp (exact (of e) - top s).
Definition z e := z_of m (E (of e)) (X (of e)) (Y (of e)) (rescales e) + xi (of e).
Definition reaches e := reach m (X (of e)) (Y (of e)).
Definition T := T_of z reaches (x0 m).
Definition zeta := zeta_of (A := entry) reaches (far m) 0.
Definition counted := counted_of z reaches (far m) (x0 m).
Definition D := D_of (seen s) (fun e => exact (of e) - top s) z reaches (far m) (x0 m).
Definition A y := A_T (seen s) of_exact T zeta D (sum_W s) y.
Definition average y := mean (seen s) of_exact y.
Definition Gamma_L := off n - 1.
Definition A' := average (fun e => Rabs (v e)) + A (fun e => Rabs (v e)).
Definition Phi := (grown_undivided n a - 1) * A' + lost_undivided n a.
Definition B := A v + (Phi + (Rabs (average v) + A v) * Gamma_L) / (1 - Gamma_L).

Record keys_near := {
  near_scores : forall e, In e (seen s) -> Rabs (score (of e) - exact (of e)) <= E (of e);
  near_references : forall e, In e (seen s) -> Rabs (begun (of e) (path e)) <= Y (of e);
  near_arguments : forall e, In e (seen s) -> sizes (path e) <= X (of e) /\ reaches e <= Rmin (far m) (x0 m);
  near_some : 0 < D }.

Lemma undivided_weights_known : known -> tree n a s -> (a <= a_most)%nat -> keys_near ->
  weights_known (seen s) weight of_exact T zeta counted D (sum_W s).
Proof.
  intros K Hs Ha R. destruct (undivided_sums m g r most_off a_most xi R_0 F G_O a_0 lambda K_x S H n a s K Hs Ha) as (Pl & Wp & Ne & _ & A1 & A2).
  pose proof (un_sane _ _ _ _ _ _ _ _ _ _ _ _ _ _ K) as sn. pose proof (gamma_x_pos m sn) as G.
  destruct (un_F _ _ _ _ _ _ _ _ _ _ _ _ _ _ K) as (R1 & F1 & _). destruct (sum_off_grows R_0 F n n R1 F1 (Nat.le_refl n)) as (Rn & _).
  assert (Sp : 0 < sum_W s) by nra.
  apply near_weights; auto; [lra|apply (near_some R)|unfold sum_W in *; lra|].
  intros e I. right. left. destruct (near_arguments R e I) as (HX & HR). pose proof (near_scores R e I) as HE. unfold reaches, reach in HR.
  assert ((1 + gamma_x m) * sizes (path e) <= (1 + gamma_x m) * X (of e)) by (apply Rmult_le_compat_l; lra).
  assert (gamma_x m * sizes (path e) <= gamma_x m * X (of e)) by (apply Rmult_le_compat_l; lra).
  destruct (undivided_weight m g r most_off a_most xi R_0 F G_O a_0 lambda K_x S H n a s e (Y (of e)) K Hs Ha I (near_references R e I)) as (Np & P & Dw); [lra|].
  exists (weight e), 0. split; [ring|]. split; [easy|]. split; [|rewrite Rabs_R0; split; [lra|auto]].
  pose proof (un_xi_pos _ _ _ _ _ _ _ _ _ _ _ _ _ _ K (of e)) as X0. apply between in Dw, HE. unfold z, z_of, rescales.
  destruct (path e) as [|b q]; [easy|]. simpl (length (b :: q) - 1)%nat. rewrite Nat.sub_0_r.
  change (length (b :: q)) with (Datatypes.S (length q)) in Dw. rewrite S_INR in Dw. destruct (is_part s); apply abs_below; lra.
Qed.

Lemma undivided_sum_near : known -> tree n a s -> (a <= a_most)%nat -> is_part s = false -> 1 <= off n /\ / off n <= sum_W s <= off n.
Proof.
  intros K Hs Ha Ip. destruct (undivided_sums m g r most_off a_most xi R_0 F G_O a_0 lambda K_x S H n a s K Hs Ha) as (_ & _ & _ & One & A1 & A2).
  destruct (un_F _ _ _ _ _ _ _ _ _ _ _ _ _ _ K) as (R1 & F1 & _). destruct (sum_off_grows R_0 F n n R1 F1 (Nat.le_refl n)) as (Rn & _).
  rewrite (One Ip) in *. fold (off n) in *. split; [easy|]. split; [|lra]. apply Rmult_le_reg_l with (off n); [lra|]. rewrite Rinv_r by lra. lra.
Qed.

Lemma sum_beside_1 : known -> tree n a s -> (a <= a_most)%nat -> is_part s = false -> Rabs (1 - sum_W s) <= Gamma_L * sum_W s.
Proof.
  intros K Hs Ha Ip. destruct (undivided_sum_near K Hs Ha Ip) as (O1 & S1 & S2). unfold Gamma_L.
  assert (Q : off n * / off n <= off n * sum_W s) by (apply Rmult_le_compat_l; lra). rewrite Rinv_r in Q by lra. apply abs_below. nra.
Qed.
Lemma grown_at_least_1 : known -> 0 <= grown_undivided n a - 1.
Proof.
  intros K. destruct (un_losses _ _ _ _ _ _ _ _ _ _ _ _ _ _ K) as (_ & _ & US & _ & _ & GO & _). pose proof (some_u m (un_sane _ _ _ _ _ _ _ _ _ _ _ _ _ _ K)) as Hu.
  pose proof (pow_at_least_1 (a + n) (u m) Hu). pose proof (pow_at_least_1 (k_F g) (u m) Hu). assert (F1 : 1 <= growth_F m g) by (unfold growth_F; nra).
  pose proof (pow_R1_Rle (growth_F m g) n F1). unfold grown_undivided. assert (1 * 1 <= (1 + u m) ^ (a + n) * growth_F m g ^ n) by (apply Rmult_le_compat; lra). nra.
Qed.

Theorem theorem_O_undivided : known -> tree n a s -> (a <= a_most)%nat -> (n <= N)%nat -> keys_near -> is_part s = false -> Gamma_L < 1 ->
  Rabs (O_hat s - average v) <= B.
Proof.
  intros K Hs Ha Hn R Ip G1. pose proof (undivided_weights_known K Hs Ha R) as Wk. destruct (undivided_sum_near K Hs Ha Ip) as (O1 & S1 & S2).
  pose proof (undivided_O n a s K Hs Ha Hn) as DO. pose proof (sum_positive _ _ _ _ _ _ _ _ Wk) as Sp. fold (sum_W s) in Sp.
  pose proof (sum_beside_1 K Hs Ha Ip) as Dl. pose proof (grown_at_least_1 K) as GO1.
  assert (Zero : Rabs 0 <= 0) by (rewrite Rabs_R0; lra).
  pose proof (bound_of_weights (seen s) weight of_exact T zeta counted D (sum_W s) Wk v 1 (O_hat s) 0 0 Gamma_L Phi 0 0 Dl) as BW.
  unfold Rdiv in BW. rewrite Rinv_1, !Rmult_1_r, !Rplus_0_r, !Rmult_1_r, !Rmult_1_l in BW. unfold B, Rdiv. apply BW; auto.
  fold (sum_Wv s) (sum_W s). eapply Rle_trans; [exact DO|]. unfold Phi. rewrite Rmult_plus_distr_r. apply Rplus_le_compat_r.
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|]. exact (sum_of_sizes _ _ _ _ _ _ _ _ Wk v).
Qed.

(* Clause H: nothing is asked of the scores. *)
Definition H_undivided size_ := ((grown_undivided n a - 1) * size_ + lost_undivided n a + size_ * Gamma_L) / (1 - Gamma_L).
Theorem clause_H_undivided low high size_ : known -> tree n a s -> (a <= a_most)%nat -> (n <= N)%nat -> is_part s = false -> Gamma_L < 1 ->
  (forall e, In e (seen s) -> low <= v e <= high /\ Rabs (v e) <= size_) -> low - H_undivided size_ <= O_hat s <= high + H_undivided size_.
Proof.
  intros K Hs Ha Hn Ip G1 V. destruct (undivided_sum_near K Hs Ha Ip) as (O1 & S1 & S2). pose proof (undivided_O n a s K Hs Ha Hn) as DO.
  destruct (undivided_sums m g r most_off a_most xi R_0 F G_O a_0 lambda K_x S H n a s K Hs Ha) as (_ & Wp & _).
  assert (IO : 0 < / off n) by (apply Rinv_0_lt_compat; lra). assert (Sp : 0 < sum_W s) by lra. pose proof (grown_at_least_1 K) as GO1.
  pose proof (hull_of_sums (seen s) weight v 1 (O_hat s) 0 0 low high size_ Gamma_L ((grown_undivided n a - 1) * size_ + lost_undivided n a) 0 0
    Wp Sp V (sum_beside_1 K Hs Ha Ip)) as B0. rewrite Rabs_R0 in B0. cbv zeta in B0.
  replace (((1 + 0) * ((grown_undivided n a - 1) * size_ + lost_undivided n a) + size_ * (Gamma_L + 0)) / (1 - Gamma_L) + 0) with (H_undivided size_) in B0
    by (unfold H_undivided, Rdiv; ring).
  replace (O_hat s / 1 * (1 + 0) + 0) with (O_hat s) in B0 by field. apply B0; try lra.
  fold (sum_Wv s) (sum_W s). eapply Rle_trans; [exact DO|]. rewrite Rmult_plus_distr_r. apply Rplus_le_compat_r. rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|].
  unfold sum_abs, sum_W. rewrite <- total_times. apply total_below. intros e I. destruct (V e I) as (_ & Vs). specialize (Wp e I).
  rewrite Rmult_comm. now apply Rmult_le_compat_r.
Qed.

(* Corollary L: the top of a merged state is the LSE that it returns. *)
Definition LSE := ln (total (fun e => exp (exact (of e))) (seen s)).
Theorem corollary_L_undivided : known -> tree n a s -> (a <= a_most)%nat -> keys_near -> is_part s = false ->
  Rabs (top s - LSE) <= Lambda_T (seen s) of_exact T zeta D (sum_W s) + ln (off n).
Proof.
  intros K Hs Ha R Ip. pose proof (undivided_weights_known K Hs Ha R) as Wk. destruct (undivided_sum_near K Hs Ha Ip) as (O1 & S1 & S2).
  assert (Z0 : far_part (seen s) zeta (sum_W s) <= / 2).
  { unfold far_part. rewrite (total_same zeta (fun _ => 0 * 0)); [rewrite total_times; unfold Rdiv; rewrite !Rmult_0_l; lra|].
    intros e _. unfold zeta, zeta_of. destruct (Rlt_dec _ _); ring. }
  pose proof (corollary_L_weights (seen s) weight of_exact T zeta counted D (sum_W s) Wk Z0) as C. fold (sum_W s) in C.
  assert (Z : LSE = top s + ln (total of_exact (seen s))).
  { unfold LSE. rewrite (total_same (fun e => exp (exact (of e))) (fun e => exp (top s) * of_exact e)).
    - rewrite total_times, ln_mult, ln_exp; [easy|apply exp_pos|exact (exact_sum_positive _ _ _ _ _ _ _ _ Wk)].
    - intros e _. unfold of_exact. rewrite <- exp_plus. f_equal. ring. }
  assert (Ls : Rabs (ln (sum_W s)) <= ln (off n)).
  { assert (IO : 0 < / off n) by (apply Rinv_0_lt_compat; lra). assert (0 < sum_W s) by lra. apply log_grows in S1; [|easy]. apply log_grows in S2; [|easy].
    rewrite ln_Rinv in S1 by lra. apply abs_below. lra. }
  rewrite Z. replace (top s - (top s + ln (total of_exact (seen s)))) with ((ln (sum_W s) - ln (total of_exact (seen s))) + - ln (sum_W s)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
Qed.
End Theorem_undivided.
