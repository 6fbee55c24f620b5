(* docs/bound_backward.md, the theorem: dQ, dK, dV, and sums of dS, from how a kernel forms each row (backward_row.v) and adds. What
   is known of the weights (A_j) is Lemma 1 or 2; what leaves an operand before its product (nu_j of Lemma 8) is in product_of. *)
From Attest Require Export backward_row backward_dQ.

Section Gradients.
Context {A C : Type} (c : accumulator) (flush u_delta omega_delta theta g_e u_grad omega_grad : R).
Context (A_j T zeta : row A C -> A -> R) (lambda delta : row A C -> R).
Implicit Types r : row A C.
Let e_Delta := @e_Delta_of A C u_delta omega_delta.

(* How a kernel forms the numbers of a row: HB0 to HB4. *)
Record row_computed r := {
  rc_keys : keys_of r <> [];
  rc_weights : given A_j T zeta lambda delta r;
  rc_dP : forall j, In j (keys_of r) -> dP_formed c flush r j;
  rc_delta : delta_formed c flush A_j T zeta lambda r;
  rc_stored : stored_as u_delta omega_delta (Delta_0 r) (Delta_hat r);
  rc_before : forall j, In j (keys_of r) -> before u_delta omega_delta g_e r j (diff_hat r j);
  rc_slope : forall j, In j (keys_of r) -> Rabs (slope_hat r j - slope_of r j) <= kappa_of r j /\ 0 <= slope_of r j /\ Rabs (theta_of r j) <= theta }.
Context (sane : sane_sums c flush u_delta theta).

(* dX^_j before what underflows: the operand of dQ and dK. *)
Definition dX_hat r j := p_hat r j * slope_hat r j * (1 + theta_of r j) * diff_hat r j.
Definition e_of_row r := Delta_hat r - Delta_of r.
Definition xi_of r j := diff_hat r j - y_of r j + e_of_row r.
Definition q_of r psi j := q (pi_of r) (A_j r) (slope_of r) (kappa_of r) psi j.
(* e^X_j of Lemma 8 without nu_j, e^K_ij of Lemma 11. *)
Definition e_K r psi j := q_of r psi j * (Rabs (y_of r j) + e_Delta r) + (pi_of r j * slope_of r j + q_of r psi j) * N_of r j
  + pi_of r j * slope_of r j * e_Delta r.

Lemma dP_of r : row_computed r -> dP_known r.
Proof. intros K j I. now apply (row_dP c flush u_delta theta r j sane), (rc_dP r K). Qed.
Lemma row_facts r : row_computed r -> row_known (keys_of r) (pi_of r) (W_of r) (p_hat r) (w_hat r) (A_j r) (N0_of r) /\
  Rabs (e_of_row r) <= e_Delta r /\ forall j, In j (keys_of r) -> Rabs (xi_of r j) <= N_of r j.
Proof.
  intros K. pose proof (row_is_known c flush u_delta theta A_j T zeta lambda delta r sane (rc_weights r K) (dP_of r K)) as RK.
  pose proof (row_delta c flush u_delta omega_delta theta A_j T zeta lambda delta r sane (rc_keys r K) (rc_weights r K) (dP_of r K) (rc_delta r K) (rc_stored r K)) as D.
  split; [exact RK|]. split; [exact D|]. intros j I.
  pose proof (row_before u_delta omega_delta g_e r j (diff_hat r j) (dP_of r K j I) D (rc_before r K j I)) as B.
  unfold xi_of, e_of_row. replace (diff_hat r j - y_of r j + (Delta_hat r - Delta_of r)) with (diff_hat r j - (y_of r j - (Delta_hat r - Delta_of r))) by ring. exact B.
Qed.

(* One dX^ with a factor w of roundings behind it. *)
Lemma dX_near r j psi w : row_computed r -> In j (keys_of r) -> 0 <= psi -> Rabs ((1 + theta_of r j) * w - 1) <= psi ->
  Rabs (dX_hat r j * w - dX_of_row r j) <= e_K r psi j.
Proof.
  intros K I P0 Hw. destruct (row_facts r K) as (RK & He & HX).
  assert (PK : product_known (keys_of r) (p_hat r) (slope_of r) (kappa_of r) (N_of r) psi (e_of_row r) (e_Delta r) (fun i => p_hat r i * slope_hat r i * ((1 + theta_of r j) * w)) (xi_of r)).
  { constructor; auto; try (intros i Ii; apply (rc_slope r K i Ii)). intros i Ii. exists (slope_hat r i), ((1 + theta_of r j) * w - 1).
    split; [ring|]. split; [apply (rc_slope r K i Ii)|easy]. }
  pose proof (B8_dS (keys_of r) (pi_of r) (W_of r) (p_hat r) (w_hat r) (A_j r) (N0_of r) (slope_of r) (kappa_of r) (N_of r) psi (e_of_row r) (e_Delta r) _ (xi_of r)
    0 0 (dX_hat r j * w) j RK PK I) as B. fold (y_of r j) in B.
  rewrite Rabs_R0, Rplus_0_r in B. unfold e_K, q_of, dX_of_row. rewrite <- Rplus_0_r. apply B; [|lra]. unfold dX_hat, xi_of. ring.
Qed.

Lemma product_same (x x' k leaf nu : A -> R) b : x b = x' b -> product_of c x k leaf nu flush b -> product_of c x' k leaf nu flush b.
Proof. intros E (f & n0 & h & d & n & H). exists f, n0, h, d, n. now rewrite <- E. Qed.

(* dQ_t, stored: psi is psi_Q. (Lemma 10 (a); U_t is terms_lose, with lost behind the scale.) *)
Definition bound_dQ r k sigma psi nu size s lost := Rabs sigma *
  (total (fun j => (q_of r psi j * (Rabs (y_of r j) + e_Delta r) + (pi_of r j * slope_of r j + q_of r psi j) * N_of r j) * Rabs (k j)) (keys_of r)
   + e_Delta r * Rabs (total (fun j => pi_of r j * slope_of r j * k j) (keys_of r)) + (1 + psi) * terms_lose (keys_of r) c k nu size flush s) + lost.
Definition dQ_of r k sigma := sigma * total (fun j => dX_of_row r j * k j) (keys_of r).
Theorem theorem_dQ r k leaf nu size s z sigma f t n lost psi dQ dQ_hat : row_computed r ->
  (forall j, In j (keys_of r) -> 0 <= nu j /\ Rabs (dX_hat r j) + nu j <= size j /\ product_of c (dX_hat r) k leaf nu flush j) ->
  (1 + theta) * ((1 + u_acc c) * growth c s * f) <= 1 + psi -> Rabs t <= f - 1 -> Rabs n <= lost ->
  Permutation (keys_of r) (terms s) -> gathered c leaf s z -> dQ = sigma * (z * (1 + t)) + n ->
  0 <= u_grad -> stored_as u_grad omega_grad dQ dQ_hat ->
  Rabs (dQ_hat - dQ_of r k sigma) <= bound_dQ r k sigma psi nu size s lost * (1 + u_grad) + u_grad * Rabs (dQ_of r k sigma) + omega_grad.
Proof.
  intros K HX Psi Ht Hn Pm H Ed Ug St. destruct (row_facts r K) as (RK & He & HXi). destruct (g_acc _ _ _ _ sane) as (Ac & _ & Fl).
  apply (B13_stored _ _ dQ dQ_hat u_grad omega_grad Ug); [|exact St]. unfold dQ_of, bound_dQ.
  assert (Eq : forall j, dX_hat r j = dX_of (keys_of r) (pi_of r) (W_of r) (p_hat r) (slope_hat r) (xi_of r) (theta_of r) (e_of_row r) j).
  { intros j. unfold dX_hat, dX_of, xi_of, y_of. ring. }
  apply (B10_a (keys_of r) (pi_of r) (W_of r) (p_hat r) (w_hat r) (A_j r) (N0_of r) (slope_of r) (slope_hat r) (kappa_of r) (xi_of r) (N_of r) (theta_of r) k leaf nu size
    (e_of_row r) (e_Delta r) theta psi c flush s z sigma f t n dQ lost); auto; try lra.
  - intros j I. destruct (rc_slope r K j I) as (S1 & S2 & S3). auto.
  - intros j I. destruct (HX j I) as (N0 & Sz & P). rewrite <- Eq. split; [easy|]. split; [easy|]. now apply (product_same (dX_hat r)).
  - apply (g_theta _ _ _ _ sane).
Qed.

(* dK_t of one key: over rows, of each of which it is the key key_of. psi_s are the roundings of the sum, psi is psi_K. *)
Section Column.
Context (rows : list (row A C)) (key_of : row A C -> A) (of_rows : forall r, In r rows -> row_computed r /\ In (key_of r) (keys_of r)).

Definition dK_of (q_t : row A C -> R) sigma := sigma * total (fun r => dX_of_row r (key_of r) * q_t r) rows.
Definition bound_dK (q_t : row A C -> R) sigma psi_s psi nu size s lost := Rabs sigma *
  (total (fun r => e_K r psi (key_of r) * Rabs (q_t r)) rows + (1 + psi_s) * terms_lose rows c q_t nu size flush s) + lost.
Theorem theorem_dK q_t leaf nu size s z sigma f t n lost psi_s psi dK dK_hat :
  (forall r, In r rows -> 0 <= nu r /\ Rabs (dX_hat r (key_of r)) + nu r <= size r /\ product_of c (fun r => dX_hat r (key_of r)) q_t leaf nu flush r) ->
  (1 + u_acc c) * growth c s * f <= 1 + psi_s -> (1 + theta) * (1 + psi_s) <= 1 + psi -> 0 <= psi_s -> Rabs t <= f - 1 -> Rabs n <= lost ->
  Permutation rows (terms s) -> gathered c leaf s z -> dK = sigma * (z * (1 + t)) + n -> 0 <= u_grad -> stored_as u_grad omega_grad dK dK_hat ->
  Rabs (dK_hat - dK_of q_t sigma) <= bound_dK q_t sigma psi_s psi nu size s lost * (1 + u_grad) + u_grad * Rabs (dK_of q_t sigma) + omega_grad.
Proof.
  intros HX Ps Psi P0 Ht Hn Pm H Ed Ug St. destruct (g_acc _ _ _ _ sane) as (Ac & _ & Fl). pose proof (g_theta _ _ _ _ sane) as T0.
  apply (B13_stored _ _ dK dK_hat u_grad omega_grad Ug); [|exact St].
  apply (B11_dK rows c (fun r => dX_hat r (key_of r)) q_t (fun r => dX_of_row r (key_of r)) (fun r => e_K r psi (key_of r)) leaf nu size flush s z psi_s sigma f t n dK lost); auto; try lra.
  intros r w I Hw. destruct (of_rows r I) as (K & Ik). assert (Hpsi : 0 <= psi) by nra. apply dX_near; auto.
  destruct (rc_slope r K _ Ik) as (_ & _ & Th). rewrite Rmult_comm.
  eapply Rle_trans; [apply (one_more theta (1 + psi_s) w (theta_of r (key_of r))); auto; lra|]. lra.
Qed.

(* dV_c of one key: the sum of p D dO. psi is psi_V. *)
Definition dV_of col := total (fun r => pi_of r (key_of r) * drop_of r (key_of r) * dO_of r col) rows.
Definition bound_dV col psi nu size s := total (fun r => drop_of r (key_of r) * (A_j r (key_of r) * (1 + psi) + psi * pi_of r (key_of r)) * Rabs (dO_of r col)) rows
  + (1 + psi) * terms_lose rows c (fun r => dO_of r col) nu size flush s.
Theorem theorem_dV col leaf nu size s z psi dV_hat :
  (forall r, In r rows -> 0 <= drop_of r (key_of r) /\ 0 <= nu r /\ Rabs (p_hat r (key_of r) * drop_of r (key_of r)) + nu r <= size r /\
    product_of c (fun r => p_hat r (key_of r) * drop_of r (key_of r)) (fun r => dO_of r col) leaf nu flush r) ->
  0 <= psi -> (1 + u_acc c) * growth c s <= 1 + psi -> Permutation rows (terms s) -> gathered c leaf s z ->
  0 <= u_grad -> stored_as u_grad omega_grad z dV_hat ->
  Rabs (dV_hat - dV_of col) <= bound_dV col psi nu size s * (1 + u_grad) + u_grad * Rabs (dV_of col) + omega_grad.
Proof.
  intros HX P0 Psi Pm H Ug St. destruct (g_acc _ _ _ _ sane) as (Ac & _ & Fl).
  apply (B13_stored _ _ z dV_hat u_grad omega_grad Ug); [|exact St].
  apply (B9_dV rows c (fun r => p_hat r (key_of r)) (fun r => drop_of r (key_of r)) (fun r => dO_of r col) (fun r => pi_of r (key_of r)) (fun r => A_j r (key_of r)) leaf nu size flush s z psi);
    auto; try lra; intros r I; destruct (HX r I) as (D0 & N0 & Sz & P); [|auto].
  destruct (of_rows r I) as (K & Ik). destruct (row_facts r K) as (RK & _). destruct (weights_near _ _ _ _ _ _ _ RK _ Ik) as (_ & W).
  split; [apply pi_pos|]. split; [exact W|exact D0].
Qed.
End Column.

(* dBias and dSink: sums of dS^, where no slope enters. A place is a row and a key of it. *)
Definition dS_of (b : row A C * A) := pi_of (fst b) (snd b) * y_of (fst b) (snd b).
Definition e_S (nu : row A C * A -> R) b := e_K (fst b) theta (snd b) + nu b.
Theorem theorem_dBias (places : list (row A C * A)) dS_hat nu k s z dB_hat :
  (forall b, In b places -> row_computed (fst b) /\ In (snd b) (keys_of (fst b)) /\ slope_of (fst b) (snd b) = 1 /\
    exists n, Rabs n <= nu b /\ dS_hat b = dX_hat (fst b) (snd b) + n) ->
  Permutation places (terms s) -> stores s = O -> gathered c dS_hat s z -> (adds s <= k)%nat -> INR k * u_acc c < 1 -> gamma k (u_acc c) <= 1 ->
  0 <= u_grad -> stored_as u_grad omega_grad z dB_hat ->
  Rabs (dB_hat - total dS_of places) <= (total (e_S nu) places * (1 + gamma k (u_acc c)) + gamma k (u_acc c) * total (fun b => Rabs (dS_of b)) places
    + 2 * INR k * omega_acc c) * (1 + u_grad) + u_grad * Rabs (total dS_of places) + omega_grad.
Proof.
  intros HB Pm St H Hk Few G1 Ug Sd. destruct (g_acc _ _ _ _ sane) as (Ac & _). pose proof (g_theta _ _ _ _ sane) as T0.
  apply (B13_stored _ _ z dB_hat u_grad omega_grad Ug); [|exact Sd].
  apply (B13_sum places c dS_of dS_hat (e_S nu) k s z); auto. intros b I. destruct (HB b I) as (K & Ik & Sl & n & Hn & ->).
  destruct (rc_slope _ K _ Ik) as (_ & _ & Th).
  assert (W1 : Rabs ((1 + theta_of (fst b) (snd b)) * 1 - 1) <= theta) by (replace ((1 + theta_of (fst b) (snd b)) * 1 - 1) with (theta_of (fst b) (snd b)) by ring; easy).
  pose proof (dX_near (fst b) (snd b) theta 1 K Ik T0 W1) as D. unfold dX_of_row in D. rewrite Sl, !Rmult_1_r in D. fold (dS_of b) in D.
  replace (dX_hat (fst b) (snd b) + n - dS_of b) with ((dX_hat (fst b) (snd b) - dS_of b) + n) by ring. eapply Rle_trans; [apply Rabs_triang|]. unfold e_S. lra.
Qed.
End Gradients.
