(* Known weights: P^_j lies between two numbers of P's format, whose middle is known; so O has known weights, up to r_j. *)
From Attest Require Export lemma_7.

(* The middle of a_j and b_j beside e_j = e^{s_j - m_t}, and half of their distance. *)
Definition middle a b e := (a + b) / (2 * e) - 1.
Definition half_width a b e := (b - a) / (2 * e).

(* Rounding does not decrease, whichever way midpoints go. *)
Theorem known_number (down up : R -> R) e z p P : (forall x y, x <= y -> down x <= down y) -> (forall x y, x <= y -> up x <= up y) ->
  0 < e -> exp (- z) * e <= p <= exp z * e -> down p <= P <= up p ->
  let a := down (exp (- z) * e) in let b := up (exp z * e) in
  Rabs (P / e - (1 + middle a b e)) <= half_width a b e.
Proof.
  intros Dm Um He Hp HP a b. assert (Ha : a <= P) by (eapply Rle_trans; [apply Dm, Hp|apply HP]).
  assert (Hb : P <= b) by (eapply Rle_trans; [apply HP|apply Um, Hp]).
  unfold middle, half_width. apply abs_below.
  replace (P / e - (1 + ((a + b) / (2 * e) - 1))) with ((2 * P - (a + b)) / (2 * e)) by (field; lra).
  split; apply Rmult_le_reg_r with (2 * e); try lra; unfold Rdiv.
  - replace (- ((b - a) * / (2 * e)) * (2 * e)) with (- (b - a)) by (field; lra). rewrite Rmult_assoc, Rinv_l by lra. lra.
  - rewrite !Rmult_assoc, !Rinv_l by lra. lra.
Qed.

(* The rescales that follow multiply by e^{m_t - m} up to e^{+-r}: delta_j. *)
Definition delta d w r := (1 + d) * (exp r - 1) + w * exp r.
Theorem known_weight d w r q f : 0 <= 1 + d -> 0 <= w -> 0 <= r -> Rabs (q - (1 + d)) <= w -> 0 < f -> Rabs (ln f) <= r ->
  Rabs (q * f - (1 + d)) <= delta d w r.
Proof.
  intros Hd Hw Hr Hq Pf Hf. apply between in Hf. assert (F : exp (- r) <= f <= exp r).
  { rewrite <- (exp_ln f) by easy. split; apply exp_grows; lra. }
  assert (E1 : 1 - (exp r - 1) <= exp (- r)).
  { rewrite exp_Ropp. pose proof (exp_ineq1_le r). assert (0 < exp r) by apply exp_pos.
    apply Rmult_le_reg_r with (exp r); [easy|]. rewrite Rinv_l by lra. nra. }
  assert (Af : Rabs (f - 1) <= exp r - 1) by (apply abs_below; lra).
  replace (q * f - (1 + d)) with ((q - (1 + d)) * f + (1 + d) * (f - 1)) by ring. unfold delta.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq f), (Rabs_pos_eq (1 + d)) by lra.
  rewrite Rplus_comm. apply Rplus_le_compat; [now apply Rmult_le_compat_l|].
  apply Rmult_le_compat; auto using Rabs_pos; lra.
Qed.

(* The average: W^O_j of O, with the factor k = e^{M_end - m} that all keys share, W_j of l. *)
Section Average.
Context {A : Type} (keys : list A) (W E T zeta : A -> R) (counted : A -> bool) (D Lambda : R).
Context (known : weights_known keys W E T zeta counted D Lambda).
Context (WO d del lostO v : A -> R) (k E_end : R).

Let pi := pi keys E.
Definition o_known := total (fun j => pi j * (1 + d j) * v j) keys.
Definition A_known := ((exp E_end - 1) * Rabs o_known + exp E_end * total (fun j => pi j * del j * Rabs (v j)) keys) / D
  + total (fun j => (P keys E T j / D + zeta j / Lambda) * Rabs o_known) keys + total (fun j => lostO j / Lambda * Rabs (v j)) keys.

Theorem known_average : 0 < k -> Rabs (ln k) <= E_end ->
  (forall j, In j keys -> 0 <= del j /\ 0 <= lostO j /\ Rabs (WO j - k * E j * (1 + d j)) <= k * E j * del j + lostO j) ->
  Rabs (total (fun j => WO j * v j) keys / total W keys - o_known) <= A_known.
Proof.
  intros Pk Hk HO. pose proof (exact_sum_positive _ _ _ _ _ _ _ _ known) as SE. pose proof (sum_positive _ _ _ _ _ _ _ _ known) as SW.
  pose proof (D_positive _ _ _ _ _ _ _ _ known) as HD. pose proof (lemma_5a _ _ _ _ _ _ _ _ known) as La.
  apply between in Hk. assert (E0 : 0 <= E_end) by lra. assert (Ek : exp (- E_end) <= k <= exp E_end).
  { rewrite <- (exp_ln k) by easy. split; apply exp_grows; lra. }
  assert (K1 : Rabs (k - 1) <= exp E_end - 1).
  { assert (1 - (exp E_end - 1) <= exp (- E_end)).
    { rewrite exp_Ropp. pose proof (exp_ineq1_le E_end). assert (0 < exp E_end) by apply exp_pos.
      apply Rmult_le_reg_r with (exp E_end); [easy|]. rewrite Rinv_l by lra. nra. }
    apply abs_below. lra. }
  set (o := o_known). set (S := total W keys) in *. set (Z := total E keys) in *.
  assert (OZ : total (fun j => E j * (1 + d j) * v j) keys = Z * o).
  { unfold o, o_known. rewrite <- total_times. apply total_same. intros j _. unfold pi, lemma_7.pi. fold Z. field. lra. }
  (* the sum less o S, in three parts *)
  assert (Eq : total (fun j => WO j * v j) keys - o * S =
    (k - 1) * (Z * o) + total (fun j => (WO j - k * E j * (1 + d j)) * v j) keys + total (fun j => - o * (W j - E j)) keys).
  { rewrite <- OZ, <- (total_times (k - 1)), <- !total_plus.
    rewrite (total_same (fun a => (k - 1) * (E a * (1 + d a) * v a) + (WO a - k * E a * (1 + d a)) * v a + - o * (W a - E a))
                        (fun a => WO a * v a + (- o * W a + (o * E a + -1 * (E a * (1 + d a) * v a))))) by (intros; ring).
    rewrite !total_plus, !total_times. change (total (fun a => W a) keys) with S. change (total (fun a => E a) keys) with Z.
    change (fun j => WO j * v j) with (fun a => WO a * v a).
    replace (total (fun a => E a * (1 + d a) * v a) keys) with (Z * o) by (rewrite <- OZ; reflexivity). fold S; fold Z; ring. }
  assert (Main : Rabs (total (fun j => WO j * v j) keys - o * S) <= A_known * S).
  { rewrite Eq. unfold A_known. fold o. eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
    pose proof (beside_sum _ _ _ _ _ _ _ _ known) as BS. fold Z in BS. fold S in BS.
    pose proof (lost_beside_sum _ _ _ _ _ _ _ _ known) as LS. fold S in LS.
    assert (P1 : Rabs ((k - 1) * (Z * o)) <= (exp E_end - 1) * Rabs o / D * S).
    { rewrite !Rabs_mult, (Rabs_pos_eq Z) by lra. apply Rle_trans with ((exp E_end - 1) * Rabs o * Z).
      - rewrite Rmult_assoc, (Rmult_comm Z). apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply Rabs_pos|lra]|exact K1].
      - apply BS. apply Rmult_le_pos; [eapply Rle_trans; [apply Rabs_pos|exact K1]|apply Rabs_pos]. }
    assert (P2 : Rabs (total (fun j => (WO j - k * E j * (1 + d j)) * v j) keys) <=
      exp E_end * total (fun j => pi j * del j * Rabs (v j)) keys / D * S + total (fun j => lostO j / Lambda * Rabs (v j)) keys * S).
    { eapply Rle_trans; [apply total_abs|].
      apply Rle_trans with (total (fun j => exp E_end * Z * (pi j * del j * Rabs (v j)) + S * (lostO j / Lambda * Rabs (v j))) keys).
      - apply total_below. intros j I. destruct (HO j I) as (D0 & L0 & B). pose proof (exact_positive _ _ _ _ _ _ _ _ known j I) as Ej.
        rewrite Rabs_mult. pose proof (Rabs_pos (v j)) as V0. apply Rle_trans with ((k * E j * del j + lostO j) * Rabs (v j)); [now apply Rmult_le_compat_r|].
        rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
        + replace (exp E_end * Z * (pi j * del j * Rabs (v j))) with (exp E_end * (E j * del j * Rabs (v j))) by (unfold pi, lemma_7.pi; fold Z; field; lra).
          replace (k * E j * del j * Rabs (v j)) with (k * (E j * del j * Rabs (v j))) by ring.
          apply Rmult_le_compat_r; [|apply Ek]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|easy].
        + specialize (LS (lostO j) L0). replace (S * (lostO j / Lambda * Rabs (v j))) with (lostO j / Lambda * S * Rabs (v j)) by ring.
          now apply Rmult_le_compat_r.
      - rewrite total_plus, !total_times. apply Rplus_le_compat; [|lra].
        replace (exp E_end * Z * total (fun j => pi j * del j * Rabs (v j)) keys) with (exp E_end * total (fun j => pi j * del j * Rabs (v j)) keys * Z) by ring.
        apply BS. apply Rmult_le_pos; [left; apply exp_pos|]. apply total_pos. intros j I. destruct (HO j I) as (D0 & _).
        apply Rmult_le_pos; [apply Rmult_le_pos; [left; exact (pi_positive _ _ _ _ _ _ _ _ known j I)|easy]|apply Rabs_pos]. }
    assert (P3 : Rabs (total (fun j => - o * (W j - E j)) keys) <= total (fun j => (P keys E T j / D + zeta j / Lambda) * Rabs o) keys * S).
    { eapply Rle_trans; [apply total_abs|]. rewrite (Rmult_comm _ S), <- total_times. apply total_below. intros j I.
      rewrite Rabs_mult, Rabs_Ropp. pose proof (weight_error _ _ _ _ _ _ _ _ known j I) as B. fold S in B.
      replace (S * ((P keys E T j / D + zeta j / Lambda) * Rabs o)) with (Rabs o * ((P keys E T j / D + zeta j / Lambda) * S)) by ring.
      apply Rmult_le_compat_l; [apply Rabs_pos|exact B]. }
    unfold Rdiv in *. lra. }
  replace (total (fun j => WO j * v j) keys / S - o) with ((total (fun j => WO j * v j) keys - o * S) * / S) by (field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (/ S)) by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_reg_r with S; [easy|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact Main.
Qed.
End Average.
