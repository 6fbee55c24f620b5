(* Lemma 6: three ways to count the errors of additions. N_c of the text is the smallest of them. *)
From Attest Require Export lemma_6_additions.

Lemma size_rescaled r f : 0 <= r -> Rabs (size (rescaled r f)) = r * Rabs (size f).
Proof. intros. rewrite <- (Rabs_pos_eq r) at 2 by easy. rewrite <- Rabs_mult. f_equal. unfold size, rescaled. simpl. ring. Qed.

(* Along paths: a leaf lies under as many additions as its path has. *)
Theorem counted_along_paths rho s : rescales_below rho s ->
  total (fun q => mass (under q)) (additions s) <= INR (height s) * mass (leaves s).
Proof.
  induction s as [|w|w v|r s IH|a IHa b IHb]; simpl; intros R; try (unfold mass; simpl; lra).
  - destruct R as (R1 & R2). specialize (IH R2). rewrite total_map, mass_rescaled by easy.
    rewrite (total_same _ (fun q => r * mass (under q))) by (intros; unfold under, rescaled_node; simpl; rewrite <- map_app; now apply mass_rescaled).
    rewrite total_times. assert (r * total (fun q => mass (under q)) (additions s) <= r * (INR (height s) * mass (leaves s))) by now apply Rmult_le_compat_l. lra.
  - destruct R as (Ra & Rb). specialize (IHa Ra). specialize (IHb Rb). rewrite total_app. unfold under at 1. simpl fst. simpl snd.
    assert (Ap : mass (leaves a ++ leaves b) = mass (leaves a) + mass (leaves b)) by apply total_app. rewrite Ap.
    pose proof (mass_pos (leaves a)). pose proof (mass_pos (leaves b)). change (match _ with O => 1 | S _ => _ end) with (INR (S (max (height a) (height b)))).
    rewrite S_INR. pose proof (le_INR _ _ (Nat.le_max_l (height a) (height b))). pose proof (le_INR _ _ (Nat.le_max_r (height a) (height b))).
    assert (INR (height a) * mass (leaves a) <= INR (max (height a) (height b)) * mass (leaves a)) by now apply Rmult_le_compat_r.
    assert (INR (height b) * mass (leaves b) <= INR (max (height a) (height b)) * mass (leaves b)) by now apply Rmult_le_compat_r. lra.
Qed.

(* By their number: a sum over any of the leaves lies between the sums of the negative and of the positive ones. *)
Lemma part_of_leaves s q : In q (additions s) -> exists rest, Permutation (under q ++ rest) (leaves s).
Proof.
  revert q. induction s as [|w|w v|r s IH|a IHa b IHb]; simpl; intros q I; try easy.
  - apply in_map_iff in I as (q' & <- & I). destruct (IH q' I) as (rest & P). exists (map (rescaled r) rest).
    unfold under, rescaled_node in *. simpl. rewrite <- !map_app. now apply Permutation_map.
  - destruct I as [<-|I]; [exists []; now rewrite app_nil_r|]. apply in_app_iff in I as [I|I].
    + destruct (IHa q I) as (rest & P). exists (rest ++ leaves b). rewrite app_assoc. now apply Permutation_app_tail.
    + destruct (IHb q I) as (rest & P). exists (rest ++ leaves a). rewrite app_assoc. rewrite P. apply Permutation_app_comm.
Qed.
Theorem counted_by_number s q : In q (additions s) ->
  Rabs (exact_sum (under q)) <= (mass (leaves s) + Rabs (exact_sum (leaves s))) / 2 /\ mass (under q) <= mass (leaves s).
Proof.
  intros I. destruct (part_of_leaves s q I) as (rest & P).
  assert (E : exact_sum (leaves s) = exact_sum (under q) + exact_sum rest) by (unfold exact_sum; rewrite <- (total_permuted _ _ _ P), total_app; reflexivity).
  assert (M : mass (leaves s) = mass (under q) + mass rest) by (unfold mass; rewrite <- (total_permuted _ _ _ P), total_app; reflexivity).
  pose proof (exact_below_mass (under q)) as B. pose proof (exact_below_mass rest) as B'. pose proof (mass_pos rest). apply between in B, B'.
  pose proof (between _ _ (Rle_refl (Rabs (exact_sum (leaves s))))). split; [apply abs_below|]; lra.
Qed.

(* Where additions round to nearest: at the largest leaf of the operand whose largest leaf is the smaller one. Above, that leaf is no
   largest leaf again, so that the largest of all is never counted. *)
Fixpoint whole s := match s with
  | Add a b => leaves a <> [] /\ leaves b <> [] /\ whole a /\ whole b
  | Scale _ s => whole s
  | _ => True
  end.
Lemma mass_below_largest x l : (forall f, In f l -> Rabs (size f) <= x) -> mass l <= INR (length l) * x.
Proof.
  intros H. unfold mass. apply Rle_trans with (total (fun _ => x) l); [now apply total_below|]. rewrite total_const. lra.
Qed.
Theorem counted_at_leaves rho U n K L s : 0 <= K -> rescales_below rho s -> whole s -> leaves s <> [] -> (length (leaves s) <= n)%nat ->
  forall t (c : node -> R), 0 <= t ->
  (forall q, In q (additions s) -> c q <= U /\ c q <= K * (t * mass (fst q)) + L /\ c q <= K * (t * mass (snd q)) + L) ->
  exists f rest, Permutation (f :: rest) (leaves s) /\ (forall g, In g (leaves s) -> Rabs (size g) <= Rabs (size f)) /\
    total c (additions s) <= total (fun g => Rmin U (INR n * (K * (t * Rabs (size g))) + L)) rest.
Proof.
  intros HK. induction s as [|w|w v|r s IH|a IHa b IHb]; simpl; intros R Wh N Ln t c Ht H.
  - easy.
  - exists (Leaf w 1 0), []. simpl. repeat split; [easy| |lra]. intros g [<-|[]]. lra.
  - exists (Leaf w v 1), []. simpl. repeat split; [easy| |lra]. intros g [<-|[]]. lra.
  - destruct R as (R1 & R2). rewrite map_length in Ln. assert (N' : leaves s <> []) by (intros E; now rewrite E in N).
    destruct (IH R2 Wh N' Ln (t * r) (fun q => c (rescaled_node r q))) as (f & rest & P & Big & T).
    + apply Rmult_le_pos; lra.
    + intros q I. specialize (H (rescaled_node r q) (in_map (rescaled_node r) _ _ I)). unfold rescaled_node at 3 5 in H. simpl in H. rewrite !mass_rescaled in H by easy.
      rewrite !(Rmult_assoc t r). exact H.
    + exists (rescaled r f), (map (rescaled r) rest). split; [now apply (Permutation_map (rescaled r)) in P|]. split.
      * intros g I. apply in_map_iff in I as (g' & <- & I). rewrite !size_rescaled by easy. apply Rmult_le_compat_l; [easy|now apply Big].
      * rewrite !total_map. eapply Rle_trans; [exact T|]. right. apply total_same. intros g _. rewrite size_rescaled by easy. f_equal. ring.
  - destruct R as (Ra & Rb). destruct Wh as (Na & Nb & Wa & Wb). rewrite app_length in Ln.
    destruct (IHa Ra Wa Na ltac:(lia) t c Ht) as (fa & ra & Pa & Ba & Ta); [intros q I; apply H; right; apply in_app_iff; now left|].
    destruct (IHb Rb Wb Nb ltac:(lia) t c Ht) as (fb & rb & Pb & Bb & Tb); [intros q I; apply H; right; apply in_app_iff; now right|].
    destruct (H (leaves a, leaves b) (or_introl eq_refl)) as (H0 & H1 & H2). simpl in H1, H2. rewrite total_app.
    assert (At : forall l f, (forall g, In g l -> Rabs (size g) <= Rabs (size f)) -> (length l <= n)%nat ->
      K * (t * mass l) <= INR n * (K * (t * Rabs (size f)))).
    { intros l f B Hl. apply le_INR in Hl. pose proof (mass_below_largest _ l B) as M. pose proof (Rabs_pos (size f)).
      assert (mass l <= INR n * Rabs (size f)) by (eapply Rle_trans; [exact M|]; now apply Rmult_le_compat_r).
      replace (INR n * (K * (t * Rabs (size f)))) with (K * (t * (INR n * Rabs (size f)))) by ring. apply Rmult_le_compat_l; [easy|]. now apply Rmult_le_compat_l. }
    assert (Pab : Permutation (fa :: fb :: ra ++ rb) (leaves a ++ leaves b)).
    { rewrite <- Pa, <- Pb. simpl. constructor. apply Permutation_middle. }
    destruct (Rle_dec (Rabs (size fb)) (Rabs (size fa))) as [Le|Le].
    + exists fa, (fb :: ra ++ rb). split; [exact Pab|]. split.
      * intros g I. apply in_app_iff in I as [I|I]; [now apply Ba|]. eapply Rle_trans; [now apply Bb|exact Le].
      * simpl. rewrite total_app. apply Rplus_le_compat; [|now apply Rplus_le_compat]. apply Rmin_glb; [easy|].
        pose proof (At (leaves b) fb Bb ltac:(lia)). lra.
    + exists fb, (fa :: ra ++ rb). split; [rewrite <- Pab; apply perm_swap|]. split.
      * intros g I. apply in_app_iff in I as [I|I]; [|now apply Bb]. specialize (Ba g I). lra.
      * simpl. rewrite total_app. apply Rplus_le_compat; [|now apply Rplus_le_compat]. apply Rmin_glb; [easy|].
        pose proof (At (leaves a) fa Ba ltac:(lia)). lra.
Qed.

(* The sums of a run have an addition less than leaves. *)
Definition all_summed s := whole s /\ (s = Zero \/ leaves s <> [] /\ S (length (additions s)) = length (leaves s)).
Definition summed s := whole s /\ leaves s <> [] /\ S (length (additions s)) = length (leaves s).
Lemma joined_summed l s : joins l s -> (forall t, In t l -> summed t) -> all_summed s /\ (l <> [] -> summed s).
Proof.
  induction 1 as [|s|a b c s t Ja IHa Jb IHb Na Nb P]; intros H.
  - split; [split; [easy|now left]|easy].
  - destruct (H s (or_introl eq_refl)) as (W & N & E). split; [split; [easy|now right]|easy].
  - assert (Q : summed (Add s t)).
    { destruct (IHa ltac:(intros x I; apply H; rewrite <- P; apply in_app_iff; now left)) as (_ & A). destruct (A Na) as (Ws & Ns & Es).
      destruct (IHb ltac:(intros x I; apply H; rewrite <- P; apply in_app_iff; now right)) as (_ & B). destruct (B Nb) as (Wt & Nt & Et).
      split; [simpl; auto|]. simpl. rewrite !app_length. split; [|lia]. destruct (leaves s); easy. }
    split; [|easy]. destruct Q as (W & N & E). split; [easy|now right].
Qed.
Lemma scaled_summed f s t : all_summed s -> In t (scaled f s) -> summed t.
Proof.
  intros (W & [->|(N & E)]) I; [destruct f as [[x r]|]; easy|].
  assert (B : t = s \/ exists r, t = Scale r s) by (destruct f as [[x r]|], s; simpl in I; intuition eauto).
  destruct B as [->|(r & ->)]; [easy|]. split; [easy|]. simpl. rewrite !map_length. split; [|easy].
  intros Z. apply map_eq_nil in Z. now destruct N.
Qed.
Lemma new_summed l t : In t (map in_l l) \/ In t (map in_O l) -> summed t.
Proof. intros [I|I]; apply in_map_iff in I as (e & <- & _); repeat split; easy. Qed.
Theorem run_summed m h p : run m h p -> all_summed (sum_l p) /\ all_summed (sum_O p).
Proof.
  induction 1 as [|h b p M f es l O H (IHl & IHO) _ _ W Jl JO|a b p q f g l O Ha (Al & AO) Hb (Bl & BO) _ _ Jl JO]; simpl.
  - split; (split; [easy|now left]).
  - split; [apply (joined_summed _ _ Jl)|apply (joined_summed _ _ JO)]; intros t I; apply in_app_iff in I as [I|I]; eauto using scaled_summed, new_summed.
  - split; [apply (joined_summed _ _ Jl)|apply (joined_summed _ _ JO)]; intros t I; apply in_app_iff in I as [I|I]; eauto using scaled_summed.
Qed.
