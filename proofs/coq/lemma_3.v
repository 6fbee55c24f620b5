(* Lemma 3 (weights): W_j = C e^{s_j}(1 + delta_j) with |ln(1 + delta_j)| <= z_j, for a key that is neither far nor flushed. *)
From Attest Require Export lemma_2.

Record sane m := Sane {
  some_u : 0 <= u m; some_omega : 0 <= omega m; some_eps : 0 <= eps m < 1; some_tau : 0 <= tau m;
  some_shared : 0 <= u_shared m < 1; few_roundings : INR (k_x m) * u m < 1; few_shared : INR (c_m m) * u m < 1 }.

Definition gamma_x m := gamma (k_x m) (u m).
Definition log_loss e := - ln (1 - e).                                   (* eps^ and u_p^ of section 3 *)
Definition kappa m Y := gamma (c_m m) (u m) * (1 + gamma_x m) * Y.

(* --- how a weight is made ------------------------------------------------------------------------------------------------- *)

Inductive made m k : R -> R -> list R -> Prop :=
  | made_first M c x p d : Rabs c <= gamma (c_m m) (u m) * Rabs M -> argument m (score k - M + c) x -> exps m x p ->
      Rabs d <= u_shared m -> score k - tau m <= M -> made m k M (p * (1 + d)) [score k - M]
  | made_rescaled M M' w l x r : made m k M w l -> M <= M' -> argument m (M - M') x -> exps m x r ->
      made m k M' (w * r) (M - M' :: l).

Lemma made_through m h p M f e : run m h p -> factor m (reference p) M f -> In e (entries p) ->
  (forall x y, reference p = Some x -> M = Some y -> x <= y) -> (reference p <> None -> M <> None) ->
  (exists M0, reference p = Some M0 /\ made m (of e) M0 (weight e) (path e)) ->
  exists M1, M = Some M1 /\ made m (of (through f e)) M1 (weight (through f e)) (path (through f e)).
Proof.
  intros H F I Up Ex (M0 & E0 & Md). rewrite through_of. destruct f as [[a r]|]; simpl.
  - destruct F as (y & z & x & Ey & Ez & -> & _ & A & X). exists z. split; [easy|].
    assert (y = M0) by congruence. subst y. apply (made_rescaled m (of e) M0 z (weight e) (path e) x r); auto.
  - destruct F as [F|(F & _)]; [congruence|]. exists M0. split; [congruence|easy].
Qed.

Lemma entries_made m h p e : run m h p -> In e (entries p) ->
  exists M, reference p = Some M /\ made m (of e) M (weight e) (path e).
Proof.
  intros H. revert e.
  induction H as [|h b p M f es l O H IH Mv F W _ _|a b p q f g l O Ha IHa Hb IHb F G _ _]; simpl; intros e I; [easy| |];
    apply in_app_iff in I as [I|I].
  - apply in_map_iff in I as (e' & <- & I). apply (made_through m h p M f e'); auto; unfold moves in Mv.
    + intros x y Ex Ey. rewrite Ex, Ey in Mv. destruct Mv as (_ & [->|(L & _)]); lra.
    + intros N. destruct (reference p), M; easy.
  - assert (Cov : forall y, M = Some y -> covers m y (visible b)).
    { intros y ->. unfold moves in Mv. destruct (reference p); now destruct Mv. }
    clear -W I Cov. induction W as [|k e' ks es Wk _ IH]; simpl in *; [easy|]. destruct I as [<-|I].
    + destruct Wk as (y & c & x & q & d & -> & Hc & A & X & Hd & ->). exists y. split; [easy|].
      apply (made_first m k y c x q d); auto. apply (Cov y eq_refl). now left.
    + apply IH; auto. intros y Ey k' Ik'. apply (Cov y Ey). now right.
  - apply in_map_iff in I as (e' & <- & I). apply (made_through m a p _ f e'); auto; unfold common.
    + intros x y Ex. rewrite Ex. destruct (reference q); intros Ey; inversion Ey; [apply Rmax_l|lra].
    + destruct (reference p), (reference q); easy.
  - apply in_map_iff in I as (e' & <- & I). apply (made_through m b q _ g e'); auto; unfold common.
    + intros x y Ex. rewrite Ex. destruct (reference p); intros Ey; inversion Ey; [apply Rmax_r|lra].
    + destruct (reference p), (reference q); easy.
Qed.

(* --- arguments: they telescope, and only the first may be positive, by tau ------------------------------------------------- *)

Definition sizes l := total Rabs l.
Lemma made_covers m k M w l : made m k M w l -> score k - tau m <= M.
Proof. induction 1; lra. Qed.
Lemma sizes_below m k M w l : 0 <= tau m -> made m k M w l -> sizes l <= M - score k + 2 * tau m.
Proof.
  intros T. unfold sizes. induction 1; simpl; [|rewrite Rabs_left1 by lra; lra].
  unfold Rabs. destruct (Rcase_abs _); lra.
Qed.

(* --- factors ---------------------------------------------------------------------------------------------------------------- *)

Lemma log_near e eps : 0 <= eps < 1 -> Rabs e <= eps -> 0 < 1 + e /\ Rabs (ln (1 + e)) <= log_loss eps.
Proof.
  intros He H. apply between in H. split; [lra|]. unfold log_loss. apply abs_below. split.
  - rewrite Ropp_involutive. apply log_grows; lra.
  - rewrite <- ln_Rinv by lra. apply log_grows; [lra|]. apply Rmult_le_reg_r with (1 - eps); [lra|].
    rewrite Rinv_l by lra. nra.
Qed.
Lemma log_loss_pos e : 0 <= e < 1 -> 0 <= log_loss e.
Proof. intros H. destruct (log_near 0 e H) as (_ & L); [rewrite Rabs_R0; lra|]. pose proof (Rabs_pos (ln (1 + 0))). lra. Qed.
Lemma lost_pos m : sane m -> 0 <= lost m.
Proof.
  intros s. unfold lost. destruct (_ || _)%bool; [|lra]. apply Rmult_le_pos; [apply pos_INR|apply s].
Qed.
Lemma gamma_x_pos m : sane m -> 0 <= gamma_x m.
Proof. intros s. apply gamma_pos; apply s. Qed.

Lemma one_factor m a c x r : sane m -> argument m (a + c) x -> exps m x r ->
  (1 + gamma_x m) * (Rabs a + Rabs c) + lost m <= Rmin (far m) (x0 m) ->
  0 < r /\ Rabs (ln r - a) <= gamma_x m * Rabs a + (1 + gamma_x m) * Rabs c + lost m + log_loss (eps m).
Proof.
  intros s (t & n & Ht & Hn & Ex) (_ & X) Hf. pose proof (gamma_x_pos m s) as G. fold (gamma_x m) in Ht.
  assert (Dx : Rabs (x - a) <= gamma_x m * Rabs a + (1 + gamma_x m) * Rabs c + lost m).
  { rewrite Ex. replace ((a + c) * (1 + t) + n - a) with (a * t + c * (1 + t) + n) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. rewrite !Rabs_mult.
    assert (Rabs (1 + t) <= 1 + gamma_x m) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    assert (Rabs a * Rabs t <= Rabs a * gamma_x m) by (apply Rmult_le_compat_l; auto using Rabs_pos).
    assert (Rabs c * Rabs (1 + t) <= Rabs c * (1 + gamma_x m)) by (apply Rmult_le_compat_l; auto using Rabs_pos). lra. }
  assert (Ha : - Rabs a <= a) by (pose proof (between a _ (Rle_refl _)); lra).
  pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)). apply between in Dx as D.
  assert (Lx : - ((1 + gamma_x m) * (Rabs a + Rabs c) + lost m) <= x) by (revert D Ha; clear; intros; lra).
  destruct X as [(L & _)|(e & z & He & _ & Hz & ->)]; [lra|].
  rewrite Hz, Rplus_0_r by lra. destruct (log_near e (eps m) (some_eps m s) He) as (P & Le).
  split; [apply Rmult_lt_0_compat; [apply exp_pos|easy]|].
  rewrite ln_mult, ln_exp by (auto using exp_pos).
  replace (x + ln (1 + e) - a) with ((x - a) + ln (1 + e)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* --- the lemma ---------------------------------------------------------------------------------------------------------------- *)

(* X^: a bound of the size of every argument. It holds the one loss of a rounded argument, beside section 3. *)
Definition reach m X Y := (1 + gamma_x m) * X + kappa m Y + lost m.

Lemma made_weight m k M w l Y : sane m -> made m k M w l -> M <= Y -> - Y <= score k - tau m ->
  reach m (M - score k + 2 * tau m) Y <= Rmin (far m) (x0 m) ->
  0 < w /\ Rabs (ln w - (score k - M)) <= gamma_x m * sizes l + kappa m Y +
                                           INR (length l) * (log_loss (eps m) + lost m) + log_loss (u_shared m).
Proof.
  intros s H. pose proof (gamma_x_pos m s) as G. pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)) as Gc.
  pose proof (lost_pos m s). pose proof (some_tau m s). pose proof (log_loss_pos _ (some_eps m s)).
  induction H as [M c x p d Hc A X Hd C|M M' w l x r Hm IH L A X]; intros HM HY HX; unfold reach in HX.
  - assert (Sz : Rabs (score k - M) <= M - score k + 2 * tau m) by (unfold Rabs; destruct (Rcase_abs _); lra).
    assert (K : (1 + gamma_x m) * Rabs c <= kappa m Y).
    { unfold kappa. rewrite (Rmult_comm (gamma (c_m m) (u m))), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
      eapply Rle_trans; [exact Hc|]. apply Rmult_le_compat_l; [easy|]. apply abs_below. lra. }
    destruct (one_factor m (score k - M) c x p s A X) as (P & D); [nra|].
    destruct (log_near d (u_shared m) (some_shared m s) Hd) as (Pd & Dd).
    split; [now apply Rmult_lt_0_compat|]. rewrite ln_mult by easy.
    replace (ln p + ln (1 + d) - (score k - M)) with ((ln p - (score k - M)) + ln (1 + d)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. unfold sizes. simpl. lra.
  - pose proof (made_covers _ _ _ _ _ Hm). assert (K0 : 0 <= kappa m Y).
    { unfold kappa. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    destruct IH as (P & D); [lra|easy|unfold reach; nra|].
    assert (A0 : argument m (M - M' + 0) x) by (now rewrite Rplus_0_r).
    destruct (one_factor m (M - M') 0 x r s A0 X) as (Pr & Dr); [rewrite Rabs_R0, (Rabs_left1 (M - M')) by lra; nra|].
    rewrite Rabs_R0 in Dr. split; [now apply Rmult_lt_0_compat|]. rewrite ln_mult by easy.
    replace (ln w + ln r - (score k - M')) with ((ln w - (score k - M)) + (ln r - (M - M'))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. unfold sizes in *. simpl total. simpl length. rewrite S_INR. lra.
Qed.

(* z_j of section 3, of its parts: E, X, Y and the number of rescales. (No merge by LSE: mu = 0.) *)
Definition z_of m E X Y n := E + gamma_x m * X + kappa m Y + (INR n + 1) * log_loss (eps m) + log_loss (u_shared m)
                             + (INR n + 1) * lost m.

Theorem lemma_3 m h p e M s E X Y : sane m -> run m h p -> In e (entries p) -> reference p = Some M ->
  Rabs (score (of e) - s) <= E -> M - s + E + 2 * tau m <= X -> Rabs s + E + tau m <= Y -> M <= Y ->
  reach m X Y <= Rmin (far m) (x0 m) ->
  0 < weight e /\ Rabs (ln (weight e) - (s - M)) <= z_of m E X Y (rescales e).
Proof.
  intros Sn H I EM HE HX HY HM HF. destruct (entries_made m h p e H I) as (M' & EM' & Md).
  assert (M' = M) by congruence. subst M'. pose proof (gamma_x_pos m Sn) as G. apply between in HE as HE'.
  assert (Xs : M - score (of e) + 2 * tau m <= X) by lra.
  destruct (made_weight m (of e) M (weight e) (path e) Y Sn Md) as (P & D); [easy| |unfold reach in *; nra|].
  { pose proof (between s _ (Rle_refl _)). lra. }
  pose proof (sizes_below m (of e) M _ _ (some_tau m Sn) Md) as Sz. pose proof (path_lengths _ _ _ _ H I) as Ln.
  split; [easy|]. unfold z_of, rescales. rewrite minus_INR by lia. simpl (INR 1).
  replace (ln (weight e) - (s - M)) with ((ln (weight e) - (score (of e) - M)) + (score (of e) - s)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert (gamma_x m * sizes (path e) <= gamma_x m * X) by (apply Rmult_le_compat_l; lra). lra.
Qed.
