(* Lemma 6, underflow: how many operations of O's tree may lose omega, and that H4 leaves 4(n + S) omega of them. Where exp(0) may
   differ from 1, each block is a product, hidden ones, too: these are not in n. *)
From Attest Require Export theorem.

Fixpoint products_of s := match s with machine.Add a b => (products_of a + products_of b)%nat | Scale _ s => products_of s | Product _ _ => 1%nat | _ => O end.
Fixpoint adds_of s := match s with machine.Add a b => S (adds_of a + adds_of b) | Scale _ s => adds_of s | _ => O end.
Fixpoint scales_of s := match s with machine.Add a b => (scales_of a + scales_of b)%nat | Scale _ s => S (scales_of s) | _ => O end.
Lemma operations_are s : operations s = (products_of s + adds_of s + scales_of s)%nat.
Proof. induction s; simpl; lia. Qed.

(* A tree with n leaves has n products and n - 1 additions. *)
Definition full n s := n = O /\ s = Zero \/ (1 <= n)%nat /\ products_of s = n /\ S (adds_of s) = n.
Definition count (f : sum -> nat) l := fold_right (fun s n => (f s + n)%nat) O l.
Lemma count_app f a b : count f (a ++ b) = (count f a + count f b)%nat.
Proof. induction a; simpl; lia. Qed.
Lemma count_permuted f a b : Permutation a b -> count f a = count f b.
Proof. induction 1; simpl; lia. Qed.
Lemma joined_counts l s : joins l s -> products_of s = count products_of l /\ scales_of s = count scales_of l /\
  (l = [] /\ s = Zero \/ S (adds_of s) = (count adds_of l + length l)%nat).
Proof.
  induction 1 as [|s|a b c s t Ja (P1 & S1 & A1) Jb (P2 & S2 & A2) Na Nb P]; simpl.
  - repeat split. now left.
  - split; [lia|]. split; [lia|]. right. lia.
  - rewrite <- !(count_permuted _ _ _ P), !count_app, <- (Permutation_length P), app_length, P1, P2, S1, S2. split; [easy|]. split; [easy|]. right.
    destruct A1 as [(A1 & _)|A1]; [now destruct Na|]. destruct A2 as [(A2 & _)|A2]; [now destruct Nb|]. simpl. lia.
Qed.

Lemma scaled_counts f s n : full n s -> count products_of (scaled f s) = n /\ (count adds_of (scaled f s) + length (scaled f s))%nat = n /\
  (count scales_of (scaled f s) <= scales_of s + match f with None => 0 | Some _ => 1 end)%nat.
Proof.
  intros [(-> & ->)|(N & P & A)]; [destruct f as [[? ?]|]; simpl; lia|].
  destruct f as [[a r]|]; destruct s; simpl in *; try lia.
Qed.
Lemma new_counts es : count products_of (map in_O es) = length es /\ count adds_of (map in_O es) = O /\ count scales_of (map in_O es) = O.
Proof. induction es; simpl; lia. Qed.

Lemma full_of l s n : joins l s -> count products_of l = n -> (count adds_of l + length l)%nat = n -> full n s.
Proof.
  intros J P A. destruct (joined_counts _ _ J) as (JP & _ & [(-> & ->)|JA]); [left; simpl in *; split; [lia|easy]|].
  destruct n as [|n]; [|right; repeat split; lia]. exfalso. destruct l; simpl in *; lia.
Qed.

Theorem trees_are_full m h p : run m h p -> full (length (entries p)) (sum_O p).
Proof.
  induction 1 as [|h b p M f es l O H IH Mv F W Jl JO|a b p q f g l O Ha IHa Hb IHb F G Jl JO]; simpl.
  - now left.
  - destruct (scaled_counts f _ _ IH) as (P & A & _). destruct (new_counts es) as (P2 & A2 & _). rewrite app_length, map_length.
    apply (full_of _ _ _ JO); rewrite ?count_app, ?app_length, ?map_length; lia.
  - destruct (scaled_counts f _ _ IHa) as (P & A & _). destruct (scaled_counts g _ _ IHb) as (P2 & A2 & _). rewrite app_length, !map_length.
    apply (full_of _ _ _ JO); rewrite ?count_app, ?app_length; lia.
Qed.

(* Rescales: one for a block of visible keys, and one for a merge; but for every block, and both states of a merge, where exp(0)
   may differ from 1. *)
Theorem rescales_counted m h p : run m h p -> exact_at_0 m = true -> (scales_of (sum_O p) <= length (keys h) + (parts h - 1))%nat.
Proof.
  intros H X. induction H as [|h b p M f es l O H IH Mv F W Jl JO|a b p q f g l O Ha IHa Hb IHb F G Jl JO]; simpl; [lia| |].
  - pose proof (trees_are_full m h p H) as Fu. destruct (scaled_counts f _ _ Fu) as (_ & _ & Sc). destruct (new_counts es) as (_ & _ & S2).
    destruct (joined_counts _ _ JO) as (_ & JS & _). rewrite JS, count_app, S2, app_length.
    assert (B : (match f with None => 0 | Some _ => 1 end <= length (visible b))%nat); [|lia].
    destruct f as [[x r]|]; [|lia]. destruct F as (y & z & _ & Ey & Ez & _ & D & _). subst M. rewrite Ey in Mv.
    destruct Mv as (_ & [->|(_ & k & Ik & _)]); [destruct D; congruence|]. destruct (visible b); [easy|simpl; lia].
  - pose proof (trees_are_full m a p Ha) as Fa. pose proof (trees_are_full m b q Hb) as Fb.
    destruct (scaled_counts f _ _ Fa) as (_ & _ & Sa). destruct (scaled_counts g _ _ Fb) as (_ & _ & Sb).
    destruct (joined_counts _ _ JO) as (_ & JS & _). rewrite JS, count_app, app_length.
    pose proof (merges_below_parts a). pose proof (merges_below_parts b).
    assert (B : (match f with None => 0 | Some _ => 1 end + match g with None => 0 | Some _ => 1 end <= 1)%nat); [|lia].
    destruct f as [[x r]|], g as [[x' r']|]; try lia. exfalso.
    destruct F as (y & z & _ & Ey & Ez & _ & D & _). destruct G as (y' & z' & _ & Ey' & Ez' & _ & D' & _).
    rewrite Ey, Ey' in Ez, Ez'. simpl in Ez, Ez'. inversion Ez. inversion Ez'. destruct D as [D|D]; [|congruence]. destruct D' as [D'|D']; [|congruence].
    unfold Rmax in *. destruct (Rle_dec y y'); congruence.
Qed.
Theorem rescales_of_blocks m h p : run m h p -> (scales_of (sum_O p) <= blocks h + 2 * (parts h - 1))%nat.
Proof.
  induction 1 as [|h b p M f es l O H IH Mv F W Jl JO|a b p q f g l O Ha IHa Hb IHb F G Jl JO]; simpl; [lia| |].
  - pose proof (trees_are_full m h p H) as Fu. destruct (scaled_counts f _ _ Fu) as (_ & _ & Sc). destruct (new_counts es) as (_ & _ & S2).
    destruct (joined_counts _ _ JO) as (_ & JS & _). rewrite JS, count_app, S2. destruct f; lia.
  - pose proof (trees_are_full m a p Ha) as Fa. pose proof (trees_are_full m b q Hb) as Fb.
    destruct (scaled_counts f _ _ Fa) as (_ & _ & Sa). destruct (scaled_counts g _ _ Fb) as (_ & _ & Sb).
    destruct (joined_counts _ _ JO) as (_ & JS & _). rewrite JS, count_app. pose proof (merges_below_parts a). pose proof (merges_below_parts b). destruct f, g; lia.
Qed.

(* What is lost in O. The factors that follow a loss stay below 4/3 by H4. *)
Lemma lost_of_operations m rho s k : 0 <= omega m -> (rho * (1 + u m)) ^ depth s * (1 + u m) ^ height s <= 4 / 3 -> (operations s <= k)%nat ->
  losses m rho s <= 4 / 3 * (INR k * omega m).
Proof.
  intros Hw G L. unfold losses. apply le_INR in L. pose proof (pos_INR (operations s)).
  apply Rle_trans with (INR (operations s) * omega m * (4 / 3)); [apply Rmult_le_compat_l; [now apply Rmult_le_pos|easy]|].
  assert (INR (operations s) * omega m <= INR k * omega m) by (now apply Rmult_le_compat_r). lra.
Qed.
Theorem lost_in_O m rho h p : run m h p -> 0 <= omega m -> exact_at_0 m = true ->
  (rho * (1 + u m)) ^ depth (sum_O p) * (1 + u m) ^ height (sum_O p) <= 4 / 3 ->
  losses m rho (sum_O p) <= 4 * (INR (length (keys h)) + INR (parts h)) * omega m.
Proof.
  intros H Hw X G. pose proof (trees_are_full m h p H) as Fu. pose proof (rescales_counted m h p H X) as Sc. pose proof (merges_below_parts h).
  pose proof (entries_keys m h p H) as EK. assert (Ln : length (entries p) = length (keys h)) by (rewrite <- EK, map_length; easy). rewrite Ln in Fu.
  assert (L : (operations (sum_O p) <= 3 * length (keys h) + parts h)%nat).
  { rewrite operations_are. destruct Fu as [(Z & ->)|(N & P & A)]; simpl; lia. }
  eapply Rle_trans; [apply (lost_of_operations m rho _ _ Hw G L)|]. rewrite plus_INR, mult_INR. simpl (INR 3).
  pose proof (pos_INR (parts h)). assert (0 <= INR (parts h) * omega m) by now apply Rmult_le_pos. lra.
Qed.
Theorem lost_in_O_rounded m rho h p : run m h p -> 0 <= omega m ->
  (rho * (1 + u m)) ^ depth (sum_O p) * (1 + u m) ^ height (sum_O p) <= 4 / 3 ->
  losses m rho (sum_O p) <= 4 / 3 * (2 * INR (length (keys h)) + INR (blocks h) + 2 * INR (parts h)) * omega m.
Proof.
  intros H Hw G. pose proof (trees_are_full m h p H) as Fu. pose proof (rescales_of_blocks m h p H) as Sc. pose proof (merges_below_parts h).
  pose proof (entries_keys m h p H) as EK. assert (Ln : length (entries p) = length (keys h)) by (rewrite <- EK, map_length; easy). rewrite Ln in Fu.
  assert (L : (operations (sum_O p) <= 2 * length (keys h) + blocks h + 2 * parts h)%nat).
  { rewrite operations_are. destruct Fu as [(Z & ->)|(N & P & A)]; simpl; lia. }
  eapply Rle_trans; [apply (lost_of_operations m rho _ _ Hw G L)|]. rewrite !plus_INR, !mult_INR. simpl (INR 2). lra.
Qed.

(* One key, and hidden blocks behind it: every one is a product that may lose omega. n + S is 2 for all of them. *)
Fixpoint hidden n h := match n with O => h | S n => Take (hidden n h) [None] end.
Example hidden_blocks_lose m h p M n : sane m -> 0 <= tiny m -> exact_at_0 m = false -> run m h p -> reference p = Some M -> sum_O p <> Zero ->
  exists q, run m (hidden n h) q /\ reference q = Some M /\ keys (hidden n h) = keys h /\ operations (sum_O q) = (n + operations (sum_O p))%nat /\ sum_O q <> Zero.
Proof.
  intros sn Ty X H R N. induction n as [|n (q & Hq & Rq & Kq & Oq & Nq)]; [exists p; auto|]. pose proof (gamma_x_pos m sn). pose proof (some_eps m sn).
  set (f := Some (0, 1)).
  assert (Fm : factor m (Some M) (Some M) f).
  { exists M, M, 0. split; [easy|]. split; [easy|]. split; [ring|]. split; [now right|]. split.
    - exists 0, 0. rewrite Rabs_R0. repeat split; [easy|now apply lost_pos|ring].
    - split; [lra|]. right. exists 0, 0. rewrite Rabs_R0, exp_0. repeat split; lra. }
  assert (Jl : exists l, joins (scaled f (sum_l q) ++ map in_l []) l).
  { rewrite app_nil_r. destruct (sum_l q); simpl; eexists; constructor. }
  destruct Jl as (l & Jl). exists (Part (Some M) (map (through f) (entries q) ++ []) l (Scale 1 (sum_O q))). simpl. split; [|split; [easy|split; [|split; [lia|easy]]]].
  - apply (take m _ [None] q (Some M) f [] l (Scale 1 (sum_O q)) Hq); auto.
    + rewrite Rq. split; [intros k []|now left].
    + now rewrite Rq.
    + constructor.
    + rewrite app_nil_r. destruct (sum_O q); simpl in *; try constructor. now destruct Nq.
  - rewrite app_nil_r. exact Kq.
Qed.
