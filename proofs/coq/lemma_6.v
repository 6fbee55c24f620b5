(* Lemma 6 (rounded sums), path by path: what a computed tree is, leaf by leaf, up to what its operations lose. *)
From Attest Require Export machine.

(* A leaf of a tree: its weight behind all rescales, its value, and the products on its path. *)
Record leaf := Leaf { meets : R; times : R; products : nat }.
Definition rescaled r f := Leaf (meets f * r) (times f) (S (products f)).
Fixpoint leaves s := match s with
  | Zero => []
  | Term w => [Leaf w 1 0]
  | Product w v => [Leaf w v 1]
  | Scale r s => map (rescaled r) (leaves s)
  | Add a b => leaves a ++ leaves b
  end.
Definition size f := meets f * times f.

(* The additions, and the products, on the longest path; all operations. *)
Fixpoint height s := match s with Add a b => S (max (height a) (height b)) | Scale _ s => height s | _ => O end.
Fixpoint depth s := match s with Add a b => max (depth a) (depth b) | Scale _ s => S (depth s) | Product _ _ => 1%nat | _ => O end.
Fixpoint operations s := match s with
  | Add a b => S (operations a + operations b) | Scale _ s => S (operations s) | Product _ _ => 1%nat | _ => O end.
(* Every rescale factor is at most rho: e^0 up to exp's error. *)
Fixpoint rescales_below rho s := match s with
  | Add a b => rescales_below rho a /\ rescales_below rho b
  | Scale r s => 0 <= r <= rho /\ rescales_below rho s
  | _ => True
  end.

Lemma leaves_depth s f : In f (leaves s) -> (products f <= depth s)%nat.
Proof.
  revert f. induction s as [|w|w v|r s IH|a IHa b IHb]; simpl; intros f I.
  - easy.
  - destruct I as [<-|[]]; simpl; lia.
  - destruct I as [<-|[]]; simpl; lia.
  - apply in_map_iff in I as (g & <- & I). specialize (IH _ I). simpl. lia.
  - apply in_app_iff in I as [I|I]; [specialize (IHa _ I)|specialize (IHb _ I)]; lia.
Qed.

(* y is the sum of the leaves, each times a factor within what its roundings do, up to alpha. *)
Definition made_of u h (l : list leaf) y alpha := exists g : list (leaf * R),
  map fst g = l /\ (forall p, In p g -> Rabs (snd p - 1) <= (1 + u) ^ (h + products (fst p)) - 1) /\
  Rabs (y - total (fun p => size (fst p) * snd p) g) <= alpha.

Lemma made_of_higher u h k l y a : 0 <= u -> (h <= k)%nat -> made_of u h l y a -> made_of u k l y a.
Proof.
  intros Hu L (g & E & B & Y). exists g. repeat split; auto. intros p I. eapply Rle_trans; [apply (B p I)|].
  assert ((1 + u) ^ (h + products (fst p)) <= (1 + u) ^ (k + products (fst p))) by (apply Rle_pow; [lra|lia]). lra.
Qed.

Lemma rounded_once u (F : leaf -> leaf) c h h' l y z a d n w : 0 <= u -> 0 <= c ->
  (forall f, size (F f) = c * size f /\ (h' + products (F f) = S (h + products f))%nat) ->
  made_of u h l y a -> Rabs d <= u -> Rabs n <= w -> z = c * y * (1 + d) + n ->
  made_of u h' (map F l) z (c * (1 + u) * a + w).
Proof.
  intros Hu Hc HF (g & E & B & Y) Hd Hn ->. exists (map (fun p => (F (fst p), snd p * (1 + d))) g). repeat split.
  - rewrite map_map. simpl. rewrite <- E, map_map. reflexivity.
  - intros p I. apply in_map_iff in I as (q & <- & I). simpl. destruct (HF (fst q)) as (_ & ->). simpl pow.
    rewrite (Rmult_comm (1 + u)). apply one_more; auto. apply pow_at_least_1; lra.
  - rewrite total_map. simpl.
    rewrite (total_same _ (fun p => c * (1 + d) * (size (fst p) * snd p))).
    2:{ intros p _. destruct (HF (fst p)) as (-> & _). ring. }
    rewrite total_times. set (t := total _ g) in *.
    replace (c * y * (1 + d) + n - c * (1 + d) * t) with (c * (1 + d) * (y - t) + n) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|exact Hn].
    rewrite !Rabs_mult, (Rabs_pos_eq c) by easy.
    assert (Rabs (1 + d) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; auto using Rabs_pos|].
    apply Rmult_le_compat_l; easy.
Qed.

Lemma made_of_both u h l k x y a b : made_of u h l x a -> made_of u h k y b -> made_of u h (l ++ k) (x + y) (a + b).
Proof.
  intros (g & E & B & Y) (g' & E' & B' & Y'). exists (g ++ g'). repeat split.
  - rewrite map_app. congruence.
  - intros p I. apply in_app_iff in I as [I|I]; auto.
  - rewrite total_app.
    replace (x + y - (total (fun p => size (fst p) * snd p) g + total (fun p => size (fst p) * snd p) g'))
      with ((x - total (fun p => size (fst p) * snd p) g) + (y - total (fun p => size (fst p) * snd p) g')) by ring.
    eapply Rle_trans; [apply Rabs_triang|lra].
Qed.

(* What is lost: each operation omega, times what follows. *)
Definition losses m rho s := INR (operations s) * omega m * ((rho * (1 + u m)) ^ depth s * (1 + u m) ^ height s).

Lemma losses_pos m rho s : 0 <= u m -> 0 <= omega m -> 1 <= rho -> 0 <= losses m rho s.
Proof.
  intros. unfold losses. apply Rmult_le_pos; [apply Rmult_le_pos; auto using pos_INR|].
  apply Rmult_le_pos; apply pow_le; [apply Rmult_le_pos|]; lra.
Qed.

(* What a rescale and an addition make of it. *)
Lemma losses_rescaled m rho r s : 0 <= u m -> 0 <= omega m -> 1 <= rho -> 0 <= r <= rho ->
  r * (1 + u m) * losses m rho s + omega m <= losses m rho (Scale r s).
Proof.
  intros Hu Hw Hr R1. pose proof (losses_pos m rho s Hu Hw Hr) as L0. apply Rle_trans with (rho * (1 + u m) * losses m rho s + omega m).
  - apply Rplus_le_compat_r. apply Rmult_le_compat_r; [easy|]. apply Rmult_le_compat_r; lra.
  - unfold losses. simpl operations. simpl depth. simpl height. rewrite S_INR. simpl pow.
    set (q := rho * (1 + u m)) in *. assert (1 <= q) by (unfold q; nra).
    assert (1 <= q * q ^ depth s * (1 + u m) ^ height s).
    { assert (1 <= q ^ depth s) by now apply pow_R1_Rle. pose proof (pow_at_least_1 (height s) (u m) Hu).
      assert (1 <= q * q ^ depth s) by nra. nra. }
    assert (omega m * 1 <= omega m * (q * q ^ depth s * (1 + u m) ^ height s)) by now apply Rmult_le_compat_l. lra.
Qed.
Lemma losses_added m rho a b : 0 <= u m -> 0 <= omega m -> 1 <= rho ->
  (1 + u m) * (losses m rho a + losses m rho b) + omega m <= losses m rho (Add a b).
Proof.
  intros Hu Hw Hr. set (k := Nat.max (height a) (height b)).
  unfold losses. simpl operations. simpl depth. simpl height. fold k. rewrite S_INR, plus_INR. simpl pow.
  set (q := rho * (1 + u m)) in *. assert (Q : 1 <= q) by (unfold q; nra).
  set (dd := max (depth a) (depth b)).
  assert (Pa : q ^ depth a * (1 + u m) ^ height a <= q ^ dd * (1 + u m) ^ k).
  { apply Rmult_le_compat; [apply pow_le; lra|apply pow_le; lra| |]; (apply Rle_pow; [lra|]); [apply Nat.le_max_l|apply Nat.le_max_l]. }
  assert (Pb : q ^ depth b * (1 + u m) ^ height b <= q ^ dd * (1 + u m) ^ k).
  { apply Rmult_le_compat; [apply pow_le; lra|apply pow_le; lra| |]; (apply Rle_pow; [lra|]); [apply Nat.le_max_r|apply Nat.le_max_r]. }
  assert (P1 : 1 <= q ^ dd * ((1 + u m) * (1 + u m) ^ k)).
  { assert (1 <= q ^ dd) by now apply pow_R1_Rle. pose proof (pow_at_least_1 (S k) (u m) Hu) as K. simpl in K.
    apply Rle_trans with (1 * 1); [lra|]. apply Rmult_le_compat; lra. }
  pose proof (pos_INR (operations a)) as Na. pose proof (pos_INR (operations b)) as Nb.
  assert (La : INR (operations a) * omega m * (q ^ depth a * (1 + u m) ^ height a)
               <= INR (operations a) * omega m * (q ^ dd * (1 + u m) ^ k)) by (apply Rmult_le_compat_l; [nra|easy]).
  assert (Lb : INR (operations b) * omega m * (q ^ depth b * (1 + u m) ^ height b)
               <= INR (operations b) * omega m * (q ^ dd * (1 + u m) ^ k)) by (apply Rmult_le_compat_l; [nra|easy]).
  assert (L1 : omega m * 1 <= omega m * (q ^ dd * ((1 + u m) * (1 + u m) ^ k))) by now apply Rmult_le_compat_l.
  apply Rle_trans with ((1 + u m) * ((INR (operations a) + INR (operations b)) * omega m * (q ^ dd * (1 + u m) ^ k)) + omega m * (q ^ dd * ((1 + u m) * (1 + u m) ^ k))).
  - apply Rplus_le_compat; [apply Rmult_le_compat_l; lra|lra].
  - right. ring.
Qed.

Theorem lemma_6_path_by_path m rho s y : 0 <= u m -> 0 <= omega m -> 1 <= rho -> rescales_below rho s -> computed m s y ->
  made_of (u m) (height s) (leaves s) y (losses m rho s).
Proof.
  intros Hu Hw Hr R C. induction C as [|w|w v y (d & n & Hd & Hn & ->)|r s x y C IH (d & n & Hd & Hn & Ey)
    |a b x y z Ca IHa Cb IHb (d & n & Hd & Hn & Ez)]; simpl in R.
  - exists []. repeat split; simpl; [easy|]. unfold losses. simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - exists [(Leaf w 1 0, 1)]. repeat split; unfold losses; simpl.
    + intros p [<-|[]]. simpl. rewrite Rminus_eq_0, Rabs_R0. lra.
    + unfold size. simpl. replace (w - (w * 1 * 1 + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - exists [(Leaf w v 1, 1 + d)]. repeat split; unfold losses; simpl.
    + intros p [<-|[]]. simpl. replace (1 + d - 1) with d by ring. lra.
    + unfold size. simpl. replace (w * v * (1 + d) + n - (w * v * (1 + d) + 0)) with n by ring.
      assert (omega m * 1 <= omega m * (rho * (1 + u m))) by (apply Rmult_le_compat_l; nra). lra.
  - destruct R as (R1 & R2). specialize (IH R2).
    assert (I : made_of (u m) (height s) (map (rescaled r) (leaves s)) y (r * (1 + u m) * losses m rho s + omega m)).
    { apply (rounded_once (u m) (rescaled r) r (height s) (height s) (leaves s) x y _ d n); auto; [lra|].
      intros f. unfold size, rescaled. simpl. split; [ring|lia]. }
    destruct I as (g & E & B & Y). exists g. repeat split; auto. eapply Rle_trans; [exact Y|]. now apply losses_rescaled.
  - destruct R as (R1 & R2). specialize (IHa R1). specialize (IHb R2). set (k := Nat.max (height a) (height b)).
    assert (I : made_of (u m) (S k) (map (fun f => f) (leaves a ++ leaves b)) z
                  (1 * (1 + u m) * (losses m rho a + losses m rho b) + omega m)).
    { apply (rounded_once (u m) (fun f => f) 1 k (S k) _ (x + y) z _ d n); auto; [lra|intros; split; [ring|simpl; lia]| | |].
      - apply made_of_both; [apply made_of_higher with (h := height a)|apply made_of_higher with (h := height b)]; auto; lia.
      - destruct (flushes m); lra.
      - now rewrite Rmult_1_l. }
    rewrite map_id in I. destruct I as (g & E & B & Y). exists g. repeat split; auto. eapply Rle_trans; [exact Y|].
    rewrite Rmult_1_l. now apply losses_added.
Qed.

(* A computed sum beside the exact one, over its leaves in any order. *)
Theorem beside_leaves m rho s y items : 0 <= u m -> 0 <= omega m -> 1 <= rho -> rescales_below rho s -> computed m s y ->
  Permutation items (leaves s) ->
  Rabs (y - total size items) <= total (fun f => Rabs (size f) * ((1 + u m) ^ (height s + products f) - 1)) items + losses m rho s.
Proof.
  intros Hu Hw Hr R C P. destruct (lemma_6_path_by_path m rho s y Hu Hw Hr R C) as (g & E & B & Y).
  rewrite (total_permuted _ _ _ P), (total_permuted (fun f => Rabs (size f) * _) _ _ P), <- E, !total_map.
  replace (y - total (fun p => size (fst p)) g) with
    (total (fun p => size (fst p) * (snd p - 1)) g + (y - total (fun p => size (fst p) * snd p) g)).
  - eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|exact Y].
    eapply Rle_trans; [apply total_abs|]. apply total_below. intros p I. rewrite Rabs_mult.
    apply Rmult_le_compat_l; [apply Rabs_pos|]. now apply B.
  - rewrite (total_same (fun p => size (fst p) * (snd p - 1)) (fun p => size (fst p) * snd p + -1 * size (fst p))) by (intros; ring).
    rewrite total_plus, total_times. ring.
Qed.
