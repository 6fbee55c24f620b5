(* Masked keys (H5): beyond Lambda_x a key that its own bias puts below the maximum weighs at most omega_W, or has (2) of
   Lemma 3 with the kappa of the keys that are not masked, which is at most g+. *)
From Attest Require Export theorem.

Inductive inside : history -> history -> Prop :=
  | itself h : inside h h
  | before h' h b : inside h' h -> inside h' (Take h b)
  | in_left h' a b : inside h' a -> inside h' (Merge a b)
  | in_right h' a b : inside h' b -> inside h' (Merge a b).

(* Each key was weighed in a partial result, beside its reference. *)
Definition weighed_in m h' e := exists p', run m h' p' /\ reference p' = Some (begun (of e) (path e)) /\ In (of e) (keys h').
Lemma begun_through f e : path e <> [] -> begun (of (through f e)) (path (through f e)) = begun (of e) (path e).
Proof. intros N. rewrite through_of. destruct f as [[a r]|]; [|easy]. unfold begun. simpl. now destruct (path e). Qed.
Lemma through_weighed m h' f e : path e <> [] -> weighed_in m h' e -> weighed_in m h' (through f e).
Proof.
  intros N (p & H & R & I). exists p. rewrite begun_through, through_of by easy. auto.
Qed.
Lemma path_not_empty m h p e : run m h p -> In e (entries p) -> path e <> [].
Proof. intros H I E. pose proof (path_lengths _ _ _ _ H I) as L. rewrite E in L. simpl in L. lia. Qed.

Lemma block_of m h p e : run m h p -> In e (entries p) -> exists h', inside h' h /\ weighed_in m h' e.
Proof.
  intros H. revert e.
  induction H as [|h b p M f es l O H IH Mv F W Jl JO|a b p q f g l O Ha IHa Hb IHb F G Jl JO]; simpl; intros e I; [easy| |];
    apply in_app_iff in I as [I|I].
  - apply in_map_iff in I as (e' & <- & I). destruct (IH _ I) as (h' & In' & Wh). exists h'. split; [now apply before|].
    apply through_weighed; [now apply (path_not_empty m h p)|easy].
  - exists (Take h b). split; [apply itself|].
    exists (Part M (map (through f) (entries p) ++ es) l O). split; [now apply (take m h b p M f)|].
    assert (B : M = Some (begun (of e) (path e)) /\ In (of e) (visible b)).
    { clear -W I. induction W as [|k e' ks es Wk _ IH]; simpl in *; [easy|]. destruct I as [<-|I]; [|now destruct (IH I); auto].
      destruct Wk as (y & c & x & q & d & -> & _ & _ & _ & _ & ->). unfold begun. simpl. split; [f_equal; ring|auto]. }
    destruct B as (-> & B). split; [easy|]. simpl. apply in_app_iff. now right.
  - apply in_map_iff in I as (e' & <- & I). destruct (IHa _ I) as (h' & In' & Wh). exists h'. split; [now apply in_left|].
    apply through_weighed; [now apply (path_not_empty m a p)|easy].
  - apply in_map_iff in I as (e' & <- & I). destruct (IHb _ I) as (h' & In' & Wh). exists h'. split; [now apply in_right|].
    apply through_weighed; [now apply (path_not_empty m b q)|easy].
Qed.

(* H5: what partial results of masked keys alone add, after the rescales that follow, is at most omega_W for each key. *)
Definition H5 m h p (masked : key -> bool) omega_W := forall h' e, inside h' h -> In e (entries p) -> weighed_in m h' e ->
  (forall k, In k (keys h') -> masked k = true) -> weight e <= omega_W.

(* Y+ is Y of the keys that are not masked. A partial result that holds one of these has a reference no larger in size. *)
Theorem alone_or_beside m h p e Y_plus masked omega_W : run m h p -> In e (entries p) -> H5 m h p masked omega_W ->
  (forall k, In k (keys h) -> masked k = false -> - Y_plus <= score k - tau m) ->
  weight e <= omega_W \/ - Y_plus <= begun (of e) (path e).
Proof.
  intros H I Five HY. destruct (block_of m h p e H I) as (h' & In' & Wh). destruct (forallb masked (keys h')) eqn:All.
  - left. rewrite forallb_forall in All. now apply (Five h').
  - right. destruct Wh as (p' & H' & R' & _).
    assert (Some_k : exists k, In k (keys h') /\ masked k = false).
    { clear -All. induction (keys h') as [|k ks IH]; simpl in All; [easy|]. destruct (masked k) eqn:B.
      - destruct (IH All) as (k' & I & B'). exists k'. split; [now right|easy].
      - exists k. split; [now left|easy]. }
    destruct Some_k as (k & Ik & B). pose proof (references _ _ _ H') as C. rewrite R' in C. destruct C as (C & _).
    specialize (C k Ik). assert (Ih : In k (keys h)).
    { clear -In' Ik. induction In'; simpl; rewrite ?in_app_iff; auto. }
    specialize (HY k Ih B). lra.
Qed.
Theorem lemma_3_masked m h p e M x E X Y_plus masked omega_W : sane m -> tinies m -> run m h p -> In e (entries p) ->
  reference p = Some M -> H5 m h p masked omega_W ->
  (forall k, In k (keys h) -> masked k = false -> - Y_plus <= score k - tau m) -> M <= Y_plus ->
  Rabs (score (of e) - x) <= E -> M - x + E + 2 * tau m <= X ->
  0 <= weight e <= omega_W \/ weight e = 0 /\ x0 m < reach m X Y_plus \/
  near_or_far (weight e) (x - M) (z_of m E X Y_plus (rescales e)) (left_over m Y_plus (rescales e)) (far m < reach m X Y_plus).
Proof.
  intros s t H I EM Five HY HM HE HX. destruct (alone_or_beside m h p e Y_plus masked omega_W H I Five HY) as [W|B].
  - left. split; [now apply (weight_not_negative m h p)|easy].
  - right. now apply lemma_3_begun with (h := h) (p := p).
Qed.

(* What the averages ask of such a weight: its T_j is at least 1, as its z_j holds kappa_j > 1. *)
Theorem masked_enters w E T omega_W : 0 < E -> 0 <= w <= omega_W -> 1 <= T -> Rabs (w - E) <= E * T + omega_W.
Proof. intros HE Hw HT. apply abs_below. assert (E * 1 <= E * T) by (apply Rmult_le_compat_l; lra). lra. Qed.
