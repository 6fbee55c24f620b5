(* Lemma 2 (rescales): how often a key's weight meets a rescale factor other than 1, by blocks and by rank. *)
From Attest Require Export machine.

Definition rank (s : R) ks := length (filter (fun k => if Rlt_dec s (score k) then true else false) ks).
Definition lazy m n : nat := if Req_EM_T (tau m) 0 then O else n.

(* --- what every run keeps --------------------------------------------------------------------------------------------- *)

Lemma through_of f e : of (through f e) = of e.
Proof. now destruct f as [[a r]|]. Qed.
Lemma through_path f e : (length (path (through f e)) <= S (length (path e)))%nat.
Proof. destruct f as [[a r]|]; simpl; lia. Qed.

Lemma weighed_keys m M ks es : Forall2 (weighs m M) ks es -> map of es = ks.
Proof. induction 1 as [|k e ks es W _ IH]; simpl; [easy|]. destruct W as (?&?&?&?&?&_&_&_&_&_&->). now rewrite IH. Qed.
Lemma weighed_paths m M ks es e : Forall2 (weighs m M) ks es -> In e es -> length (path e) = 1%nat.
Proof.
  induction 1 as [|k e' ks es W _ IH]; simpl; [easy|]. intros [<-|I]; [|auto].
  now destruct W as (?&?&?&?&?&_&_&_&_&_&->).
Qed.
Lemma through_keys f es : map of (map (through f) es) = map of es.
Proof. rewrite map_map. apply map_ext. intros. apply through_of. Qed.

Lemma entries_keys m h p : run m h p -> map of (entries p) = keys h.
Proof.
  induction 1 as [|h b p M f es l O _ IH _ _ W _ _|a b p q f g l O _ IHa _ IHb _ _ _ _]; simpl; [easy| |];
    rewrite map_app, !through_keys; [rewrite (weighed_keys _ _ _ _ W)|]; congruence.
Qed.
Lemma key_of_entry m h p e : run m h p -> In e (entries p) -> In (of e) (keys h).
Proof. intros H I. rewrite <- (entries_keys _ _ _ H). now apply in_map. Qed.

(* The reference is within tau of every key's score, and no larger than some key's. *)
Definition within m (M : option R) ks := match M with
  | None => ks = []
  | Some M => covers m M ks /\ exists k, In k ks /\ M <= score k
  end.
Lemma references m h p : run m h p -> within m (reference p) (keys h).
Proof.
  induction 1 as [|h b p M f es l O _ IH Mv _ _ _ _|a b p q f g l O _ IHa _ IHb _ _ _ _]; simpl; [easy| |].
  - unfold moves, within, covers in *. destruct (reference p) as [x|], M as [y|]; try easy.
    + destruct IH as (C & k & Ik & Lk), Mv as (Cb & D). split.
      * intros k' I. apply in_app_iff in I as [I|I]; [|auto].
        specialize (C k' I). destruct D as [->|(L & _)]; lra.
      * destruct D as [->|(L & k' & I & _ & Le)]; [exists k|exists k']; rewrite in_app_iff; auto.
    + rewrite IH. exact Mv.
    + now rewrite IH, Mv.
  - unfold within, common, covers in *. destruct (reference p) as [x|], (reference q) as [y|]; simpl.
    + destruct IHa as (Ca & k & Ik & Lk), IHb as (Cb & k' & Ik' & Lk'). split.
      * intros k0 I. pose proof (Rmax_l x y). pose proof (Rmax_r x y).
        apply in_app_iff in I as [I|I]; [specialize (Ca _ I)|specialize (Cb _ I)]; lra.
      * destruct (Rle_dec x y); [exists k'; rewrite Rmax_right|exists k; rewrite Rmax_left]; rewrite ?in_app_iff; auto; lra.
    + rewrite IHb, app_nil_r. exact IHa.
    + rewrite IHa. exact IHb.
    + now rewrite IHa, IHb.
Qed.

(* --- by blocks: most = B - 1 + max(S - 1, merges); hidden keys' blocks count, as exp(0) may differ from 1 ---------------- *)

Lemma path_lengths m h p e : run m h p -> In e (entries p) -> (1 <= length (path e) <= blocks h + merges h)%nat.
Proof.
  intros H. revert e.
  induction H as [|h b p M f es l O _ IH _ _ W _ _|a b p q f g l O _ IHa _ IHb _ _ _ _]; simpl; intros e I; [easy| |];
    apply in_app_iff in I as [I|I].
  - apply in_map_iff in I as (e' & <- & I). specialize (IH _ I). pose proof (through_path f e').
    destruct f as [[x r]|]; simpl in *; lia.
  - rewrite (weighed_paths _ _ _ _ _ W I). lia.
  - apply in_map_iff in I as (e' & <- & I). specialize (IHa _ I). destruct f as [[x r]|]; simpl in *; lia.
  - apply in_map_iff in I as (e' & <- & I). specialize (IHb _ I). destruct g as [[x r]|]; simpl in *; lia.
Qed.

Lemma merges_below_parts h : (merges h <= parts h - 1)%nat /\ (1 <= parts h)%nat.
Proof. induction h; simpl; lia. Qed.

Theorem lemma_2_most m h p e : run m h p -> In e (entries p) -> (rescales e <= blocks h - 1 + merges h)%nat.
Proof. intros H I. pose proof (path_lengths _ _ _ _ H I). unfold rescales. lia. Qed.

(* --- by rank: one for each key above; a lazy merge may cost one more ------------------------------------------------------ *)

Lemma rank_app s a b : rank s (a ++ b) = (rank s a + rank s b)%nat.
Proof. unfold rank. now rewrite filter_app, app_length. Qed.
Lemma rank_of_one s k ks : In k ks -> s < score k -> (1 <= rank s ks)%nat.
Proof.
  intros I L. unfold rank. destruct (filter _ ks) as [|x l] eqn:E; simpl; [|lia].
  assert (F : In k (filter (fun k => if Rlt_dec s (score k) then true else false) ks)).
  { apply filter_In. split; [easy|]. now destruct (Rlt_dec s (score k)). }
  rewrite E in F. easy.
Qed.
Lemma grown_path f e : (1 <= length (path e))%nat ->
  rescales (through f e) = (rescales e + match f with None => 0 | Some _ => 1 end)%nat.
Proof. unfold rescales. destruct f as [[a r]|]; simpl; lia. Qed.

Lemma growth_of_merge m x y ks s : tau m = 0 -> s - tau m <= x -> x <> Rmax x y ->
  within m (Some y) ks -> (1 <= rank s ks)%nat.
Proof.
  intros T Hs N (_ & k & I & L). apply (rank_of_one s k); [easy|].
  unfold Rmax in N. destruct (Rle_dec x y); [|easy]. lra.
Qed.

Theorem lemma_2_rank m h p e : exact_at_0 m = true -> 0 <= tau m -> run m h p -> In e (entries p) ->
  (rescales e <= rank (score (of e)) (keys h) + lazy m (merges h))%nat.
Proof.
  intros X T H. revert e.
  induction H as [|h b p M f es l O H IH Mv F W _ _|a b p q f g l O Ha IHa Hb IHb F G _ _]; simpl; intros e I; [easy| |];
    apply in_app_iff in I as [I|I].
  - apply in_map_iff in I as (e' & <- & I). specialize (IH _ I). pose proof (path_lengths _ _ _ _ H I).
    rewrite grown_path, through_of, rank_app by lia.
    destruct f as [[x r]|]; [|lia].
    enough (1 <= rank (score (of e')) (visible b))%nat by lia.
    destruct F as (y & z & _ & Ey & Ez & _ & D & _). subst M. rewrite Ey in Mv. simpl in Mv.
    pose proof (references _ _ _ H) as C. rewrite Ey in C. destruct C as (C & _).
    specialize (C _ (key_of_entry _ _ _ _ H I)).
    destruct Mv as (_ & [->|(_ & k & Ik & Lk & _)]); [|apply (rank_of_one _ k); auto; lra].
    destruct D; congruence.
  - pose proof (weighed_paths _ _ _ _ _ W I). unfold rescales. lia.
  - apply in_map_iff in I as (e' & <- & I). specialize (IHa _ I). pose proof (path_lengths _ _ _ _ Ha I).
    rewrite grown_path, through_of, rank_app by lia. unfold lazy in *. destruct (Req_EM_T (tau m) 0) as [T0|]; [|destruct f; lia].
    destruct f as [[x r]|]; [|lia].
    destruct F as (y & z & _ & Ey & Ez & _ & D & _). pose proof (references _ _ _ Ha) as C. rewrite Ey in *.
    destruct C as (C & _). specialize (C _ (key_of_entry _ _ _ _ Ha I)).
    pose proof (references _ _ _ Hb) as Cb. destruct (reference q) as [t|]; simpl in Ez; inversion Ez; subst.
    + assert (1 <= rank (score (of e')) (keys b))%nat; [|lia].
      apply (growth_of_merge m y t); auto. destruct D; congruence.
    + destruct D; congruence.
  - apply in_map_iff in I as (e' & <- & I). specialize (IHb _ I). pose proof (path_lengths _ _ _ _ Hb I).
    rewrite grown_path, through_of, rank_app by lia. unfold lazy in *. destruct (Req_EM_T (tau m) 0) as [T0|]; [|destruct g; lia].
    destruct g as [[x r]|]; [|lia].
    destruct G as (y & z & _ & Ey & Ez & _ & D & _). pose proof (references _ _ _ Hb) as C. rewrite Ey in *.
    destruct C as (C & _). specialize (C _ (key_of_entry _ _ _ _ Hb I)).
    pose proof (references _ _ _ Ha) as Ca. destruct (reference p) as [t|]; simpl in Ez; inversion Ez; subst.
    + assert (1 <= rank (score (of e')) (keys a))%nat; [|lia].
      apply (growth_of_merge m y t); auto. rewrite Rmax_comm. destruct D; congruence.
    + destruct D; congruence.
Qed.

(* Every order of keys, with scores that are known up to E: rank+ of section 3. *)
Theorem rank_of_known (exact E : key -> R) k ks : (forall i, Rabs (score i - exact i) <= E i) ->
  (rank (score k) ks <=
     length (filter (fun i => if Rlt_dec (exact k - E k) (exact i + E i) then true else false) ks))%nat.
Proof.
  intros H. unfold rank. induction ks as [|i ks IH]; simpl; [lia|].
  pose proof (H i) as Hi. pose proof (H k) as Hk. apply between in Hi, Hk.
  destruct (Rlt_dec (score k) (score i)), (Rlt_dec (exact k - E k) (exact i + E i)); simpl; lia || lra.
Qed.
