(* Lemma 6 for the sums of O in a matrix unit: P may be rounded to a narrower format beside an unrounded l (u_p, omega_p), additions
   may be those of a narrower accumulator (u_pv), and partial accumulators may be promoted, which are additions in u. *)
From Attest Require Export lemma_6_entries.

Section Matrix_unit.
Context (m : model) (u_p omega_p u_pv rho : R).
Context (Hu : 0 <= u m) (Hw : 0 <= omega m) (Hp : 0 <= u_p) (Hwp : 0 <= omega_p) (Hv : 0 <= u_pv) (Hr : 1 <= rho).

(* n additions in u_pv, and k in u, on the longest path. With a promotion every N keys these are min(h, N) and h/N. *)
Definition narrow := Model u_pv (omega m) (flushes m) (eps m) (far m) (tiny m) (x0 m) (exact_at_0 m) (tau m) (k_x m) (c_m m) (u_shared m).
Inductive matrix_sum : sum -> nat -> nat -> R -> Prop :=
  | matrix_zero : matrix_sum Zero 0 0 0
  | matrix_product w v d q y : Rabs d <= u_p -> Rabs q <= omega_p -> rounded m ((w * (1 + d) + q) * v) y -> matrix_sum (Product w v) 0 0 y
  | matrix_scale r s n k x y : matrix_sum s n k x -> rounded m (r * x) y -> matrix_sum (Scale r s) n k y
  | matrix_add a b na ka nb kb x y z : matrix_sum a na ka x -> matrix_sum b nb kb y -> added narrow x y z ->
      matrix_sum (machine.Add a b) (S (max na nb)) (max ka kb) z
  | matrix_promoted a b na ka nb kb x y z : matrix_sum a na ka x -> matrix_sum b nb kb y -> added m x y z ->
      matrix_sum (machine.Add a b) (max na nb) (S (max ka kb)) z.

Definition on_path n k := (1 + u_pv) ^ n * (1 + u m) ^ k.
Definition losses_in s n k := (rho * (1 + u m)) ^ depth s * on_path n k *
  (INR (operations s) * omega m + omega_p * total (fun f => Rabs (times f)) (leaves s)).
Definition off G l := total (fun f => Rabs (size f) * ((1 + u_p) * G * (1 + u m) ^ products f - 1)) l.

Lemma on_path_at_least_1 n k : 1 <= on_path n k.
Proof.
  unfold on_path. pose proof (pow_at_least_1 n u_pv Hv). pose proof (pow_at_least_1 k (u m) Hu).
  apply Rle_trans with (1 * 1); [lra|]. apply Rmult_le_compat; lra.
Qed.
Lemma on_path_grows n k n' k' : (n <= n')%nat -> (k <= k')%nat -> on_path n k <= on_path n' k'.
Proof. intros. unfold on_path. apply Rmult_le_compat; try (apply pow_le; lra); apply Rle_pow; (lra || easy). Qed.
Lemma lost_not_negative s : 0 <= INR (operations s) * omega m + omega_p * total (fun f => Rabs (times f)) (leaves s).
Proof.
  pose proof (Rmult_le_pos _ _ (pos_INR (operations s)) Hw). assert (0 <= total (fun f => Rabs (times f)) (leaves s)) by (apply total_pos; intros; apply Rabs_pos).
  pose proof (Rmult_le_pos _ _ Hwp H0). lra.
Qed.
Lemma rescaled_grows s : 1 <= (rho * (1 + u m)) ^ depth s.
Proof. apply pow_R1_Rle. assert (1 * 1 <= rho * (1 + u m)) by (apply Rmult_le_compat; lra). lra. Qed.
Lemma losses_in_pos s n k : 0 <= losses_in s n k.
Proof.
  unfold losses_in. pose proof (rescaled_grows s). pose proof (on_path_at_least_1 n k).
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply lost_not_negative].
Qed.
Lemma off_grows G G' l : 1 <= G -> G <= G' -> off G l <= off G' l.
Proof.
  intros H L. unfold off. apply total_below. intros f _. apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rplus_le_compat_r.
  apply Rmult_le_compat_r; [apply pow_le; lra|]. apply Rmult_le_compat_l; lra.
Qed.

(* One more rounding behind a sum, in a unit v. *)
Lemma one_rounding x v d n e M L w G' l : 0 <= v -> Rabs d <= v -> Rabs n <= w -> Rabs (x - e) <= M + L -> (1 + v) * M + v * mass l <= off G' l -> Rabs e <= mass l ->
  Rabs (x * (1 + d) + n - e) <= off G' l + ((1 + v) * L + w).
Proof.
  intros V Hd Hn Hx HM He. replace (x * (1 + d) + n - e) with ((x - e) * (1 + d) + d * e + n) by ring.
  assert (D : Rabs (1 + d) <= 1 + v) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. rewrite !Rabs_mult.
  assert (Rabs (x - e) * Rabs (1 + d) <= (M + L) * (1 + v)) by (apply Rmult_le_compat; auto using Rabs_pos).
  assert (Rabs d * Rabs e <= v * mass l) by (apply Rmult_le_compat; auto using Rabs_pos). lra.
Qed.
Lemma off_rounded v G l : 0 <= v -> 1 <= G -> (1 + v) * off G l + v * mass l = off ((1 + v) * G) l.
Proof.
  intros. unfold off, mass. rewrite <- !total_times, <- total_plus. apply total_same. intros. ring.
Qed.
Lemma off_app G a b : off G (a ++ b) = off G a + off G b.
Proof. apply total_app. Qed.

Lemma both_operands a b na ka nb kb x y z d e v n k : 0 <= v -> rescales_below rho a -> rescales_below rho b ->
  Rabs (x - exact_sum (leaves a)) <= off (on_path na ka) (leaves a) + losses_in a na ka ->
  Rabs (y - exact_sum (leaves b)) <= off (on_path nb kb) (leaves b) + losses_in b nb kb ->
  Rabs d <= v -> Rabs e <= omega m -> z = (x + y) * (1 + d) + e -> (1 + v) * on_path (max na nb) (max ka kb) = on_path n k ->
  Rabs (z - exact_sum (leaves (machine.Add a b))) <= off (on_path n k) (leaves (machine.Add a b)) + losses_in (machine.Add a b) n k.
Proof.
  intros V Ra Rb Hx Hy Hd He -> On. simpl leaves. set (G := on_path (max na nb) (max ka kb)) in *. pose proof (on_path_at_least_1 (max na nb) (max ka kb)) as G1. fold G in G1.
  assert (Ga : on_path na ka <= G) by (apply on_path_grows; apply Nat.le_max_l). assert (Gb : on_path nb kb <= G) by (apply on_path_grows; apply Nat.le_max_r).
  pose proof (off_grows _ G (leaves a) (on_path_at_least_1 na ka) Ga). pose proof (off_grows _ G (leaves b) (on_path_at_least_1 nb kb) Gb).
  set (q := rho * (1 + u m)). set (D := q ^ max (depth a) (depth b) * G).
  set (lost := fun s => INR (operations s) * omega m + omega_p * total (fun f => Rabs (times f)) (leaves s)).
  assert (Q1 : 1 <= q) by (unfold q; assert (1 * 1 <= rho * (1 + u m)) by (apply Rmult_le_compat; lra); lra).
  assert (Each : forall s n k, (depth s <= max (depth a) (depth b))%nat -> on_path n k <= G -> losses_in s n k <= D * lost s).
  { intros s' n' k' Ld Lg. unfold losses_in, D. fold q (lost s'). apply Rmult_le_compat_r; [apply lost_not_negative|].
    pose proof (on_path_at_least_1 n' k'). apply Rmult_le_compat; [apply pow_le; lra|lra|now apply Rle_pow|easy]. }
  pose proof (Each a na ka (Nat.le_max_l _ _) Ga) as La. pose proof (Each b nb kb (Nat.le_max_r _ _) Gb) as Lb.
  assert (Sm : exact_sum (leaves a ++ leaves b) = exact_sum (leaves a) + exact_sum (leaves b)) by apply total_app.
  eapply Rle_trans; [apply (one_rounding (x + y) v d e _ (off G (leaves a ++ leaves b)) (D * (lost a + lost b)) (omega m) (on_path n k)); auto|].
  - rewrite Sm, off_app. replace (x + y - (exact_sum (leaves a) + exact_sum (leaves b))) with ((x - exact_sum (leaves a)) + (y - exact_sum (leaves b))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
  - rewrite off_rounded, On by easy. lra.
  - apply exact_below_mass.
  - apply Rplus_le_compat_l. unfold losses_in. simpl depth. simpl operations. simpl leaves. fold q. rewrite <- On, total_app, S_INR, plus_INR.
    assert (D1 : 1 <= (1 + v) * D).
    { unfold D. assert (1 <= q ^ max (depth a) (depth b)) by now apply pow_R1_Rle. assert (1 * 1 <= q ^ max (depth a) (depth b) * G) by (apply Rmult_le_compat; lra).
      assert (1 * (q ^ max (depth a) (depth b) * G) <= (1 + v) * (q ^ max (depth a) (depth b) * G)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (1 * omega m <= (1 + v) * D * omega m) by (apply Rmult_le_compat_r; lra).
    replace (q ^ max (depth a) (depth b) * ((1 + v) * G)) with ((1 + v) * D) by (unfold D; ring). unfold lost. lra.
Qed.

Theorem matrix_sum_beside s n k y : rescales_below rho s -> matrix_sum s n k y ->
  Rabs (y - exact_sum (leaves s)) <= off (on_path n k) (leaves s) + losses_in s n k.
Proof.
  intros R C. induction C as [|w v d q y Hd Hq (e & o & He & Ho & ->)|r s n k x y C IH (d & e & Hd & He & ->)
    |a b na ka nb kb x y z Ca IHa Cb IHb (d & e & Hd & He & Ez)|a b na ka nb kb x y z Ca IHa Cb IHb (d & e & Hd & He & Ez)]; simpl in R.
  - unfold exact_sum, off, losses_in. simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - unfold exact_sum, off, losses_in, on_path, size. simpl.
    replace ((w * (1 + d) + q) * v * (1 + e) + o - (w * v + 0)) with (w * v * ((1 + d) * (1 + e) - 1) + (q * v * (1 + e) + o)) by ring.
    assert (E1 : Rabs (1 + e) <= 1 + u m) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    assert (DE : Rabs ((1 + d) * (1 + e) - 1) <= (1 + u_p) * (1 + u m) - 1).
    { replace ((1 + d) * (1 + e) - 1) with (d * (1 + e) + e) by ring. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
      assert (Rabs d * Rabs (1 + e) <= u_p * (1 + u m)) by (apply Rmult_le_compat; auto using Rabs_pos). lra. }
    assert (Q : Rabs (q * v * (1 + e)) <= omega_p * Rabs v * (1 + u m)).
    { rewrite !Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; auto using Rabs_pos|]. apply Rmult_le_compat_r; auto using Rabs_pos. }
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (Rabs (w * v) * Rabs ((1 + d) * (1 + e) - 1) <= Rabs (w * v) * ((1 + u_p) * (1 + u m) - 1)) by (apply Rmult_le_compat_l; auto using Rabs_pos).
    assert (Rabs (q * v * (1 + e) + o) <= omega_p * Rabs v * (1 + u m) + omega m) by (eapply Rle_trans; [apply Rabs_triang|lra]).
    assert (G1 : 1 + u m <= rho * (1 + u m)) by (rewrite <- (Rmult_1_l (1 + u m)) at 1; apply Rmult_le_compat_r; lra).
    assert (omega_p * Rabs v * (1 + u m) <= omega_p * Rabs v * (rho * (1 + u m))) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; auto using Rabs_pos|easy]).
    assert (omega m * 1 <= omega m * (rho * (1 + u m))) by (apply Rmult_le_compat_l; lra). lra.
  - destruct R as (R1 & R2). specialize (IH R2). simpl leaves.
    replace (r * x * (1 + d) + e) with (r * x * (1 + d) + e) by ring.
    assert (X : Rabs (r * x - exact_sum (map (rescaled r) (leaves s))) <= r * off (on_path n k) (leaves s) + r * losses_in s n k).
    { rewrite exact_rescaled. replace (r * x - r * exact_sum (leaves s)) with (r * (x - exact_sum (leaves s))) by ring.
      rewrite Rabs_mult, (Rabs_pos_eq r), <- Rmult_plus_distr_l by easy. now apply Rmult_le_compat_l. }
    eapply Rle_trans; [apply (one_rounding (r * x) (u m) d e _ _ _ (omega m) (on_path n k) (map (rescaled r) (leaves s)) Hu Hd He X)|].
    + rewrite mass_rescaled by easy. right. unfold off, mass. rewrite total_map, <- !total_times, <- total_plus.
      apply total_same. intros f _. rewrite size_rescaled by easy. simpl. ring.
    + apply exact_below_mass.
    + apply Rplus_le_compat_l. pose proof (losses_in_pos s n k) as L0. pose proof (on_path_at_least_1 n k) as O1. pose proof (rescaled_grows s) as D1.
      apply Rle_trans with (rho * (1 + u m) * losses_in s n k + omega m).
      * apply Rplus_le_compat_r. replace ((1 + u m) * (r * losses_in s n k)) with (r * ((1 + u m) * losses_in s n k)) by ring.
        rewrite Rmult_assoc. apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra].
      * unfold losses_in. simpl depth. simpl operations. simpl leaves. rewrite total_map, S_INR. simpl pow.
        change (total (fun a => Rabs (times (rescaled r a))) (leaves s)) with (total (fun f => Rabs (times f)) (leaves s)).
        pose proof (rescaled_grows (Scale r s)) as D2. simpl depth in D2. simpl pow in D2.
        set (q := rho * (1 + u m)) in *. set (B := q * q ^ depth s) in *. assert (B1 : 1 <= B * on_path n k) by (assert (1 * 1 <= B * on_path n k) by (apply Rmult_le_compat; lra); lra).
        assert (1 * omega m <= B * on_path n k * omega m) by (apply Rmult_le_compat_r; lra). unfold B in *. lra.
  - destruct R as (Ra & Rb). apply (both_operands a b na ka nb kb x y z d e u_pv); auto.
    + simpl in He. destruct (flushes m); lra.
    + unfold on_path. simpl. ring.
  - destruct R as (Ra & Rb). apply (both_operands a b na ka nb kb x y z d e (u m)); auto.
    + destruct (flushes m); lra.
    + unfold on_path. simpl. ring.
Qed.
End Matrix_unit.
