(* Lemma 9: a step of a matrix unit. U is 2u 2^E and P is 2u 2^E_r: the last places of the format at the largest number that
   is added and at the sum r of what the cuts leave. w is 2^-e, so that q = U w is the last place that a step keeps. *)
From Coq Require Import Reals Lra List.
Import ListNotations.
Open Scope R_scope.

Definition total := fold_right Rplus 0.

(* z numbers are cut by at most q each; the largest number is not. *)
Lemma cuts_add q x y : Forall2 (fun x y => Rabs (y - x) <= q) x y -> Rabs (total y - total x) <= INR (length x) * q.
Proof.
  induction 1 as [|a b x y H _ I]; cbn [total fold_right length].
  - replace (0 - 0) with 0 by ring. rewrite Rabs_R0. simpl. lra.
  - rewrite S_INR. fold (total y). fold (total x). replace (b + total y - (a + total x)) with (b - a + (total y - total x)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* What the step returns, of z products other than 0 and the accumulator. r is exact where its last place is kept. A cut
   moves it by P - q at most, and rounding by P/2: no more, as P is at least 2 q there. *)
Theorem lemma_9_step z w U P sum r result : 1 <= z -> 0 < w <= 1 -> 0 < U -> 0 < P -> Rabs (r - sum) <= z * (U * w) ->
  (P <= U * w -> result = r) -> (U * w < P -> Rabs (result - r) <= P - U * w) ->
  Rabs (result - sum) <= ((z - 1) * w + 1) * Rmax U P.
Proof.
  intros Hz Hw HU HP Hr Exact Near. pose proof (Rmax_l U P) as A. pose proof (Rmax_r U P) as B. set (m := Rmax U P) in *.
  assert (W : 0 <= (z - 1) * w) by (apply Rmult_le_pos; lra).
  assert (C : (z - 1) * w * U <= (z - 1) * w * m) by (apply Rmult_le_compat_l; lra).
  replace (result - sum) with (result - r + (r - sum)) by ring.
  destruct (Rle_or_lt P (U * w)) as [K|K].
  - rewrite (Exact K). replace (r - r + (r - sum)) with (r - sum) by ring.
    assert (U * w <= m) by (apply Rle_trans with (U * 1); [apply Rmult_le_compat_l|]; lra). lra.
  - specialize (Near K). eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* Steps on a path: the product of their factors is gamma of the sum of their units, at v = 2u. *)
Theorem lemma_9_path v l : 0 <= v -> Forall (Rle 0) l -> v * total l < 1 ->
  fold_right (fun x y => (1 + v * x) * y) 1 l <= 1 + v * total l / (1 - v * total l).
Proof.
  intros Hv. assert (G : forall t, t < 1 -> 1 + t / (1 - t) = / (1 - t)) by (intros; field; lra).
  induction l as [|x l I]; cbn [total fold_right]; intros F H.
  - rewrite Rmult_0_r. unfold Rdiv. rewrite Rmult_0_l. lra.
  - fold (total l) in *. inversion F as [|? ? X F']; subst. assert (T : 0 <= total l).
    { clear - F'. induction F'; cbn [total fold_right]; [lra|]. fold (total l). lra. }
    assert (VX : 0 <= v * x) by (apply Rmult_le_pos; lra). assert (VT : 0 <= v * total l) by (apply Rmult_le_pos; lra).
    assert (H' : v * total l < 1) by lra. specialize (I F' H'). rewrite G in I by lra. rewrite G by lra.
    apply Rle_trans with ((1 + v * x) * / (1 - v * total l)); [apply Rmult_le_compat_l; lra|].
    apply Rmult_le_reg_r with ((1 - v * total l) * (1 - v * (x + total l))).
    { apply Rmult_lt_0_compat; lra. }
    replace ((1 + v * x) * / (1 - v * total l) * ((1 - v * total l) * (1 - v * (x + total l)))) with
      ((1 + v * x) * (1 - v * (x + total l))) by (field; lra).
    replace (/ (1 - v * (x + total l)) * ((1 - v * total l) * (1 - v * (x + total l)))) with (1 - v * total l) by (field; lra).
    assert (0 <= v * x * (v * (x + total l))) by (apply Rmult_le_pos; lra). lra.
Qed.

(* The units of T steps that have d products other than 0, z_t of them in step t, none empty. *)
Theorem lemma_9_units w z : total (map (fun x => (x - 1) * w + 1) z) = total z * w + INR (length z) * (1 - w).
Proof.
  unfold total. induction z as [|x z I]; cbn [map fold_right length].
  - simpl. ring.
  - rewrite S_INR, I. ring.
Qed.
