(* Theorem T1, records: a sink is met at one place of a walk. A key has one record more, where the sink may lie above it; behind
   the sink there is one growth, and the records of the first key that lies above it. *)
From Attest Require Export records sinks.

Lemma growths_from_above x y l : x <= y -> (growths y l <= growths x l)%nat.
Proof.
  revert x y. induction l as [|a l IH]; intros x y L; simpl; [lia|].
  destruct (Rlt_dec y a), (Rlt_dec x a); try (exfalso; lra); [lia|apply le_S, IH; lra|now apply IH].
Qed.
Theorem one_more_record level a t b :
  (growths level (a ++ t :: b) <= growths level (a ++ b) + (if Rlt_dec level t then 1 else 0))%nat.
Proof.
  revert level. induction a as [|x a IH]; intros level; simpl.
  - destruct (Rlt_dec level t); [pose proof (growths_from_above level t b ltac:(lra)); lia|lia].
  - destruct (Rlt_dec level x); [|apply IH]. specialize (IH x). destruct (Rlt_dec x t), (Rlt_dec level t); try (exfalso; lra); lia.
Qed.
Theorem records_behind level l : growths level l = O \/ exists a k b, l = a ++ k :: b /\ level < k /\ growths level l = S (growths k b).
Proof.
  induction l as [|x l IH]; simpl; [now left|]. destruct (Rlt_dec level x); [right; now exists [], x, l|].
  destruct IH as [->|(a & k & b & -> & L & E)]; [now left|right]. exists (x :: a), k, b. auto.
Qed.

(* rec_j of K, one more where the sink may exceed it. *)
Theorem T1_records m h p before e a sk b : exact_at_0 m = true -> walk h -> run m h p -> entries p = before ++ e :: a ++ sk :: b ->
  (rescales e <= growths (score_of e) (map score_of (a ++ b)) + (if Rlt_dec (score_of e) (score_of sk) then 1 else 0))%nat.
Proof.
  intros X W H E. pose proof (lemma_2_index m h p before e (a ++ sk :: b) X W H E) as L. eapply Nat.le_trans; [exact L|].
  rewrite !map_app. simpl. apply one_more_record.
Qed.
(* R of the sink itself: 1 + rec_k of a key k above it. *)
Theorem T1_sink_records m h p before sk after low later : exact_at_0 m = true -> walk h -> run m h p -> entries p = before ++ sk :: after ->
  Forall2 (fun x i => fst i <= x <= snd i) (map score_of after) later -> low <= score_of sk ->
  rescales sk = O \/ exists a i c, later = a ++ i :: c /\ low < snd i /\ (rescales sk <= S (records (fst i) c))%nat.
Proof.
  intros X W H E F Lo. pose proof (lemma_2_index m h p before sk after X W H E) as L.
  destruct (records_behind (score_of sk) (map score_of after)) as [Z|(a & k & b & El & Lk & Eg)]; [left; lia|right].
  rewrite El in F. apply Forall2_app_inv_l in F as (a' & r' & _ & Fr & ->). inversion Fr as [|? i ? c Hi Fc]; subst.
  exists a', i, c. split; [easy|]. split; [lra|]. pose proof (growths_below_records (fst i) k b c Fc ltac:(lra)). lia.
Qed.
