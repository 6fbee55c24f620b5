(* Lemmas 4 and 6: both sums of a state that was merged by LSE, path by path: l gains the additions of the merges, O their
   additions, and a division and a product for each merge. And with them the theorem for O. *)
From Attest Require Export lemma_4.

Definition sum_W s := total weight (seen s).
Definition sum_Wv s := total (fun e => weight e * v e) (seen s).
Definition sum_abs s := total (fun e => weight e * Rabs (v e)) (seen s).

(* A sum of few products beside the exact one. *)
Lemma few_terms m (items : list leaf) trees t y : 0 <= u m -> 0 <= omega m -> flat_map leaves trees = items -> joins trees t ->
  Forall (rescales_below 1) trees -> computed m t y ->
  Rabs (y - total size items) <= total (fun f => Rabs (size f) * ((1 + u m) ^ (height t + products f) - 1)) items + losses m 1 t.
Proof.
  intros Hu Hw HI J F C. assert (R : rescales_below 1 t).
  { clear -J F. induction J as [|t|a b c s t _ IHa _ IHb _ _ P]; simpl; [easy|now inversion F|].
    rewrite Forall_forall in F. split; [apply IHa|apply IHb]; apply Forall_forall; intros x I; apply F, (Permutation_in x P), in_app_iff; auto. }
  pose proof (joined_leaves _ _ J) as P. rewrite HI in P. apply beside_leaves; auto. apply Rle_refl.
Qed.

Lemma total_flat {A B} (f : B -> R) (h : A -> list B) l : total f (flat_map h l) = total (fun a => total f (h a)) l.
Proof. induction l; simpl; [easy|]. rewrite total_app. lra. Qed.

Lemma flat_leaves_l inputs : flat_map leaves (map (fun i => Term (factor_of i)) inputs) = map (fun i => Leaf (factor_of i) 1 0) inputs.
Proof. induction inputs; simpl; congruence. Qed.
Lemma flat_leaves_O inputs :
  flat_map leaves (map (fun i => Product (factor_of i) (divided i)) inputs) = map (fun i => Leaf (factor_of i) (divided i) 1) inputs.
Proof. induction inputs; simpl; congruence. Qed.
Lemma terms_below inputs : Forall (rescales_below 1) (map (fun i => Term (factor_of i)) inputs).
Proof. induction inputs; constructor; simpl; easy. Qed.
Lemma products_below inputs : Forall (rescales_below 1) (map (fun i => Product (factor_of i) (divided i)) inputs).
Proof. induction inputs; constructor; simpl; easy. Qed.

(* What a division, and the rounding of a state, do to an average: Gamma_F and the factor of Delta; Omega_F and omega_state. *)
Definition growth_F m g := (1 + u m) ^ k_F g * (1 + u_state g).
Definition lost_F g := Omega_F g * (1 + u_state g) + omega_state g.
Lemma divided_and_stored m g O l o s : 0 <= u m -> 0 <= u_state g -> divides m g O l o -> stores g o s ->
  exists t b, Rabs t <= growth_F m g - 1 /\ Rabs b <= lost_F g /\ s = O / l * (1 + t) + b.
Proof.
  intros Hu Hs (t & b & Ht & Hb & ->) (d & n & Hd & Hn & ->). exists ((1 + t) * (1 + d) - 1), (b * (1 + d) + n).
  assert (D : Rabs (1 + d) <= 1 + u_state g) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  split; [|split; [|ring]].
  - apply (one_more (u_state g) ((1 + u m) ^ k_F g) (1 + t) d); auto; [now apply pow_at_least_1|].
    replace (1 + t - 1) with t by ring. lra.
  - unfold lost_F. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. apply Rplus_le_compat; [|easy].
    apply Rmult_le_compat; auto using Rabs_pos.
Qed.

(* O of one merge: averages times factors, in any tree. Go and ao are what the states before have, Gn of the sum of the factors. *)
Lemma one_merge_O m (inputs : list input) s tO O h Go ao F lF Gn lam : 0 <= u m -> 0 <= omega m -> 1 <= F -> 0 <= lF -> 0 <= Go -> 0 <= ao ->
  (forall i, In i inputs -> 0 <= factor_of i /\ 0 < l_hat (from i) /\ (forall e, In e (seen (from i)) -> 0 <= weight e)) ->
  (forall i, In i inputs -> Rabs (O_hat (from i) - sum_Wv (from i)) <= (Go - 1) * sum_abs (from i) + ao * sum_W (from i)) ->
  (forall i, In i inputs -> exists t b, Rabs t <= F - 1 /\ Rabs b <= lF /\ divided i = O_hat (from i) / l_hat (from i) * (1 + t) + b) ->
  let q := fun i => factor_of i / l_hat (from i) in
  sum_W s = total (fun i => q i * sum_W (from i)) inputs -> sum_Wv s = total (fun i => q i * sum_Wv (from i)) inputs ->
  sum_abs s = total (fun i => q i * sum_abs (from i)) inputs -> total factor_of inputs <= Gn * sum_W s ->
  joins (map (fun i => Product (factor_of i) (divided i)) inputs) tO -> computed m tO O -> (height tO <= h)%nat -> losses m 1 tO <= lam * sum_W s ->
  let Q := (1 + u m) ^ (h + 1) in
  Rabs (O - sum_Wv s) <= (Q * F * Go - 1) * sum_abs s + (Q * F * ao + Q * (lF * Gn) + lam) * sum_W s.
Proof.
  intros Hu Hw F1 HF GO A0 Pos IH Div q SW SV SA csW J2 C2 Hh L2 Q. set (W := sum_W s) in *. set (A := sum_abs s) in *. set (cs := total factor_of inputs) in *.
  assert (P1 : forall k, 1 <= (1 + u m) ^ k) by (intros; now apply pow_at_least_1). assert (Q1 : 1 <= Q) by apply P1.
  assert (q0 : forall i, In i inputs -> 0 <= q i).
  { intros i Ii. destruct (Pos i Ii) as (c0 & L0 & _). unfold q, Rdiv. apply Rmult_le_pos; [easy|]. left. now apply Rinv_0_lt_compat. }
  assert (W0 : forall i, In i inputs -> 0 <= sum_W (from i) /\ 0 <= sum_abs (from i) /\ Rabs (sum_Wv (from i)) <= sum_abs (from i)).
  { intros i Ii. destruct (Pos i Ii) as (_ & _ & Wp). unfold sum_W, sum_abs, sum_Wv. split; [now apply total_pos|split].
    - apply total_pos. intros e I. apply Rmult_le_pos; auto using Rabs_pos.
    - eapply Rle_trans; [apply total_abs|]. apply total_below. intros e I. rewrite Rabs_mult, (Rabs_pos_eq (weight e)) by auto. lra. }
  set (O_of := fun i => q i * (Go * sum_abs (from i) + ao * sum_W (from i))).
  (* one part: its average times its factor *)
  assert (Each : forall i, In i inputs -> Rabs (factor_of i * divided i) <= F * O_of i + lF * factor_of i /\
    Rabs (factor_of i * divided i - q i * sum_Wv (from i)) <= F * O_of i - q i * sum_abs (from i) + lF * factor_of i).
  { intros i Ii. destruct (Div i Ii) as (t & b & Ht & Hb & ->). destruct (Pos i Ii) as (c0 & Lp & _). specialize (IH i Ii) as B.
    destruct (W0 i Ii) as (Wi & Ai & Vi). specialize (q0 i Ii).
    assert (Oi : Rabs (O_hat (from i)) <= Go * sum_abs (from i) + ao * sum_W (from i)).
    { replace (O_hat (from i)) with ((O_hat (from i) - sum_Wv (from i)) + sum_Wv (from i)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (Ox : q i * Rabs (O_hat (from i)) <= O_of i) by (now apply Rmult_le_compat_l).
    assert (T1 : Rabs (1 + t) <= F) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    assert (Cb : Rabs (factor_of i * b) <= lF * factor_of i) by (rewrite Rabs_mult, (Rabs_pos_eq (factor_of i)), Rmult_comm by easy; now apply Rmult_le_compat_r).
    assert (Eq : factor_of i * (O_hat (from i) / l_hat (from i) * (1 + t) + b) = q i * O_hat (from i) * (1 + t) + factor_of i * b) by (unfold q; field; lra).
    rewrite Eq. split.
    - eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. rewrite !Rabs_mult, (Rabs_pos_eq (q i)), Rmult_comm by easy.
      apply Rmult_le_compat; auto using Rabs_pos. apply Rmult_le_pos; auto using Rabs_pos.
    - replace (q i * O_hat (from i) * (1 + t) + factor_of i * b - q i * sum_Wv (from i))
        with (q i * (O_hat (from i) - sum_Wv (from i)) + q i * O_hat (from i) * t + factor_of i * b) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy]. eapply Rle_trans; [apply Rabs_triang|].
      rewrite !Rabs_mult, (Rabs_pos_eq (q i)) by easy.
      assert (q i * Rabs (O_hat (from i) - sum_Wv (from i)) <= q i * ((Go - 1) * sum_abs (from i) + ao * sum_W (from i))) by now apply Rmult_le_compat_l.
      assert (q i * Rabs (O_hat (from i)) * Rabs t <= O_of i * (F - 1)).
      { apply Rmult_le_compat; auto using Rabs_pos. apply Rmult_le_pos; auto using Rabs_pos. }
      unfold O_of in *. lra. }
  assert (SO : total O_of inputs = Go * A + ao * W).
  { unfold O_of. rewrite SW, SA, <- !total_times, <- total_plus. apply total_same. intros. ring. }
  assert (D1 : Rabs (O - total (fun i => factor_of i * divided i) inputs) <= (Q - 1) * (F * (Go * A + ao * W) + lF * cs) + lam * W).
  { pose proof (few_terms m (map (fun i => Leaf (factor_of i) (divided i) 1) inputs) _ tO O Hu Hw (flat_leaves_O inputs) J2 (products_below inputs) C2) as B.
    rewrite !total_map in B. unfold size in B; simpl in B. eapply Rle_trans; [exact B|]. apply Rplus_le_compat; [|lra].
    rewrite <- SO. unfold cs. rewrite <- !total_times, <- total_plus, <- total_times. apply total_below. intros i Ii. destruct (Each i Ii) as (E1 & _).
    rewrite Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos.
    - specialize (P1 (height tO + 1)%nat). lra.
    - apply Rplus_le_compat_r. apply Rle_pow; [lra|lia]. }
  assert (D2 : Rabs (total (fun i => factor_of i * divided i) inputs - sum_Wv s) <= F * (Go * A + ao * W) - A + lF * cs).
  { rewrite SV. replace (total (fun i => factor_of i * divided i) inputs - total (fun i => q i * sum_Wv (from i)) inputs)
      with (total (fun i => factor_of i * divided i - q i * sum_Wv (from i)) inputs).
    - eapply Rle_trans; [apply total_abs|]. apply Rle_trans with (total (fun i => F * O_of i + -1 * (q i * sum_abs (from i)) + lF * factor_of i) inputs).
      + apply total_below. intros i Ii. destruct (Each i Ii). lra.
      + rewrite !total_plus, !total_times, SO. change (fun i => O_of i) with O_of. rewrite SA. change (fun a => factor_of a) with factor_of. fold cs. lra.
    - rewrite (total_same _ (fun i => factor_of i * divided i + -1 * (q i * sum_Wv (from i)))) by (intros; ring). rewrite total_plus, total_times. ring. }
  replace (O - sum_Wv s) with ((O - total (fun i => factor_of i * divided i) inputs) + (total (fun i => factor_of i * divided i) inputs - sum_Wv s)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. assert (lF * cs <= lF * (Gn * W)) by now apply Rmult_le_compat_l.
  assert (Q * (lF * cs) <= Q * (lF * (Gn * W))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Section Merged_sums.
Context (m : model) (g : lse_model) (r : limits) (G_l G_O a_0 lambda : R) (N : nat).

(* Of each part: Lemma 6 for a run. Of each state: what one merge loses, beside its sum. *)
Record sums_known := {
  sums_u : 0 <= u m; sums_omega : 0 <= omega m; sums_F : 0 <= lost_F g; sums_state : 0 <= u_state g; growth_l : 1 <= G_l; growth_O : 1 <= G_O; lost_0 : 0 <= a_0;
  parts_sums : forall s, part_known r s -> Rabs (l_hat s - sum_W s) <= (G_l - 1) * sum_W s /\
    Rabs (O_hat s - sum_Wv s) <= (G_O - 1) * sum_abs s + a_0 * sum_W s;
  states_weigh : forall s, state_known r s -> 0 < l_hat s /\ (forall e, In e (seen s) -> 0 <= weight e) /\ most_lost r <= lambda * sum_W s;
  lambda_0 : 0 <= lambda }.

Definition grown_l n a := (1 + u m) ^ a * (G_l + INR n * lambda).
Definition grown_O n a := (1 + u m) ^ (a + n) * growth_F m g ^ n * G_O.
Definition lost_O n a := (1 + u m) ^ (a + n) * growth_F m g ^ n * (a_0 + INR n * (lost_F g * (G_l + INR N * lambda) + lambda)).

Theorem merged_sums n a s : sums_known -> merged m g r n a s -> (n <= N)%nat ->
  Rabs (l_hat s - sum_W s) <= (grown_l n a - 1) * sum_W s /\
  Rabs (O_hat s - sum_Wv s) <= (grown_O n a - 1) * sum_abs s + lost_O n a * sum_W s.
Proof.
  intros K H. pose proof (sums_u K) as Hu. pose proof (sums_omega K) as Hw. pose proof (sums_F K) as HF. pose proof (growth_l K) as Gl.
  pose proof (growth_O K) as GO. pose proof (lost_0 K) as A0. pose proof (lambda_0 K) as La0.
  pose proof (sums_state K) as Hs. assert (P1 : forall k, 1 <= (1 + u m) ^ k) by (intros; now apply pow_at_least_1).
  assert (F1 : 1 <= growth_F m g) by (unfold growth_F; specialize (P1 (k_F g)); nra).
  assert (FP : forall k, 1 <= growth_F m g ^ k) by (intros; now apply pow_R1_Rle).
  assert (Le : forall x z, (x <= z)%nat -> (1 + u m) ^ x <= (1 + u m) ^ z) by (intros; apply Rle_pow; [lra|easy]).
  induction H as [h p M l O s H EM Cl CO Pk Sk|n a inputs T tl tO l O s Hm IH He Hx J1 J2 C1 C2 L1 L2 Sk|n a n' a' s Hm IH Ln La]; intros HN.
  - unfold grown_l, grown_O, lost_O. simpl (_ ^ _). simpl (INR 0). rewrite !Rmult_0_l, !Rplus_0_r, !Rmult_1_l. now apply (parts_sums K).
  - assert (HN' : (n <= N)%nat) by lia.
    assert (Sk' : forall i, In i inputs -> 0 < l_hat (from i) /\ (forall e, In e (seen (from i)) -> 0 <= weight e)).
    { intros i Ii. destruct (states_weigh K _ (state_is_known _ _ _ _ _ _ (Hm i Ii))) as (P & Wp & _). auto. }
    set (q := fun i => factor_of i / l_hat (from i)). set (h := max (height tl) (height tO)).
    assert (c0 : forall i, In i inputs -> 0 <= factor_of i) by (intros i Ii; destruct (He i Ii) as (_ & _ & (x & _ & (X & _)) & _); easy).
    assert (q0 : forall i, In i inputs -> 0 <= q i).
    { intros i Ii. destruct (Sk' i Ii). unfold q, Rdiv. apply Rmult_le_pos; [auto|]. left. now apply Rinv_0_lt_compat. }
    assert (SW : sum_W s = total (fun i => q i * sum_W (from i)) inputs).
    { unfold sum_W, s. simpl. rewrite total_flat. apply total_same. intros i _. rewrite total_map, <- total_times. apply total_same. intros e _. simpl. fold (q i). ring. }
    assert (SV : sum_Wv s = total (fun i => q i * sum_Wv (from i)) inputs).
    { unfold sum_Wv, s. simpl. rewrite total_flat. apply total_same. intros i _. rewrite total_map, <- total_times. apply total_same. intros e _. unfold v. simpl. fold (q i). ring. }
    assert (SA : sum_abs s = total (fun i => q i * sum_abs (from i)) inputs).
    { unfold sum_abs, s. simpl. rewrite total_flat. apply total_same. intros i _. rewrite total_map, <- total_times. apply total_same. intros e _. unfold v. simpl. fold (q i). ring. }
    destruct (states_weigh K s Sk) as (_ & _ & LW).
    assert (W0 : forall i, In i inputs -> 0 <= sum_W (from i) /\ 0 <= sum_abs (from i) /\ Rabs (sum_Wv (from i)) <= sum_abs (from i)).
    { intros i Ii. destruct (Sk' i Ii) as (_ & Wp). unfold sum_W, sum_abs, sum_Wv. split; [now apply total_pos|split].
      - apply total_pos. intros e I. apply Rmult_le_pos; auto using Rabs_pos.
      - eapply Rle_trans; [apply total_abs|]. apply total_below. intros e I. rewrite Rabs_mult, (Rabs_pos_eq (weight e)) by auto. lra. }
    assert (A00 : 0 <= sum_W s /\ 0 <= sum_abs s).
    { rewrite SW, SA. split; apply total_pos; intros i Ii; destruct (W0 i Ii) as (? & ? & _); specialize (q0 i Ii); now apply Rmult_le_pos. }
    set (W := sum_W s) in *. set (A := sum_abs s) in *.
    set (Gn := grown_l n a) in *. set (Go := grown_O n a) in *. set (ao := lost_O n a) in *.
    assert (G1 : 1 <= Gn). { unfold Gn, grown_l. assert (0 <= INR n * lambda) by (apply Rmult_le_pos; auto using pos_INR). specialize (P1 a). nra. }
    set (cs := total factor_of inputs).
    (* the sum of the factors beside the weights *)
    assert (S1 : Rabs (cs - W) <= (Gn - 1) * W).
    { unfold cs. rewrite SW. rewrite (total_same factor_of (fun i => q i * l_hat (from i))).
      2:{ intros i Ii. destruct (Sk' i Ii). unfold q. field. lra. }
      replace (total (fun i => q i * l_hat (from i)) inputs - total (fun i => q i * sum_W (from i)) inputs)
        with (total (fun i => q i * (l_hat (from i) - sum_W (from i))) inputs).
      - eapply Rle_trans; [apply total_abs|]. rewrite <- total_times. apply total_below. intros i Ii. rewrite Rabs_mult, (Rabs_pos_eq (q i)) by auto.
        destruct (IH i Ii HN') as (B & _). specialize (q0 i Ii).
        replace ((Gn - 1) * (q i * sum_W (from i))) with (q i * ((Gn - 1) * sum_W (from i))) by ring. now apply Rmult_le_compat_l.
      - rewrite (total_same _ (fun i => q i * l_hat (from i) + -1 * (q i * sum_W (from i)))) by (intros; ring). rewrite total_plus, total_times. ring. }
    apply between in S1 as S1'. set (H1 := (1 + u m) ^ h).
    assert (cs0 : 0 <= cs) by (apply total_pos; auto). assert (csW : cs <= Gn * W) by lra.
    split.
    + assert (D : Rabs (l - cs) <= (H1 - 1) * cs + lambda * W).
      { pose proof (few_terms m (map (fun i => Leaf (factor_of i) 1 0) inputs) _ tl l Hu Hw (flat_leaves_l inputs) J1 (terms_below inputs) C1) as F.
        rewrite !total_map in F. rewrite (total_same _ factor_of) in F by (intros; unfold size; simpl; ring). fold cs in F.
        eapply Rle_trans; [exact F|]. apply Rplus_le_compat; [|lra]. unfold cs. rewrite <- total_times. apply total_below. intros i Ii.
        unfold size; simpl. rewrite Rmult_1_r, Rabs_pos_eq, Rmult_comm by auto. apply Rmult_le_compat_r; [auto|]. apply Rplus_le_compat_r, Le. unfold h. lia. }
      simpl (l_hat s). replace (l - W) with ((l - cs) + (cs - W)) by ring. eapply Rle_trans; [apply Rabs_triang|].
      assert ((H1 - 1) * cs <= (H1 - 1) * (Gn * W)) by (apply Rmult_le_compat_l; [specialize (P1 h); unfold H1; lra|easy]).
      assert (Up : H1 * Gn + lambda <= grown_l (S n) (h + a)).
      { unfold grown_l, Gn, grown_l. rewrite pow_add, S_INR. fold H1. assert (1 * 1 <= H1 * (1 + u m) ^ a) by (apply Rmult_le_compat; try lra; apply P1).
        assert (1 * lambda <= H1 * (1 + u m) ^ a * lambda) by (apply Rmult_le_compat_r; lra). lra. }
      assert ((H1 * Gn + lambda - 1) * W <= (grown_l (S n) (h + a) - 1) * W) by (apply Rmult_le_compat_r; lra). lra.
    + set (F := growth_F m g) in *. set (Q := (1 + u m) ^ (h + 1)). assert (Q1 : 1 <= Q) by apply P1.
      assert (ao0 : 0 <= ao).
      { unfold ao, lost_O. fold F. assert (0 <= INR N * lambda) by (apply Rmult_le_pos; auto using pos_INR). pose proof (pos_INR n).
        assert (0 <= lost_F g * (G_l + INR N * lambda)) by (apply Rmult_le_pos; lra). specialize (P1 (a + n)%nat). specialize (FP n).
        apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. assert (0 <= INR n * (lost_F g * (G_l + INR N * lambda) + lambda)) by (apply Rmult_le_pos; lra). lra. }
      assert (Go0 : 0 <= Go).
      { unfold Go, grown_O. fold F. specialize (P1 (a + n)%nat). specialize (FP n). apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
      pose proof (one_merge_O m inputs s tO O h Go ao F (lost_F g) Gn lambda Hu Hw F1 HF Go0 ao0) as OM. fold q W A in OM.
      assert (OM' : Rabs (O - sum_Wv s) <= (Q * F * Go - 1) * A + (Q * F * ao + Q * (lost_F g * Gn) + lambda) * W).
      { apply OM; auto; try (unfold h; lia); try lra.
        - intros i Ii. apply (IH i Ii HN').
        - intros i Ii. destruct (He i Ii) as (_ & _ & _ & (o & Dv & St)). exact (divided_and_stored m g _ _ _ _ Hu Hs Dv St). }
      simpl (O_hat s). eapply Rle_trans; [exact OM'|].
      assert (EG : grown_O (S n) (h + a) = Q * F * Go).
      { unfold grown_O, Go, grown_O, Q. fold F. replace (h + a + S n)%nat with ((h + 1) + (a + n))%nat by lia. rewrite (pow_add _ (h + 1)). simpl (F ^ S n). ring. }
      set (P := (1 + u m) ^ (a + n) * F ^ n). set (beta := lost_F g * (G_l + INR N * lambda) + lambda).
      assert (EL : lost_O (S n) (h + a) = Q * F * ao + Q * F * P * beta).
      { unfold lost_O, ao, lost_O, Q. fold F. replace (h + a + S n)%nat with ((h + 1) + (a + n))%nat by lia.
        rewrite (pow_add _ (h + 1)), S_INR. simpl (F ^ S n). unfold P, beta. ring. }
      assert (QF : 1 <= Q * F) by (apply Rle_trans with (1 * 1); [lra|apply Rmult_le_compat; lra]). assert (Pp : 1 <= P) by (apply Rle_trans with (1 * 1); [lra|apply Rmult_le_compat; try lra; auto]).
      assert (N0 : 0 <= INR n * lambda <= INR N * lambda) by (split; [apply Rmult_le_pos; auto using pos_INR|apply Rmult_le_compat_r; [easy|now apply le_INR]]).
      assert (GnP : Gn <= P * (G_l + INR N * lambda)).
      { unfold Gn, grown_l. apply Rmult_le_compat; [specialize (P1 a); lra|lra| |lra]. rewrite <- (Rmult_1_r ((1 + u m) ^ a)).
        apply Rmult_le_compat; [specialize (P1 a); lra|lra|apply Le; lia|apply FP]. }
      assert (Sl : Q * (lost_F g * Gn) + lambda <= Q * F * P * beta).
      { unfold beta. assert (lost_F g * Gn <= lost_F g * (P * (G_l + INR N * lambda))) by now apply Rmult_le_compat_l.
        assert (Z0 : 0 <= lost_F g * (P * (G_l + INR N * lambda))) by (apply Rmult_le_pos; [easy|]; apply Rmult_le_pos; lra).
        assert (Q * (lost_F g * Gn) <= Q * F * (lost_F g * (P * (G_l + INR N * lambda)))).
        { apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra|]. rewrite <- (Rmult_1_r Q) at 1. apply Rmult_le_compat_l; lra. }
        assert (1 * lambda <= Q * F * P * lambda).
        { apply Rmult_le_compat_r; [easy|]. rewrite <- (Rmult_1_r 1). apply Rmult_le_compat; lra. } lra. }
      rewrite EG, EL. destruct A00 as (W00 & A00).
      assert ((Q * (lost_F g * Gn) + lambda) * W <= Q * F * P * beta * W) by now apply Rmult_le_compat_r.
      lra.
  - destruct (IH ltac:(lia)) as (B1 & B2). destruct (states_weigh K s (state_is_known _ _ _ _ _ _ Hm)) as (_ & Wp & _).
    assert (W00 : 0 <= sum_W s) by now apply total_pos. assert (A00 : 0 <= sum_abs s) by (apply total_pos; intros; apply Rmult_le_pos; auto using Rabs_pos).
    assert (I0 : 0 <= INR n <= INR n') by (split; [apply pos_INR|now apply le_INR]).
    assert (EP : (1 + u m) ^ (a + n) * growth_F m g ^ n <= (1 + u m) ^ (a' + n') * growth_F m g ^ n').
    { apply Rmult_le_compat; [specialize (P1 (a + n)%nat); lra|specialize (FP n); lra|apply Le; lia|now apply Rle_pow]. }
    apply Le in La as LP.
    assert (Gg : grown_l n a <= grown_l n' a').
    { unfold grown_l. assert (INR n * lambda <= INR n' * lambda) by (apply Rmult_le_compat_r; lra).
      assert (0 <= INR n * lambda) by (apply Rmult_le_pos; lra). apply Rmult_le_compat; try lra. specialize (P1 a). lra. }
    assert (Og : grown_O n a <= grown_O n' a') by (unfold grown_O; apply Rmult_le_compat_r; lra).
    assert (Lg : lost_O n a <= lost_O n' a').
    { unfold lost_O. set (beta := lost_F g * (G_l + INR N * lambda) + lambda). assert (0 <= beta).
      { unfold beta. assert (0 <= INR N * lambda) by (apply Rmult_le_pos; auto using pos_INR). assert (0 <= lost_F g * (G_l + INR N * lambda)) by (apply Rmult_le_pos; lra). lra. }
      assert (INR n * beta <= INR n' * beta) by (apply Rmult_le_compat_r; lra). assert (0 <= INR n * beta) by (apply Rmult_le_pos; lra).
      apply Rmult_le_compat; try lra. specialize (P1 (a + n)%nat). specialize (FP n). nra. }
    split; [eapply Rle_trans; [exact B1|]; apply Rmult_le_compat_r; lra|]. eapply Rle_trans; [exact B2|].
    apply Rplus_le_compat; apply Rmult_le_compat_r; lra.
Qed.
End Merged_sums.
