(* docs/bound_backward.md, Lemma 8 (nu_j) and Lemma 10 (dQ): (a) with what the tree of its sum loses, and (c), where Delta sums
   the very weights that form dS. *)
From Attest Require Export backward_gradients backward_sums.

(* nu_j: what underflows or is flushed where p multiplies w - Delta, and in the narrower format of dS. th are the roundings. *)
Theorem B8_nu p P_plus w D_hat d dS f1 f2 n1 d1 f3 n2 d2 n3 d3 u u_ds omega omega_ds : 0 <= u -> 0 <= u_ds -> 0 <= omega ->
  (1 + u) * (1 + u) * (1 + u_ds) <= 5 / 4 -> 0 <= p <= P_plus -> Rabs f1 <= omega -> Rabs f2 <= omega -> Rabs f3 <= omega -> Rabs n1 <= omega ->
  Rabs n2 <= omega -> Rabs n3 <= omega_ds -> Rabs d1 <= u -> Rabs d2 <= u -> Rabs d3 <= u_ds ->
  d = ((w + f1) - (D_hat + f2)) * (1 + d1) + n1 -> dS = (p * (d + f3) * (1 + d2) + n2) * (1 + d3) + n3 ->
  exists nu, dS = p * ((1 + d1) * (1 + d2) * (1 + d3)) * (w - D_hat) + nu /\ Rabs nu <= 6 * omega * (1 + P_plus) + omega_ds.
Proof.
  intros Hu Hd Hw G Hp F1 F2 F3 N1 N2 N3 D1 D2 D3 -> ->.
  exists (p * (((f1 - f2) * (1 + d1) + n1 + f3) * ((1 + d2) * (1 + d3))) + n2 * (1 + d3) + n3). split; [ring|].
  assert (E1 : Rabs (1 + d1) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (E2 : Rabs (1 + d2) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (E3 : Rabs (1 + d3) <= 1 + u_ds) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  set (q := (1 + u) * (1 + u_ds)) in *. assert (Q1 : (1 + u) * q <= 5 / 4) by (unfold q; lra). assert (Q0 : 1 + u_ds <= q) by (unfold q; nra).
  assert (E : Rabs ((1 + d2) * (1 + d3)) <= q) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
  assert (I : Rabs ((f1 - f2) * (1 + d1) + n1 + f3) <= 2 * omega * (1 + u) + 2 * omega).
  { eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. rewrite Rabs_mult.
    assert (Rabs (f1 - f2) <= 2 * omega) by (unfold Rminus; eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; lra).
    assert (Rabs (f1 - f2) * Rabs (1 + d1) <= 2 * omega * (1 + u)) by (apply Rmult_le_compat; auto using Rabs_pos). lra. }
  assert (M : Rabs (p * (((f1 - f2) * (1 + d1) + n1 + f3) * ((1 + d2) * (1 + d3)))) <= P_plus * (5 * omega)).
  { rewrite Rabs_mult, (Rabs_pos_eq p) by lra. apply Rmult_le_compat; [lra|apply Rabs_pos|lra|]. rewrite Rabs_mult.
    apply Rle_trans with ((2 * omega * (1 + u) + 2 * omega) * q); [apply Rmult_le_compat; auto using Rabs_pos|].
    assert (omega * ((1 + u) * q) <= omega * (5 / 4)) by (apply Rmult_le_compat_l; lra). assert (q <= (1 + u) * q) by nra.
    assert (omega * q <= omega * (5 / 4)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (M2 : Rabs (n2 * (1 + d3)) <= omega * (5 / 4)).
  { rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos. eapply Rle_trans; [exact E3|]. assert (q <= (1 + u) * q) by nra. lra. }
  assert (0 <= P_plus * omega) by (apply Rmult_le_pos; lra).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra.
Qed.

Section Row.
Context {A : Type} (keys : list A) (pi W p w A_j N0 g g_hat kappa_j xi N th k leaf nu size : A -> R) (e e_Delta theta psi : R).
Let Delta := Delta keys pi W.
Let y := y keys pi W.
Let P_plus := P_plus pi A_j.
Let row := row_known keys pi W p w A_j N0.

(* Lemma 10 (a): psi is psi_Q, which holds theta, the product, the sum, its stores and the scale. *)
Definition dX_of j := p j * g_hat j * (1 + th j) * (y j + xi j - e).
Theorem B10_a c flush s z sigma f t n r lost : row -> sane_accumulator c -> 0 <= flush ->
  (forall j, In j keys -> Rabs (g_hat j - g j) <= kappa_j j /\ 0 <= g j /\ Rabs (th j) <= theta /\ Rabs (xi j) <= N j) -> Rabs e <= e_Delta ->
  (forall j, In j keys -> 0 <= nu j /\ Rabs (dX_of j) + nu j <= size j /\ product_of c dX_of k leaf nu flush j) ->
  0 <= theta -> (1 + theta) * ((1 + u_acc c) * growth c s * f) <= 1 + psi -> Rabs t <= f - 1 -> Rabs n <= lost ->
  Permutation keys (terms s) -> gathered c leaf s z -> r = sigma * (z * (1 + t)) + n ->
  Rabs (r - sigma * total (fun j => pi j * g j * y j * k j) keys) <=
    Rabs sigma * (total (fun j => f_j keys pi W A_j g kappa_j N psi e_Delta j * Rabs (k j)) keys
                  + e_Delta * Rabs (total (fun j => pi j * g j * k j) keys) + (1 + psi) * terms_lose keys c k nu size flush s) + lost.
Proof.
  intros K Ac Fl HK He HX Th Psi Ht Hn Pm H Er. destruct (growth_below c s (path_adds s) (path_stores s) Ac) as (G1 & _); [lia|lia|].
  pose proof (acc_u c Ac) as Hu. pose proof (Rabs_pos t) as T0. set (G := (1 + u_acc c) * growth c s * f) in *.
  assert (G0 : 1 <= G) by (unfold G; apply Rle_trans with (1 * 1 * 1); [lra|]; apply Rmult_le_compat; try lra; apply Rmult_le_compat; lra).
  assert (P0 : 0 <= psi) by nra. set (Y := fun j => pi j * g j * (y j - e) * k j).
  assert (B : Rabs (r - sigma * total Y keys) <= Rabs sigma * (total (fun j => f_j keys pi W A_j g kappa_j N psi e_Delta j * Rabs (k j)) keys
    + (1 + psi) * terms_lose keys c k nu size flush s) + lost).
  { assert (B' : Rabs (r - sigma * total Y keys) <= Rabs sigma * (total (fun j => f_j keys pi W A_j g kappa_j N psi e_Delta j * Rabs (k j)) keys
      + (1 + (G - 1)) * terms_lose keys c k nu size flush s) + lost).
    { apply (gradient_sum keys c dX_of k leaf nu size flush Y _ s z (G - 1) sigma f t n r lost); auto; [fold G; lra|].
      intros b q' I Hq. set (P_tilde := fun j => p j * g_hat j * ((1 + th j) * q')).
      assert (Q : forall j, In j keys -> Rabs ((1 + th j) * q' - 1) <= psi).
      { intros j Ij. destruct (HK j Ij) as (_ & _ & T & _). replace ((1 + th j) * q') with (q' * (1 + th j)) by ring.
        eapply Rle_trans; [apply (one_more theta G q' (th j)); auto; lra|]. lra. }
      assert (PK : product_known keys p g kappa_j N psi e e_Delta P_tilde xi).
      { constructor; auto; try (intros j Ij; apply (HK j Ij)). intros j Ij. exists (g_hat j), ((1 + th j) * q' - 1).
        split; [unfold P_tilde; ring|]. split; [apply (HK j Ij)|now apply Q]. }
      pose proof (factor_error keys pi W p w A_j N0 g kappa_j N psi e e_Delta P_tilde xi b K PK I) as Fe. destruct (HK b I) as (_ & G2 & _ & X).
      pose proof (pi_positive _ _ _ _ _ _ _ K b I) as Pp. assert (PG : 0 <= pi b * g b) by now apply Rmult_le_pos.
      replace (dX_of b * k b * q' - Y b) with (((P_tilde b - pi b * g b) * (y b + xi b - e) + pi b * g b * xi b) * k b) by (unfold dX_of, Y, P_tilde; ring).
      rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
      assert (Yb : Rabs (y b + xi b - e) <= Rabs (y b) + e_Delta + N b).
      { unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. pose proof (Rabs_triang (y b) (xi b)). lra. }
      assert (B1 : Rabs ((P_tilde b - pi b * g b) * (y b + xi b - e)) <= q pi A_j g kappa_j psi b * (Rabs (y b) + e_Delta + N b)) by (rewrite Rabs_mult; apply Rmult_le_compat; auto using Rabs_pos).
      assert (B2 : Rabs (pi b * g b * xi b) <= pi b * g b * N b) by (rewrite Rabs_mult, (Rabs_pos_eq (pi b * g b)) by easy; now apply Rmult_le_compat_l).
      eapply Rle_trans; [apply Rabs_triang|]. unfold f_j. fold y. lra. }
    assert (T1 : 0 <= terms_lose keys c k nu size flush s).
    { unfold terms_lose. pose proof (pos_INR (length keys)). pose proof (acc_w c Ac). pose proof (Rmult_le_pos _ _ (pos_INR (stores s)) (store_w c Ac)).
      assert (0 <= total (fun b => (nu b + flush) * Rabs (k b) + flush * size b) keys).
      { apply total_pos. intros b I. destruct (HX b I) as (N1 & Sz & _). pose proof (Rabs_pos (k b)). pose proof (Rabs_pos (dX_of b)).
        apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra. }
      assert (0 <= INR (length keys) * (flush * flush + 2 * omega_acc c)) by (apply Rmult_le_pos; [easy|]; pose proof (Rmult_le_pos _ _ Fl Fl); lra). lra. }
    eapply Rle_trans; [exact B'|]. apply Rplus_le_compat_r, Rmult_le_compat_l; [apply Rabs_pos|]. apply Rplus_le_compat_l, Rmult_le_compat_r; [easy|]. nra. }
  assert (EY : total Y keys = total (fun j => pi j * g j * y j * k j) keys + - e * total (fun j => pi j * g j * k j) keys).
  { rewrite <- total_times, <- total_plus. apply total_same. intros j _. unfold Y. ring. }
  set (S2 := total (fun j => pi j * g j * y j * k j) keys) in *. set (mk := total (fun j => pi j * g j * k j) keys) in *. rewrite EY in B.
  replace (r - sigma * S2) with ((r - sigma * (S2 + - e * mk)) + sigma * (- e * mk)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert (Rabs (sigma * (- e * mk)) <= Rabs sigma * (e_Delta * Rabs mk)).
  { rewrite !Rabs_mult, Rabs_Ropp. apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rmult_le_compat_r; [apply Rabs_pos|easy]. }
  lra.
Qed.

(* Lemma 10 (c): p sums to almost 1 with the Delta that it was summed with, so that the mean key meets hardly anything. *)
Definition psi_sum := total (fun j => P_plus j * (Rabs (y j) + N j + e_Delta) * Rabs (k j)) keys.
Theorem B10_c c' P_f sigma mu D_0 D_hat eps_w u_delta omega_delta r U : row -> total pi keys = 1 -> mu = total (fun j => pi j * k j) keys ->
  0 <= u_delta -> e = D_hat - Delta -> Rabs e <= e_Delta -> Rabs (D_0 - total (fun j => p j * w j) keys) <= eps_w -> Rabs (D_0 - Delta) <= e_Delta ->
  (exists d n, Rabs d <= u_delta /\ Rabs n <= omega_delta /\ D_hat = D_0 * (1 + d) + n) ->
  (forall j, In j keys -> Rabs (xi j) <= N j /\ Rabs (xi j - (w j - W j)) <= N j - N0 j) ->
  (forall j, In j keys -> Rabs (P_f j - 1) <= psi) ->
  Rabs (r - sigma * total (fun j => p j * P_f j * (y j + xi j - e) * k j) keys) <= U -> Rabs (total p keys - 1) <= c' ->
  Rabs (r - sigma * total (fun j => pi j * y j * k j) keys) <= Rabs sigma *
    (total (fun j => (A_j j * (Rabs (y j) + e_Delta) + P_plus j * N j) * Rabs (k j - mu)) keys + psi * psi_sum
     + Rabs mu * (eps_w + total (fun j => P_plus j * (N j - N0 j)) keys + (Rabs Delta + e_Delta) * (c' + u_delta) + omega_delta)) + U.
Proof.
  intros K One Emu Ud Ee He Hw HD0 (d & n & Hd & Hn & ED) HX HP HU Ec.
  set (v := fun j => y j + xi j - e) in *. set (H := total (fun j => p j * v j * (k j - mu)) keys). set (V := total (fun j => p j * v j) keys).
  set (R1 := total (fun j => p j * P_f j * (y j + xi j - e) * k j) keys) in *. set (T := total (fun j => pi j * y j * k j) keys).
  assert (P0 : forall j, In j keys -> 0 <= p j <= P_plus j).
  { intros j I. destruct (weights_near _ _ _ _ _ _ _ K j I) as (Q & B). apply between in B. unfold P_plus, backward_sums.P_plus. lra. }
  assert (Vs : forall j, In j keys -> Rabs (v j) <= Rabs (y j) + N j + e_Delta).
  { intros j I. destruct (HX j I) as (X & _). unfold v, Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. pose proof (Rabs_triang (y j) (xi j)). lra. }
  assert (B1 : Rabs (R1 - (H + mu * V)) <= psi * psi_sum).
  { replace (R1 - (H + mu * V)) with (total (fun j => p j * v j * k j * (P_f j - 1)) keys).
    - eapply Rle_trans; [apply total_abs|]. unfold psi_sum. rewrite <- total_times. apply total_below. intros j I. specialize (P0 j I). specialize (Vs j I).
      rewrite !Rabs_mult, (Rabs_pos_eq (p j)), Rmult_comm by lra. apply Rmult_le_compat; [apply Rabs_pos| |now apply HP|].
      + apply Rmult_le_pos; [apply Rmult_le_pos; [lra|apply Rabs_pos]|apply Rabs_pos].
      + apply Rmult_le_compat_r; [apply Rabs_pos|]. apply Rmult_le_compat; auto using Rabs_pos; lra.
    - unfold R1, H, V. rewrite <- total_times, <- total_plus.
      rewrite (total_same _ (fun j => p j * P_f j * (y j + xi j - e) * k j + -1 * (p j * v j * (k j - mu) + mu * (p j * v j)))) by (intros; unfold v; ring).
      rewrite total_plus, total_times. ring. }
  assert (B2 : Rabs (H - T) <= total (fun j => (A_j j * (Rabs (y j) + e_Delta) + P_plus j * N j) * Rabs (k j - mu)) keys).
  { assert (EH : H - T = total (fun j => ((p j - pi j) * (y j - e) + p j * xi j) * (k j - mu)) keys).
    { assert (M0 : total (fun j => pi j * y j) keys = 0) by (apply (mean_is_0 keys pi W); easy).
      assert (E0 : T = total (fun j => pi j * y j * (k j - mu) + - e * (pi j * k j + - mu * pi j)) keys).
      { rewrite (total_same _ (fun j => (pi j * y j * k j + - mu * (pi j * y j)) + (- e * (pi j * k j) + (e * mu) * pi j))) by (intros; ring).
        rewrite !total_plus, !total_times, M0. change (fun a => pi a) with pi. rewrite One, <- Emu. unfold T. ring. }
      rewrite E0. unfold H. replace (total (fun j => p j * v j * (k j - mu)) keys - total (fun j => pi j * y j * (k j - mu) + - e * (pi j * k j + - mu * pi j)) keys)
        with (total (fun j => p j * v j * (k j - mu) + -1 * (pi j * y j * (k j - mu) + - e * (pi j * k j + - mu * pi j))) keys)
        by (rewrite (total_plus (fun j => p j * v j * (k j - mu))), total_times; ring).
      apply total_same. intros j _. unfold v. ring. }
    rewrite EH. eapply Rle_trans; [apply total_abs|]. apply total_below. intros j I. rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
    destruct (weights_near _ _ _ _ _ _ _ K j I) as (_ & B). destruct (HX j I) as (X & _). specialize (P0 j I).
    assert (Rabs (y j - e) <= Rabs (y j) + e_Delta) by (unfold Rminus; eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; lra).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq (p j)) by lra. apply Rplus_le_compat; apply Rmult_le_compat; auto using Rabs_pos; lra. }
  assert (B3 : Rabs V <= eps_w + total (fun j => P_plus j * (N j - N0 j)) keys + (Rabs Delta + e_Delta) * (c' + u_delta) + omega_delta).
  { assert (EV : V = total (fun j => p j * (xi j - (w j - W j))) keys + - (D_0 - total (fun j => p j * w j) keys) + - (D_0 * d + n) + - D_hat * (total p keys - 1)).
    { unfold V. rewrite (total_same (fun j => p j * v j) (fun j => p j * (xi j - (w j - W j)) + (p j * w j + - D_hat * p j))).
      - rewrite !total_plus, !total_times. change (fun a => p a) with p.
        change (fun a => p a * w a) with (fun j => p j * w j). rewrite ED. ring.
      - intros j _. unfold v, y, backward_sums.y. fold Delta. rewrite Ee. ring. }
    rewrite EV. assert (Q1 : Rabs (total (fun j => p j * (xi j - (w j - W j))) keys) <= total (fun j => P_plus j * (N j - N0 j)) keys).
    { eapply Rle_trans; [apply total_abs|]. apply total_below. intros j I. specialize (P0 j I). destruct (HX j I) as (_ & X).
      rewrite Rabs_mult, (Rabs_pos_eq (p j)) by lra. apply Rmult_le_compat; auto using Rabs_pos; lra. }
    assert (SD : Rabs D_0 <= Rabs Delta + e_Delta) by (replace D_0 with (Delta + (D_0 - Delta)) by ring; eapply Rle_trans; [apply Rabs_triang|]; lra).
    assert (Sh : Rabs D_hat <= Rabs Delta + e_Delta) by (replace D_hat with (Delta + e) by (rewrite Ee; ring); eapply Rle_trans; [apply Rabs_triang|]; lra).
    assert (Q2 : Rabs (D_0 * d + n) <= (Rabs Delta + e_Delta) * u_delta + omega_delta).
    { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. apply Rplus_le_compat; [apply Rmult_le_compat; auto using Rabs_pos|easy]. }
    assert (Q3 : Rabs (- D_hat * (total p keys - 1)) <= (Rabs Delta + e_Delta) * c').
    { rewrite Rabs_mult, Rabs_Ropp. apply Rmult_le_compat; auto using Rabs_pos. }
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
    eapply Rle_trans; [apply Rplus_le_compat_r, Rplus_le_compat_r, Rabs_triang|]. rewrite !Rabs_Ropp in *. lra. }
  replace (r - sigma * T) with ((r - sigma * R1) + sigma * ((R1 - (H + mu * V)) + (H - T) + mu * V)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rplus_comm. apply Rplus_le_compat; [|easy]. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. rewrite (Rabs_mult mu).
  assert (Rabs mu * Rabs V <= Rabs mu * (eps_w + total (fun j => P_plus j * (N j - N0 j)) keys + (Rabs Delta + e_Delta) * (c' + u_delta) + omega_delta))
    by (apply Rmult_le_compat_l; [apply Rabs_pos|exact B3]). lra.
Qed.
End Row.
