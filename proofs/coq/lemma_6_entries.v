(* Lemma 6 with all of its entries: path by path, and addition by addition. Each bounds a computed sum beside that of the weights.
   The sum may be rounded otherwise than the rest of the kernel: m is the model of its additions (u_pv for u). *)
From Attest Require Export additions_counted theorem.

Lemma gamma_grows j k x : 0 <= x -> (j <= k)%nat -> INR k * x < 1 -> gamma j x <= gamma k x.
Proof.
  intros Hx L H. apply le_INR in L. assert (INR j * x <= INR k * x) by now apply Rmult_le_compat_r.
  assert (0 <= INR j * x) by (apply Rmult_le_pos; [apply pos_INR|easy]). unfold gamma, Rdiv. apply Rmult_le_compat; try lra.
  - left. apply Rinv_0_lt_compat. lra.
  - apply Rinv_le_contravar; lra.
Qed.

Section Entries.
Context (m : model) (nearest : bool) (rho : R) (es : list entry) (s : sum) (lf : entry -> leaf) (c : entry -> R).
Context (E T zeta : entry -> R) (counted : entry -> bool) (D Lambda : R).
Let k := (height s + depth s)%nat.
Let n := length es.
Let share_of := share es E T zeta D Lambda.

(* A'_c, M_L, and N_c of section 3. Of the shares of all keys but j, j with the largest one is the best choice. *)
Definition A_of y := A_T es E T zeta D Lambda y.
Definition A'_of := mean es E (fun e => Rabs (c e)) + A_of (fun e => Rabs (c e)).
Definition M_of others := total (fun e => Rmin 1 (INR n * share_of e / u m)) others.
Definition N_by_number := INR (n - 1) * ((A'_of + Rabs (mean es E c) + A_of c) / 2 + gamma k (u m) * A'_of).
Definition own := total (fun e => share_of e * gamma (products (lf e)) (u m) * Rabs (c e)) es.
Definition with_additions N := own + (1 + gamma k (u m)) ^ 2 * u m * N.
Definition lost_of := losses m rho s / Lambda.

Inductive an_entry : R -> Prop :=
  | of_all q : (forall e, In e es -> (products (lf e) <= q)%nat) -> INR (height s + q) * u m < 1 ->
      an_entry (gamma (height s + q) (u m) * A'_of + lost_of)
  | of_each_path : an_entry (total (fun e => share_of e * gamma (height s + products (lf e)) (u m) * Rabs (c e)) es + lost_of)
  | of_additions_on_paths : an_entry (with_additions (INR (height s) * A'_of) + lost_of)
  | of_all_additions : an_entry (with_additions N_by_number + lost_of)
  | of_nearest j others V : nearest = true -> Permutation es (j :: others) -> (forall e, In e es -> Rabs (c e) <= V) ->
      an_entry (with_additions (Rmax A'_of V * M_of others) + (1 + 2 * INR (n - 1)) * lost_of).

Context (known : weights_known es weight E T zeta counted D Lambda).
Context (few : INR k * u m < 1) (unit : 0 < u m <= 1) (loss : 0 <= omega m) (rho1 : 1 <= rho) (below : rescales_below rho s).
Context (same : Permutation (map lf es) (leaves s)) (sizes_are : forall e, size (lf e) = weight e * c e) (tree : all_summed s).
Let S := total weight es.

Lemma sizes_not_negative e : In e es -> 0 <= weight e /\ Rabs (size (lf e)) = weight e * Rabs (c e).
Proof.
  intros I. pose proof (not_negative _ _ _ _ _ _ _ _ known e I). split; [easy|]. rewrite sizes_are, Rabs_mult, (Rabs_pos_eq (weight e)); easy.
Qed.
Lemma S_positive : 0 < S.
Proof. exact (sum_positive _ _ _ _ _ _ _ _ known). Qed.
Lemma mass_below : mass (leaves s) <= A'_of * S.
Proof.
  unfold mass. rewrite <- (total_permuted _ _ _ same), total_map, (total_same _ (fun e => weight e * Rabs (c e))) by (intros; now apply sizes_not_negative).
  exact (sum_of_sizes _ _ _ _ _ _ _ _ known c).
Qed.
Lemma exact_below : Rabs (exact_sum (leaves s)) <= (Rabs (mean es E c) + A_of c) * S.
Proof.
  unfold exact_sum. rewrite <- (total_permuted _ _ _ same), total_map, (total_same _ (fun e => weight e * c e)) by (intros; apply sizes_are).
  pose proof (lemma_7_T _ _ _ _ _ _ _ _ known c) as L. pose proof S_positive as P. unfold computed_mean in L. fold S in L.
  set (x := total (fun e => weight e * c e) es) in *. replace x with ((mean es E c + (x / S - mean es E c)) * S) by (field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq S) by lra. apply Rmult_le_compat_r; [lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold A_of. lra.
Qed.
Lemma paths_few e q : In e es -> (q <= height s + products (lf e))%nat -> INR q * u m < 1.
Proof.
  intros I L. assert (J : In (lf e) (leaves s)) by (apply (Permutation_in _ same), in_map, I). apply leaves_depth in J.
  eapply Rle_lt_trans; [|exact few]. apply Rmult_le_compat_r; [lra|]. apply le_INR. unfold k. lia.
Qed.
Lemma beside_share e q : In e es -> (q <= height s + products (lf e))%nat ->
  Rabs (size (lf e)) * ((1 + u m) ^ q - 1) <= S * (share_of e * gamma q (u m) * Rabs (c e)).
Proof.
  intros I L. destruct (sizes_not_negative e I) as (W0 & ->). pose proof (paths_few e q I L) as F.
  pose proof (powers_below_gamma q (u m) ltac:(lra) F) as P. pose proof (gamma_pos q (u m) ltac:(lra) F) as G.
  pose proof (lemma_5c _ _ _ _ _ _ _ _ known e I) as S5. fold S share_of in S5. pose proof (Rabs_pos (c e)) as C0.
  apply Rle_trans with (weight e * Rabs (c e) * gamma q (u m)); [apply Rmult_le_compat_l; [now apply Rmult_le_pos|easy]|].
  replace (S * (share_of e * gamma q (u m) * Rabs (c e))) with (share_of e * S * (Rabs (c e) * gamma q (u m))) by ring.
  rewrite Rmult_assoc. apply Rmult_le_compat_r; [now apply Rmult_le_pos|exact S5].
Qed.
Lemma lost_beside : losses m rho s <= lost_of * S.
Proof. apply (lost_beside_sum _ _ _ _ _ _ _ _ known). apply losses_pos; lra. Qed.

(* Addition by addition, with any bound of what the additions' errors add to. *)
Lemma with_errors y X : computed_as m nearest s y ->
  (forall e, map fst e = additions s -> (forall p, In p e -> error_of m nearest (grown m s) (losses m rho s) p) -> total (fun p => Rabs (snd p)) e <= X) ->
  Rabs (y - total (fun e => weight e * c e) es) <= own * S + X + losses m rho s.
Proof.
  intros C HX. destruct (lemma_6_addition_by_addition m nearest rho s y ltac:(lra) loss rho1 below C) as (y' & g & e & Ex).
  rewrite (total_same _ (fun e => size (lf e))) by (intros; now rewrite sizes_are).
  replace (y - total (fun e => size (lf e)) es) with ((y' - total (fun e => size (lf e)) es) + (y - y')) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|apply Ex]. rewrite (expansion _ _ _ _ _ _ _ _ _ Ex).
  assert (Q : total (fun e => size (lf e)) es = total (fun p => size (fst p)) g).
  { rewrite <- (total_map lf size), (total_permuted _ _ _ same), <- (its_leaves _ _ _ _ _ _ _ _ _ Ex), total_map. reflexivity. }
  rewrite Q. replace (total (fun p => size (fst p) * snd p) g + total snd e - total (fun p => size (fst p)) g)
    with (total (fun p => size (fst p) * (snd p - 1)) g + total snd e).
  2:{ rewrite (total_same (fun p => size (fst p) * (snd p - 1)) (fun p => size (fst p) * snd p + -1 * size (fst p))) by (intros; ring).
      rewrite total_plus, total_times. ring. }
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
  - eapply Rle_trans; [apply total_abs|]. apply Rle_trans with (total (fun p => Rabs (size (fst p)) * ((1 + u m) ^ products (fst p) - 1)) g).
    + apply total_below. intros p I. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|]. now apply Ex.
    + rewrite <- (total_map fst (fun f => Rabs (size f) * ((1 + u m) ^ products f - 1))), (its_leaves _ _ _ _ _ _ _ _ _ Ex), <- (total_permuted _ _ _ same), total_map.
      unfold own. rewrite (Rmult_comm _ S), <- total_times. apply total_below. intros i I. apply beside_share; [easy|lia].
  - eapply Rle_trans; [apply total_abs|]. apply HX; apply Ex.
Qed.

Lemma grown_below : 1 <= grown m s <= 1 + gamma k (u m).
Proof. pose proof (powers_below_gamma k (u m) ltac:(lra) few). pose proof (grown_at_least_1 m s ltac:(lra)). unfold grown, k in *. lra. Qed.
Lemma A'_pos : 0 <= A'_of.
Proof. pose proof mass_below. pose proof (mass_pos (leaves s)). pose proof S_positive. nra. Qed.
(* u K (K x) <= (1 + gamma)^2 u x *)
Lemma twice_grown x : 0 <= x -> u m * grown m s * (grown m s * x) <= (1 + gamma k (u m)) ^ 2 * u m * x.
Proof.
  intros Hx. pose proof grown_below. replace (u m * grown m s * (grown m s * x)) with (grown m s * grown m s * (u m * x)) by ring.
  simpl. rewrite Rmult_1_r. replace ((1 + gamma k (u m)) * (1 + gamma k (u m)) * u m * x) with ((1 + gamma k (u m)) * (1 + gamma k (u m)) * (u m * x)) by ring.
  apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra.
Qed.
Lemma error_below_mass K L p : 1 <= K -> error_of m nearest K L p -> Rabs (snd p) <= u m * K * (K * mass (under (fst p))).
Proof.
  intros HK (A & _). eapply Rle_trans; [exact A|]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
  pose proof (exact_below_mass (under (fst p))). lra.
Qed.

Lemma error_on_paths e : map fst e = additions s -> (forall p, In p e -> error_of m nearest (grown m s) (losses m rho s) p) ->
  total (fun p => Rabs (snd p)) e <= (1 + gamma k (u m)) ^ 2 * u m * (INR (height s) * A'_of) * S.
Proof.
  intros Ee B. pose proof grown_below as G. pose proof S_positive as P. pose proof A'_pos as A0. pose proof (pos_INR (height s)) as H0.
  apply Rle_trans with (u m * grown m s * (grown m s * total (fun q => mass (under q)) (additions s))).
  - rewrite <- Ee, total_map, <- !total_times. apply total_below. intros p I. apply error_below_mass with (L := losses m rho s); [lra|now apply B].
  - replace ((1 + gamma k (u m)) ^ 2 * u m * (INR (height s) * A'_of) * S) with ((1 + gamma k (u m)) ^ 2 * u m * (INR (height s) * (A'_of * S))) by ring.
    pose proof (counted_along_paths rho s below) as C. pose proof mass_below as Ma.
    assert (INR (height s) * mass (leaves s) <= INR (height s) * (A'_of * S)) by now apply Rmult_le_compat_l.
    eapply Rle_trans; [|apply twice_grown]; [|apply Rmult_le_pos; [easy|apply Rmult_le_pos; lra]].
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat_l; lra.
Qed.

Lemma additions_are e (q : list node) : map (@fst node R) e = q -> length e = length q.
Proof. intros <-. now rewrite map_length. Qed.
Lemma number_of_additions : length (additions s) = (n - 1)%nat.
Proof.
  unfold n. rewrite <- (map_length lf es), (Permutation_length same). destruct tree as (_ & [->|(_ & <-)]); simpl; lia.
Qed.
Lemma error_by_number e : map fst e = additions s -> (forall p, In p e -> error_of m nearest (grown m s) (losses m rho s) p) ->
  total (fun p => Rabs (snd p)) e <= (1 + gamma k (u m)) ^ 2 * u m * N_by_number * S.
Proof.
  intros Ee B. pose proof grown_below as G. pose proof S_positive as P. pose proof A'_pos as A0. pose proof mass_below as Ma. pose proof exact_below as Eb.
  set (each := (A'_of + Rabs (mean es E c) + A_of c) / 2 + gamma k (u m) * A'_of).
  assert (Half : (mass (leaves s) + Rabs (exact_sum (leaves s))) / 2 + (grown m s - 1) * mass (leaves s) <= each * S).
  { unfold each. assert ((grown m s - 1) * mass (leaves s) <= gamma k (u m) * (A'_of * S)) by (apply Rmult_le_compat; [lra|apply mass_pos|lra|lra]). lra. }
  assert (X0 : 0 <= each * S).
  { eapply Rle_trans; [|exact Half]. pose proof (mass_pos (leaves s)). pose proof (Rabs_pos (exact_sum (leaves s))).
    assert (0 <= (grown m s - 1) * mass (leaves s)) by (apply Rmult_le_pos; lra). lra. }
  apply Rle_trans with (total (fun _ => (1 + gamma k (u m)) ^ 2 * u m * (each * S)) e).
  - apply total_below. intros p I. eapply Rle_trans; [|apply twice_grown; exact X0]. destruct (B p I) as (E1 & _).
    assert (Iq : In (fst p) (additions s)) by (rewrite <- Ee; now apply in_map). destruct (counted_by_number s _ Iq) as (C1 & C2).
    eapply Rle_trans; [exact E1|]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
    assert ((grown m s - 1) * mass (under (fst p)) <= (grown m s - 1) * mass (leaves s)) by (apply Rmult_le_compat_l; lra).
    assert (1 * (each * S) <= grown m s * (each * S)) by (apply Rmult_le_compat_r; lra). lra.
  - rewrite total_const, (additions_are e _ Ee), number_of_additions. unfold N_by_number. fold each. right. ring.
Qed.

(* Entries in place of leaves; the largest leaf is one key, and any key j may be left out for it. *)
Lemma error_at_leaves e j others V : nearest = true -> es <> [] -> Permutation es (j :: others) -> (forall i, In i es -> Rabs (c i) <= V) ->
  map fst e = additions s -> (forall p, In p e -> error_of m nearest (grown m s) (losses m rho s) p) ->
  total (fun p => Rabs (snd p)) e <= (1 + gamma k (u m)) ^ 2 * u m * (Rmax A'_of V * M_of others) * S + INR (n - 1) * (2 * losses m rho s).
Proof.
  intros Nr Ne Pj HV Ee B. pose proof grown_below as G. pose proof S_positive as P. pose proof A'_pos as A0. pose proof mass_below as Ma.
  set (K := grown m s) in *. set (L := losses m rho s) in *. assert (L0 : 0 <= L) by (apply losses_pos; lra).
  set (top := Rmax A'_of V) in *. pose proof (Rmax_l A'_of V) as T1. pose proof (Rmax_r A'_of V) as T2. fold top in T1, T2.
  set (U := u m * K * (K * (top * S))).
  (* a function of the additions in place of the list *)
  set (cost := fun q : node => Rmin U (Rmin (K * mass (fst q) + 2 * L) (K * mass (snd q) + 2 * L))).
  assert (Cost : total (fun p => Rabs (snd p)) e <= total cost (additions s)).
  { rewrite <- Ee, total_map. apply total_below. intros p I. destruct (B p I) as (_ & E2). destruct (E2 Nr) as (E3 & E4).
    unfold cost. apply Rmin_glb; [|now apply Rmin_glb]. eapply Rle_trans; [apply (error_below_mass K L p); [lra|now apply B]|]. unfold U.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat_l; [lra|].
    assert (Iq : In (fst p) (additions s)) by (rewrite <- Ee; now apply in_map). destruct (counted_by_number s _ Iq) as (_ & C2).
    assert (A'_of * S <= top * S) by (apply Rmult_le_compat_r; lra). lra. }
  destruct tree as (Wh & Tr). assert (Nl : leaves s <> []).
  { intros Z. rewrite Z in same. apply Permutation_sym, Permutation_nil, map_eq_nil in same. easy. }
  assert (Ln : length (leaves s) = n) by (unfold n; now rewrite <- (map_length lf es), (Permutation_length same)).
  destruct (counted_at_leaves rho U n K (2 * L) s ltac:(lra) below Wh Nl ltac:(lia) 1 cost ltac:(lra)) as (f & rest & Pf & Big & Tot).
  { intros q _. unfold cost. rewrite !Rmult_1_l. pose proof (Rmin_l U (Rmin (K * mass (fst q) + 2 * L) (K * mass (snd q) + 2 * L))).
    pose proof (Rmin_r U (Rmin (K * mass (fst q) + 2 * L) (K * mass (snd q) + 2 * L))).
    pose proof (Rmin_l (K * mass (fst q) + 2 * L) (K * mass (snd q) + 2 * L)). pose proof (Rmin_r (K * mass (fst q) + 2 * L) (K * mass (snd q) + 2 * L)). repeat split; lra. }
  (* the leaves but the largest are the keys but one *)
  assert (Pe : Permutation (f :: rest) (map lf es)) by (rewrite Pf; now apply Permutation_sym).
  apply Permutation_map_inv in Pe as (l3 & E3 & P3). destruct l3 as [|i rest_i]; [easy|]. simpl in E3. inversion E3. subst f rest.
  set (C := (1 + gamma k (u m)) ^ 2 * u m * (top * S)). assert (UC : U <= C) by (apply twice_grown; apply Rmult_le_pos; lra).
  set (m_of := fun a => Rmin 1 (INR n * share_of a / u m)).
  assert (One : forall a x, In a es -> x <= Rabs (size (lf a)) -> Rmin U (INR n * (K * (1 * x)) + 2 * L) <= C * m_of a + 2 * L).
  { intros a x I Hx. unfold m_of. pose proof (Rmin_l U (INR n * (K * (1 * x)) + 2 * L)) as R1. pose proof (Rmin_r U (INR n * (K * (1 * x)) + 2 * L)) as R2.
    destruct (sizes_not_negative a I) as (W0 & Sz). rewrite Sz in Hx. pose proof (lemma_5c _ _ _ _ _ _ _ _ known a I) as S5. fold S share_of in S5.
    unfold Rmin at 2. destruct (Rle_dec 1 _) as [D1|D1]; [lra|]. eapply Rle_trans; [exact R2|]. apply Rplus_le_compat_r.
    assert (Xa : x <= share_of a * S * V).
    { eapply Rle_trans; [exact Hx|]. apply Rmult_le_compat; auto using Rabs_pos. }
    assert (Sa : 0 <= share_of a) by nra.
    replace (C * (INR n * share_of a / u m)) with ((1 + gamma k (u m)) ^ 2 * (INR n * (top * (share_of a * S)))) by (unfold C; field; lra).
    apply Rle_trans with (K * (INR n * (share_of a * S * V))).
    - rewrite Rmult_1_l. replace (INR n * (K * x)) with (K * (INR n * x)) by ring. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [apply pos_INR|easy].
    - assert (Q0 : 0 <= INR n * (top * (share_of a * S))).
      { apply Rmult_le_pos; [apply pos_INR|]. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
      assert (INR n * (share_of a * S * V) <= INR n * (top * (share_of a * S))).
      { apply Rmult_le_compat_l; [apply pos_INR|]. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|easy]. }
      apply Rle_trans with (K * (INR n * (top * (share_of a * S)))); [apply Rmult_le_compat_l; lra|]. apply Rmult_le_compat_r; [easy|].
      simpl. rewrite Rmult_1_r. assert (1 * (1 + gamma k (u m)) <= (1 + gamma k (u m)) * (1 + gamma k (u m))) by (apply Rmult_le_compat_r; lra). lra. }
  assert (Ii : In i es) by (apply (Permutation_in _ (Permutation_sym P3)); now left).
  assert (Ir : forall a, In a rest_i -> In a es) by (intros a I; apply (Permutation_in _ (Permutation_sym P3)); now right).
  assert (Rest : total (fun g => Rmin U (INR n * (K * (1 * Rabs (size g))) + 2 * L)) (map lf rest_i) <= total (fun a => C * m_of a + 2 * L) others).
  { rewrite total_map. assert (Perm : Permutation (i :: rest_i) (j :: others)) by (rewrite <- P3; exact Pj).
    assert (J : In j (i :: rest_i)) by (apply (Permutation_in _ (Permutation_sym Perm)); now left). destruct J as [->|J].
    - apply Permutation_cons_inv in Perm. rewrite <- (total_permuted _ _ _ Perm). apply total_below. intros a I. apply One; [auto|lra].
    - apply in_split in J as (r1 & r2 & ->). assert (Q : Permutation (i :: r1 ++ r2) others).
      { apply Permutation_cons_inv with (a := j). rewrite <- Perm, perm_swap. constructor. apply Permutation_middle. }
      rewrite <- (total_permuted _ _ _ Q), (total_permuted _ _ _ (Permutation_sym (Permutation_middle r1 r2 j))). simpl. apply Rplus_le_compat.
      + apply One; [easy|]. apply Big. apply (Permutation_in _ same), in_map, Ir, in_app_iff. right. now left.
      + apply total_below. intros a I. apply One; [apply Ir; apply in_app_iff in I; apply in_app_iff; simpl; tauto|lra]. }
  eapply Rle_trans; [exact Cost|]. eapply Rle_trans; [exact Tot|]. eapply Rle_trans; [exact Rest|].
  rewrite total_plus, total_times, total_const. assert (Lo : length others = (n - 1)%nat) by (unfold n; rewrite (Permutation_length Pj); simpl; lia).
  rewrite Lo. unfold M_of, C, m_of. right. ring.
Qed.

Theorem lemma_6 x y : an_entry x -> computed_as m nearest s y -> Rabs (y - total (fun e => weight e * c e) es) <= x * S.
Proof.
  intros X C. pose proof lost_beside as Lo. pose proof (nearest_computed _ _ _ _ C) as C1. pose proof mass_below as Ma. pose proof S_positive as P.
  assert (Paths : Rabs (y - total (fun e => weight e * c e) es) <= total (fun e => Rabs (size (lf e)) * ((1 + u m) ^ (height s + products (lf e)) - 1)) es + losses m rho s).
  { rewrite <- (total_same (fun e => size (lf e)) (fun e => weight e * c e)) by (intros; apply sizes_are). apply (computed_beside m rho s y es lf); auto; lra. }
  destruct X as [q Hq Fq| | | |j others V Nr Pj HV]; rewrite Rmult_plus_distr_r.
  - eapply Rle_trans; [exact Paths|]. apply Rplus_le_compat; [|exact Lo]. pose proof (gamma_pos _ (u m) ltac:(lra) Fq) as G0.
    apply Rle_trans with (gamma (height s + q) (u m) * mass (leaves s)).
    + unfold mass. rewrite <- (total_permuted _ _ _ same), total_map, <- total_times. apply total_below. intros e I. rewrite Rmult_comm.
      apply Rmult_le_compat_r; [apply Rabs_pos|]. eapply Rle_trans; [|apply powers_below_gamma; [lra|exact Fq]]. apply Rplus_le_compat_r.
      apply Rle_pow; [lra|]. specialize (Hq e I). lia.
    + rewrite Rmult_assoc. now apply Rmult_le_compat_l.
  - eapply Rle_trans; [exact Paths|]. apply Rplus_le_compat; [|exact Lo]. rewrite (Rmult_comm _ S), <- total_times. apply total_below.
    intros e I. apply beside_share; [easy|lia].
  - eapply Rle_trans; [apply (with_errors y _ C error_on_paths)|]. unfold with_additions. lra.
  - eapply Rle_trans; [apply (with_errors y _ C error_by_number)|]. unfold with_additions. lra.
  - assert (Ne : es <> []) by (intros Z; rewrite Z in Pj; now apply Permutation_nil in Pj).
    eapply Rle_trans; [apply (with_errors y _ C (fun e => error_at_leaves e j others V Nr Ne Pj HV))|]. unfold with_additions.
    assert (INR (n - 1) * losses m rho s <= INR (n - 1) * (lost_of * S)) by (apply Rmult_le_compat_l; [apply pos_INR|easy]). lra.
Qed.
End Entries.
