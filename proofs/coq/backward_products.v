(* docs/bound_backward.md, Lemma 3 (dP), and what the sums of Lemmas 4 and 5 round: dot products in any tree, whose operands
   may be flushed. *)
From Attest Require Export backward_trees backward_sums.

Section Dot.
Context {A : Type} (keys : list A) (c : accumulator) (x y leaf : A -> R) (flush : R) (k : nat).

(* A product, or a fused one; an operand that is read as 0 changes by flush at most. *)
Definition multiplied b := exists f g d n, Rabs f <= flush /\ Rabs g <= flush /\ Rabs d <= u_acc c /\ Rabs n <= omega_acc c /\
  leaf b = (x b + f) * (y b + g) * (1 + d) + n.
(* The sum, in any tree, and what is rounded behind it: k roundings on a path together. *)
Definition dot s e z r := (forall b, In b keys -> multiplied b) /\ Permutation keys (terms s) /\ stores s = O /\ gathered c leaf s z /\
  (S (adds s) + e <= k)%nat /\ exists t n, Rabs t <= (1 + u_acc c) ^ e - 1 /\ Rabs n <= 2 * omega_acc c /\ r = z * (1 + t) + n.

Definition dot_loses := (4 * INR (length keys) + 2) * omega_acc c + 2 * flush * (total (fun b => Rabs (x b)) keys + total (fun b => Rabs (y b)) keys).

Theorem dot_product s e z r : sane_accumulator c -> omega_acc c <= / 4 -> 0 <= flush <= omega_acc c -> INR k * u_acc c < 1 ->
  gamma k (u_acc c) <= / 4 -> dot s e z r ->
  Rabs (r - total (fun b => x b * y b) keys) <= gamma k (u_acc c) * total (fun b => Rabs (x b * y b)) keys + dot_loses.
Proof.
  intros K W4 Fl Hk G4 (HM & Pm & St & H & Few & t & n & Ht & Hn & ->). pose proof (acc_u c K) as Hu. pose proof (acc_w c K) as Hw.
  assert (PS : path_stores s = O).
  { clear -St. induction s; simpl in *; [easy|rewrite IHs1, IHs2; lia|easy]. }
  destruct (adds_are_terms s) as (Ln & PA). assert (EG : growth c s = (1 + u_acc c) ^ path_adds s) by (unfold growth; rewrite PS; simpl; ring).
  pose proof (pow_at_least_1 (path_adds s) _ Hu) as G1. pose proof (pow_at_least_1 e _ Hu) as E1.
  set (Q := (1 + u_acc c) ^ path_adds s * (1 + u_acc c)). set (Pe := (1 + u_acc c) ^ e) in *.
  assert (QP : Q * Pe - 1 <= gamma k (u_acc c)).
  { unfold Q, Pe. rewrite (Rmult_comm _ (1 + u_acc c)). change (1 + u_acc c) with ((1 + u_acc c)) at 1. rewrite tech_pow_Rmult, <- pow_add.
    eapply Rle_trans; [|apply powers_below_gamma; [exact Hu|exact Hk]]. apply Rplus_le_compat_r. apply Rle_pow; [lra|lia]. }
  assert (Q1 : 1 <= Q) by (unfold Q; apply Rle_trans with (1 * 1); [lra|apply Rmult_le_compat; lra]).
  assert (Q5 : Q * Pe <= 5 / 4) by lra.
  set (lost := fun b => (1 + u_acc c) * (flush * (Rabs (x b) + Rabs (y b)) + flush * flush) + omega_acc c).
  assert (N : Rabs (z * (1 + t) - total (fun b => x b * y b) keys) <=
    total (fun b => (Q * Pe - 1) * Rabs (x b * y b)) keys + growth c s * Pe * (total lost keys + tree_loses c s)).
  { apply (gathered_near c leaf (fun b => x b * y b) (fun b => x b * y b) _ lost (1 + u_acc c)); auto; [lra| |].
    - intros b I. apply (Permutation_in b (Permutation_sym Pm)) in I. destruct (HM b I) as (f & q & d & n0 & Hf & Hq & Hd & Hn0 & ->).
      exists (1 + d), ((f * y b + x b * q + f * q) * (1 + d) + n0). split; [replace (1 + d - 1) with d by ring; lra|]. split; [|ring].
      assert (D1 : Rabs (1 + d) <= 1 + u_acc c) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
      unfold lost. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. rewrite Rabs_mult, Rmult_comm.
      apply Rmult_le_compat; auto using Rabs_pos.
      assert (Rabs (f * y b) <= flush * Rabs (y b)) by (rewrite Rabs_mult; apply Rmult_le_compat_r; auto using Rabs_pos).
      assert (Rabs (x b * q) <= flush * Rabs (x b)) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat_r; auto using Rabs_pos).
      assert (Rabs (f * q) <= flush * flush) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
      eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
    - intros b psi I Hp. replace (x b * y b * psi - x b * y b) with ((psi - 1) * (x b * y b)) by ring. rewrite Rabs_mult.
      apply Rmult_le_compat_r; [apply Rabs_pos|]. rewrite EG in Hp. unfold Q. lra. }
  set (S0 := total (fun b => x b * y b) keys) in *. set (SA := total (fun b => Rabs (x b * y b)) keys). rewrite total_times in N. fold SA in N.
  assert (SA0 : 0 <= SA) by (apply total_pos; auto using Rabs_pos).
  set (Sx := total (fun b => Rabs (x b)) keys) in *. set (Sy := total (fun b => Rabs (y b)) keys) in *.
  assert (Sx0 : 0 <= Sx) by (apply total_pos; auto using Rabs_pos). assert (Sy0 : 0 <= Sy) by (apply total_pos; auto using Rabs_pos).
  assert (TL : total lost keys = (1 + u_acc c) * (flush * (Sx + Sy)) + INR (length keys) * ((1 + u_acc c) * (flush * flush) + omega_acc c)).
  { unfold lost. set (q := (1 + u_acc c) * (flush * flush) + omega_acc c).
    rewrite (total_same _ (fun b => (1 + u_acc c) * flush * Rabs (x b) + ((1 + u_acc c) * flush * Rabs (y b) + q))) by (intros; unfold q; ring).
    rewrite !total_plus, !total_times, total_const. unfold Sx, Sy. ring. }
  pose proof (Permutation_length Pm) as PL. assert (LA : INR (adds s) <= INR (length keys)) by (apply le_INR; lia).
  assert (Lost : growth c s * Pe * (total lost keys + tree_loses c s) <= 4 * INR (length keys) * omega_acc c + 2 * flush * (Sx + Sy)).
  { rewrite TL. unfold tree_loses. rewrite St. simpl (INR 0). rewrite Rmult_0_l, Rplus_0_r, EG. set (g := (1 + u_acc c) ^ path_adds s) in *.
    assert (GP : g * Pe <= 5 / 4).
    { apply Rle_trans with (Q * Pe); [|easy]. apply Rmult_le_compat_r; [lra|]. unfold Q. rewrite <- (Rmult_1_r g) at 1. apply Rmult_le_compat_l; lra. }
    assert (FF : flush * flush <= / 4 * omega_acc c) by (apply Rmult_le_compat; lra).
    pose proof (pos_INR (length keys)) as L0. set (l := INR (length keys)) in *.
    replace (g * Pe * ((1 + u_acc c) * (flush * (Sx + Sy)) + l * ((1 + u_acc c) * (flush * flush) + omega_acc c) + INR (adds s) * omega_acc c))
      with (Q * Pe * (flush * (Sx + Sy)) + Q * Pe * (l * (flush * flush)) + g * Pe * (l * omega_acc c + INR (adds s) * omega_acc c)) by (unfold Q; ring).
    assert (0 <= flush * (Sx + Sy)) by (apply Rmult_le_pos; lra). assert (0 <= l * (flush * flush)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
    assert (l * (flush * flush) <= l * (/ 4 * omega_acc c)) by (apply Rmult_le_compat_l; lra).
    assert (INR (adds s) * omega_acc c <= l * omega_acc c) by (apply Rmult_le_compat_r; lra).
    assert (0 <= l * omega_acc c) by (apply Rmult_le_pos; lra). pose proof (Rmult_le_pos _ _ (pos_INR (adds s)) Hw).
    assert (Q * Pe * (flush * (Sx + Sy)) <= 5 / 4 * (flush * (Sx + Sy))) by (apply Rmult_le_compat_r; lra).
    assert (Q * Pe * (l * (flush * flush)) <= 5 / 4 * (l * (flush * flush))) by (apply Rmult_le_compat_r; lra).
    assert (g * Pe * (l * omega_acc c + INR (adds s) * omega_acc c) <= 5 / 4 * (l * omega_acc c + INR (adds s) * omega_acc c)) by (apply Rmult_le_compat_r; lra).
    lra. }
  assert (M3 : (Q * Pe - 1) * SA <= gamma k (u_acc c) * SA) by (now apply Rmult_le_compat_r).
  replace (z * (1 + t) + n - S0) with ((z * (1 + t) - S0) + n) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. unfold dot_loses. fold Sx Sy. lra.
Qed.
End Dot.

(* Lemma 3: the factor of dropout, with what it loses, wherever it stands; then perhaps a narrower format. W = D Sum dO v. *)
Theorem B3_dropped S0 SA g p w D Delta_d kappa_plus lost lost_d : Rabs (p - S0) <= g * SA + lost -> Rabs S0 <= SA -> 0 <= g -> 0 <= lost ->
  0 <= D -> 0 <= Delta_d -> D * (1 + Delta_d) <= kappa_plus -> (exists t n, Rabs t <= Delta_d /\ Rabs n <= lost_d /\ w = p * (D * (1 + t)) + n) ->
  Rabs (w - D * S0) <= ((1 + g) * (1 + Delta_d) - 1) * (D * SA) + kappa_plus * lost + lost_d.
Proof.
  intros Hp HS Hg Hl HD Hd Hk (t & n & Ht & Hn & ->).
  replace (p * (D * (1 + t)) + n - D * S0) with ((p - S0) * (D * (1 + t)) + D * S0 * t + n) by ring.
  assert (T1 : Rabs (1 + t) <= 1 + Delta_d) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (A1 : Rabs ((p - S0) * (D * (1 + t))) <= (g * SA + lost) * (D * (1 + Delta_d))).
  { rewrite !Rabs_mult, (Rabs_pos_eq D) by easy. apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; auto using Rabs_pos|now apply Rmult_le_compat_l]. }
  assert (A2 : Rabs (D * S0 * t) <= D * SA * Delta_d).
  { rewrite !Rabs_mult, (Rabs_pos_eq D) by easy. apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; auto using Rabs_pos|now apply Rmult_le_compat_l]. }
  assert (A3 : lost * (D * (1 + Delta_d)) <= lost * kappa_plus) by now apply Rmult_le_compat_l.
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.
Theorem B3_stored w W stored e u_dps omega_dps : 0 <= u_dps -> Rabs (w - W) <= e ->
  (exists d n, Rabs d <= u_dps /\ Rabs n <= omega_dps /\ stored = w * (1 + d) + n) ->
  Rabs (stored - W) <= (1 + u_dps) * e + u_dps * Rabs W + omega_dps.
Proof.
  intros Hu He (d & n & Hd & Hn & ->). replace (w * (1 + d) + n - W) with ((w - W) * (1 + d) + W * d + n) by ring.
  assert (D1 : Rabs (1 + d) <= 1 + u_dps) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (Rabs ((w - W) * (1 + d)) <= (1 + u_dps) * e) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat; auto using Rabs_pos).
  assert (Rabs (W * d) <= u_dps * Rabs W) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat_r; auto using Rabs_pos).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.

(* Lemma 5: eps_w, from the floats p and w that are summed, which are no larger than P+ and |W| + N0. *)
Theorem B5_eps_w {A} (keys : list A) c (p w leaf P_plus W N0 : A -> R) flush k s e z D_hat : sane_accumulator c -> omega_acc c <= / 4 ->
  0 <= flush <= omega_acc c -> INR k * u_acc c < 1 -> gamma k (u_acc c) <= / 4 -> dot keys c p w leaf flush k s e z D_hat ->
  (forall j, In j keys -> Rabs (p j) <= P_plus j /\ Rabs (w j) <= Rabs (W j) + N0 j) ->
  Rabs (D_hat - total (fun j => p j * w j) keys) <= gamma k (u_acc c) * total (fun j => P_plus j * (Rabs (W j) + N0 j)) keys
    + (4 * INR (length keys) + 2) * omega_acc c + 2 * flush * total (fun j => Rabs (W j) + N0 j + P_plus j) keys.
Proof.
  intros K W4 Fl Hk G4 H B. pose proof (dot_product keys c p w leaf flush k s e z D_hat K W4 Fl Hk G4 H) as P.
  pose proof (gamma_pos k _ (acc_u c K) Hk) as G0. eapply Rle_trans; [exact P|]. unfold dot_loses.
  assert (S1 : total (fun b => Rabs (p b * w b)) keys <= total (fun j => P_plus j * (Rabs (W j) + N0 j)) keys).
  { apply total_below. intros j I. destruct (B j I). rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos. }
  assert (S2 : total (fun b => Rabs (p b)) keys + total (fun b => Rabs (w b)) keys <= total (fun j => Rabs (W j) + N0 j + P_plus j) keys).
  { rewrite <- total_plus. apply total_below. intros j I. destruct (B j I). lra. }
  assert (gamma k (u_acc c) * total (fun b => Rabs (p b * w b)) keys <= gamma k (u_acc c) * total (fun j => P_plus j * (Rabs (W j) + N0 j)) keys) by now apply Rmult_le_compat_l.
  assert (2 * flush * (total (fun b => Rabs (p b)) keys + total (fun b => Rabs (w b)) keys) <= 2 * flush * total (fun j => Rabs (W j) + N0 j + P_plus j) keys)
    by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* Lemma 6 where the accumulator of dP begins at -Delta^: its roundings meet Delta^, and a narrower format rounds what they made. *)
Definition N_first N1 g u_dps omega_dps y Delta e_Delta := (1 + u_dps) * (N1 + g * (Rabs Delta + e_Delta)) + u_dps * (Rabs y + e_Delta) + omega_dps.
Theorem B6_first W Delta D_hat z stored N1 g e_Delta u_dps omega_dps : 0 <= g -> 0 <= u_dps -> Rabs (D_hat - Delta) <= e_Delta ->
  Rabs (z - (W - D_hat)) <= N1 + g * Rabs D_hat -> (exists d n, Rabs d <= u_dps /\ Rabs n <= omega_dps /\ stored = z * (1 + d) + n) ->
  exists xi, stored = (W - Delta) + xi - (D_hat - Delta) /\ Rabs xi <= N_first N1 g u_dps omega_dps (W - Delta) Delta e_Delta.
Proof.
  intros Hg Hu HD Hz Hs. exists (stored - (W - D_hat)). split; [ring|].
  assert (SD : Rabs D_hat <= Rabs Delta + e_Delta) by (replace D_hat with (Delta + (D_hat - Delta)) by ring; eapply Rle_trans; [apply Rabs_triang|]; lra).
  assert (g * Rabs D_hat <= g * (Rabs Delta + e_Delta)) by now apply Rmult_le_compat_l.
  assert (Sy : Rabs (W - D_hat) <= Rabs (W - Delta) + e_Delta).
  { replace (W - D_hat) with ((W - Delta) + - (D_hat - Delta)) by ring. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
  assert (u_dps * Rabs (W - D_hat) <= u_dps * (Rabs (W - Delta) + e_Delta)) by now apply Rmult_le_compat_l.
  pose proof (B3_stored z (W - D_hat) stored _ u_dps omega_dps Hu Hz Hs).
  assert ((1 + u_dps) * (N1 + g * Rabs D_hat) <= (1 + u_dps) * (N1 + g * (Rabs Delta + e_Delta))) by (apply Rmult_le_compat_l; lra).
  unfold N_first. lra.
Qed.
(* Without 1 + u_dps beside gamma(|Delta| + e_Delta) it is false: W = 0, Delta = Delta^ = 1, and quarters for gamma and u_dps pass it. *)
Example two_roundings_multiply : let z := - (1) * (1 + / 4) in let stored := z * (1 + / 4) in
  / 4 * 1 + / 4 * 1 < Rabs (stored - (0 - 1)).
Proof. simpl. rewrite Rabs_left; lra. Qed.
