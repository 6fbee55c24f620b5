(* Theorem T1: a sink that is a term of the sum. (a) is a key of the machine, with the value 0. (b) is added once, behind
   the keys, as exp(t - M), whose argument may be positive. *)
From Attest Require Export theorem.

Definition sink t := Key t 0.

(* (a): a state that begins with M = t and l = 1 is a run that took the sink, and its O adds nothing. *)
Theorem begins_with_sink m t : sane m -> tinies m -> exists e O,
  run m (Take Nothing [Some (sink t)]) (Part (Some t) [e] (Term 1) O) /\ of e = sink t /\ weight e = 1 /\ computed m O 0.
Proof.
  intros s ti. pose proof (gamma_pos (c_m m) (u m) (some_u m s) (few_shared m s)) as Gc. pose proof (gamma_x_pos m s) as G.
  pose proof (lost_pos m s). pose proof (some_shared m s). pose proof (some_eps m s). pose proof (some_tau m s).
  pose proof (some_tiny m ti). pose proof (some_u m s). pose proof (some_omega m s).
  set (e := Entry (sink t) (1 * (1 + 0)) [t - t]). exists (Entry (sink t) 1 [t - t]), (Product 1 0).
  replace (Entry (sink t) 1 [t - t]) with e by (unfold e; f_equal; ring). split; [|split; [easy|split; [simpl; ring|]]].
  - apply (take m Nothing [Some (sink t)] (Part None [] Zero Zero) (Some t) None [e]); simpl; auto using nothing.
    + split; [intros k [<-|[]]; simpl; lra|]. exists (sink t). simpl. split; [now left|lra].
    + constructor; [|constructor]. exists t, 0, 0, 1, 0. repeat split; rewrite ?Rabs_R0; auto; try lra.
      * apply Rmult_le_pos; auto using Rabs_pos.
      * exists 0, 0. rewrite Rabs_R0. unfold sink; simpl. repeat split; auto. ring.
      * right. exists 0, 0. rewrite Rabs_R0, exp_0. repeat split; lra.
    + unfold in_l, e. simpl. replace (1 * (1 + 0)) with 1 by ring. constructor.
    + unfold in_O, e. simpl. replace (1 * (1 + 0)) with 1 by ring. constructor.
  - constructor. exists 0, 0. rewrite Rabs_R0. repeat split; auto. ring.
Qed.

(* (b): behind the keys of p comes exp(t - M) with their M. A kernel that adds nothing to O is one of these. *)
Definition behind m t p e := weighs m (reference p) (sink t) e.
Definition with_sink p e := Part (reference p) (entries p ++ [e]) (machine.Add (sum_l p) (in_l e)) (machine.Add (sum_O p) (in_O e)).
Lemma adds_nothing m t p e O : 0 <= u m -> 0 <= omega m -> behind m t p e -> computed m (sum_O p) O ->
  computed m (sum_O (with_sink p e)) O.
Proof.
  intros Hu Hw (y & c & x & q & d & _ & _ & _ & _ & _ & ->) C. simpl. apply (computed_add m _ _ O 0 O); [easy| |].
  - constructor. exists 0, 0. rewrite Rabs_R0. repeat split; auto. simpl. ring.
  - exists 0, 0. rewrite Rabs_R0. repeat split; auto; [destruct (flushes m); lra|ring].
Qed.

(* (2) for the sink. X is the size of its argument, whatever its sign; X_below how far it may lie below 0. *)
Theorem sink_weight m t p e M s E X X_below Y : sane m -> tinies m -> behind m t p e -> reference p = Some M ->
  Rabs (t - s) <= E -> Rabs M <= Y -> Rabs (s - M) + E <= X -> M - s + E <= X_below -> 0 <= X_below ->
  weight e = 0 /\ x0 m < reach m X_below Y \/
  near_or_far (weight e) (s - M) (z_of m E X Y 0) (tiny m * (1 + u_shared m)) (far m < reach m X_below Y).
Proof.
  intros sn ti (y & c & x & p' & d & EM & Hc & (a & n & Ha & Hn & Ex) & (P0 & P) & Hd & ->) RM HE HY HX HB B0. simpl in *.
  assert (y = M) by congruence. subst y. pose proof (gamma_x_pos m sn) as G. fold (gamma_x m) in Ha. pose proof (few_k_x m ti) as G1.
  pose proof (gamma_pos (c_m m) (u m) (some_u m sn) (few_shared m sn)) as Gc. pose proof (some_shared m sn) as S0.
  apply between in HE as HE', Ha as Ha', Hn as Hn'.
  assert (K : Rabs (c * (1 + a)) <= kappa m Y).
  { unfold kappa. rewrite Rabs_mult, (Rmult_comm (gamma (c_m m) (u m))), Rmult_assoc, Rmult_comm.
    apply Rmult_le_compat; auto using Rabs_pos.
    - eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra.
    - eapply Rle_trans; [exact Hc|]. now apply Rmult_le_compat_l. }
  apply between in K as K'.
  assert (Sz : Rabs (t - M) <= X).
  { replace (t - M) with ((s - M) + (t - s)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (Low : - reach m X_below Y <= x).
  { unfold reach. rewrite Ex. assert (- ((1 + gamma_x m) * X_below) <= (t - M) * (1 + a)); [|lra].
    destruct (Rle_dec 0 (t - M)); [assert (0 <= (t - M) * (1 + a)) by (apply Rmult_le_pos; lra); assert (0 <= (1 + gamma_x m) * X_below) by (apply Rmult_le_pos; lra); lra|].
    assert ((M - t) * (1 + a) <= (1 + gamma_x m) * X_below); [|lra]. rewrite Rmult_comm. apply Rmult_le_compat; lra. }
  destruct P as [(F & ->)|(f & z & Hf & Hz & Z & ->)]; [left; split; [ring|lra]|right].
  destruct (log_near f (eps m) (some_eps m sn) Hf) as (Pf & Df). destruct (log_near d (u_shared m) S0 Hd) as (Pd & Dd).
  apply between in Hd as Hd'. exists (exp x * (1 + f) * (1 + d)), (z * (1 + d)). pose proof (exp_pos x).
  assert (0 < exp x * (1 + f)) by now apply Rmult_lt_0_compat. split; [ring|]. split; [now apply Rmult_lt_0_compat|]. split; [|split].
  - rewrite !ln_mult, ln_exp by easy.
    replace (x + ln (1 + f) + ln (1 + d) - (s - M)) with ((t - M) * a + c * (1 + a) + n + ln (1 + f) + ln (1 + d) + (t - s)) by (rewrite Ex; ring).
    assert (A : Rabs ((t - M) * a) <= gamma_x m * X) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat; auto using Rabs_pos).
    apply between in A, Df, Dd. unfold z_of. simpl INR. apply abs_below. lra.
  - rewrite Rabs_mult, (Rabs_pos_eq (1 + d)) by lra. apply Rmult_le_compat; auto using Rabs_pos; lra.
  - intros N. rewrite (Z ltac:(lra)). ring.
Qed.

(* The theorem with the sink among the keys: what is known of the weights of the keys is known of one more. *)
Theorem one_more_weight {A} (keys : list A) W E T zeta counted D Lambda j D' :
  weights_known keys W E T zeta counted D Lambda -> 0 < E j -> 0 <= W j -> Rabs (W j - E j) <= E j * T j + zeta j ->
  0 <= T j /\ 0 <= zeta j -> (counted j = true -> E j / (1 + T j) <= W j) ->
  0 < D' <= total (fun i => if counted i then pi (keys ++ [j]) E i / (1 + T i) else 0) (keys ++ [j]) ->
  weights_known (keys ++ [j]) W E T zeta counted D' Lambda.
Proof.
  intros K Ej Wj N S C HD. assert (All : forall P : A -> Prop, (forall i, In i keys -> P i) -> P j -> forall i, In i (keys ++ [j]) -> P i).
  { intros P H H' i I. apply in_app_iff in I as [I|[<-|[]]]; auto. }
  constructor; try lra.
  - apply (All (fun i => 0 < E i)); [exact (exact_positive _ _ _ _ _ _ _ _ K)|easy].
  - apply (All (fun i => 0 <= W i)); [exact (not_negative _ _ _ _ _ _ _ _ K)|easy].
  - apply (All (fun i => Rabs (W i - E i) <= E i * T i + zeta i)); [exact (near_exact _ _ _ _ _ _ _ _ K)|easy].
  - apply (All (fun i => 0 <= T i /\ 0 <= zeta i)); [exact (spread_positive _ _ _ _ _ _ _ _ K)|easy].
  - apply (All (fun i => counted i = true -> E i / (1 + T i) <= W i)); [exact (counted_weigh _ _ _ _ _ _ _ _ K)|easy].
  - rewrite total_app. simpl. pose proof (lemma_5a _ _ _ _ _ _ _ _ K). lra.
Qed.

Theorem theorem_T1 m rho h p e t E T zeta counted D Lambda l O th beta GF Om : sane m -> run m h p -> behind m t p e ->
  weights_known (entries p ++ [e]) weight E T zeta counted D Lambda ->
  1 <= rho -> rescales_below rho (sum_l p) -> rescales_below rho (sum_O p) ->
  INR (S (S (max (height (sum_l p)) (height (sum_O p)) + (blocks h + merges h)))) * u m < 1 ->
  let q := with_sink p e in computed m (sum_l q) l -> computed m (sum_O q) O ->
  Gamma_L_of m rho (entries q) (sum_l q) E T zeta D Lambda < 1 -> Rabs th <= GF -> Rabs beta <= Om ->
  Rabs (O / l * (1 + th) + beta - mean (entries q) E v) <= B_of m rho (entries q) (sum_l q) (sum_O q) E T zeta D Lambda GF Om.
Proof.
  intros s H Bh K Hr Rl RO Few q Cl CO G1 Ht Hb. destruct (sums_are_entries m h p H) as (Pl & PO).
  assert (Z : rescales e = 0%nat) by (destruct Bh as (y & c & x & r & d & _ & _ & _ & _ & _ & ->); reflexivity).
  apply (bound_of_sums m rho (entries q) (sum_l q) (sum_O q) E T zeta counted D Lambda l O th beta GF Om K); auto; try apply s.
  - now simpl.
  - now simpl.
  - simpl. rewrite map_app. simpl. unfold leaf_l at 2. rewrite Z. now apply Permutation_app_tail.
  - simpl. rewrite map_app. simpl. unfold leaf_O at 2. rewrite Z. now apply Permutation_app_tail.
  - intros i I. eapply Rle_lt_trans; [|exact Few]. apply Rmult_le_compat_r; [apply (some_u m s)|]. apply le_INR.
    simpl in I. apply in_app_iff in I as [I|[<-|[]]]; simpl; [|lia]. pose proof (path_lengths _ _ _ _ H I). unfold rescales. lia.
Qed.
