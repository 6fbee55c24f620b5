(* Lemma 3 (weights) for every key of every run: (2) of the text with zeta_j, and keys that exp cuts. *)
From Attest Require Export lemma_3.

(* The smallest normal number and e^-far are small, and a rounded argument keeps its sign up to what it loses. *)
Record tinies m := Tinies { some_tiny : 0 <= tiny m <= / 4; far_is_far : exp (- far m) <= / 4; few_k_x : gamma_x m <= 1 }.

(* omega_W before its rounding up: one tiny number, the first argument's e^{tau + kappa}, and n later factors. *)
Definition largest_first m Y := exp (tau m * (1 + gamma_x m) + kappa m Y + lost m) * (1 + eps m) * (1 + u_shared m).
Definition grows m Y n := largest_first m Y * (exp (lost m) * (1 + eps m)) ^ n.
Definition left_over m Y n := tiny m * grows m Y n.

(* A second tiny factor makes less than the first one had room for. *)
Lemma two_far G tn q eps n a f z : 0 < G -> 0 <= tn <= / 4 -> 0 <= eps < 1 -> 0 < q -> q <= / 4 -> 0 < f -> f <= q * (1 + eps) ->
  Rabs z <= tn -> Rabs n <= tn * G -> 0 < a -> a <= q * G -> Rabs (n * (f + z) + a * z) <= tn * G.
Proof.
  intros HG Ht He Q0 Q4 F0 F1 Hz Hn A0 A1. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq a) by lra.
  assert (q * (1 + eps) <= / 4 * 2) by (apply Rmult_le_compat; lra).
  assert (q * G <= / 4 * G) by (apply Rmult_le_compat_r; lra).
  assert (F : Rabs (f + z) <= 3 / 4) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite (Rabs_pos_eq f) by lra; lra).
  assert (Rabs n * Rabs (f + z) <= tn * G * (3 / 4)) by (apply Rmult_le_compat; auto using Rabs_pos).
  assert (a * Rabs z <= / 4 * G * tn) by (apply Rmult_le_compat; auto using Rabs_pos; lra). lra.
Qed.

Section Lemma.
Context (m : model) (s : sane m) (t : tinies m).

Definition one_tiny w a n Y k := w = a + n /\ 0 < a /\
  (n = 0 /\ a <= grows m Y k \/ Rabs n <= left_over m Y k /\ a <= exp (- far m) * grows m Y k).

Definition signed log_a at_ Y k :=
  let rest := 2 * gamma_x m * tau m + kappa m Y + INR k * (log_loss (eps m) + lost m) + log_loss (u_shared m) in
  (1 + gamma_x m) * at_ - rest <= log_a <= (1 - gamma_x m) * at_ + rest.

Lemma grows_pos Y k : 0 < grows m Y k.
Proof.
  pose proof (some_eps m s). pose proof (some_shared m s). unfold grows, largest_first. apply Rmult_lt_0_compat.
  - repeat apply Rmult_lt_0_compat; try apply exp_pos; lra.
  - apply pow_lt. apply Rmult_lt_0_compat; [apply exp_pos|lra].
Qed.

(* A rounded argument a + c <= top, with its sign kept. *)
Lemma signed_argument a c x top : argument m (a + c) x -> a <= top -> 0 <= top ->
  (1 + gamma_x m) * a - (2 * gamma_x m * top + (1 + gamma_x m) * Rabs c + lost m) <= x <=
  (1 - gamma_x m) * a + (2 * gamma_x m * top + (1 + gamma_x m) * Rabs c + lost m).
Proof.
  intros (d & n & Hd & Hn & ->) Ha Ht. pose proof (gamma_x_pos m s) as G. fold (gamma_x m) in Hd.
  assert (C : Rabs (c * (1 + d)) <= (1 + gamma_x m) * Rabs c).
  { rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra. }
  apply between in Hd, Hn, C.
  assert (B : Rabs (a * d) <= gamma_x m * Rabs a).
  { rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|apply abs_below; lra]. }
  apply between in B.
  assert (Q : (1 + gamma_x m) * a - 2 * gamma_x m * top <= a * (1 + d) <= (1 - gamma_x m) * a + 2 * gamma_x m * top).
  { assert (0 <= gamma_x m * top) by now apply Rmult_le_pos. destruct (Rle_dec a 0).
    - rewrite (Rabs_left1 a) in B by easy. lra.
    - rewrite (Rabs_pos_eq a) in B by lra. assert (gamma_x m * a <= gamma_x m * top) by now apply Rmult_le_compat_l. lra. }
  lra.
Qed.

(* A factor, as far as it is not cut: e^x(1 + e) beside the exact argument, and what it loses. *)
Lemma any_factor a c x r : argument m (a + c) x -> exps m x r ->
  let loses := gamma_x m * Rabs a + (1 + gamma_x m) * Rabs c + lost m in
  r = 0 /\ x0 m < Rabs a + loses \/
  exists e z, r = exp x * (1 + e) + z /\ Rabs e <= eps m /\ Rabs z <= tiny m /\ (- far m <= x -> z = 0) /\
              Rabs (x - a) <= loses.
Proof.
  intros (d & n & Hd & Hn & Ex) (_ & X) loses. pose proof (gamma_x_pos m s) as G. fold (gamma_x m) in Hd.
  assert (Dx : Rabs (x - a) <= loses).
  { unfold loses. rewrite Ex. replace ((a + c) * (1 + d) + n - a) with (a * d + c * (1 + d) + n) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. rewrite !Rabs_mult.
    assert (Rabs (1 + d) <= 1 + gamma_x m) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    assert (Rabs a * Rabs d <= Rabs a * gamma_x m) by (apply Rmult_le_compat_l; auto using Rabs_pos).
    assert (Rabs c * Rabs (1 + d) <= Rabs c * (1 + gamma_x m)) by (apply Rmult_le_compat_l; auto using Rabs_pos). lra. }
  destruct X as [(L & ->)|(e & z & He & Hz & Z & ->)]; [left|right; now exists e, z].
  split; [easy|]. apply between in Dx. pose proof (between a _ (Rle_refl _)). lra.
Qed.

(* Of the references only M_0, which p was formed beside, meets roundings that p and r do not share. *)
Definition begun k (l : list R) := score k - last l 0.
Lemma made_begun k M w l : made m k M w l -> score k - tau m <= begun k l <= M.
Proof.
  unfold begun. induction 1 as [|M M' w l x r Hm IH L _ _]; [simpl; lra|].
  replace (last (M - M' :: l) 0) with (last l 0) by (now destruct Hm). lra.
Qed.

Lemma every_weight k M w l Y : made m k M w l -> M <= Y -> - Y <= begun k l ->
  let reaches := reach m (M - score k + 2 * tau m) Y in
  w = 0 /\ x0 m < reaches \/
  exists a n, one_tiny w a n Y (length l - 1) /\ (reaches <= far m -> n = 0) /\
    signed (ln a) (score k - M) Y (length l).
Proof.
  intros H. pose proof (gamma_x_pos m s) as G. pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)) as Gc.
  pose proof (lost_pos m s) as L0. pose proof (some_tau m s) as T0. pose proof (some_tiny m t) as Ty. pose proof (few_k_x m t) as G1.
  pose proof (some_eps m s) as E0. pose proof (some_shared m s) as S0. pose proof (far_is_far m t) as Ff.
  induction H as [M c x p d Hc A X Hd C|M M' w l x r Hm IH L A X]; intros HM HY; simpl; unfold reach in *.
  - unfold begun in HY. simpl in HY. assert (Sz : Rabs (score k - M) <= M - score k + 2 * tau m) by (unfold Rabs; destruct (Rcase_abs _); lra).
    assert (K : (1 + gamma_x m) * Rabs c <= kappa m Y).
    { unfold kappa. rewrite (Rmult_comm (gamma (c_m m) (u m))), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
      eapply Rle_trans; [exact Hc|]. apply Rmult_le_compat_l; [easy|]. apply abs_below. lra. }
    assert (Sg : gamma_x m * Rabs (score k - M) <= gamma_x m * (M - score k + 2 * tau m)) by now apply Rmult_le_compat_l.
    destruct (any_factor (score k - M) c x p A X) as [(-> & B)|(e & z & -> & He & Hz & Z & D)].
    + left. split; [ring|lra].
    + right. destruct (log_near d (u_shared m) S0 Hd) as (Pd & Dd). destruct (log_near e (eps m) E0 He) as (Pe & De).
      apply between in Hd as Hd', He as He', D as D'.
      exists (exp x * (1 + e) * (1 + d)), (z * (1 + d)).
      assert (Pa : 0 < exp x * (1 + e) * (1 + d)) by (repeat apply Rmult_lt_0_compat; auto using exp_pos).
      assert (Xt : x <= tau m * (1 + gamma_x m) + kappa m Y + lost m).
      { destruct A as (d' & n & Hd1 & Hn & ->). fold (gamma_x m) in Hd1. apply between in Hd1, Hn as Hn'.
        assert (c * (1 + d') <= kappa m Y).
        { eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult, Rmult_comm. eapply Rle_trans; [|exact K].
          apply Rmult_le_compat_r; [apply Rabs_pos|]. apply abs_below. lra. }
        assert ((score k - M) * (1 + d') <= tau m * (1 + gamma_x m)); [|lra].
        apply Rle_trans with (tau m * (1 + d')); [apply Rmult_le_compat_r; lra|apply Rmult_le_compat_l; lra]. }
      split; [split; [ring|split; [easy|]]|split].
      * unfold grows, left_over, grows, largest_first. simpl pow. rewrite Rmult_1_r.
        set (f := tau m * (1 + gamma_x m) + kappa m Y + lost m) in *.
        assert (F0 : 0 <= f).
        { unfold f. assert (0 <= kappa m Y); [|nra]. eapply Rle_trans; [|exact K]. apply Rmult_le_pos; auto using Rabs_pos; lra. }
        assert (F1 : 1 <= exp f) by (rewrite <- exp_0; now apply exp_grows).
        assert (Bd : forall q, exp x <= q -> exp x * (1 + e) * (1 + d) <= q * (1 + eps m) * (1 + u_shared m)).
        { intros q Hq. pose proof (exp_pos x). apply Rmult_le_compat; [|lra| |lra].
          - apply Rmult_le_pos; lra.
          - apply Rmult_le_compat; lra. }
        destruct (Rle_dec (- far m) x) as [Fx|Fx].
        { left. rewrite (Z Fx). split; [ring|]. now apply Bd, exp_grows. }
        right. split.
        { rewrite Rabs_mult, (Rabs_pos_eq (1 + d)) by lra. apply Rmult_le_compat; auto using Rabs_pos; [lra|].
          assert (1 * (1 + d) <= exp f * (1 + eps m) * (1 + u_shared m)); [|lra]. apply Rmult_le_compat; [lra|lra|nra|lra]. }
        apply Rle_trans with (exp (- far m) * (1 + eps m) * (1 + u_shared m)); [apply Bd, exp_grows; lra|].
        rewrite !Rmult_assoc. apply Rmult_le_compat_l; [left; apply exp_pos|].
        rewrite <- (Rmult_1_l ((1 + eps m) * (1 + u_shared m))) at 1. apply Rmult_le_compat_r; [nra|easy].
      * intros Hf. rewrite Z; [ring|]. pose proof (between (score k - M) _ (Rle_refl _)). lra.
      * rewrite !ln_mult, ln_exp by (auto using exp_pos; now apply Rmult_lt_0_compat, Pe; apply exp_pos).
        destruct (signed_argument _ _ _ (tau m) A) as (Lo & Hi); [lra|easy|]. apply between in De, Dd.
        unfold signed. simpl INR. lra.
  - pose proof (made_covers _ _ _ _ _ Hm) as Cv. pose proof (made_begun _ _ _ _ Hm) as Bg.
    replace (begun k (M - M' :: l)) with (begun k l) in HY by (unfold begun; now destruct Hm).
    assert (K0 : 0 <= kappa m Y).
    { unfold kappa. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    assert (Ln : exists q, length l = S q) by (destruct Hm; simpl; eauto). destruct Ln as (q & Ln). rewrite Ln in *.
    replace (S q - 1)%nat with q in IH by lia. replace (S q - 0)%nat with (S q) by lia.
    assert (Up : (1 + gamma_x m) * (M - score k + 2 * tau m) <= (1 + gamma_x m) * (M' - score k + 2 * tau m)).
    { apply Rmult_le_compat_l; lra. }
    destruct IH as [(-> & F)|(a & n & (-> & Pa & B) & Nn & D)]; [lra|easy|left; split; [ring|lra]|].
    assert (A0 : argument m (M - M' + 0) x) by (now rewrite Rplus_0_r).
    assert (Sz : Rabs (M - M') = M' - M) by (rewrite Rabs_left1; lra).
    assert (Sx : (1 + gamma_x m) * (M' - M) <= (1 + gamma_x m) * (M' - score k + 2 * tau m)) by (apply Rmult_le_compat_l; lra).
    destruct (any_factor (M - M') 0 x r A0 X) as [(-> & F)|(e & z & -> & He & Hz & Z & Dx)]; rewrite Sz, Rabs_R0 in *.
    { left. split; [ring|lra]. }
    right. destruct (log_near e (eps m) E0 He) as (Pe & De). apply between in He as He', Dx as Dx', Hz as Hz'.
    assert (Xt : x <= lost m).
    { destruct A as (d' & n' & Hd1 & Hn & ->). fold (gamma_x m) in Hd1. apply between in Hd1, Hn. nra. }
    assert (E1 : exp x <= exp (lost m)) by now apply exp_grows. pose proof (exp_pos x) as Px.
    set (f := exp x * (1 + e)). assert (Pf : 0 < f) by (apply Rmult_lt_0_compat; lra).
    assert (Ft : f <= exp (lost m) * (1 + eps m)) by (apply Rmult_le_compat; lra).
    assert (L1 : 1 <= exp (lost m)) by (rewrite <- exp_0; now apply exp_grows).
    pose proof (grows_pos Y q) as Gq. pose proof (exp_pos (- far m)) as Pfar.
    assert (Gs : grows m Y (S q) = grows m Y q * (exp (lost m) * (1 + eps m))) by (unfold grows; simpl pow; ring).
    assert (G_up : grows m Y q <= grows m Y (S q)).
    { rewrite Gs. rewrite <- (Rmult_1_r (grows m Y q)) at 1. apply Rmult_le_compat_l; nra. }
    exists (a * f), (n * (f + z) + a * z).
    split; [split; [ring|split; [now apply Rmult_lt_0_compat|]]|split].
    + destruct (Rle_dec (- far m) x) as [Fx|Fx].
      * rewrite (Z Fx) in *. destruct B as [(-> & B)|(Bn & B)]; [left|right].
        { split; [ring|]. rewrite Gs. apply Rmult_le_compat; lra. }
        split.
        { replace (n * (f + 0) + a * 0) with (n * f) by ring. rewrite Rabs_mult, (Rabs_pos_eq f) by lra.
          unfold left_over in *. rewrite Gs, <- Rmult_assoc. apply Rmult_le_compat; auto using Rabs_pos; lra. }
        rewrite Gs, <- Rmult_assoc. apply Rmult_le_compat; lra.
      * right. assert (Fe : exp x <= exp (- far m)) by (apply exp_grows; lra).
        assert (f4 : f <= exp (- far m) * (1 + eps m)) by (apply Rmult_le_compat; lra).
        destruct B as [(-> & B)|(Bn & B)].
        { split.
          - rewrite Rmult_0_l, Rplus_0_l, Rabs_mult, (Rabs_pos_eq a), Rmult_comm by lra. unfold left_over.
            apply Rmult_le_compat; auto using Rabs_pos; lra.
          - rewrite Gs. replace (exp (- far m) * (grows m Y q * (exp (lost m) * (1 + eps m))))
              with (grows m Y q * (exp (lost m) * (exp (- far m) * (1 + eps m)))) by ring.
            assert (0 < exp (- far m) * (1 + eps m)) by (apply Rmult_lt_0_compat; lra).
            apply Rmult_le_compat; [lra|lra|exact B|]. apply Rle_trans with (1 * (exp (- far m) * (1 + eps m))); [lra|].
            apply Rmult_le_compat_r; lra. }
        split.
        { apply Rle_trans with (left_over m Y q); [|unfold left_over; apply Rmult_le_compat_l; lra].
          now apply two_far with (exp (- far m)) (eps m). }
        rewrite Gs, <- Rmult_assoc. apply Rmult_le_compat; lra.
    + intros Hf. rewrite Nn, Z by lra. ring.
    + rewrite ln_mult by easy. unfold f at 1. rewrite ln_mult, ln_exp by easy.
      destruct (signed_argument _ _ _ 0 A0) as (Lo & Hi); [lra|lra|]. rewrite Rabs_R0 in *. apply between in De.
      unfold signed in *. change (INR (S (S q))) with (INR (S q) + 1). lra.
Qed.
End Lemma.

(* W_j is 0, where exp may cut, or a + n, where a has every rounding with its sign, and n is what a far key loses. *)
Theorem signed_weight m h p e M Y : sane m -> tinies m -> run m h p -> In e (entries p) -> reference p = Some M ->
  M <= Y -> - Y <= begun (of e) (path e) ->
  let reaches := reach m (M - score (of e) + 2 * tau m) Y in
  weight e = 0 /\ x0 m < reaches \/
  exists a n, weight e = a + n /\ 0 < a /\ signed m (ln a) (score (of e) - M) Y (S (rescales e)) /\
              Rabs n <= left_over m Y (rescales e) /\ (reaches <= far m -> n = 0).
Proof.
  intros Sn t H I EM HM HY reaches. destruct (entries_made m h p e H I) as (M' & EM' & Md).
  assert (M' = M) by congruence. subst M'.
  destruct (every_weight m Sn t (of e) M (weight e) (path e) Y Md HM HY) as [F|(a & n & (Wa & Pa & B) & Nn & D)]; [now left|right].
  pose proof (path_lengths _ _ _ _ H I) as Ln. exists a, n. split; [easy|]. split; [easy|]. split; [|split; [|exact Nn]].
  - unfold rescales. now replace (S (length (path e) - 1)) with (length (path e)) by lia.
  - destruct B as [(-> & _)|(B & _)]; [|exact B]. rewrite Rabs_R0. unfold left_over. apply Rmult_le_pos; [apply t|].
    left. now apply grows_pos.
Qed.

(* (2): w = C e^{x}(1 + delta) + zeta with |ln(1 + delta)| <= z, and zeta = 0 where nothing is far. *)
Definition near_or_far w at_ z zeta (is_far : Prop) := exists a n, w = a + n /\
  0 < a /\ Rabs (ln a - at_) <= z /\ Rabs n <= zeta /\ (~ is_far -> n = 0).

Theorem lemma_3_begun m h p e M x E X Y : sane m -> tinies m -> run m h p -> In e (entries p) -> reference p = Some M ->
  Rabs (score (of e) - x) <= E -> M - x + E + 2 * tau m <= X -> M <= Y -> - Y <= begun (of e) (path e) ->
  weight e = 0 /\ x0 m < reach m X Y \/
  near_or_far (weight e) (x - M) (z_of m E X Y (rescales e)) (left_over m Y (rescales e)) (far m < reach m X Y).
Proof.
  intros Sn t H I EM HE HX HM HY. pose proof (gamma_x_pos m Sn) as G. apply between in HE as HE'.
  assert (Re : reach m (M - score (of e) + 2 * tau m) Y <= reach m X Y).
  { unfold reach. apply Rplus_le_compat_r, Rplus_le_compat_r, Rmult_le_compat_l; lra. }
  destruct (signed_weight m h p e M Y Sn t H I EM HM HY) as [(W0 & F)|(a & n & Wa & Pa & D & B & Nn)].
  { left. split; [easy|lra]. }
  right. exists a, n. split; [easy|]. split; [easy|]. split; [|split; [easy|intros; apply Nn; lra]].
  destruct (entries_made m h p e H I) as (M' & EM' & Md). assert (M' = M) by congruence. subst M'.
  pose proof (made_covers _ _ _ _ _ Md) as Cv. unfold signed in D. rewrite S_INR in D. unfold z_of.
  assert (gamma_x m * (M - score (of e) + 2 * tau m) <= gamma_x m * X) by (apply Rmult_le_compat_l; lra).
  assert (0 <= gamma_x m * (score (of e) - M + tau m + (tau m - (score (of e) - M)))) by (apply Rmult_le_pos; [easy|pose proof (some_tau m Sn); lra]).
  assert (gamma_x m * (score (of e) - M) <= gamma_x m * tau m) by (apply Rmult_le_compat_l; lra).
  apply abs_below. lra.
Qed.

(* Where Y is that of the key's own score. *)
Lemma begun_above m h p e : run m h p -> In e (entries p) -> score (of e) - tau m <= begun (of e) (path e).
Proof. intros H I. destruct (entries_made m h p e H I) as (M & _ & Md). apply (made_begun m _ _ _ _ Md). Qed.
Theorem lemma_3_far m h p e M x E X Y : sane m -> tinies m -> run m h p -> In e (entries p) -> reference p = Some M ->
  Rabs (score (of e) - x) <= E -> M - x + E + 2 * tau m <= X -> Rabs x + E + tau m <= Y -> M <= Y ->
  weight e = 0 /\ x0 m < reach m X Y \/
  near_or_far (weight e) (x - M) (z_of m E X Y (rescales e)) (left_over m Y (rescales e)) (far m < reach m X Y).
Proof.
  intros Sn t H I EM HE HX HY HM. apply lemma_3_begun with (h := h) (p := p); auto. pose proof (begun_above m h p e H I).
  apply between in HE. pose proof (between x _ (Rle_refl _)). lra.
Qed.

(* omega_W = 2 tiny e^{tau + theta} of the working formats holds it, with what H4 leaves of the small losses. *)
Theorem left_over_below_omega_W m Y n theta : sane m -> 0 <= tiny m -> kappa m Y <= theta ->
  tau m * gamma_x m + (INR n + 1) * (lost m + eps m) + u_shared m <= / 2 ->
  left_over m Y n <= 2 * tiny m * exp (tau m + theta).
Proof.
  intros s Ht Hk H4. unfold left_over, grows, largest_first.
  assert (Up : forall x, 1 + x <= exp x) by (intros; apply exp_ineq1_le).
  pose proof (some_eps m s). pose proof (some_shared m s). pose proof (lost_pos m s).
  assert (P : (exp (lost m) * (1 + eps m)) ^ n <= exp (INR n * (lost m + eps m))).
  { clear H4. induction n as [|n IH]; [simpl; rewrite Rmult_0_l, exp_0; lra|]. rewrite S_INR. simpl pow.
    replace ((INR n + 1) * (lost m + eps m)) with ((lost m + eps m) + INR n * (lost m + eps m)) by ring. rewrite exp_plus, (exp_plus (lost m)).
    specialize (Up (eps m)). pose proof (exp_pos (lost m)). apply Rmult_le_compat; [nra| | |exact IH].
    - apply pow_le. nra.
    - apply Rmult_le_compat_l; lra. }
  assert (H2 : exp (/ 2) <= 2).
  { specialize (Up (- / 2)). rewrite exp_Ropp in Up. pose proof (exp_pos (/ 2)).
    apply Rmult_le_reg_r with (/ exp (/ 2)); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. lra. }
  set (a := exp (tau m * (1 + gamma_x m) + kappa m Y + lost m)).
  apply Rle_trans with (tiny m * (a * exp (eps m) * exp (u_shared m) * exp (INR n * (lost m + eps m)))).
  - apply Rmult_le_compat_l; [easy|]. assert (0 < a) by apply exp_pos. apply Rmult_le_compat; [| |  |exact P].
    + apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
    + apply pow_le. pose proof (exp_pos (lost m)). nra.
    + pose proof (Up (eps m)). pose proof (Up (u_shared m)).
      apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra| |lra]. apply Rmult_le_compat_l; lra.
  - replace (2 * tiny m * exp (tau m + theta)) with (tiny m * (2 * exp (tau m + theta))) by ring.
    apply Rmult_le_compat_l; [easy|]. unfold a. rewrite <- !exp_plus.
    apply Rle_trans with (exp (/ 2 + (tau m + theta))); [apply exp_grows; lra|].
    rewrite exp_plus. apply Rmult_le_compat_r; [left; apply exp_pos|easy].
Qed.

Lemma weight_not_negative m h p e : sane m -> run m h p -> In e (entries p) -> 0 <= weight e.
Proof.
  intros s H I. destruct (entries_made m h p e H I) as (M & _ & Md). clear H I. pose proof (some_shared m s).
  induction Md as [M c x q d _ _ (P & _) D _|M M' w l x r _ IH _ _ (P & _)]; [|now apply Rmult_le_pos].
  apply between in D. apply Rmult_le_pos; lra.
Qed.
