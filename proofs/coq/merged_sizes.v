(* Lemma 4: how large the states of merges by LSE are. What is asked of parts alone gives `sized` of lemma_4.v for every tree
   of merges over them. *)
From Attest Require Export merged_sums.

Definition keys_of s := INR (length (seen s)).

Section Merged_sizes.
Context (m : model) (g : lse_model) (r : limits) (Y ell mu : key -> R) (top_of base grow low Size E_log all : R) (N a_most : nat).

(* What one merge adds to the largest LSE: its sum, and the roundings of the next LSE. *)
Definition rounded_lse := gamma (max (k_lse g) 2) (u m).
Definition step := grow + rounded_lse * Size + (1 + rounded_lse) * E_log + 2 * omega m.
Definition most n s := top_of + base + INR n * step + (1 + 2 * gamma_x m) * ln (keys_of s).
Definition xi_at k := xi m g (Y k) (ell k) (mu k).

Record sizes_known := {
  sizes_sane : sane m;
  sizes_k_lse : INR (max (k_lse g) 2) * u m < 1;
  sizes_gamma : rounded_lse <= 1 /\ gamma_x m <= / 2;
  sizes_log : 0 <= eps_log g /\ 0 <= omega_log g /\ 0 <= E_log /\ 0 <= Size;
  sizes_tiny : 0 <= tiny m /\ lost m <= Rmin (far m) (x0 m);
  (* Of a part: its own sizes (Lemmas 3 and 5 of a run), and how large its LSE may be. *)
  parts_sized : forall s, part_known r s -> seen s <> [] /\ 0 < l_hat s /\
    (forall e, In e (seen s) -> Rabs (ln (l_hat s)) <= ell (of e) - / 2 /\ Rabs (top s) <= Y (of e)) /\
    (forall L, lse m g true (top s) (l_hat s) L -> L <= most 0 s);
  (* Of the sum of one merge, from above and from below. *)
  merges_grow : forall h, (h <= a_most)%nat -> (1 + u m) ^ h * ((1 + eps m) * exp (lost m) + all * tiny m) + most_lost r <= exp grow;
  merges_shrink : forall h, (h <= a_most)%nat -> (1 + u m) ^ h <= 2 /\
    exp (- low) <= (2 - (1 + u m) ^ h) * ((1 - eps m) * exp (- lost m)) - most_lost r;
  low_grow : 0 <= low /\ 0 <= grow;
  (* Of the row. *)
  all_at_least_1 : 1 <= all;
  keys_all : forall s, state_known r s -> keys_of s <= all;
  size_of_top : Rabs top_of + Rabs base + INR N * step + grow + (1 + 2 * gamma_x m) * ln all <= Size;
  log_of_merged : eps_log g * (ln all + grow + low) + omega_log g <= E_log;
  ell_holds : forall k, 0 <= Y k /\ ln all + grow + low <= ell k - / 2 /\
    top_of + base + INR N * step + grow + (1 + 2 * gamma_x m) * ln all <= Y k + ell k - / 2;
  mu_holds : forall k, 0 <= mu k /\ INR N * (xi_at k + low) <= mu k;
  few_log : forall k, eps_log g * ell k + omega_log g <= 4 / 10;
  sizes_lost : 2 * omega m + lost m <= u m / 10 }.

Definition high s n := forall L, lse m g (is_part s) (top s) (l_hat s) L -> L <= most n s.
Definition low_beside s n := forall e, In e (seen s) -> - (Y (of e) + ell (of e) - / 2) - INR n * (xi_at (of e) + low) <= top s + ln (l_hat s).

Lemma keys_at_least_1 s : seen s <> [] -> 1 <= keys_of s.
Proof. unfold keys_of. destruct (seen s) as [|e es]; intros H; [easy|]. simpl length. rewrite S_INR. pose proof (pos_INR (length es)). lra. Qed.
Lemma keys_of_merged T inputs : INR (length (flat_map (fun i => map (behind T i) (seen (from i))) inputs)) = total (fun i => keys_of (from i)) inputs.
Proof. induction inputs as [|i is IH]; simpl; [easy|]. rewrite app_length, map_length, plus_INR, IH. easy. Qed.

(* The roundings of one LSE of a merged state, whose M is not scaled before. *)
Lemma merged_lse M l L A : sizes_known -> lse m g false M l L -> Rabs (ln l) <= ln all + grow + low -> M + ln l <= A -> Rabs A <= Size ->
  L <= A + rounded_lse * Size + (1 + rounded_lse) * E_log + 2 * omega m.
Proof.
  intros K (i & a & y & d & n & -> & Ha & (e & w & He & Hw & ->) & Hd & Hn & ->) Hl HA HS.
  pose proof (some_u m (sizes_sane K)) as Hu. destruct (sizes_gamma K) as (G1 & _). destruct (sizes_log K) as (E0 & W0 & EL & _).
  pose proof (log_of_merged K) as LM. pose proof (gamma_pos _ (u m) Hu (sizes_k_lse K)) as G0. fold rounded_lse in G0.
  assert (D : Rabs d <= rounded_lse).
  { pose proof (powers_below_gamma _ (u m) Hu (sizes_k_lse K)). unfold rounded_lse.
    pose proof (Rle_pow (1 + u m) (k_lse g - 0) (max (k_lse g) 2) ltac:(lra) ltac:(lia)). lra. }
  simpl in Ha. rewrite Rminus_eq_0 in Ha. pose proof (Rabs_pos a). assert (a = 0) as -> by (revert Ha; unfold Rabs; destruct (Rcase_abs a); lra).
  assert (EW : Rabs (e * ln l + w) <= E_log).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (Rabs e * Rabs (ln l) <= eps_log g * (ln all + grow + low)) by (apply Rmult_le_compat; auto using Rabs_pos). lra. }
  set (x := M + ln l) in *. set (v := e * ln l + w) in *.
  replace ((M * (1 + 0) + (ln l * (1 + e) + w)) * (1 + d) + n) with (x * (1 + d) + v * (1 + d) + n) by (unfold x, v; ring).
  assert (D1 : 0 <= 1 + d <= 1 + rounded_lse) by (apply between in D; lra).
  apply between in EW. apply between in Hn.
  assert (V : v * (1 + d) <= E_log * (1 + rounded_lse)).
  { apply Rle_trans with (E_log * (1 + d)); [apply Rmult_le_compat_r; lra|apply Rmult_le_compat_l; lra]. }
  assert (X : x * (1 + d) <= A * (1 + d)) by (apply Rmult_le_compat_r; lra).
  assert (A * d <= rounded_lse * Size).
  { apply Rle_trans with (Rabs (A * d)); [apply Rle_abs|]. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; auto using Rabs_pos. }
  lra.
Qed.

(* A factor beside the largest LSE: N_i of K keys have a share of N_i/K of it, although its argument rounds. *)
Lemma factor_share Li T x c B Ki K : sizes_known -> argument m (Li - T) x -> exps m x c -> Li <= T -> 1 <= Ki <= K ->
  Li <= B + (1 + 2 * gamma_x m) * ln Ki -> T <= B + (1 + 2 * gamma_x m) * ln K ->
  c <= (1 + eps m) * exp (lost m) * exp (B + (1 + 2 * gamma_x m) * ln K - T) * (Ki / K) + tiny m.
Proof.
  intros Kn (t & n & Ht & Hn & ->) (_ & X) LT HK HL HT. pose proof (sizes_sane Kn) as sn. destruct (sizes_gamma Kn) as (_ & G2).
  pose proof (gamma_x_pos m sn) as G. set (q := gamma_x m) in *. fold q in Ht. pose proof (some_eps m sn). destruct (sizes_tiny Kn) as (T0 & _).
  pose proof (exp_pos (lost m)) as P1. pose proof (exp_pos (B + (1 + 2 * q) * ln K - T)) as P2.
  assert (P3 : 0 < Ki / K) by (apply Rdiv_lt_0_compat; lra).
  assert (Pos : 0 <= (1 + eps m) * exp (lost m) * exp (B + (1 + 2 * q) * ln K - T) * (Ki / K)).
  { apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; lra. }
  destruct X as [(_ & ->)|(e & z & He & Hz & _ & ->)]; [lra|].
  apply between in He. apply between in Hz. apply between in Hn. apply between in Ht. change (gamma (k_x m) (u m)) with q in Ht.
  set (x := (Li - T) * (1 + t) + n). apply Rplus_le_compat; [|lra].
  apply Rle_trans with (exp x * (1 + eps m)); [apply Rmult_le_compat_l; [left; apply exp_pos|lra]|].
  rewrite (Rmult_comm (exp x)), !Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  assert (LK : ln Ki - ln K <= 0) by (assert (ln Ki <= ln K) by (apply log_grows; lra); lra).
  rewrite <- (exp_ln (Ki / K)) by easy. rewrite <- !exp_plus. apply exp_grows.
  replace (ln (Ki / K)) with (ln Ki - ln K) by (unfold Rdiv; rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra); ring).
  assert (x <= (Li - T) * (1 - q) + lost m).
  { unfold x. assert ((Li - T) * (1 + t) <= (Li - T) * (1 - q)) by nra. lra. }
  assert ((Li - B) * (1 - q) <= (1 + 2 * q) * ln Ki * (1 - q)) by (apply Rmult_le_compat_r; lra).
  assert (q * (T - B) <= q * ((1 + 2 * q) * ln K)) by (apply Rmult_le_compat_l; lra).
  assert ((ln Ki - ln K) * ((1 + 2 * q) * (1 - q) - 1) <= 0).
  { assert (0 <= (1 + 2 * q) * (1 - q) - 1) by nra. nra. }
  lra.
Qed.

Lemma step_pos : sizes_known -> 0 <= step.
Proof.
  intros K. pose proof (some_omega m (sizes_sane K)). destruct (low_grow K) as (_ & G). destruct (sizes_log K) as (_ & _ & E & S).
  pose proof (gamma_pos _ (u m) (some_u m (sizes_sane K)) (sizes_k_lse K)) as R0. fold rounded_lse in R0. unfold step.
  assert (0 <= rounded_lse * Size) by now apply Rmult_le_pos. assert (0 <= (1 + rounded_lse) * E_log) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma ell_pos k : sizes_known -> 0 <= ell k.
Proof. intros K. destruct (ell_holds K k) as (_ & E & _). destruct (low_grow K). pose proof (all_at_least_1 K). assert (0 <= ln all) by (rewrite <- ln_1; apply log_grows; lra). lra. Qed.
Lemma rounds_pos k : sizes_known -> 0 <= xi_at k + low.
Proof.
  intros K. destruct (low_grow K) as (L & _). destruct (mu_holds K k) as (M & H). pose proof (few_log K k).
  destruct (Rle_dec 0 (xi_at k + low)) as [|C]; [easy|]. exfalso. apply C. destruct (ell_holds K k) as (Y0 & Eh & _).
  destruct (sizes_log K) as (E0 & W0 & _). pose proof (gamma_pos _ (u m) (some_u m (sizes_sane K)) (sizes_k_lse K)) as R0.
  pose proof (ell_pos k K). unfold xi_at, xi.
  assert (0 <= gamma (max (k_lse g) 2) (u m) * (Y k + ell k + mu k)) by (apply Rmult_le_pos; lra).
  assert (0 <= eps_log g * ell k) by now apply Rmult_le_pos. lra.
Qed.

(* The sum of one merge: at most E of it, at most the number of keys of it, and at least almost 1. *)
Lemma merged_sum n a (inputs : list input) T tl l : let K := total (fun i => keys_of (from i)) inputs in
  sizes_known -> (forall i, In i inputs -> 1 <= keys_of (from i)) -> K <= all ->
  (forall i, In i inputs -> log_sum i <= T /\ log_sum i <= most n (from i) /\ exists x, argument m (log_sum i - T) x /\ exps m x (factor_of i)) ->
  (exists i, In i inputs /\ log_sum i = T) -> joins (map (fun i => Term (factor_of i)) inputs) tl -> computed m tl l ->
  losses m 1 tl <= most_lost r -> (height tl <= a)%nat -> (a <= a_most)%nat ->
  exp (- low) <= l /\ l <= K * exp grow /\ T + ln l <= top_of + base + INR n * step + (1 + 2 * gamma_x m) * ln K + grow.
Proof.
  intros K Kn K1 Ka He (i0 & I0 & ET) J C Lt Ha Hm. pose proof (sizes_sane Kn) as sn. pose proof (some_u m sn) as Hu.
  destruct (sizes_tiny Kn) as (T0 & Tl). pose proof (some_eps m sn) as Ep. pose proof (exp_pos (lost m)) as Pl. pose proof (lost_pos m sn) as Lp.
  pose proof (gamma_x_pos m sn) as G. assert (KK : forall i, In i inputs -> 1 <= keys_of (from i) <= K).
  { intros i Ii. split; [auto|]. apply (total_holds (fun i => keys_of (from i))); auto. intros j Ij. specialize (K1 j Ij). lra. }
  assert (Kp : 1 <= K) by (specialize (KK i0 I0); lra). set (B := top_of + base + INR n * step).
  assert (c0 : forall i, In i inputs -> 0 <= factor_of i) by (intros i Ii; destruct (He i Ii) as (_ & _ & x & _ & (X & _)); easy).
  assert (HT : T <= B + (1 + 2 * gamma_x m) * ln K).
  { destruct (He i0 I0) as (_ & L0 & _). rewrite ET in L0. unfold most in L0. fold B in L0. specialize (KK i0 I0).
    assert (ln (keys_of (from i0)) <= ln K) by (apply log_grows; lra). nra. }
  set (E := exp (B + (1 + 2 * gamma_x m) * ln K - T)). assert (E1 : 1 <= E).
  { unfold E. pose proof (exp_ineq1_le (B + (1 + 2 * gamma_x m) * ln K - T)). lra. }
  set (cs := total factor_of inputs). assert (cs0 : 0 <= cs) by (apply total_pos; auto).
  assert (Ln : total (fun _ : input => 1) inputs <= K) by (apply total_below; auto).
  set (f := (1 + eps m) * exp (lost m)). assert (F0 : 0 <= f) by (unfold f; apply Rmult_le_pos; lra).
  assert (C1 : cs <= E * (f + all * tiny m)).
  { apply Rle_trans with (total (fun i => f * E * / K * keys_of (from i) + tiny m * 1) inputs).
    - apply total_below. intros i Ii. destruct (He i Ii) as (L1 & L2 & x & A & X).
      pose proof (factor_share (log_sum i) T x (factor_of i) B (keys_of (from i)) K Kn A X L1 (KK i Ii) L2 HT) as S. fold f E in S. unfold Rdiv in S. lra.
    - rewrite total_plus, !total_times. fold K. assert (tiny m * total (fun _ : input => 1) inputs <= tiny m * all) by (apply Rmult_le_compat_l; lra).
      assert (f * E * / K * K = f * E) as -> by (field; lra). assert (0 <= all * tiny m) by (apply Rmult_le_pos; lra). nra. }
  assert (C2 : cs <= K * (f + all * tiny m)).
  { apply Rle_trans with (total (fun i => (f + tiny m) * 1) inputs).
    - apply total_below. intros i Ii. destruct (He i Ii) as (L1 & _ & x & (t & nn & Ht & Hn & ->) & (_ & X)).
      assert (exp ((log_sum i - T) * (1 + t) + nn) <= exp (lost m)).
      { apply exp_grows. apply between in Ht. apply between in Hn. fold (gamma_x m) in Ht. destruct (sizes_gamma Kn). nra. }
      destruct X as [(_ & ->)|(e & z & Hee & Hz & _ & ->)]; [lra|]. apply between in Hee. apply between in Hz.
      assert (exp ((log_sum i - T) * (1 + t) + nn) * (1 + e) <= exp (lost m) * (1 + eps m)).
      { apply Rmult_le_compat; try lra. left; apply exp_pos. } unfold f. lra.
    - rewrite total_times. assert (tiny m <= all * tiny m) by nra. apply Rle_trans with ((f + tiny m) * K); [apply Rmult_le_compat_l; lra|]. nra. }
  pose proof (few_terms m (map (fun i => Leaf (factor_of i) 1 0) inputs) _ tl l Hu (some_omega m sn) (flat_leaves_l inputs) J (terms_below inputs) C) as F.
  rewrite !total_map in F. rewrite (total_same _ factor_of) in F by (intros; unfold size; simpl; ring). fold cs in F.
  set (H := (1 + u m) ^ height tl) in *. assert (H1 : 1 <= H) by (apply pow_at_least_1; easy).
  assert (F2 : Rabs (l - cs) <= (H - 1) * cs + most_lost r).
  { eapply Rle_trans; [exact F|]. apply Rplus_le_compat; [|exact Lt]. unfold cs. rewrite <- total_times. right. apply total_same. intros i Ii.
    unfold size; simpl. rewrite Rmult_1_r, Nat.add_0_r, Rabs_pos_eq by auto. unfold H. ring. }
  apply between in F2. pose proof (merges_grow Kn (height tl) ltac:(lia)) as Gr. fold f H in Gr.
  destruct (merges_shrink Kn (height tl) ltac:(lia)) as (Sh1 & Sh2). fold H in Sh1, Sh2.
  assert (Ml : 0 <= most_lost r) by (eapply Rle_trans; [apply (losses_pos m 1 tl); auto; [apply (some_omega m sn)|lra]|exact Lt]).
  assert (Low : exp (- low) <= l).
  { eapply Rle_trans; [exact Sh2|]. destruct (He i0 I0) as (_ & _ & x & (t & nn & Ht & Hn & ->) & (_ & X)). rewrite ET, Rminus_eq_0, Rmult_0_l, Rplus_0_l in X.
    pose proof (Rmin_l (far m) (x0 m)). pose proof (Rmin_r (far m) (x0 m)). apply between in Hn.
    assert (c1 : (1 - eps m) * exp (- lost m) <= factor_of i0).
    { destruct X as [(Q & _)|(e & z & Hee & _ & Z & ->)]; [lra|]. rewrite (Z ltac:(lra)). apply between in Hee. rewrite Rplus_0_r, Rmult_comm.
      apply Rmult_le_compat; try lra; [left; apply exp_pos|]. apply exp_grows. lra. }
    assert (factor_of i0 <= cs) by (apply (total_holds factor_of); auto).
    assert ((2 - H) * ((1 - eps m) * exp (- lost m)) <= (2 - H) * cs) by (apply Rmult_le_compat_l; lra). lra. }
  assert (Pe : 0 < l) by (eapply Rlt_le_trans; [apply exp_pos|exact Low]).
  split; [easy|]. split.
  - apply Rle_trans with (H * (K * (f + all * tiny m)) + most_lost r); [assert (H * cs <= H * (K * (f + all * tiny m))) by (apply Rmult_le_compat_l; lra); lra|].
    assert (K * (H * (f + all * tiny m) + most_lost r) <= K * exp grow) by (apply Rmult_le_compat_l; lra). nra.
  - assert (U : l <= E * exp grow).
    { apply Rle_trans with (H * (E * (f + all * tiny m)) + most_lost r); [assert (H * cs <= H * (E * (f + all * tiny m))) by (apply Rmult_le_compat_l; lra); lra|].
      assert (E * (H * (f + all * tiny m) + most_lost r) <= E * exp grow) by (apply Rmult_le_compat_l; lra). nra. }
    apply log_grows in U; [|easy]. rewrite ln_mult, ln_exp in U by (try apply exp_pos; lra). unfold E in U. rewrite ln_exp in U. fold B. lra.
Qed.

(* Every state of a tree of merges: its sizes, the largest LSE that it may have, and how far below its keys' sizes it may lie. *)
Theorem merges_are_sized n a s : sizes_known -> merged m g r n a s -> (n <= N)%nat -> (a <= a_most)%nat ->
  sized Y ell mu s /\ seen s <> [] /\ high s n /\ low_beside s n.
Proof.
  intros Kn H. pose proof (sizes_sane Kn) as sn. pose proof (some_u m sn) as Hu. pose proof (some_omega m sn) as Hw.
  destruct (low_grow Kn) as (L0 & G0). destruct (sizes_log Kn) as (E0 & W0 & EL & _). pose proof (gamma_x_pos m sn) as G.
  pose proof (gamma_pos _ (u m) Hu (sizes_k_lse Kn)) as R0. fold rounded_lse in R0.
  pose proof (size_of_top Kn) as St. pose proof (Rabs_pos top_of). pose proof (Rabs_pos base). pose proof (lost_pos m sn) as Lp. pose proof (step_pos Kn) as S0.
  induction H as [h p M l O s H EM Cl CO Pk Sk|n a inputs T tl tO l O s Hm IH He Hx J1 J2 C1 C2 L1 L2 Sk|n a n' a' s Hm IH Ln La]; intros HN HA.
  - destruct (parts_sized Kn s Pk) as (Ne & P & B & Hi). split; [|split; [easy|split; [exact Hi|]]].
    + split; [easy|]. intros e I. destruct (B e I) as (B1 & B2). destruct (mu_holds Kn (of e)). split; [easy|]. split; [|easy].
      eapply Rle_trans; [apply Rabs_triang|]. lra.
    + intros e I. destruct (B e I) as (B1 & B2). simpl (INR 0). apply between in B1. apply between in B2. lra.
  - assert (Hn : (n <= N)%nat) by lia. assert (Ha : (a <= a_most)%nat) by lia.
    assert (IHi : forall i, In i inputs -> sized Y ell mu (from i) /\ seen (from i) <> [] /\ high (from i) n /\ low_beside (from i) n) by auto.
    assert (KS : keys_of s = total (fun i => keys_of (from i)) inputs) by (unfold keys_of at 1; simpl; apply keys_of_merged).
    pose proof (keys_all Kn s Sk) as KA. rewrite KS in KA.
    destruct (merged_sum n (max (height tl) (height tO) + a) inputs T tl l Kn) as (Lo & Up & Top); auto; try lia.
    { intros i Ii. apply keys_at_least_1. now apply IHi. }
    { intros i Ii. destruct (He i Ii) as (HL & LT & X & _). split; [easy|]. split; [|easy]. now apply (IHi i Ii). }
    set (K := total (fun i => keys_of (from i)) inputs) in *. assert (Pl : 0 < l) by (eapply Rlt_le_trans; [apply exp_pos|exact Lo]).
    destruct Hx as (i0 & I0 & ET). assert (Kp : 1 <= K).
    { apply Rle_trans with (keys_of (from i0)); [apply keys_at_least_1; now apply IHi|].
      apply (total_holds (fun i => keys_of (from i))); auto. intros j Ij. unfold keys_of. apply pos_INR. }
    apply log_grows in Lo; [|apply exp_pos]. rewrite ln_exp in Lo. apply log_grows in Up; [|easy]. rewrite ln_mult, ln_exp in Up by (lra || apply exp_pos).
    assert (LK : 0 <= ln K <= ln all) by (split; [rewrite <- ln_1|]; apply log_grows; lra).
    assert (Bl : Rabs (ln l) <= ln all + grow + low) by (apply abs_below; lra).
    assert (NS : INR n * step <= INR N * step) by (apply Rmult_le_compat_r; [easy|now apply le_INR]).
    assert (N0 : 0 <= INR n * step) by (apply Rmult_le_pos; auto using pos_INR).
    assert (LG : (1 + 2 * gamma_x m) * ln K <= (1 + 2 * gamma_x m) * ln all) by (apply Rmult_le_compat_l; lra).
    assert (LG0 : 0 <= (1 + 2 * gamma_x m) * ln K) by (apply Rmult_le_pos; lra).
    assert (Low : low_beside s (S n)).
    { intros e I. simpl in I. apply in_flat_map in I as (i & Ii & I). apply in_map_iff in I as (e0 & <- & I). simpl (of (behind T i e0)).
      destruct (IHi i Ii) as ((P & Each) & _ & _ & Lb). destruct (Each e0 I) as (B & B1 & B2). specialize (Lb e0 I).
      destruct (He i Ii) as (HL & LT & _). destruct (mu_holds Kn (of e0)) as (M0 & _). destruct (ell_holds Kn (of e0)) as (Y0 & _).
      pose proof (lemma_4_xi m g _ _ _ _ (Y (of e0)) (ell (of e0)) (mu (of e0)) sn (sizes_k_lse Kn) Y0 M0 HL B B1 B2 E0 W0 (few_log Kn _) (sizes_lost Kn)) as Xi.
      fold (xi_at (of e0)) in Xi. assert (D : Rabs (log_sum i - (top (from i) + ln (l_hat (from i)))) <= xi_at (of e0)) by lra. apply between in D.
      change (top s) with T. change (l_hat s) with l. rewrite S_INR. lra. }
    split; [|split; [|split; [|exact Low]]].
    + split; [easy|]. intros e I. destruct (ell_holds Kn (of e)) as (Y0 & Eh & Et). destruct (mu_holds Kn (of e)) as (M0 & Mh).
      change (top s) with T. change (l_hat s) with l. split; [lra|]. split; [|easy]. specialize (Low e I). change (top s) with T in Low. change (l_hat s) with l in Low.
      apply abs_below. split; [|lra]. pose proof (rounds_pos (of e) Kn) as Xp.
      assert (INR (S n) * (xi_at (of e) + low) <= INR N * (xi_at (of e) + low)) by (apply Rmult_le_compat_r; [easy|now apply le_INR]). lra.
    + intros N1. assert (keys_of s = 0) by (unfold keys_of; rewrite N1; easy). lra.
    + intros L HL. change (lse m g false T l L) in HL. unfold most. rewrite KS, S_INR. fold K.
      pose proof (merged_lse T l L (top_of + base + INR n * step + (1 + 2 * gamma_x m) * ln K + grow) Kn HL Bl Top) as Q.
      assert (ES : step = grow + rounded_lse * Size + (1 + rounded_lse) * E_log + 2 * omega m) by reflexivity.
      apply Rle_trans with (top_of + base + INR n * step + (1 + 2 * gamma_x m) * ln K + grow + rounded_lse * Size + (1 + rounded_lse) * E_log + 2 * omega m); [|lra].
      apply Q. pose proof (Rle_abs top_of). pose proof (Rle_abs base). pose proof (Rle_abs (- top_of)). pose proof (Rle_abs (- base)). rewrite Rabs_Ropp in *. apply abs_below. lra.
  - destruct (IH ltac:(lia) ltac:(lia)) as (Sz & Ne & Hi & Lo). split; [easy|]. split; [easy|].
    assert (I0 : INR n <= INR n') by now apply le_INR. split.
    + intros L HL. specialize (Hi L HL). unfold most in *. assert (INR n * step <= INR n' * step) by now apply Rmult_le_compat_r. lra.
    + intros e I. specialize (Lo e I). pose proof (rounds_pos (of e) Kn) as Xp.
      assert (INR n * (xi_at (of e) + low) <= INR n' * (xi_at (of e) + low)) by now apply Rmult_le_compat_r. lra.
Qed.

(* So Lemma 4 and the theorem over merges ask sizes of parts alone: this run has `lse_sized` of lemma_4.v. *)
Theorem sizes_of_parts_suffice n a s : sizes_known -> merged m g r n a s -> (n <= N)%nat -> (a <= a_most)%nat ->
  merged m g (Limits (part_known r) (fun s' => state_known r s' /\ sized Y ell mu s') (most_lost r)) n a s.
Proof.
  intros Kn H.
  induction H as [h p M l O s H EM Cl CO Pk Sk|n a inputs T tl tO l O s Hm IH He Hx J1 J2 C1 C2 L1 L2 Sk|n a n' a' s Hm IH Ln La]; intros HN HA.
  - apply (of_run m g _ h p M l O); auto. split; [easy|]. apply (merges_are_sized 0 0); auto. now apply (of_run m g r h p M l O).
  - apply (by_lse m g _ n a inputs T tl tO l O); auto.
    + intros i Ii. apply IH; auto; lia.
    + split; [easy|]. apply (merges_are_sized (S n) (max (height tl) (height tO) + a)); auto. now apply (by_lse m g r n a inputs T tl tO l O).
  - apply (left_alone m g _ n a); auto. apply IH; lia.
Qed.
End Merged_sizes.
