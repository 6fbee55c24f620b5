(* Merges by LSE without a final division: the sum of all weights, and (2) of Lemma 3, over every tree of such merges. *)
From Attest Require Export undivided merged_sizes corollary_l.

Lemma combined {A B} (P : A -> B -> Prop) l k : Forall2 P l k -> map fst (combine l k) = l /\ map snd (combine l k) = k /\
  forall p, In p (combine l k) -> P (fst p) (snd p).
Proof.
  induction 1 as [|a b l k H _ (I1 & I2 & I3)]; simpl; [repeat split; auto; easy|]. rewrite I1, I2. repeat split; auto.
  intros p [<-|I]; auto.
Qed.

Section Undivided.
Context (m : model) (g : lse_model) (r : limits) (most_off : R) (a_most N : nat) (xi : key -> R).
Context (R_0 F G_O a_0 lambda K_x S H : R).

Record undivided_known := {
  un_sane : sane m; un_tinies : tinies m;
  un_losses : 0 <= Omega_F g /\ 0 <= omega_state g /\ 0 <= u_state g /\ 0 <= most_lost r /\ 0 <= a_0 /\ 1 <= G_O /\ 0 <= lambda;
  (* Of parts: Lemma 4's xi_j, and Lemma 6. *)
  un_parts : forall s, part_known r s -> seen s <> [] /\ 0 < l_hat s /\ (forall e, In e (seen s) -> 0 <= weight e) /\
    sum_W s <= R_0 * l_hat s /\ l_hat s <= R_0 * sum_W s /\ Rabs (O_hat s - sum_Wv s) <= (G_O - 1) * sum_abs s + a_0 * sum_W s;
  un_xi : forall s e L, part_known r s -> In e (seen s) -> lse m g true (top s) (l_hat s) L -> Rabs (L - (top s + ln (l_hat s))) <= xi (of e);
  un_xi_pos : forall k, 0 <= xi k;
  (* Of each state: how many parts it may have, what its sums lose; and the numbers of one merge. *)
  un_keys : forall s, state_known r s -> keys_of s <= S /\ most_lost r <= lambda * sum_W s;
  un_heights : forall h, (h <= a_most)%nat -> (1 + u m) ^ h <= H; un_H : 1 <= H <= 2;
  un_factor : off_factor m K_x <= 1 /\ relative_off m K_x S <= 1 /\ 0 < C_low m K_x S H (most_lost r);
  un_arguments : 0 <= K_x /\ most_off - ln (C_low m K_x S H (most_lost r)) <= K_x;
  un_F : 1 <= R_0 /\ 1 <= F /\ up_factor m K_x S H (most_lost r) most_off <= F /\ / F <= down_factor m K_x S H (most_lost r) most_off }.

Definition sum_off n := R_0 * F ^ n.
Definition well s n := 0 < l_hat s /\ (forall e, In e (seen s) -> 0 <= weight e) /\ seen s <> [] /\ (is_part s = false -> l_hat s = 1) /\
  sum_W s <= sum_off n * l_hat s /\ l_hat s <= sum_off n * sum_W s.

Lemma sum_off_grows n k : 1 <= R_0 -> 1 <= F -> (n <= k)%nat -> 1 <= sum_off n <= sum_off k.
Proof.
  intros R1 F1 L. pose proof (pow_R1_Rle F n F1). unfold sum_off. split; [nra|]. apply Rmult_le_compat_l; [lra|]. now apply Rle_pow.
Qed.

(* What one merge makes of the sums of weights: Lemma 4's e^xi. *)
Theorem undivided_sums n a s : undivided_known -> undivided m g r most_off n a s -> (a <= a_most)%nat -> well s n.
Proof.
  intros K Hs. destruct (un_F K) as (R1 & F1 & Up & Dn). destruct (un_factor K) as (Q1 & Rel & CL). destruct (un_arguments K) as (K0 & Arg).
  pose proof (un_sane K) as sn. pose proof (un_tinies K) as ti. pose proof (some_u m sn) as Hu. pose proof (some_omega m sn) as Hw.
  destruct (un_losses K) as (_ & _ & _ & ML & _). pose proof (some_tiny m ti) as Ty. pose proof (gamma_x_pos m sn) as G. pose proof (some_eps m sn) as E0.
  induction Hs as [h p M l O s Hr EM Cl CO Pk Sk|n a inputs cs T C L tc tO O s Hm IH He F2 (i0 & I0 & E0') J1 C1 L1 PC HL Off J2 C2 L2 Sk|n a n' a' s Hm IH Ln La]; intros Ha.
  - destruct (un_parts K s Pk) as (Ne & P & Wp & A1 & A2 & _). unfold well, sum_off. simpl (_ ^ _). rewrite Rmult_1_r.
    split; [easy|]. split; [easy|]. split; [easy|]. split; [easy|now split].
  - assert (IHi : forall i, In i inputs -> well (from i) n) by (intros i Ii; apply IH; auto; lia).
    set (cut := cut_factor m K_x) in *. assert (Cut0 : 0 <= cut).
    { unfold cut, cut_factor. pose proof (Rmax_l (tiny m) (exp (- x0 m))). assert (0 < exp (- K_x * (1 - gamma_x m) + lost m) * (1 + eps m)) by (apply Rmult_lt_0_compat; [apply exp_pos|lra]). lra. }
    assert (Q0 : 0 <= off_factor m K_x).
    { unfold off_factor. pose proof (lost_pos m sn). assert (0 <= gamma_x m * K_x) by now apply Rmult_le_pos.
      assert (1 <= exp (gamma_x m * K_x + lost m)) by (rewrite <- exp_0; apply exp_grows; lra). nra. }
    destruct (combined _ _ _ F2) as (M1 & M2 & M3). set (l := combine inputs cs) in *.
    assert (In1 : forall p, In p l -> In (fst p) inputs) by (intros p Ip; rewrite <- M1; now apply in_map).
    assert (Len : INR (length l) <= S).
    { assert (EL : length l = length inputs) by (rewrite <- M1, map_length; reflexivity). rewrite EL. destruct (un_keys K s Sk) as (KA & _). eapply Rle_trans; [|exact KA].
      unfold keys_of, s. simpl (seen _). rewrite keys_of_merged. rewrite <- (Rmult_1_r (INR _)), <- total_const. apply total_below. intros i Ii.
      apply keys_at_least_1. destruct (IHi i Ii) as (_ & _ & Ne & _). exact Ne. }
    assert (S0 : 0 <= S) by (eapply Rle_trans; [apply pos_INR|exact Len]).
    assert (c0 : forall p, In p l -> 0 <= snd p) by (intros p Ip; destruct (M3 p Ip) as (x & _ & (X & _)); easy).
    assert (f0 : forall i, In i inputs -> 0 <= factor_of i) by (intros i Ii; destruct (He i Ii) as (_ & _ & (x & _ & (X & _)) & _); easy).
    assert (HC : Rabs (C - total snd l) <= (H - 1) * total snd l + most_lost r).
    { assert (LT : flat_map leaves (map Term cs) = map (fun c => Leaf c 1 0) cs) by (clear; induction cs; simpl; congruence).
      assert (Fb : Forall (rescales_below 1) (map Term cs)) by (clear; induction cs; constructor; simpl; easy).
      pose proof (few_terms m _ _ tc C Hu Hw LT J1 Fb C1) as B. rewrite !total_map in B. unfold size in B; simpl in B.
      rewrite (total_same (fun a => a * 1) (fun a => a)) in B by (intros; ring).
      assert (TC : total (fun a => a) cs = total snd l) by (rewrite <- M2, total_map; reflexivity). rewrite TC in B. eapply Rle_trans; [exact B|].
      apply Rplus_le_compat; [|exact L1]. rewrite <- M2, total_map, <- total_times. apply total_below. intros p Ip. specialize (c0 p Ip).
      rewrite Rmult_1_r, (Rabs_pos_eq (snd p)), Nat.add_0_r, Rmult_comm by easy. apply Rmult_le_compat_r; [easy|]. apply Rplus_le_compat_r, (un_heights K). lia. }
    assert (Cs1 : / 2 <= C \/ True) by now right.
    assert (LL : forall p, In p l -> log_sum (fst p) - L <= K_x /\ log_sum (fst p) - T <= K_x).
    { intros p Ip. destruct (He _ (In1 p Ip)) as (_ & LT & _). apply between in Off.
      assert (CC : C_low m K_x S H (most_lost r) <= C).
      { assert (Zc : 1 <= total (fun p => exp (log_sum (fst p) - T)) l).
        { rewrite <- M1 in I0. apply in_map_iff in I0 as (p0 & Ep & Ip0). rewrite <- exp_0, <- (Rminus_eq_0 T), <- E0', <- Ep at 1.
          apply (total_holds (fun p => exp (log_sum (fst p) - T))); [intros; left; apply exp_pos|easy]. }
        assert (Sc : Rabs (total snd l - total (fun p => exp (log_sum (fst p) - T)) l) <= off_factor m K_x * total (fun p => exp (log_sum (fst p) - T)) l + S * cut).
        { apply (sums_near m K_x l (fun p => log_sum (fst p) - T) snd); auto. intros q Iq. destruct (M3 q Iq) as (x & Ar & X). destruct (He _ (In1 q Iq)) as (_ & LTq & _).
          apply (near_factor m sn K_x _ x); auto; try lra. apply (few_k_x m ti). }
        apply between in Sc, HC. set (Z := total (fun p => exp (log_sum (fst p) - T)) l) in *.
        assert (S * cut * 1 <= S * cut * Z) by (apply Rmult_le_compat_l; [now apply Rmult_le_pos|easy]).
        assert (Tl : (1 - relative_off m K_x S) * Z <= total snd l) by (unfold relative_off; fold cut; lra).
        pose proof (un_H K). assert ((1 - relative_off m K_x S) * 1 <= (1 - relative_off m K_x S) * Z) by (apply Rmult_le_compat_l; lra).
        assert ((2 - H) * (1 - relative_off m K_x S) <= (2 - H) * total snd l) by (apply Rmult_le_compat_l; lra). unfold C_low. lra. }
      apply log_grows in CC; [|easy]. lra. }
    assert (Near : forall p, In p l -> Rabs (snd p - exp (log_sum (fst p) - T)) <= off_factor m K_x * exp (log_sum (fst p) - T) + cut /\
                               Rabs (factor_of (fst p) - exp (log_sum (fst p) - L)) <= off_factor m K_x * exp (log_sum (fst p) - L) + cut).
    { intros p Ip. destruct (LL p Ip) as (A1 & A2). destruct (M3 p Ip) as (x & Ar & X). destruct (He _ (In1 p Ip)) as (_ & _ & (x' & Ar' & X') & _).
      split; [apply (near_factor m sn K_x _ x)|apply (near_factor m sn K_x _ x')]; auto; try lra; apply (few_k_x m ti). }
    assert (Some : exists p, In p l /\ log_sum (fst p) = T).
    { rewrite <- M1 in I0. apply in_map_iff in I0 as (p0 & Ep & Ip0). exists p0. split; [easy|]. now rewrite Ep. }
    pose proof (factors_sum_to_1 m K_x l (fun p => log_sum (fst p)) snd (fun p => factor_of (fst p)) T C L S H (most_lost r) most_off
      Len S0 Cut0 (conj Q0 Q1) (un_H K) Rel Near Some c0 ML HC PC Off CL) as FS.
    assert (TF : total (fun p => factor_of (fst p)) l = total factor_of inputs) by (transitivity (total factor_of (map fst l)); [rewrite total_map; reflexivity|now rewrite M1]).
    rewrite TF in FS. set (fs := total factor_of inputs) in *.
    assert (SW : sum_W s = total (fun i => factor_of i / l_hat (from i) * sum_W (from i)) inputs).
    { unfold sum_W, s. simpl. rewrite total_flat. apply total_same. intros i _. rewrite total_map, <- total_times. apply total_same. intros e _. simpl. ring. }
    destruct (sum_off_grows n n R1 F1 (Nat.le_refl n)) as (Rn1 & _). set (Rn := sum_off n) in *.
    assert (ES : sum_off (Datatypes.S n) = Rn * F) by (unfold Rn, sum_off; simpl; ring).
    assert (Each : forall i, In i inputs -> factor_of i * / Rn <= factor_of i / l_hat (from i) * sum_W (from i) <= factor_of i * Rn).
    { intros i Ii. destruct (IHi i Ii) as (P & _ & _ & _ & A1 & A2). fold Rn in A1, A2. specialize (f0 i Ii). unfold Rdiv. rewrite Rmult_assoc.
      assert (Y1 : / l_hat (from i) * sum_W (from i) <= Rn).
      { apply Rmult_le_reg_l with (l_hat (from i)); [easy|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. lra. }
      assert (Y2 : / Rn <= / l_hat (from i) * sum_W (from i)).
      { apply Rmult_le_reg_l with (l_hat (from i)); [easy|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
        apply Rmult_le_reg_r with Rn; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra. }
      split; now apply Rmult_le_compat_l. }
    assert (B1 : fs * / Rn <= sum_W s <= fs * Rn).
    { rewrite SW. unfold fs. split; rewrite Rmult_comm, <- total_times; apply total_below; intros i Ii; specialize (Each i Ii); lra. }
    assert (IR : 0 < / Rn) by (apply Rinv_0_lt_compat; lra). assert (IF : 0 < / F) by (apply Rinv_0_lt_compat; lra).
    unfold well. rewrite ES. change (l_hat s) with 1. split; [lra|]. split; [|split; [|split; [easy|split]]].
    + intros e Ie. simpl in Ie. apply in_flat_map in Ie as (i & Ii & Ie). apply in_map_iff in Ie as (e0 & <- & Ie). simpl.
      destruct (IHi i Ii) as (P & Wp & _). apply Rmult_le_pos; [auto|]. unfold Rdiv. apply Rmult_le_pos; [auto|]. left. now apply Rinv_0_lt_compat.
    + destruct (IHi i0 I0) as (_ & _ & Ne & _). destruct (seen (from i0)) as [|e es] eqn:Es; [easy|]. intros Nil.
      assert (In (behind L i0 e) (seen s)); [|rewrite Nil in *; easy]. simpl. apply in_flat_map. exists i0. split; [easy|]. apply in_map. rewrite Es. now left.
    + assert (fs * Rn <= F * Rn) by (apply Rmult_le_compat_r; lra). lra.
    + assert (/ F * / Rn <= fs * / Rn) by (apply Rmult_le_compat_r; lra).
      assert (Rn * F * (/ F * / Rn) <= Rn * F * sum_W s) by (apply Rmult_le_compat_l; nra).
      assert (Rn * F * (/ F * / Rn) = 1) by (field; lra). lra.
  - destruct (IH ltac:(lia)) as (P & Wp & Ne & E1 & A1 & A2). unfold well. destruct (sum_off_grows n n' R1 F1 Ln) as (_ & Le).
    assert (0 <= sum_W s) by now apply total_pos.
    split; [easy|]. split; [easy|]. split; [easy|]. split; [easy|]. split; [eapply Rle_trans; [exact A1|]|eapply Rle_trans; [exact A2|]]; apply Rmult_le_compat_r; lra.
Qed.

Lemma undivided_paths n a s e : undivided m g r most_off n a s -> In e (seen s) -> path e <> [].
Proof.
  intros Hs. revert e. induction Hs as [h p M l O s Hr _ _ _ _ _|n a inputs cs T C L tc tO O s _ _ _ _ _ _ _ _ _ _ _ _ _ _ _|]; intros e I; [|
    |now apply IHHs].
  - simpl in I. now apply (path_not_empty m h p).
  - simpl in I. apply in_flat_map in I as (j & Ij & I). apply in_map_iff in I as (e1 & <- & I). easy.
Qed.
Lemma undivided_parts n a s : undivided m g r most_off n a s -> is_part s = true -> part_known r s.
Proof. induction 1; auto; easy. Qed.

(* (2): one xi_j of the part, and one exp for each merge. *)
Theorem undivided_weight n a s e Y : undivided_known -> undivided m g r most_off n a s -> (a <= a_most)%nat -> In e (seen s) ->
  Rabs (begun (of e) (path e)) <= Y -> (1 + gamma_x m) * sizes (path e) + kappa m Y + lost m <= Rmin (far m) (x0 m) ->
  path e <> [] /\ 0 < weight e /\ Rabs (ln (weight e) - (score (of e) - top s)) <= gamma_x m * sizes (path e) + kappa m Y
    + INR (length (path e)) * (log_loss (eps m) + lost m) + log_loss (u_shared m) + (if is_part s then 0 else xi (of e)).
Proof.
  intros K Hs. pose proof (un_sane K) as sn. pose proof (gamma_x_pos m sn) as G. revert e.
  induction Hs as [h p M l O s Hr EM Cl CO Pk Sk|n a inputs cs T C L tc tO O s Hm IH He F2 Hx J1 C1 L1 PC HL Off J2 C2 L2 Sk|n a n' a' s Hm IH Ln La]; intros e Ha I HY HX.
  - simpl in I. destruct (entries_made m h p e Hr I) as (M' & EM' & Md). assert (M' = M) by congruence. subst M'.
    split; [now apply (path_not_empty m h p)|]. destruct (made_weight_of_sizes m (of e) M (weight e) (path e) Y sn Md HY HX) as (P & D). split; [easy|]. simpl (top s). simpl (is_part s). lra.
  - simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I). assert (Hai : (a <= a_most)%nat) by lia.
    destruct (He i Ii) as (HL' & LT & (x & Ar & X) & _). destruct (undivided_sums n a (from i) K (Hm i Ii) Hai) as (Pl & _ & _ & One & _).
    simpl in HX, HY |- *. pose proof (Rabs_pos (log_sum i - L)). assert (K0 : 0 <= kappa m Y).
    { unfold kappa. pose proof (Rabs_pos (begun (of e0) (log_sum i - L :: path e0))). pose proof (gamma_pos (c_m m) (u m) (some_u m sn) (few_shared m sn)).
      apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    unfold sizes in *. simpl in HX |- *. assert (T0 : 0 <= total Rabs (path e0)) by (apply total_pos; auto using Rabs_pos).
    assert (0 <= (1 + gamma_x m) * Rabs (log_sum i - L)) by (apply Rmult_le_pos; lra). assert (0 <= (1 + gamma_x m) * total Rabs (path e0)) by (apply Rmult_le_pos; lra).
    pose proof (undivided_paths n a (from i) e0 (Hm i Ii) I) as Np.
    replace (begun (of e0) (log_sum i - L :: path e0)) with (begun (of e0) (path e0)) in HY by (unfold begun; simpl; now destruct (path e0)).
    destruct (IH i Ii e0 Hai I HY) as (_ & P & D); [lra|]. assert (A0 : argument m (log_sum i - L + 0) x) by (now rewrite Rplus_0_r).
    destruct (one_factor m (log_sum i - L) 0 x (factor_of i) sn A0 X) as (Pc & Dc); rewrite Rabs_R0 in *; [lra|].
    split; [easy|]. split; [apply Rmult_lt_0_compat; [easy|]; now apply Rdiv_lt_0_compat|].
    unfold Rdiv. rewrite !ln_mult, ln_Rinv by (try apply Rmult_lt_0_compat; try apply Rinv_0_lt_compat; easy).
    replace (ln (weight e0) + (ln (factor_of i) + - ln (l_hat (from i))) - (score (of e0) - L))
      with ((ln (weight e0) - (score (of e0) - top (from i))) + (ln (factor_of i) - (log_sum i - L)) + (log_sum i - (top (from i) + ln (l_hat (from i))))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
    change (match length (path e0) with O => 1 | Datatypes.S _ => INR (length (path e0)) + 1 end) with (INR (Datatypes.S (length (path e0)))). rewrite S_INR.
    assert (Xi : Rabs (log_sum i - (top (from i) + ln (l_hat (from i)))) <= (if is_part (from i) then xi (of e0) else 0)).
    { destruct (is_part (from i)) eqn:Ip.
      - pose proof (undivided_parts n a (from i) (Hm i Ii) Ip) as Pk.
        now apply (un_xi K (from i) e0).
      - rewrite HL', (One eq_refl), ln_1. replace (top (from i) - (top (from i) + 0)) with 0 by ring. rewrite Rabs_R0. lra. }
    pose proof (un_xi_pos K (of e0)). destruct (is_part (from i)); lra.
  - apply (IH e); auto. lia.
Qed.
End Undivided.
