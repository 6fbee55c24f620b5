(* Lemma 6, addition by addition: a computed tree is its leaves, each with the roundings of its products alone, and one error for
   each addition, beside the exact sum of what is under that addition. *)
From Attest Require Export lemma_6.

(* An addition: the leaves of its two operands, as they enter the whole sum, behind all rescales. *)
Definition node : Type := list leaf * list leaf.
Definition under (q : node) := fst q ++ snd q.
Definition rescaled_node r (q : node) : node := (map (rescaled r) (fst q), map (rescaled r) (snd q)).
Fixpoint additions s : list node := match s with
  | Scale r s => map (rescaled_node r) (additions s)
  | Add a b => (leaves a, leaves b) :: additions a ++ additions b
  | _ => []
  end.
Definition exact_sum l := total size l.
Definition mass l := total (fun f => Rabs (size f)) l.

(* Where additions round to nearest, an error exceeds neither operand: both are floats. *)
Definition to_nearest d a b := Rabs (d * (a + b)) <= Rabs a /\ Rabs (d * (a + b)) <= Rabs b.
Inductive computed_as m (nearest : bool) : sum -> R -> Prop :=
  | as_zero : computed_as m nearest Zero 0
  | as_term w : computed_as m nearest (Term w) w
  | as_product w v y : rounded m (w * v) y -> computed_as m nearest (Product w v) y
  | as_scale r s x y : computed_as m nearest s x -> rounded m (r * x) y -> computed_as m nearest (Scale r s) y
  | as_add a b x y d n : computed_as m nearest a x -> computed_as m nearest b y -> Rabs d <= u m ->
      Rabs n <= (if flushes m then omega m else 0) -> (nearest = true -> to_nearest d x y) ->
      computed_as m nearest (Add a b) ((x + y) * (1 + d) + n).
Lemma computed_is m s y : computed m s y <-> computed_as m false s y.
Proof.
  split; induction 1 as [| | | |a b x y]; try (econstructor; eauto; fail); try (econstructor; eassumption).
  - destruct H1 as (d & n & Hd & Hn & ->). now apply as_add.
  - apply (computed_add m a b x y); auto. now exists d, n.
Qed.
Lemma nearest_computed m b s y : computed_as m b s y -> computed m s y.
Proof.
  induction 1; try (econstructor; eauto; fail). apply (computed_add m a b0 x y); auto. now exists d, n.
Qed.

(* Roundings of the longest path, which an error of an addition may meet on both sides of it. *)
Definition grown m s := (1 + u m) ^ (height s + depth s).
Lemma grown_at_least_1 m s : 0 <= u m -> 1 <= grown m s.
Proof. intros. now apply pow_at_least_1. Qed.
Lemma grown_scaled m r s : grown m (Scale r s) = (1 + u m) * grown m s.
Proof. unfold grown. simpl. now rewrite Nat.add_succ_r. Qed.
Lemma grown_added m a b : 0 <= u m -> (1 + u m) * grown m a <= grown m (Add a b) /\ (1 + u m) * grown m b <= grown m (Add a b).
Proof.
  intros Hu. unfold grown. simpl height. simpl depth. rewrite Nat.add_succ_l. simpl pow. pose proof (Nat.le_max_l (height a) (height b)).
  pose proof (Nat.le_max_r (height a) (height b)). pose proof (Nat.le_max_l (depth a) (depth b)). pose proof (Nat.le_max_r (depth a) (depth b)).
  split; (apply Rmult_le_compat_l; [lra|]); (apply Rle_pow; [lra|lia]).
Qed.

Lemma mass_pos l : 0 <= mass l.
Proof. apply total_pos. intros. apply Rabs_pos. Qed.
Lemma exact_below_mass l : Rabs (exact_sum l) <= mass l.
Proof. apply total_abs. Qed.
Lemma exact_rescaled r l : exact_sum (map (rescaled r) l) = r * exact_sum l.
Proof.
  unfold exact_sum. rewrite total_map, <- total_times. apply total_same. intros. unfold size, rescaled. simpl. ring.
Qed.
Lemma mass_rescaled r l : 0 <= r -> mass (map (rescaled r) l) = r * mass l.
Proof.
  intros. unfold mass. rewrite total_map, <- total_times. apply total_same. intros. unfold size, rescaled. simpl.
  rewrite <- (Rabs_pos_eq r) at 2 by easy. rewrite <- Rabs_mult. f_equal. ring.
Qed.

(* y' is y without what underflows; K is the growth of roundings, L what is lost. *)
Definition error_of m nearest K L (p : node * R) :=
  Rabs (snd p) <= u m * K * (Rabs (exact_sum (under (fst p))) + (K - 1) * mass (under (fst p))) /\
  (nearest = true -> Rabs (snd p) <= K * mass (fst (fst p)) + 2 * L /\ Rabs (snd p) <= K * mass (snd (fst p)) + 2 * L).
Record expanded m nearest s K L y y' (g : list (leaf * R)) (e : list (node * R)) := {
  its_leaves : map fst g = leaves s;
  products_alone : forall p, In p g -> Rabs (snd p - 1) <= (1 + u m) ^ products (fst p) - 1;
  its_additions : map fst e = additions s;
  errors_below : forall p, In p e -> error_of m nearest K L p;
  expansion : y' = total (fun p => size (fst p) * snd p) g + total snd e;
  lost_below : Rabs (y - y') <= L;
  near_its_leaves : Rabs (y' - exact_sum (leaves s)) <= (K - 1) * mass (leaves s) }.

Lemma error_grows m nearest K K' L L' p : 0 <= u m -> 1 <= K -> K <= K' -> L <= L' -> error_of m nearest K L p -> error_of m nearest K' L' p.
Proof.
  intros Hu H1 HK HL (A & B). pose proof (mass_pos (under (fst p))) as M0. pose proof (Rabs_pos (exact_sum (under (fst p)))) as E0. split.
  - eapply Rle_trans; [exact A|]. apply Rmult_le_compat; [nra|nra|apply Rmult_le_compat_l; lra|].
    assert ((K - 1) * mass (under (fst p)) <= (K' - 1) * mass (under (fst p))) by (apply Rmult_le_compat_r; lra). lra.
  - intros N. destruct (B N) as (B1 & B2). pose proof (mass_pos (fst (fst p))). pose proof (mass_pos (snd (fst p))).
    assert (K * mass (fst (fst p)) <= K' * mass (fst (fst p))) by (apply Rmult_le_compat_r; lra).
    assert (K * mass (snd (fst p)) <= K' * mass (snd (fst p))) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* One product with r(1 + d) behind a tree. *)
Lemma error_rescaled m nearest K L r rho d p : 0 <= u m -> 1 <= K -> 0 <= L -> 0 <= r <= rho -> Rabs (1 + d) <= 1 + u m ->
  error_of m nearest K L p -> error_of m nearest ((1 + u m) * K) (rho * (1 + u m) * L) (rescaled_node r (fst p), r * (1 + d) * snd p).
Proof.
  intros Hu H1 HL Hr Hd (A & B). unfold error_of, under, rescaled_node in *. simpl. rewrite <- map_app, exact_rescaled, !mass_rescaled by easy.
  set (l := fst (fst p) ++ snd (fst p)) in *. pose proof (mass_pos l) as M0. pose proof (Rabs_pos (exact_sum l)) as E0.
  assert (D : Rabs (r * (1 + d) * snd p) <= r * ((1 + u m) * Rabs (snd p))).
  { rewrite !Rabs_mult, (Rabs_pos_eq r), Rmult_assoc by easy. apply Rmult_le_compat_l; [easy|]. apply Rmult_le_compat_r; auto using Rabs_pos. }
  split.
  - eapply Rle_trans; [exact D|]. rewrite Rabs_mult, (Rabs_pos_eq r) by easy.
    replace (u m * ((1 + u m) * K) * (r * Rabs (exact_sum l) + ((1 + u m) * K - 1) * (r * mass l)))
      with (r * ((1 + u m) * (u m * K * (Rabs (exact_sum l) + ((1 + u m) * K - 1) * mass l)))) by ring.
    apply Rmult_le_compat_l; [easy|]. apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [exact A|]. apply Rmult_le_compat_l; [nra|].
    assert ((K - 1) * mass l <= ((1 + u m) * K - 1) * mass l) by (apply Rmult_le_compat_r; nra). lra.
  - intros N. destruct (B N) as (B1 & B2).
    assert (Side : forall x, Rabs (snd p) <= K * x + 2 * L -> r * ((1 + u m) * Rabs (snd p)) <= (1 + u m) * K * (r * x) + 2 * (rho * (1 + u m) * L)).
    { intros x Hx. assert (r * ((1 + u m) * Rabs (snd p)) <= r * ((1 + u m) * (K * x + 2 * L))).
      { apply Rmult_le_compat_l; [easy|]. apply Rmult_le_compat_l; lra. }
      assert (r * ((1 + u m) * L) <= rho * ((1 + u m) * L)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]). lra. }
    specialize (Side (mass (fst (fst p))) B1) as S1. specialize (Side (mass (snd (fst p))) B2) as S2. lra.
Qed.

Lemma near_rescaled K u0 x d e M : 0 <= u0 -> 1 <= K -> Rabs (1 + d) <= 1 + u0 -> Rabs d <= u0 -> Rabs e <= M -> Rabs (x - e) <= (K - 1) * M ->
  Rabs (x * (1 + d) - e) <= ((1 + u0) * K - 1) * M.
Proof.
  intros Hu HK H1 Hd He Hx. replace (x * (1 + d) - e) with ((x - e) * (1 + d) + d * e) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
  assert (Rabs (x - e) * Rabs (1 + d) <= (K - 1) * M * (1 + u0)) by (apply Rmult_le_compat; auto using Rabs_pos).
  assert (Rabs d * Rabs e <= u0 * M) by (apply Rmult_le_compat; auto using Rabs_pos). lra.
Qed.

Lemma near_size x l k M : Rabs (x - exact_sum l) <= (k - 1) * mass l -> k <= M -> Rabs x <= M * mass l.
Proof.
  intros H L. replace x with (exact_sum l + (x - exact_sum l)) by ring. pose proof (exact_below_mass l). pose proof (mass_pos l) as P.
  assert (k * mass l <= M * mass l) by now apply Rmult_le_compat_r. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma near_both x l k y l' k' M : Rabs (x - exact_sum l) <= (k - 1) * mass l -> Rabs (y - exact_sum l') <= (k' - 1) * mass l' -> k <= M -> k' <= M ->
  Rabs (x + y - exact_sum (l ++ l')) <= (M - 1) * mass (l ++ l').
Proof.
  intros Hx Hy L L'. unfold exact_sum, mass in *. rewrite !total_app. pose proof (mass_pos l) as P. pose proof (mass_pos l') as P'. unfold mass in *.
  assert ((k - 1) * total (fun f => Rabs (size f)) l <= (M - 1) * total (fun f => Rabs (size f)) l) by (apply Rmult_le_compat_r; lra).
  assert ((k' - 1) * total (fun f => Rabs (size f)) l' <= (M - 1) * total (fun f => Rabs (size f)) l') by (apply Rmult_le_compat_r; lra).
  change (total (fun a => size a) l) with (total size l). change (total (fun a => size a) l') with (total size l').
  replace (x + y - (total size l + total size l')) with ((x - total size l) + (y - total size l')) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* The error of one addition: x and y are the operands, a and b those without what underflows. *)
Lemma error_of_addition m nearest l l' x y a b la lb d M : 0 <= u m <= 1 -> 1 <= M -> 0 <= la -> 0 <= lb -> Rabs d <= u m ->
  (nearest = true -> to_nearest d x y) -> Rabs (x - a) <= la -> Rabs (y - b) <= lb -> Rabs a <= M * mass l -> Rabs b <= M * mass l' ->
  Rabs (a + b - exact_sum (l ++ l')) <= (M - 1) * mass (l ++ l') -> error_of m nearest M (la + lb) ((l, l'), d * (a + b)).
Proof.
  intros (Hu & Hu1) HM La Lb Hd Nr Dx Dy Sa Sb Nab. unfold error_of, under. simpl. pose proof (Rabs_pos (exact_sum (l ++ l'))) as E0. split.
  - rewrite Rabs_mult, Rmult_assoc. apply Rmult_le_compat; auto using Rabs_pos. pose proof (mass_pos (l ++ l')) as M0.
    assert (0 <= (M - 1) * mass (l ++ l')) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (1 * (Rabs (exact_sum (l ++ l')) + (M - 1) * mass (l ++ l'))); [|apply Rmult_le_compat_r; lra].
    replace (a + b) with (exact_sum (l ++ l') + (a + b - exact_sum (l ++ l'))) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
  - intros N. destruct (Nr N) as (N1 & N2).
    assert (D : Rabs (d * (a + b)) <= Rabs (d * (x + y)) + (la + lb)).
    { replace (d * (a + b)) with (d * (x + y) + - (d * ((x - a) + (y - b)))) by ring. eapply Rle_trans; [apply Rabs_triang|].
      rewrite Rabs_Ropp, (Rabs_mult d (x - a + _)). apply Rplus_le_compat_l.
      assert (Rabs (x - a + (y - b)) <= la + lb) by (eapply Rle_trans; [apply Rabs_triang|lra]).
      apply Rle_trans with (1 * (la + lb)); [apply Rmult_le_compat; auto using Rabs_pos; lra|lra]. }
    assert (Rabs x <= Rabs a + la) by (replace x with (a + (x - a)) by ring; eapply Rle_trans; [apply Rabs_triang|lra]).
    assert (Rabs y <= Rabs b + lb) by (replace y with (b + (y - b)) by ring; eapply Rle_trans; [apply Rabs_triang|lra]). lra.
Qed.

Theorem lemma_6_addition_by_addition m nearest rho s y : 0 <= u m <= 1 -> 0 <= omega m -> 1 <= rho -> rescales_below rho s ->
  computed_as m nearest s y -> exists y' g e, expanded m nearest s (grown m s) (losses m rho s) y y' g e.
Proof.
  intros (Hu & Hu1) Hw Hr R C. assert (One : forall d, Rabs d <= u m -> Rabs (1 + d) <= 1 + u m).
  { intros d Hd. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra. }
  induction C as [|w|w v y (d & n & Hd & Hn & ->)|r s x y C IH (d & n & Hd & Hn & ->)|a b x y d n Ca IHa Cb IHb Hd Hn Nr]; simpl in R.
  - exists 0, [], []. unfold grown, losses, exact_sum, mass. constructor; simpl; try easy; rewrite ?Rminus_0_r, ?Rabs_R0; lra.
  - exists w, [(Leaf w 1 0, 1)], []. unfold grown, losses, exact_sum, mass. constructor; unfold size; simpl; try easy.
    + intros p [<-|[]]. simpl. rewrite Rminus_eq_0, Rabs_R0. lra.
    + ring.
    + rewrite Rminus_eq_0, Rabs_R0. lra.
    + unfold size. simpl. replace (w - (w * 1 + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - exists (w * v * (1 + d)), [(Leaf w v 1, 1 + d)], []. unfold grown, losses, exact_sum, mass. constructor; unfold size; simpl; try easy.
    + intros p [<-|[]]. simpl. replace (1 + d - 1) with d by ring. lra.
    + ring.
    + replace (w * v * (1 + d) + n - w * v * (1 + d)) with n by ring.
      assert (omega m * 1 <= omega m * (rho * (1 + u m))) by (apply Rmult_le_compat_l; nra). lra.
    + unfold size. simpl. replace (w * v * (1 + d) - (w * v + 0)) with (d * (w * v)) by ring. rewrite Rabs_mult.
      assert (Rabs d * Rabs (w * v) <= u m * Rabs (w * v)) by (apply Rmult_le_compat_r; auto using Rabs_pos). lra.
  - destruct R as (R1 & R2). destruct (IH R2) as (x' & g & e & X). destruct X as [Eg Bg Ee Be Ex Lx Nx]. specialize (One d Hd).
    pose proof (grown_at_least_1 m s Hu) as G1. pose proof (losses_pos m rho s Hu Hw Hr) as L0. pose proof (losses_rescaled m rho r s Hu Hw Hr R1) as Ls.
    exists (r * x' * (1 + d)), (map (fun p => (rescaled r (fst p), snd p * (1 + d))) g), (map (fun p => (rescaled_node r (fst p), r * (1 + d) * snd p)) e).
    rewrite grown_scaled. constructor; simpl leaves; simpl additions.
    + rewrite <- Eg, !map_map. reflexivity.
    + intros p I. apply in_map_iff in I as (q & <- & I). simpl. rewrite (Rmult_comm (1 + u m)). apply one_more; auto. apply pow_at_least_1. lra.
    + rewrite <- Ee, !map_map. reflexivity.
    + intros p I. apply in_map_iff in I as (q & <- & I). apply (error_grows m nearest ((1 + u m) * grown m s) _ (r * (1 + u m) * losses m rho s)); try lra; [nra|].
      apply error_rescaled; auto; lra.
    + rewrite !total_map. simpl. rewrite (total_times (r * (1 + d)) snd), (total_same _ (fun p => r * (1 + d) * (size (fst p) * snd p))).
      * rewrite total_times, Ex. ring.
      * intros p _. unfold size, rescaled. simpl. ring.
    + replace (r * x * (1 + d) + n - r * x' * (1 + d)) with (r * (1 + d) * (x - x') + n) by ring. eapply Rle_trans; [apply Rabs_triang|].
      rewrite !Rabs_mult, (Rabs_pos_eq r) by easy.
      assert (r * Rabs (1 + d) * Rabs (x - x') <= r * (1 + u m) * losses m rho s).
      { apply Rmult_le_compat; auto using Rabs_pos; [apply Rmult_le_pos; auto using Rabs_pos; lra|apply Rmult_le_compat_l; lra]. }
      lra.
    + rewrite exact_rescaled, mass_rescaled by easy. replace (r * x' * (1 + d) - r * exact_sum (leaves s)) with (r * (x' * (1 + d) - exact_sum (leaves s))) by ring.
      rewrite Rabs_mult, (Rabs_pos_eq r) by easy.
      replace (((1 + u m) * grown m s - 1) * (r * mass (leaves s))) with (r * (((1 + u m) * grown m s - 1) * mass (leaves s))) by ring.
      apply Rmult_le_compat_l; [easy|]. apply near_rescaled; auto. apply exact_below_mass.
  - destruct R as (R1 & R2). destruct (IHa R1) as (a' & ga & ea & A). destruct (IHb R2) as (b' & gb & eb & B). specialize (One d Hd). clear IHa IHb.
    pose proof (grown_at_least_1 m a Hu) as Ga. pose proof (grown_at_least_1 m b Hu) as Gb. destruct (grown_added m a b Hu) as (Ka & Kb).
    pose proof (losses_pos m rho a Hu Hw Hr) as La0. pose proof (losses_pos m rho b Hu Hw Hr) as Lb0. pose proof (losses_added m rho a b Hu Hw Hr) as Ls.
    set (K := grown m (Add a b)) in *. set (L := losses m rho (Add a b)) in *. set (la := losses m rho a) in *. set (lb := losses m rho b) in *.
    assert (HN : Rabs n <= omega m) by (destruct (flushes m); lra). assert (LL : la + lb <= L).
    { assert (0 <= u m * (la + lb)) by (apply Rmult_le_pos; lra). lra. }
    set (M := Rmax (grown m a) (grown m b)). assert (MK : grown m a <= M /\ grown m b <= M /\ (1 + u m) * M <= K).
    { unfold M, Rmax. destruct (Rle_dec _ _); lra. }
    destruct MK as (Ma & Mb & MK). assert (M1 : M <= K). { assert (0 <= u m * M) by (apply Rmult_le_pos; lra). lra. }
    pose proof (near_both _ _ _ _ _ _ M (near_its_leaves _ _ _ _ _ _ _ _ _ A) (near_its_leaves _ _ _ _ _ _ _ _ _ B) Ma Mb) as Nab.
    exists ((a' + b') * (1 + d)), (ga ++ gb), (((leaves a, leaves b), d * (a' + b')) :: ea ++ eb). constructor; simpl leaves; simpl additions.
    + rewrite map_app, (its_leaves _ _ _ _ _ _ _ _ _ A), (its_leaves _ _ _ _ _ _ _ _ _ B). reflexivity.
    + intros p I. apply in_app_iff in I as [I|I]; [apply (products_alone _ _ _ _ _ _ _ _ _ A p I)|apply (products_alone _ _ _ _ _ _ _ _ _ B p I)].
    + simpl. rewrite map_app, (its_additions _ _ _ _ _ _ _ _ _ A), (its_additions _ _ _ _ _ _ _ _ _ B). reflexivity.
    + intros p [<-|I]; [|apply in_app_iff in I as [I|I]].
      * apply (error_grows m nearest M _ (la + lb)); try lra. apply (error_of_addition m nearest _ _ x y a' b' la lb d); auto; try lra.
        -- apply A.
        -- apply B.
        -- apply (near_size _ _ (grown m a)); [apply A|exact Ma].
        -- apply (near_size _ _ (grown m b)); [apply B|exact Mb].
      * apply (error_grows m nearest (grown m a) _ la); try lra. apply (errors_below _ _ _ _ _ _ _ _ _ A p I).
      * apply (error_grows m nearest (grown m b) _ lb); try lra. apply (errors_below _ _ _ _ _ _ _ _ _ B p I).
    + simpl. rewrite !total_app. pose proof (expansion _ _ _ _ _ _ _ _ _ A). pose proof (expansion _ _ _ _ _ _ _ _ _ B).
      change (fun a : node * R => snd a) with (@snd node R) in *. lra.
    + replace ((x + y) * (1 + d) + n - (a' + b') * (1 + d)) with ((1 + d) * ((x - a') + (y - b')) + n) by ring. eapply Rle_trans; [apply Rabs_triang|].
      rewrite Rabs_mult. assert (Rabs (x - a' + (y - b')) <= la + lb).
      { eapply Rle_trans; [apply Rabs_triang|]. pose proof (lost_below _ _ _ _ _ _ _ _ _ A). pose proof (lost_below _ _ _ _ _ _ _ _ _ B). lra. }
      assert (Rabs (1 + d) * Rabs (x - a' + (y - b')) <= (1 + u m) * (la + lb)) by (apply Rmult_le_compat; auto using Rabs_pos). lra.
    + eapply Rle_trans; [apply (near_rescaled M (u m) (a' + b') d _ (mass (leaves a ++ leaves b))); auto; try lra; apply exact_below_mass|].
      apply Rmult_le_compat_r; [apply mass_pos|lra].
Qed.
