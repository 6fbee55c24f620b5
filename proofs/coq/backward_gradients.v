(* docs/bound_backward.md, Lemmas 9 and 11 to 13: dV, dK, their heads, and sums of dS; and U_t of Lemma 10. *)
From Attest Require Export backward_trees.

(* Lemmas 9, 10 and 11: the computed leaf of a term P~ (y + xi - e) k, or p D dO: an operand may have lost nu, and both may be
   flushed. *)
Section Terms.
Context {A : Type} (keys : list A) (c : accumulator) (x k leaf nu size : A -> R) (flush : R).

Definition product_of b := exists f n0 g d n, Rabs n0 <= nu b /\ Rabs f <= flush /\ Rabs g <= flush /\ Rabs d <= u_acc c /\ Rabs n <= omega_acc c /\
  leaf b = (x b + n0 + f) * (k b + g) * (1 + d) + n.
(* size bounds the operand with what it lost. *)
Definition lost_in b := (1 + u_acc c) * ((nu b + flush) * Rabs (k b) + flush * (size b + flush)) + omega_acc c.

Lemma product_is b : sane_accumulator c -> 0 <= flush -> 0 <= nu b -> Rabs (x b) + nu b <= size b -> product_of b ->
  exists rho n, Rabs (rho - 1) <= (1 + u_acc c) - 1 /\ Rabs n <= lost_in b /\ leaf b = x b * k b * rho + n.
Proof.
  intros K Fl N0 Hs (f & n0 & g & d & n & Hn0 & Hf & Hg & Hd & Hn & ->). exists (1 + d), (((n0 + f) * k b + (x b + n0 + f) * g) * (1 + d) + n).
  split; [replace (1 + d - 1) with d by ring; lra|]. split; [|ring]. unfold lost_in. eapply Rle_trans; [apply Rabs_triang|].
  apply Rplus_le_compat; [|easy]. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos.
  - eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra.
  - eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. apply Rplus_le_compat.
    + apply Rmult_le_compat_r; [apply Rabs_pos|]. eapply Rle_trans; [apply Rabs_triang|]. lra.
    + rewrite Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos.
      eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* What is lost: below U_t/(1 + psi) of the text. *)
Definition terms_lose (s : @gsum A) := total (fun b => (nu b + flush) * Rabs (k b) + flush * size b) keys
  + INR (length keys) * (flush * flush + 2 * omega_acc c) + INR (stores s) * omega_store c.

(* psi holds the roundings of an operand, of its product, of additions and stores, and those of the scale behind the sum. *)
Theorem gradient_sum (Y err : A -> R) s z psi sigma f t n r lost : sane_accumulator c -> 0 <= flush ->
  (forall b, In b keys -> 0 <= nu b /\ Rabs (x b) + nu b <= size b /\ product_of b) -> (1 + u_acc c) * growth c s * f <= 1 + psi ->
  (forall b q, In b keys -> Rabs (q - 1) <= psi -> Rabs (x b * k b * q - Y b) <= err b) -> Rabs t <= f - 1 -> Rabs n <= lost ->
  Permutation keys (terms s) -> gathered c leaf s z -> r = sigma * (z * (1 + t)) + n ->
  Rabs (r - sigma * total Y keys) <= Rabs sigma * (total err keys + (1 + psi) * terms_lose s) + lost.
Proof.
  intros K Fl HX Psi HY Ht Hn Pm H ->. assert (In' : forall b, In b (terms s) -> In b keys) by (intros b; apply Permutation_in; now apply Permutation_sym).
  destruct (growth_below c s (path_adds s) (path_stores s) K) as (G1 & _); [lia|lia|]. pose proof (acc_u c K) as Hu. pose proof (acc_w c K) as Hw.
  pose proof (Rabs_pos t) as T0. replace (sigma * (z * (1 + t)) + n - sigma * total Y keys) with (sigma * (z * (1 + t) - total Y keys) + n) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
  eapply Rle_trans; [apply (gathered_near c leaf (fun b => x b * k b) Y err lost_in (1 + u_acc c) f t s z); eauto; [lra| |]|].
  - intros b I. destruct (HX b (In' b I)) as (N0 & Sz & P). now apply product_is.
  - intros b q I Hq. apply HY; auto. lra.
  - apply Rplus_le_compat_l. set (q := fun b => (nu b + flush) * Rabs (k b) + flush * size b).
    assert (Q0 : 0 <= total q keys).
    { apply total_pos. intros b I. destruct (HX b I) as (N0 & Sz & _). pose proof (Rabs_pos (k b)). pose proof (Rabs_pos (x b)). unfold q.
      apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra. }
    assert (TL : total lost_in keys = (1 + u_acc c) * (total q keys + INR (length keys) * (flush * flush)) + INR (length keys) * omega_acc c).
    { unfold lost_in. set (w := (1 + u_acc c) * (flush * flush) + omega_acc c).
      rewrite (total_same _ (fun b => (1 + u_acc c) * q b + w)) by (intros; unfold q, w; ring).
      rewrite total_plus, total_times, total_const. unfold w. change (fun a => q a) with q. ring. }
    destruct (adds_are_terms s) as (Ln & _). pose proof (Permutation_length Pm) as PL. assert (LA : INR (adds s) <= INR (length keys)) by (apply le_INR; lia).
    rewrite TL. unfold terms_lose, tree_loses. fold q. set (l := INR (length keys)) in *. set (G := growth c s * f) in *.
    assert (L0 : 0 <= l) by apply pos_INR. pose proof (Rmult_le_pos _ _ (pos_INR (stores s)) (store_w c K)) as St.
    assert (FF : 0 <= l * (flush * flush)) by (apply Rmult_le_pos; [easy|now apply Rmult_le_pos]). assert (LW : 0 <= l * omega_acc c) by now apply Rmult_le_pos.
    assert (AW : INR (adds s) * omega_acc c <= l * omega_acc c) by (now apply Rmult_le_compat_r).
    set (t1 := total q keys + l * (flush * flush)) in *. set (t2 := l * omega_acc c) in *. set (t3 := INR (stores s) * omega_store c) in *.
    assert (G0 : 1 <= G) by (unfold G; apply Rle_trans with (1 * 1); [lra|apply Rmult_le_compat; lra]).
    assert (G2 : (1 + u_acc c) * G <= 1 + psi) by (unfold G; lra). assert (G3 : G <= 1 + psi) by (pose proof (Rmult_le_pos (u_acc c) G Hu ltac:(lra)); lra).
    assert ((1 + u_acc c) * G * t1 <= (1 + psi) * t1) by (apply Rmult_le_compat_r; unfold t1; lra).
    assert (G * (t2 + INR (adds s) * omega_acc c + t3) <= (1 + psi) * (t2 + t2 + t3)).
    { pose proof (Rmult_le_pos _ _ (pos_INR (adds s)) Hw). apply Rmult_le_compat; lra. }
    unfold t1, t2, t3 in *. lra.
Qed.
End Terms.

(* With flush <= omega <= 1 that is what U_t says, and b^V of Lemma 9. *)
Theorem terms_lose_U {A} (keys : list A) c (k nu size : A -> R) flush (s : @gsum A) : 0 <= flush <= omega_acc c -> omega_acc c <= 1 ->
  (forall b, In b keys -> 0 <= size b) ->
  terms_lose keys c k nu size flush s <= total (fun b => (nu b + 2 * omega_acc c) * Rabs (k b)) keys
    + 4 * omega_acc c * INR (length keys) + 2 * omega_acc c * total size keys + INR (stores s) * omega_store c.
Proof.
  intros Fl W1 Sz. unfold terms_lose. apply Rplus_le_compat_r. pose proof (pos_INR (length keys)) as L0.
  assert (A1 : total (fun b => (nu b + flush) * Rabs (k b) + flush * size b) keys
               <= total (fun b => (nu b + 2 * omega_acc c) * Rabs (k b)) keys + 2 * omega_acc c * total size keys).
  { rewrite <- total_times, <- total_plus. apply total_below. intros b I. specialize (Sz b I). pose proof (Rabs_pos (k b)).
    apply Rplus_le_compat; apply Rmult_le_compat_r; lra. }
  assert (A2 : INR (length keys) * (flush * flush + 2 * omega_acc c) <= INR (length keys) * (4 * omega_acc c)) by (apply Rmult_le_compat_l; nra).
  lra.
Qed.

(* Lemma 9: the sum over rows of p D dO. Each weight is within A_i of pi_i, and psi is psi_V without what p rounds before. *)
Theorem B9_dV {A} (rows : list A) c (p D dO pi A_i leaf nu size : A -> R) flush s z psi : sane_accumulator c -> 0 <= flush ->
  (forall i, In i rows -> 0 <= pi i /\ Rabs (p i - pi i) <= A_i i /\ 0 <= D i) ->
  (forall i, In i rows -> 0 <= nu i /\ Rabs (p i * D i) + nu i <= size i /\ product_of c (fun i => p i * D i) dO leaf nu flush i) ->
  0 <= psi -> (1 + u_acc c) * growth c s <= 1 + psi -> Permutation rows (terms s) -> gathered c leaf s z ->
  Rabs (z - total (fun i => pi i * D i * dO i) rows) <=
    total (fun i => D i * (A_i i * (1 + psi) + psi * pi i) * Rabs (dO i)) rows + (1 + psi) * terms_lose rows c dO nu size flush s.
Proof.
  intros K Fl HW HX P0 Psi Pm H.
  assert (T : Rabs (z - 1 * total (fun i => pi i * D i * dO i) rows) <= Rabs 1 * (total (fun i => D i * (A_i i * (1 + psi) + psi * pi i) * Rabs (dO i)) rows
    + (1 + psi) * terms_lose rows c dO nu size flush s) + 0).
  { apply (gradient_sum rows c (fun i => p i * D i) dO leaf nu size flush _ _ s z psi 1 1 0 0); auto; rewrite ?Rminus_eq_0, ?Rabs_R0; try lra.
    intros i q I Hq. destruct (HW i I) as (P & B & D0).
    replace (p i * D i * dO i * q - pi i * D i * dO i) with (D i * ((p i - pi i) * q + pi i * (q - 1)) * dO i) by ring.
    rewrite !Rabs_mult, (Rabs_pos_eq (D i)) by easy. apply Rmult_le_compat_r; [apply Rabs_pos|]. apply Rmult_le_compat_l; [easy|].
    assert (Q1 : Rabs q <= 1 + psi) by (replace q with (1 + (q - 1)) by ring; eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq (pi i)) by easy. rewrite (Rmult_comm psi).
    apply Rplus_le_compat; [apply Rmult_le_compat; auto using Rabs_pos|now apply Rmult_le_compat_l]. }
  rewrite Rmult_1_l, Rabs_R1, Rmult_1_l, Rplus_0_r in T. exact T.
Qed.

(* Lemma 11: a sum over rows, each with an error e of its own. x is P~ (y + xi - e) without the roundings that psi holds, and
   e^K what the rounded one is off. *)
Theorem B11_dK {A} (rows : list A) c (x q dX e_K leaf nu size : A -> R) flush s z psi sigma f t n r lost : sane_accumulator c -> 0 <= flush ->
  (forall i w, In i rows -> Rabs (w - 1) <= psi -> Rabs (x i * w - dX i) <= e_K i) ->
  (forall i, In i rows -> 0 <= nu i /\ Rabs (x i) + nu i <= size i /\ product_of c x q leaf nu flush i) ->
  (1 + u_acc c) * growth c s * f <= 1 + psi -> Rabs t <= f - 1 -> Rabs n <= lost -> Permutation rows (terms s) -> gathered c leaf s z ->
  r = sigma * (z * (1 + t)) + n -> Rabs (r - sigma * total (fun i => dX i * q i) rows) <=
    Rabs sigma * (total (fun i => e_K i * Rabs (q i)) rows + (1 + psi) * terms_lose rows c q nu size flush s) + lost.
Proof.
  intros K Fl HE HX Psi Ht Hn Pm H Er. apply (gradient_sum rows c x q leaf nu size flush _ _ s z psi sigma f t n r lost); auto.
  intros i w I Hw. replace (x i * q i * w - dX i * q i) with ((x i * w - dX i) * q i) by ring. rewrite Rabs_mult.
  apply Rmult_le_compat_r; [apply Rabs_pos|now apply HE].
Qed.

(* Lemma 12: what rounding each head's part adds. *)
Theorem B12_heads {A} (heads : list A) (exact part rounded b : A -> R) u_head omega_head : 0 <= u_head ->
  (forall h, In h heads -> Rabs (part h - exact h) <= b h) ->
  (forall h, In h heads -> exists d n, Rabs d <= u_head /\ Rabs n <= omega_head /\ rounded h = part h * (1 + d) + n) ->
  Rabs (total rounded heads - total part heads) <=
    u_head * (total (fun h => Rabs (exact h)) heads + total b heads) + INR (length heads) * omega_head.
Proof.
  intros Hu HB HR. replace (total rounded heads - total part heads) with (total (fun h => rounded h + -1 * part h) heads).
  2:{ rewrite total_plus, total_times. change (fun a => rounded a) with rounded. change (fun a => part a) with part. ring. }
  eapply Rle_trans; [apply total_abs|]. rewrite <- total_plus, <- total_times, <- total_const, <- total_plus. apply total_below. intros h I.
  destruct (HR h I) as (d & n & Hd & Hn & ->). specialize (HB h I). replace (part h * (1 + d) + n + -1 * part h) with (part h * d + n) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos.
  replace (part h) with (exact h + (part h - exact h)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* Lemma 13: an element of dBias or dSink, a sum of H numbers dS; and a result that is stored. *)
Theorem B13_sum {A} (places : list A) c (dS dS_hat e_S : A -> R) k s z : sane_accumulator c ->
  (forall j, In j places -> Rabs (dS_hat j - dS j) <= e_S j) -> Permutation places (terms s) -> stores s = O -> gathered c dS_hat s z ->
  (adds s <= k)%nat -> INR k * u_acc c < 1 -> gamma k (u_acc c) <= 1 ->
  Rabs (z - total dS places) <= total e_S places * (1 + gamma k (u_acc c)) + gamma k (u_acc c) * total (fun j => Rabs (dS j)) places
    + 2 * INR k * omega_acc c.
Proof.
  intros K HE Pm St H Hk Few G1. pose proof (acc_u c K) as Hu. pose proof (acc_w c K) as Hw. set (g := gamma k (u_acc c)) in *.
  assert (PS : path_stores s = O) by (clear -St; induction s; simpl in *; [easy|rewrite IHs1, IHs2; lia|easy]).
  destruct (adds_are_terms s) as (_ & PA).
  assert (Gs : 1 <= growth c s <= 1 + g).
  { unfold growth. rewrite PS. simpl (_ ^ 0). rewrite Rmult_1_r. split; [now apply pow_at_least_1|].
    pose proof (powers_below_gamma k _ Hu Few). pose proof (Rle_pow (1 + u_acc c) (path_adds s) k ltac:(lra) ltac:(lia)). unfold g. lra. }
  assert (N : Rabs (z * (1 + 0) - total dS places) <= total (fun j => e_S j * (1 + g) + g * Rabs (dS j)) places
              + growth c s * 1 * (total (fun _ => 0) places + tree_loses c s)).
  { apply (gathered_near c dS_hat dS_hat dS _ (fun _ => 0) 1); auto; try (rewrite ?Rminus_eq_0, ?Rabs_R0; lra).
    - intros b _. exists 1, 0. rewrite Rminus_eq_0, Rabs_R0. repeat split; lra.
    - intros b q I Hq. apply (Permutation_in b (Permutation_sym Pm)) in I. specialize (HE b I).
      replace (dS_hat b * q - dS b) with ((dS_hat b - dS b) * q + dS b * (q - 1)) by ring.
      assert (Rabs q <= 1 + g) by (replace q with (1 + (q - 1)) by ring; eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
      eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. rewrite (Rmult_comm g).
      apply Rplus_le_compat; apply Rmult_le_compat; auto using Rabs_pos; lra. }
  rewrite Rplus_0_r, Rmult_1_r in N. eapply Rle_trans; [exact N|]. rewrite total_plus, total_times, total_const.
  rewrite (total_same (fun j => e_S j * (1 + g)) (fun j => (1 + g) * e_S j)) by (intros; ring). rewrite total_times.
  assert (INR (adds s) <= INR k) by now apply le_INR. unfold tree_loses. rewrite St. simpl (INR 0). pose proof (pos_INR (adds s)).
  assert (growth c s * 1 * (INR (length places) * 0 + (INR (adds s) * omega_acc c + 0 * omega_store c)) <= 2 * (INR k * omega_acc c)).
  { replace (growth c s * 1 * (INR (length places) * 0 + (INR (adds s) * omega_acc c + 0 * omega_store c))) with (growth c s * (INR (adds s) * omega_acc c)) by ring.
    apply Rmult_le_compat; try lra; [now apply Rmult_le_pos|now apply Rmult_le_compat_r]. }
  change (fun a => e_S a) with e_S. lra.
Qed.
Theorem B13_stored x b x_hat y u_grad omega_grad : 0 <= u_grad -> Rabs (x_hat - x) <= b ->
  (exists d n, Rabs d <= u_grad /\ Rabs n <= omega_grad /\ y = x_hat * (1 + d) + n) -> Rabs (y - x) <= b * (1 + u_grad) + u_grad * Rabs x + omega_grad.
Proof.
  intros Hu Hb (d & n & Hd & Hn & ->). replace (x_hat * (1 + d) + n - x) with ((x_hat - x) * (1 + d) + x * d + n) by ring.
  assert (D1 : Rabs (1 + d) <= 1 + u_grad) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (Rabs ((x_hat - x) * (1 + d)) <= b * (1 + u_grad)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  assert (Rabs (x * d) <= u_grad * Rabs x) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat_r; auto using Rabs_pos).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.
