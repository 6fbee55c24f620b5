(* docs/bound_backward.md: sums of any tree whose partial sums may be stored in a narrower format, and the dot products of its
   Lemmas 3, 4 and 5. *)
From Attest Require Export numbers.

Record accumulator := Accumulator { u_acc : R; omega_acc : R; u_store : R; omega_store : R }.

Section Trees.
Context {B : Type} (c : accumulator) (leaf : B -> R).

Inductive gsum := Got (b : B) | Plus (s t : gsum) | Stored (s : gsum).
Inductive gathered : gsum -> R -> Prop :=
  | gathered_leaf b : gathered (Got b) (leaf b)
  | gathered_plus s t x y d n : gathered s x -> gathered t y -> Rabs d <= u_acc c -> Rabs n <= omega_acc c ->
      gathered (Plus s t) ((x + y) * (1 + d) + n)
  | gathered_stored s x d n : gathered s x -> Rabs d <= u_store c -> Rabs n <= omega_store c -> gathered (Stored s) (x * (1 + d) + n).

Fixpoint terms s := match s with Got b => [b] | Plus s t => terms s ++ terms t | Stored s => terms s end.
(* Additions and stores on the longest path; all of them. *)
Fixpoint path_adds s := match s with Got _ => O | Plus s t => S (max (path_adds s) (path_adds t)) | Stored s => path_adds s end.
Fixpoint path_stores s := match s with Got _ => O | Plus s t => max (path_stores s) (path_stores t) | Stored s => S (path_stores s) end.
Fixpoint adds s := match s with Got _ => O | Plus s t => S (adds s + adds t) | Stored s => adds s end.
Fixpoint stores s := match s with Got _ => O | Plus s t => (stores s + stores t)%nat | Stored s => S (stores s) end.

Lemma adds_are_terms s : (S (adds s) = length (terms s) /\ path_adds s <= adds s)%nat.
Proof. induction s; simpl; rewrite ?app_length; lia. Qed.

Definition growth s := (1 + u_acc c) ^ path_adds s * (1 + u_store c) ^ path_stores s.
Definition tree_loses s := INR (adds s) * omega_acc c + INR (stores s) * omega_store c.
Record sane_accumulator := { acc_u : 0 <= u_acc c; acc_w : 0 <= omega_acc c; store_u : 0 <= u_store c; store_w : 0 <= omega_store c }.

Lemma growth_below s (n k : nat) : sane_accumulator -> (path_adds s <= n)%nat -> (path_stores s <= k)%nat ->
  1 <= growth s <= (1 + u_acc c) ^ n * (1 + u_store c) ^ k.
Proof.
  intros K Hn Hk. pose proof (pow_at_least_1 (path_adds s) _ (acc_u K)). pose proof (pow_at_least_1 (path_stores s) _ (store_u K)).
  unfold growth. split; [apply Rle_trans with (1 * 1); [lra|apply Rmult_le_compat; lra]|].
  apply Rmult_le_compat; try lra; (apply Rle_pow; [destruct K; lra|easy]).
Qed.

(* Every leaf meets a factor of its own, and what is lost grows with the tree. *)
Theorem tree_of_leaves s z : sane_accumulator -> gathered s z -> exists g : list (B * R),
  map fst g = terms s /\ (forall p, In p g -> Rabs (snd p - 1) <= growth s - 1) /\
  Rabs (z - total (fun p => leaf (fst p) * snd p) g) <= growth s * tree_loses s.
Proof.
  intros K. assert (L0 : forall s, 0 <= tree_loses s).
  { intros t. unfold tree_loses. destruct K. pose proof (pos_INR (adds t)). pose proof (pos_INR (stores t)).
    assert (0 <= INR (adds t) * omega_acc c) by (now apply Rmult_le_pos). assert (0 <= INR (stores t) * omega_store c) by (now apply Rmult_le_pos). lra. }
  assert (Once : forall (g : list (B * R)) G G' u d n w x, 1 <= G -> G * (1 + u) <= G' -> 0 <= u -> Rabs d <= u -> Rabs n <= w -> 0 <= w ->
    forall L, 0 <= L -> (forall p, In p g -> Rabs (snd p - 1) <= G - 1) -> Rabs (x - total (fun p => leaf (fst p) * snd p) g) <= G * L ->
    let g' := map (fun p => (fst p, snd p * (1 + d))) g in map fst g' = map fst g /\ (forall p, In p g' -> Rabs (snd p - 1) <= G' - 1) /\
    Rabs (x * (1 + d) + n - total (fun p => leaf (fst p) * snd p) g') <= G' * (L + w)).
  { intros g G G' u d n w x G1 Le Hu Hd Hn Hw L HL F D g'. split; [unfold g'; now rewrite map_map|]. split.
    - intros p I. apply in_map_iff in I as (q & <- & I). simpl. eapply Rle_trans; [apply (one_more u G _ d Hu G1 (F q I) Hd)|]. lra.
    - unfold g'. rewrite total_map. simpl. rewrite (total_same _ (fun p => (1 + d) * (leaf (fst p) * snd p))) by (intros; ring). rewrite total_times.
      set (t := total _ g) in *. replace (x * (1 + d) + n - (1 + d) * t) with ((x - t) * (1 + d) + n) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
      assert (Rabs (1 + d) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
      assert (Rabs (x - t) * Rabs (1 + d) <= G * L * (1 + u)) by (apply Rmult_le_compat; auto using Rabs_pos).
      assert (G * (1 + u) * L <= G' * L) by (now apply Rmult_le_compat_r). assert (1 * w <= G' * w) by (apply Rmult_le_compat_r; nra). lra. }
  induction 1 as [b|s t x y d n Hs IHs Ht IHt Hd Hn|s x d n Hs IHs Hd Hn].
  - exists [(b, 1)]. split; [easy|]. split; [intros p [<-|[]]; simpl; rewrite Rminus_eq_0, Rabs_R0; unfold growth; simpl; lra|].
    simpl. replace (leaf b - (leaf b * 1 + 0)) with 0 by ring. rewrite Rabs_R0. unfold tree_loses, growth. simpl. lra.
  - destruct IHs as (g & Eg & Fg & Dg), IHt as (k & Ek & Fk & Dk). set (h := max (path_adds s) (path_adds t)). set (q := max (path_stores s) (path_stores t)).
    set (G := (1 + u_acc c) ^ h * (1 + u_store c) ^ q).
    destruct (growth_below s h q K) as (S1 & S2); [unfold h; lia|unfold q; lia|]. destruct (growth_below t h q K) as (T1 & T2); [unfold h; lia|unfold q; lia|].
    fold G in S2, T2. assert (EG : growth (Plus s t) = G * (1 + u_acc c)) by (unfold growth, G, h, q; simpl; ring).
    destruct (Once (g ++ k) G (growth (Plus s t)) (u_acc c) d n (omega_acc c) (x + y)) with (L := tree_loses s + tree_loses t) as (E & F & D);
      auto; try apply K; try lra.
    { specialize (L0 s) as P1. specialize (L0 t) as P2. lra. }
    { intros p I. apply in_app_iff in I as [I|I]; [specialize (Fg p I)|specialize (Fk p I)]; lra. }
    { rewrite total_app. replace (x + y - (total (fun p => leaf (fst p) * snd p) g + total (fun p => leaf (fst p) * snd p) k))
        with ((x - total (fun p => leaf (fst p) * snd p) g) + (y - total (fun p => leaf (fst p) * snd p) k)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. specialize (L0 s) as P1. specialize (L0 t) as P2.
      assert (growth s * tree_loses s <= G * tree_loses s) by now apply Rmult_le_compat_r.
      assert (growth t * tree_loses t <= G * tree_loses t) by now apply Rmult_le_compat_r. lra. }
    eexists. split; [rewrite E, map_app, Eg, Ek; reflexivity|]. split; [exact F|]. eapply Rle_trans; [exact D|]. right. f_equal.
    unfold tree_loses. simpl adds. simpl stores. rewrite S_INR, !plus_INR. ring.
  - destruct IHs as (g & Eg & Fg & Dg). destruct (growth_below s (path_adds s) (path_stores s) K) as (S1 & _); [lia|lia|].
    assert (EG : growth (Stored s) = growth s * (1 + u_store c)) by (unfold growth; simpl; ring).
    destruct (Once g (growth s) (growth (Stored s)) (u_store c) d n (omega_store c) x) with (L := tree_loses s) as (E & F & D);
      auto; try apply K; try lra.
    eexists. split; [rewrite E, Eg; reflexivity|]. split; [exact F|]. eapply Rle_trans; [exact D|]. right. f_equal.
    unfold tree_loses. simpl adds. simpl stores. rewrite S_INR. ring.
Qed.

(* With leaves that were computed, X(1 + rho) and what they lose, and a factor 1 + t behind the sum. It lies near the sum of any
   Y, if every X with the factors of its way lies near its Y. *)
Theorem gathered_near (X Y err lost : B -> R) p f t s z items : sane_accumulator -> 1 <= p -> Rabs t <= f - 1 ->
  (forall b, In b (terms s) -> exists rho n, Rabs (rho - 1) <= p - 1 /\ Rabs n <= lost b /\ leaf b = X b * rho + n) ->
  (forall b psi, In b (terms s) -> Rabs (psi - 1) <= p * growth s * f - 1 -> Rabs (X b * psi - Y b) <= err b) ->
  Permutation items (terms s) -> gathered s z ->
  Rabs (z * (1 + t) - total Y items) <= total err items + growth s * f * (total lost items + tree_loses s).
Proof.
  intros K P1 Ht HX HY Pm H. destruct (tree_of_leaves s z K H) as (g & Eg & Fg & Dg). pose proof (Rabs_pos t) as T0.
  destruct (growth_below s (path_adds s) (path_stores s) K) as (G1 & _); [lia|lia|].
  assert (GF : 1 <= growth s * f) by (apply Rle_trans with (1 * 1); [lra|apply Rmult_le_compat; lra]).
  assert (T1 : Rabs (1 + t) <= f) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  rewrite (total_permuted Y _ _ Pm), (total_permuted err _ _ Pm), (total_permuted lost _ _ Pm), <- Eg, !total_map.
  replace (z * (1 + t) - total (fun a => Y (fst a)) g)
    with ((z - total (fun p => leaf (fst p) * snd p) g) * (1 + t) + total (fun q => (1 + t) * (leaf (fst q) * snd q) + -1 * Y (fst q)) g)
    by (rewrite total_plus, !total_times; ring).
  eapply Rle_trans; [apply Rabs_triang|].
  assert (E : Rabs (total (fun q => (1 + t) * (leaf (fst q) * snd q) + -1 * Y (fst q)) g) <= total (fun a => err (fst a)) g + growth s * f * total (fun a => lost (fst a)) g).
  { eapply Rle_trans; [apply total_abs|]. rewrite <- total_times, <- total_plus. apply total_below. intros q I.
    assert (Ib : In (fst q) (terms s)) by (rewrite <- Eg; now apply in_map). destruct (HX _ Ib) as (rho & n & Hr & Hn & ->). specialize (Fg q I).
    assert (Sq : Rabs (snd q * (1 + t) - 1) <= growth s * f - 1).
    { eapply Rle_trans; [apply (one_more (f - 1) (growth s) (snd q) t); auto; lra|]. lra. }
    replace ((1 + t) * ((X (fst q) * rho + n) * snd q) + -1 * Y (fst q))
      with ((X (fst q) * (rho * (snd q * (1 + t))) - Y (fst q)) + n * (snd q * (1 + t))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
    - apply HY; [easy|]. replace (rho * (snd q * (1 + t))) with (rho * (1 + (snd q * (1 + t) - 1))) by ring.
      eapply Rle_trans; [apply (one_more (growth s * f - 1) p rho (snd q * (1 + t) - 1)); auto; lra|]. lra.
    - rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos.
      replace (snd q * (1 + t)) with (1 + (snd q * (1 + t) - 1)) by ring. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra. }
  assert (Rabs ((z - total (fun p => leaf (fst p) * snd p) g) * (1 + t)) <= growth s * tree_loses s * f) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  lra.
Qed.
End Trees.
