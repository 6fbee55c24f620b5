(* Lemma 2, order of index: keys that a walk takes in one direction raise its maximum at most rec_j times. *)
From Attest Require Export lemma_2.

Fixpoint growths (level : R) (scores : list R) : nat := match scores with
  | [] => O
  | x :: l => if Rlt_dec level x then S (growths x l) else growths level l
  end.
(* rec_j, of what is known of the scores: 0 where no later key may be above, else 1 + rec of the first that may. *)
Fixpoint records (low : R) (later : list (R * R)) : nat := match later with
  | [] => O
  | (l, h) :: r => if Rlt_dec low h then S (records l r) else records low r
  end.

Theorem growths_below_records low level scores later :
  Forall2 (fun x i => fst i <= x <= snd i) scores later -> low <= level -> (growths level scores <= records low later)%nat.
Proof.
  intros H. revert low level. induction H as [|x [l h] scores later Hx _ IH]; intros low level Hl; simpl in *; [lia|].
  destruct (Rlt_dec level x), (Rlt_dec low h); try (exfalso; lra).
  - apply le_n_S. apply IH. lra.
  - apply le_S. apply IH. lra.
  - now apply IH.
Qed.

Lemma growth_is_counted s a b k : Forall (fun x => x < k) (s :: a) -> In k b -> (S (growths s a) <= growths s (a ++ b))%nat.
Proof.
  revert s. induction a as [|x a IH]; intros s H I; simpl.
  - inversion H as [|? ? Hs _]; subst. clear H. revert s Hs.
    induction b as [|y b IHb]; simpl; intros s Hs; [easy|]. destruct (Rlt_dec s y); [lia|].
    destruct I as [->|I]; [lra|]. now apply IHb.
  - inversion H as [|? ? Hs Ha]; subst. inversion Ha; subst.
    destruct (Rlt_dec s x); [apply le_n_S|]; apply IH; auto.
Qed.
Lemma growths_grow s a b : (growths s a <= growths s (a ++ b))%nat.
Proof. revert s. induction a as [|x a IH]; intros s; simpl; [lia|]. destruct (Rlt_dec s x); [apply le_n_S|]; apply IH. Qed.

Inductive walk : history -> Prop := walk_nothing : walk Nothing | walk_take h b : walk h -> walk (Take h b).
Definition score_of e := score (of e).

(* A group of keys that is taken at once raises the reference at most as often as its keys one by one. *)
Theorem lemma_2_index m h p before e after : exact_at_0 m = true -> walk h -> run m h p ->
  entries p = before ++ e :: after -> (rescales e <= growths (score_of e) (map score_of after))%nat.
Proof.
  intros X W H. revert before e after.
  induction H as [|h b p M f es l O H IH Mv F Wb _ _|]; intros before e after E; simpl in E;
    [now destruct before| |inversion W].
  inversion W as [|? ? Wh]; subst.
  assert (S : (exists b0 e0 a0, entries p = b0 ++ e0 :: a0 /\ e = through f e0 /\ after = map (through f) a0 ++ es) \/
              In e es).
  { clear -E. revert before E. induction (entries p) as [|y ys IH]; simpl; intros before E.
    - right. rewrite E. apply in_elt.
    - destruct before as [|z before]; simpl in E; inversion E; subst.
      + left. now exists [], y, ys.
      + destruct (IH _ H1) as [(b0 & e0 & a0 & E0 & -> & ->)|I]; [left|auto]. exists (y :: b0), e0, a0.
        now rewrite E0. }
  destruct S as [(b0 & e0 & a0 & E0 & -> & ->)|I].
  - specialize (IH Wh _ _ _ E0).
    assert (I0 : In e0 (entries p)) by (rewrite E0; apply in_elt).
    pose proof (path_lengths _ _ _ _ H I0). rewrite grown_path by lia.
    assert (Ss : map score_of (map (through f) a0 ++ es) = map score_of a0 ++ map score_of es).
    { rewrite map_app, map_map. f_equal. apply map_ext. intros. unfold score_of. now rewrite through_of. }
    rewrite Ss. unfold score_of at 1. rewrite through_of. fold (score_of e0).
    destruct f as [[x r]|]; [|pose proof (growths_grow (score_of e0) (map score_of a0) (map score_of es)); lia].
    destruct F as (y & z & _ & Ey & Ez & _ & D & _). subst M. rewrite Ey in Mv.
    pose proof (references _ _ _ H) as C. rewrite Ey in C. destruct C as (C & _).
    destruct Mv as (_ & [->|(_ & k & Ik & Lk & _)]); [destruct D; congruence|].
    assert (G : (S (growths (score_of e0) (map score_of a0)) <= growths (score_of e0) (map score_of a0 ++ map score_of es))%nat);
      [|lia].
    apply (growth_is_counted _ _ _ (score k)).
    + apply Forall_forall. intros s Is. change (In s (map score_of (e0 :: a0))) in Is.
      apply in_map_iff in Is as (i & <- & Ii).
      assert (In i (entries p)) by (rewrite E0; apply in_app_iff; now right).
      specialize (C _ (key_of_entry _ _ _ _ H H1)). unfold score_of. lra.
    + unfold score_of. rewrite <- map_map with (f := of), (weighed_keys _ _ _ _ Wb). now apply in_map.
  - pose proof (weighed_paths _ _ _ _ _ Wb I). unfold rescales. lia.
Qed.

(* A state that takes some other share of the keys may rise more often: lanes are residue classes of 2, 4, ..., 64. *)
Definition at_level x : R * R := (x, x).
Example a_share_has_more_growths : growths 1 [2; 3] = 2%nat /\ records 1 (map at_level [9; 2; 9; 3]) = 1%nat.
Proof. split; simpl; repeat (destruct (Rlt_dec _ _); try (exfalso; lra)); reflexivity. Qed.
