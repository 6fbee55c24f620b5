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

Theorem clause_D m h p j M (exact E Y : key -> R) top R omega_W Lambda : sane m -> tinies m -> gamma_x m <= / 2 ->
  run m h p -> In j (entries p) -> reference p = Some M ->
  (forall k, In k (keys h) -> Rabs (score k - exact k) <= E k) ->
  (forall k, In k (keys h) -> Rabs (exact k) + E k + tau m <= Y k /\ M <= Y k) ->
  (forall k, In k (keys h) -> reach m (2 * tau m) (Y k) <= Rmin (far m) (x0 m)) ->
  (exists k, In k (keys h) /\ top <= exact k - e_of m (E k) (Y k)) ->
  (forall e, In e (entries p) -> (rescales e <= R)%nat) -> left_over m (Y (of j)) (rescales j) <= omega_W ->
  0 < Lambda <= total weight (entries p) ->
  weight j <= eta m top (exact (of j)) (E (of j)) (Y (of j)) R omega_W Lambda * total weight (entries p).
Proof.
  intros s t G2 H I EM HE HY HX (k & Ik & Top) HR HW (L0 & HL).
  assert (Nn : forall e, In e (entries p) -> 0 <= weight e) by (intros; eapply weight_not_negative; eauto).
  pose proof (gamma_x_pos m s) as G. pose proof (some_tau m s) as T0. pose proof (some_tiny m t) as Ty.
  pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)) as Gc.
  pose proof (log_loss_pos _ (some_eps m s)) as E0. pose proof (lost_pos m s) as Ls.
  assert (W0 : 0 <= omega_W).
  { eapply Rle_trans; [|exact HW]. unfold left_over. apply Rmult_le_pos; [easy|]. left. now apply grows_pos. }
  assert (K0 : forall q, In q (keys h) -> 0 <= kappa m (Y q)).
  { intros q Iq. destruct (HY q Iq) as (B & _). specialize (HE q Iq). pose proof (Rabs_pos (score q - exact q)).
    pose proof (Rabs_pos (exact q)). unfold kappa. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
  assert (Sc : forall q, In q (keys h) -> - Y q + tau m <= exact q - E q <= score q /\ score q <= exact q + E q).
  { intros q Iq. destruct (HY q Iq) as (B & _). specialize (HE q Iq). apply between in HE.
    pose proof (between (exact q) _ (Rle_refl _)). lra. }
  (* the key of the largest computed score: it is at least the reference, and keeps its weight *)
  destruct (largest_score (keys h)) as (q & Iq & Lq); [intros N; rewrite N in Ik; easy|].
  assert (Mq : M <= score q).
  { pose proof (references _ _ _ H) as C. rewrite EM in C. destruct C as (_ & k' & Ik' & Lk'). specialize (Lq k' Ik'). lra. }
  rewrite <- (entries_keys _ _ _ H) in Iq. apply in_map_iff in Iq as (i & <- & Ii).
  pose proof (key_of_entry _ _ _ _ H I) as Ij. pose proof (Lq k Ik) as Lk. pose proof (Sc k Ik) as Sk. pose proof (Sc _ Ij) as Sj.
  assert (Wi : exp ((1 + gamma_x m) * (score (of i) - M) - (2 * gamma_x m * tau m + kappa m (Y k)
                    + (INR R + 1) * (log_loss (eps m) + lost m) + log_loss (u_shared m))) <= total weight (entries p)).
  { eapply Rle_trans; [|apply (total_holds weight (entries p) i Nn Ii)].
    destruct (HY k Ik) as (_ & MY). specialize (HX k Ik). pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)).
    assert (Re : reach m (M - score (of i) + 2 * tau m) (Y k) <= reach m (2 * tau m) (Y k)).
    { unfold reach. apply Rplus_le_compat_r, Rplus_le_compat_r, Rmult_le_compat_l; lra. }
    destruct (signed_weight m h p i M (Y k) s t H Ii EM MY) as [(_ & F)|(a & n & -> & Pa & (D & _) & _ & N0)]; [lra|lra|].
    rewrite N0, Rplus_0_r by lra. rewrite <- (exp_ln a) by easy. apply exp_grows. rewrite S_INR in D.
    assert (INR (rescales i) <= INR R) by (apply le_INR; auto).
    assert ((INR (rescales i) + 1) * (log_loss (eps m) + lost m) <= (INR R + 1) * (log_loss (eps m) + lost m)) by (apply Rmult_le_compat_r; lra). lra. }
  set (S := total weight (entries p)) in *. assert (HS : 0 < S) by lra.
  assert (Far : omega_W <= omega_W / Lambda * S).
  { apply Rle_trans with (omega_W / Lambda * Lambda); [right; field; lra|]. apply Rmult_le_compat_l; [|easy].
    unfold Rdiv. apply Rmult_le_pos; [easy|]. left. now apply Rinv_0_lt_compat. }
  destruct (HY _ Ij) as (_ & MYj). unfold eta. rewrite Rmult_plus_distr_r.
  destruct (signed_weight m h p j M (Y (of j)) s t H I EM MYj) as [(-> & _)|(a & n & -> & Pa & (_ & D) & B & _)]; [lra| |].
  { pose proof (exp_pos (- (1 - gamma_x m) * gap m top (exact (of j)) (E (of j)) (Y (of j)) + eta_plus m R)).
    apply Rle_trans with (0 + 0); [lra|]. apply Rplus_le_compat; [apply Rmult_le_pos; lra|lra]. }
  apply Rplus_le_compat; [|pose proof (Rle_abs n); lra].
  eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply exp_pos|exact Wi]].
  rewrite <- exp_plus, <- (exp_ln a) by easy. apply exp_grows. eapply Rle_trans; [exact D|]. rewrite S_INR.
  assert (INR (rescales j) <= INR R) by (apply le_INR; auto).
  assert ((INR (rescales j) + 1) * (log_loss (eps m) + lost m) <= (INR R + 1) * (log_loss (eps m) + lost m)) by (apply Rmult_le_compat_r; lra).
  (* g <= s^_i - s^_j - (1 + 2 gamma)(kappa_k + kappa_j) *)
  assert (Gp : gap m top (exact (of j)) (E (of j)) (Y (of j)) + (1 + 2 * gamma_x m) * (kappa m (Y k) + kappa m (Y (of j)))
               <= score (of i) - score (of j)) by (unfold gap, e_of in *; lra).
  pose proof (K0 k Ik). pose proof (K0 _ Ij). set (x := kappa m (Y k) + kappa m (Y (of j))) in *.
  assert (Sp : x <= (1 - gamma_x m) * ((1 + 2 * gamma_x m) * x)).
  { assert (0 <= gamma_x m * (1 - 2 * gamma_x m) * x) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|unfold x in *; lra]). lra. }
  assert (Q : (1 - gamma_x m) * (gap m top (exact (of j)) (E (of j)) (Y (of j)) + (1 + 2 * gamma_x m) * x)
              <= (1 - gamma_x m) * (score (of i) - score (of j))) by (apply Rmult_le_compat_l; lra).
  assert (0 <= gamma_x m * (score (of i) - M)) by (apply Rmult_le_pos; lra).
  unfold eta_plus, x in *. lra.
Qed.
