(* Clause D (dominance): the share of a key far below the largest computed score, whatever the errors are. *)
From Attest Require Export lemma_3_far.

(* e_j and g_j of section 3; top is at most max_i (s_i - e_i). *)
Definition e_of m E Y := E + (1 + 2 * gamma_x m) * kappa m Y.
Definition gap m top exact E Y := top - (exact + e_of m E Y).
(* 4 gamma tau: both keys may exceed the references of their blocks by tau, where lazy parts are merged raw. *)
Definition eta_plus m n := 4 * gamma_x m * tau m + 2 * (INR n + 1) * (log_loss (eps m) + lost m) + 2 * log_loss (u_shared m).
Definition eta m top exact E Y n omega_W Lambda := exp (- (1 - gamma_x m) * gap m top exact E Y + eta_plus m n) + omega_W / Lambda.

Lemma largest_score ks : ks <> [] -> exists i, In i ks /\ forall k, In k ks -> score k <= score i.
Proof.
  induction ks as [|k ks IH]; intros N; [easy|]. destruct ks as [|k' ks].
  - exists k. split; [now left|]. intros i [<-|[]]. lra.
  - destruct IH as (i & I & L); [easy|]. destruct (Rle_dec (score i) (score k)).
    + exists k. split; [now left|]. intros j [<-|J]; [lra|]. specialize (L j J). lra.
    + exists i. split; [now right|]. intros j [<-|J]; [lra|]. now apply L.
Qed.

(* What a weight is at most, with the signs of its roundings: also one that is formed again from the same score. *)
Definition at_most_weight m M k Y R omega_W w := w <=
  exp ((1 - gamma_x m) * (score k - M) + (2 * gamma_x m * tau m + kappa m Y + (INR R + 1) * (log_loss (eps m) + lost m)
       + log_loss (u_shared m))) + omega_W.

Section Clause_D.
Context (m : model) (h : history) (p : part) (M : R) (exact E Y : key -> R) (masked : key -> bool) (top Lambda : R) (R_max : nat).

(* Of masked keys (H5) nothing but the size of Y is asked: the largest score is that of a key that is not masked, or larger. *)

Record row_extremes := {
  sane_model : sane m; small_tinies : tinies m; gamma_small : gamma_x m <= / 2; the_reference : reference p = Some M;
  score_errors : forall k, In k (keys h) -> Rabs (score k - exact k) <= E k;
  reference_sizes : forall k, In k (keys h) -> masked k = false -> Rabs (exact k) + E k + tau m <= Y k /\ M <= Y k;
  masked_sizes : forall k, In k (keys h) -> masked k = true -> 0 <= Y k;
  largest_is_near : forall k, In k (keys h) -> masked k = false -> reach m (2 * tau m) (Y k) <= Rmin (far m) (x0 m);
  top_attained : exists k, In k (keys h) /\ masked k = false /\ top <= exact k - e_of m (E k) (Y k);
  few_rescales : forall e, In e (entries p) -> (rescales e <= R_max)%nat;
  Lambda_below : 0 < Lambda <= total weight (entries p) }.

Lemma kappa_not_negative k : row_extremes -> In k (keys h) -> 0 <= kappa m (Y k).
Proof.
  intros K I. pose proof (sane_model K) as s. pose proof (gamma_x_pos m s). pose proof (some_tau m s).
  pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)).
  assert (0 <= Y k).
  { destruct (masked k) eqn:B; [now apply (masked_sizes K)|]. destruct (reference_sizes K k I B) as (S & _).
    pose proof (score_errors K k I) as HE. pose proof (Rabs_pos (score k - exact k)). pose proof (Rabs_pos (exact k)). lra. }
  unfold kappa. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
Qed.

(* The largest computed score is at least the reference; its key keeps a weight that no other key's kappa exceeds. *)
Lemma largest_exists : run m h p -> row_extremes -> exists i, In i (keys h) /\ M <= score i /\ (forall k, In k (keys h) -> score k <= score i) /\
  forall Y0, M <= Y0 -> - Y0 <= score i - tau m -> reach m (2 * tau m) Y0 <= Rmin (far m) (x0 m) ->
  exp ((1 + gamma_x m) * (score i - M) - (2 * gamma_x m * tau m + kappa m Y0
       + (INR R_max + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m))) <= total weight (entries p).
Proof.
  intros H K. pose proof (sane_model K) as s. pose proof (gamma_x_pos m s) as G. pose proof (some_tau m s) as T0.
  pose proof (log_loss_pos _ (some_eps m s)) as E0. pose proof (lost_pos m s) as Ls. pose proof (the_reference K) as EM.
  assert (Nn : forall e, In e (entries p) -> 0 <= weight e) by (intros; eapply weight_not_negative; eauto).
  pose proof (references _ _ _ H) as C. rewrite EM in C. destruct C as (_ & k' & Ik' & Lk').
  destruct (largest_score (keys h)) as (q & Iq & Lq); [intros N; rewrite N in Ik'; easy|].
  assert (Mq : M <= score q) by (specialize (Lq k' Ik'); lra).
  exists q. repeat split; auto. intros Y0 MY HY HX. rewrite <- (entries_keys _ _ _ H) in Iq.
  apply in_map_iff in Iq as (i & <- & Ii). eapply Rle_trans; [|apply (total_holds weight (entries p) i Nn Ii)].
  pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)).
  assert (Re : reach m (M - score (of i) + 2 * tau m) Y0 <= reach m (2 * tau m) Y0).
  { unfold reach. apply Rplus_le_compat_r, Rplus_le_compat_r, Rmult_le_compat_l; lra. }
  pose proof (begun_above m h p i H Ii).
  destruct (signed_weight m h p i M Y0 s (small_tinies K) H Ii EM MY) as [(_ & F)|(a & n & -> & Pa & (D & _) & _ & N0)]; [lra|lra|].
  rewrite N0, Rplus_0_r by lra. rewrite <- (exp_ln a) by easy. apply exp_grows. rewrite S_INR in D.
  assert (INR (rescales i) <= INR R_max) by (apply le_INR, (few_rescales K i Ii)).
  assert ((INR (rescales i) + 1) * (log_loss (eps m) + lost m) <= (INR R_max + 1) * (log_loss (eps m) + lost m)) by (apply Rmult_le_compat_r; lra). lra.
Qed.
Lemma largest_keeps k : run m h p -> row_extremes -> In k (keys h) -> masked k = false -> exists i, In i (keys h) /\ M <= score i /\ score k <= score i /\
  exp ((1 + gamma_x m) * (score i - M) - (2 * gamma_x m * tau m + kappa m (Y k)
       + (INR R_max + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m))) <= total weight (entries p).
Proof.
  intros H K Ik Mk. destruct (largest_exists H K) as (i & Ii & Mi & Li & Wi). exists i. repeat split; auto.
  destruct (reference_sizes K k Ik Mk) as (B & MY). pose proof (score_errors K k Ik) as HE. apply between in HE.
  pose proof (between (exact k) _ (Rle_refl _)). specialize (Li k Ik). apply Wi; auto; [lra|now apply (largest_is_near K)].
Qed.

Lemma beside_Lambda x : row_extremes -> 0 <= x -> x <= x / Lambda * total weight (entries p).
Proof.
  intros K Hx. destruct (Lambda_below K) as (L0 & HL). apply Rle_trans with (x / Lambda * Lambda); [right; field; lra|].
  apply Rmult_le_compat_l; [|easy]. unfold Rdiv. apply Rmult_le_pos; [easy|]. left. now apply Rinv_0_lt_compat.
Qed.

Theorem dominated k omega_W w : run m h p -> row_extremes -> In k (keys h) -> 0 <= omega_W -> at_most_weight m M k (Y k) R_max omega_W w ->
  w <= eta m top (exact k) (E k) (Y k) R_max omega_W Lambda * total weight (entries p).
Proof.
  intros H K Ij W0 Hw. pose proof (sane_model K) as s. pose proof (gamma_x_pos m s) as G. pose proof (gamma_small K) as G2.
  destruct (top_attained K) as (q & Iq & Mq & Top). destruct (largest_keeps q H K Iq Mq) as (i & _ & Mi & Li & Wi).
  eapply Rle_trans; [exact Hw|]. unfold eta. rewrite (Rmult_plus_distr_r (exp _) (omega_W / Lambda)).
  apply Rplus_le_compat; [|now apply beside_Lambda].
  eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|exact Wi]]. rewrite <- exp_plus. apply exp_grows.
  pose proof (score_errors K k Ij) as Ej. pose proof (score_errors K q Iq) as Eq. apply between in Ej, Eq.
  (* g <= s^_i - s^_k - (1 + 2 gamma)(kappa_q + kappa_k) *)
  assert (Gp : gap m top (exact k) (E k) (Y k) + (1 + 2 * gamma_x m) * (kappa m (Y q) + kappa m (Y k)) <= score i - score k)
    by (unfold gap, e_of in *; lra).
  pose proof (kappa_not_negative q K Iq). pose proof (kappa_not_negative k K Ij). set (x := kappa m (Y q) + kappa m (Y k)) in *.
  assert (Sp : x <= (1 - gamma_x m) * ((1 + 2 * gamma_x m) * x)).
  { assert (0 <= gamma_x m * (1 - 2 * gamma_x m) * x) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|unfold x in *; lra]). lra. }
  assert (Q : (1 - gamma_x m) * (gap m top (exact k) (E k) (Y k) + (1 + 2 * gamma_x m) * x)
              <= (1 - gamma_x m) * (score i - score k)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= gamma_x m * (score i - M)) by (apply Rmult_le_pos; lra).
  unfold eta_plus, x in *. lra.
Qed.

(* On J: a weight that is formed again may exceed the sum, by what both have of roundings. *)
Theorem formed_again k omega_W w : run m h p -> row_extremes -> In k (keys h) -> masked k = false -> 0 <= omega_W -> at_most_weight m M k (Y k) R_max omega_W w ->
  w <= (exp (eta_plus m R_max + 2 * kappa m (Y k)) + omega_W / Lambda) * total weight (entries p).
Proof.
  intros H K Ij Mj W0 Hw. pose proof (sane_model K) as s. pose proof (gamma_x_pos m s) as G. pose proof (gamma_small K) as G2.
  destruct (largest_keeps k H K Ij Mj) as (i & _ & Mi & Li & Wi). eapply Rle_trans; [exact Hw|].
  rewrite (Rmult_plus_distr_r (exp _) (omega_W / Lambda)).
  apply Rplus_le_compat; [|now apply beside_Lambda].
  eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|exact Wi]]. rewrite <- exp_plus. apply exp_grows.
  assert ((1 - gamma_x m) * (score k - M) <= (1 - gamma_x m) * (score i - M)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= gamma_x m * (score i - M)) by (apply Rmult_le_pos; lra). unfold eta_plus. lra.
Qed.

(* A weight of a run is such a one, with any Y that bounds the reference of its block. *)
Lemma weight_at_most j Y_j omega_W : run m h p -> row_extremes -> In j (entries p) -> left_over m Y_j (rescales j) <= omega_W ->
  M <= Y_j -> - Y_j <= begun (of j) (path j) -> at_most_weight m M (of j) Y_j R_max omega_W (weight j).
Proof.
  intros H K I HW MY HB. pose proof (sane_model K) as s. unfold at_most_weight.
  pose proof (log_loss_pos _ (some_eps m s)) as E0. pose proof (lost_pos m s) as Ls.
  destruct (signed_weight m h p j M Y_j s (small_tinies K) H I (the_reference K) MY HB) as [(-> & _)|(a & n & -> & Pa & (_ & D) & F & _)].
  { pose proof (exp_pos ((1 - gamma_x m) * (score (of j) - M) + (2 * gamma_x m * tau m + kappa m Y_j + (INR R_max + 1) * (log_loss (eps m) + lost m)
       + log_loss (u_shared m)))). assert (0 <= left_over m Y_j (rescales j)); [|lra]. unfold left_over.
    apply Rmult_le_pos; [apply (small_tinies K)|left; now apply grows_pos]. }
  pose proof (Rle_abs n). apply Rplus_le_compat; [|lra]. rewrite <- (exp_ln a) by easy. apply exp_grows. eapply Rle_trans; [exact D|].
  rewrite S_INR. assert (INR (rescales j) <= INR R_max) by (apply le_INR, (few_rescales K j I)).
  assert ((INR (rescales j) + 1) * (log_loss (eps m) + lost m) <= (INR R_max + 1) * (log_loss (eps m) + lost m)) by (apply Rmult_le_compat_r; lra). lra.
Qed.
Lemma left_over_pos Y_j n omega_W : row_extremes -> left_over m Y_j n <= omega_W -> 0 <= omega_W.
Proof.
  intros K HW. eapply Rle_trans; [|exact HW]. unfold left_over. apply Rmult_le_pos; [apply (small_tinies K)|]. left. apply grows_pos, (sane_model K).
Qed.

Theorem clause_D j omega_W : run m h p -> row_extremes -> In j (entries p) -> masked (of j) = false -> left_over m (Y (of j)) (rescales j) <= omega_W ->
  weight j <= eta m top (exact (of j)) (E (of j)) (Y (of j)) R_max omega_W Lambda * total weight (entries p).
Proof.
  intros H K I Mj HW. pose proof (key_of_entry _ _ _ _ H I) as Ij. pose proof (left_over_pos _ _ _ K HW) as W0.
  apply dominated; auto. destruct (reference_sizes K _ Ij Mj) as (B & MY). pose proof (score_errors K _ Ij) as HE. apply between in HE.
  pose proof (between (exact (of j)) _ (Rle_refl _)). pose proof (begun_above m h p j H I). apply weight_at_most; auto. lra.
Qed.
End Clause_D.
