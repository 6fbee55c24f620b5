(* Merges by LSE without a final division (lse_normalised): o = Sum exp^(L_i - L) o_i with L = T + log^ Sum exp^(L_i - T), level by
   level. The factors sum to 1 up to what they, their sum and L round, and to what exp cuts. *)
From Attest Require Export lemma_4_far.

(* A part is divided by its sum and has an LSE; a merged state is an average already: its sum is 1, its LSE the top. *)
Definition enters_undivided m g T L i :=
  (if is_part (from i) then lse m g true (top (from i)) (l_hat (from i)) (log_sum i) else log_sum i = top (from i)) /\ log_sum i <= T /\
  (exists x, argument m (log_sum i - L) x /\ exps m x (factor_of i)) /\
  exists o, (if is_part (from i) then divides m g (O_hat (from i)) (l_hat (from i)) o else o = O_hat (from i)) /\ stores g o (divided i).

(* most_off: what one L may be off beside T + ln C. *)
Inductive undivided m g (r : limits) (most_off : R) : nat -> nat -> state -> Prop :=
  | of_one_run h p M l O (s := State true M (entries p) l O) : run m h p -> reference p = Some M ->
      computed m (sum_l p) l -> computed m (sum_O p) O -> part_known r s -> state_known r s -> undivided m g r most_off 0 0 s
  | averaged n a inputs cs T C L tc tO O (s := State false L (flat_map (fun i => map (behind L i) (seen (from i))) inputs) 1 O) :
      (forall i, In i inputs -> undivided m g r most_off n a (from i)) -> (forall i, In i inputs -> enters_undivided m g T L i) ->
      Forall2 (fun i c => exists x, argument m (log_sum i - T) x /\ exps m x c) inputs cs -> (exists i, In i inputs /\ log_sum i = T) ->
      joins (map Term cs) tc -> computed m tc C -> losses m 1 tc <= most_lost r -> 0 < C -> lse m g false T C L ->
      Rabs (L - (T + ln C)) <= most_off ->
      joins (map (fun i => Product (factor_of i) (divided i)) inputs) tO -> computed m tO O -> losses m 1 tO <= most_lost r ->
      state_known r s -> undivided m g r most_off (S n) (max (height tc) (height tO) + a) s
  | left_undivided n a n' a' s : undivided m g r most_off n a s -> (n <= n')%nat -> (a <= a')%nat -> undivided m g r most_off n' a' s.

Section Factors.
Context (m : model) (sn : sane m) (K_x : R).

(* What a factor is off, relative and absolute: arguments up to K_x round by gamma, below -K_x exp is as good as nothing. *)
Definition off_factor := exp (gamma_x m * K_x + lost m) * (1 + eps m) - 1.
Definition cut_factor := Rmax (tiny m) (exp (- x0 m)) + (exp (- K_x * (1 - gamma_x m) + lost m) * (1 + eps m) + tiny m).

Lemma near_factor a x y : 0 <= tiny m -> gamma_x m <= 1 -> 0 <= K_x -> off_factor <= 1 -> a <= K_x -> argument m a x -> exps m x y ->
  Rabs (y - exp a) <= off_factor * exp a + cut_factor.
Proof.
  intros Ty G1 K0 Q1 Ha (t & n & Ht & Hn & Ex) (Y0 & X). pose proof (gamma_x_pos m sn) as G. fold (gamma_x m) in Ht. pose proof (some_eps m sn) as E0.
  pose proof (lost_pos m sn) as L0. apply between in Ht, Hn. pose proof (exp_pos a) as Pa. pose proof (exp_pos x) as Px.
  pose proof (Rmax_l (tiny m) (exp (- x0 m))) as M1. pose proof (Rmax_r (tiny m) (exp (- x0 m))) as M2.
  set (q := exp (gamma_x m * K_x + lost m)) in *. assert (q1 : 1 <= q).
  { unfold q. rewrite <- exp_0. apply exp_grows. assert (0 <= gamma_x m * K_x) by now apply Rmult_le_pos. lra. }
  assert (Tl : 0 < exp (- K_x * (1 - gamma_x m) + lost m) * (1 + eps m)) by (apply Rmult_lt_0_compat; [apply exp_pos|lra]).
  assert (Of : q * (1 + eps m) - 1 = off_factor) by reflexivity. assert (Oq : q - 1 <= off_factor) by (rewrite <- Of; nra).
  destruct (Rle_dec (- K_x) a) as [In|Out].
  - assert (D : - (gamma_x m * K_x + lost m) <= x - a <= gamma_x m * K_x + lost m).
    { rewrite Ex. assert (Rabs (a * t) <= gamma_x m * K_x) by (rewrite Rabs_mult, Rmult_comm; apply Rmult_le_compat; auto using Rabs_pos; apply abs_below; lra).
      apply between in H. lra. }
    assert (Ea : exp x = exp a * exp (x - a)) by (rewrite <- exp_plus; f_equal; ring).
    assert (U : exp (x - a) <= q) by (apply exp_grows; lra). assert (V : / q <= exp (x - a)) by (unfold q; rewrite <- exp_Ropp; apply exp_grows; lra).
    assert (Vq : 2 - q <= / q).
    { apply Rmult_le_reg_r with q; [lra|]. rewrite Rinv_l by lra. nra. }
    destruct X as [(Cut & ->)|(e & z & He & Hz & _ & ->)].
    + rewrite Rminus_0_l, Rabs_Ropp, Rabs_pos_eq by lra. assert (Xc : exp x <= exp (- x0 m)) by (apply exp_grows; lra).
      assert (Aq : exp a <= q * exp (- x0 m)).
      { apply Rle_trans with (q * exp x); [|apply Rmult_le_compat_l; lra]. rewrite Ea. replace (q * (exp a * exp (x - a))) with (exp a * (q * exp (x - a))) by ring.
        rewrite <- (Rmult_1_r (exp a)) at 1. apply Rmult_le_compat_l; [lra|]. apply Rle_trans with (q * / q); [right; field; lra|apply Rmult_le_compat_l; lra]. }
      assert (exp a * (1 - off_factor) <= q * exp (- x0 m) * (1 - off_factor)) by (apply Rmult_le_compat_r; lra).
      assert (q * (1 - off_factor) <= 1) by nra. pose proof (exp_pos (- x0 m)).
      assert (q * (1 - off_factor) * exp (- x0 m) <= 1 * exp (- x0 m)) by (apply Rmult_le_compat_r; lra). unfold cut_factor. lra.
    + apply between in He. replace (exp x * (1 + e) + z - exp a) with (exp a * (exp (x - a) * (1 + e) - 1) + z) by (rewrite Ea; ring).
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq (exp a)), Rmult_comm by lra.
      assert (B : Rabs (exp (x - a) * (1 + e) - 1) <= off_factor).
      { apply abs_below. rewrite <- Of. split.
        - assert ((2 - q) * (1 - eps m) <= exp (x - a) * (1 + e)); [|nra]. pose proof (exp_pos (x - a)).
          destruct (Rle_dec 0 (2 - q)); [apply Rmult_le_compat; lra|]. assert ((2 - q) * (1 - eps m) <= 0) by nra.
          assert (0 <= exp (x - a) * (1 + e)) by (apply Rmult_le_pos; lra). lra.
        - assert (exp (x - a) * (1 + e) <= q * (1 + eps m)); [|lra]. pose proof (exp_pos (x - a)). apply Rmult_le_compat; lra. }
      assert (Rabs (exp (x - a) * (1 + e) - 1) * exp a <= off_factor * exp a) by (apply Rmult_le_compat_r; lra). unfold cut_factor. lra.
  - assert (Lx : x <= - K_x * (1 - gamma_x m) + lost m).
    { rewrite Ex. assert (a * (1 + t) <= - K_x * (1 - gamma_x m)); [|lra].
      assert (a * (1 + t) <= a * (1 - gamma_x m)) by nra. assert (a * (1 - gamma_x m) <= - K_x * (1 - gamma_x m)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (Yx : y <= exp (- K_x * (1 - gamma_x m) + lost m) * (1 + eps m) + tiny m).
    { destruct X as [(_ & ->)|(e & z & He & Hz & _ & ->)]; [lra|]. apply between in He, Hz. apply Rplus_le_compat; [|lra].
      apply Rmult_le_compat; [lra|lra|now apply exp_grows|lra]. }
    assert (Ax : exp a <= exp (- K_x * (1 - gamma_x m) + lost m) * (1 + eps m)).
    { rewrite <- (Rmult_1_r (exp a)). apply Rmult_le_compat; [lra|lra| |lra]. apply exp_grows.
      assert (0 <= gamma_x m * K_x) by now apply Rmult_le_pos. lra. }
    assert (0 <= off_factor * exp a) by (apply Rmult_le_pos; lra). unfold cut_factor. apply abs_below. lra.
Qed.

(* The sum of the factors of one merge: C is the computed sum of exp^(L_i - T), l_i the exact L_i. *)
Definition relative_off S := off_factor + S * cut_factor.
Definition C_low S H lost_C := (1 - relative_off S) * (2 - H) - lost_C.
Definition C_high S H lost_C := (1 + relative_off S) * H + lost_C.
Definition up_factor S H lost_C off := (1 + off_factor) * (exp off / C_low S H lost_C) + S * cut_factor.
Definition down_factor S H lost_C off := (1 - off_factor) * (exp (- off) / C_high S H lost_C) - S * cut_factor.

Lemma sums_near {A} (l : list A) (a y : A -> R) S : INR (length l) <= S -> 0 <= cut_factor ->
  (forall i, In i l -> Rabs (y i - exp (a i)) <= off_factor * exp (a i) + cut_factor) ->
  Rabs (total y l - total (fun i => exp (a i)) l) <= off_factor * total (fun i => exp (a i)) l + S * cut_factor.
Proof.
  intros HS Hc H. replace (total y l - total (fun i => exp (a i)) l) with (total (fun i => y i + -1 * exp (a i)) l).
  - eapply Rle_trans; [apply total_abs|]. apply Rle_trans with (total (fun i => off_factor * exp (a i) + cut_factor) l).
    + apply total_below. intros i I. replace (y i + -1 * exp (a i)) with (y i - exp (a i)) by ring. now apply H.
    + rewrite total_plus, total_times, total_const. apply Rplus_le_compat_l. now apply Rmult_le_compat_r.
  - rewrite total_plus, total_times. change (fun a => y a) with y. ring.
Qed.

Theorem factors_sum_to_1 {A} (l : list A) (L_of c f : A -> R) T C L S H lost_C off : INR (length l) <= S -> 0 <= S -> 0 <= cut_factor ->
  0 <= off_factor <= 1 -> 1 <= H <= 2 -> relative_off S <= 1 ->
  (forall i, In i l -> Rabs (c i - exp (L_of i - T)) <= off_factor * exp (L_of i - T) + cut_factor /\
                       Rabs (f i - exp (L_of i - L)) <= off_factor * exp (L_of i - L) + cut_factor) ->
  (exists i, In i l /\ L_of i = T) -> (forall i, In i l -> 0 <= c i) -> 0 <= lost_C -> Rabs (C - total c l) <= (H - 1) * total c l + lost_C ->
  0 < C -> Rabs (L - (T + ln C)) <= off -> 0 < C_low S H lost_C ->
  down_factor S H lost_C off <= total f l <= up_factor S H lost_C off.
Proof.
  intros HS S0 Hc Hq HH Hr B (i0 & I0 & E0) c0 L0 HC PC HL CL. apply between in HL.
  set (Z := total (fun i => exp (L_of i - T)) l). assert (Z1 : 1 <= Z).
  { unfold Z. rewrite <- exp_0, <- (Rminus_eq_0 T), <- E0 at 1. apply (total_holds (fun i => exp (L_of i - T))); [intros; left; apply exp_pos|easy]. }
  assert (Sc : Rabs (total c l - Z) <= off_factor * Z + S * cut_factor) by (apply (sums_near l (fun i => L_of i - T) c); auto; intros i I; apply (B i I)).
  set (E := total (fun i => exp (L_of i - L)) l).
  assert (Sf : Rabs (total f l - E) <= off_factor * E + S * cut_factor) by (apply (sums_near l (fun i => L_of i - L) f); auto; intros i I; apply (B i I)).
  assert (EZ : E = Z * exp (T - L)).
  { unfold E, Z. rewrite Rmult_comm, <- total_times. apply total_same. intros i _. rewrite <- exp_plus. f_equal. ring. }
  set (q' := relative_off S) in *. assert (Q0 : 0 <= S * cut_factor) by now apply Rmult_le_pos.
  assert (Sc' : (1 - q') * Z <= total c l <= (1 + q') * Z).
  { apply between in Sc. assert (S * cut_factor * 1 <= S * cut_factor * Z) by (apply Rmult_le_compat_l; lra). unfold q', relative_off. lra. }
  apply between in HC. assert (LZ : lost_C * 1 <= lost_C * Z) by (apply Rmult_le_compat_l; lra).
  assert (Cl : C_low S H lost_C * Z <= C).
  { unfold C_low. fold q'. assert ((2 - H) * ((1 - q') * Z) <= (2 - H) * total c l) by (apply Rmult_le_compat_l; lra). lra. }
  assert (Ch : C <= C_high S H lost_C * Z).
  { unfold C_high. fold q'. assert (H * total c l <= H * ((1 + q') * Z)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (ET : exp (T - L) = exp (T + ln C - L) / C).
  { unfold Rdiv. rewrite <- (exp_ln (/ C)) by now apply Rinv_0_lt_compat. rewrite ln_Rinv, <- exp_plus by easy. f_equal. ring. }
  assert (Px : exp (- off) <= exp (T + ln C - L) <= exp off) by (split; apply exp_grows; lra).
  pose proof (exp_pos (- off)) as P0. assert (CH : 0 < C_high S H lost_C) by nra.
  assert (Eu : E <= exp off / C_low S H lost_C).
  { rewrite EZ, ET. apply Rmult_le_reg_r with (C_low S H lost_C); [easy|]. unfold Rdiv. rewrite (Rmult_assoc (exp off)), Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (exp off * (Z * / C * C_low S H lost_C)).
    - replace (Z * (exp (T + ln C - L) * / C) * C_low S H lost_C) with (exp (T + ln C - L) * (Z * / C * C_low S H lost_C)) by ring.
      apply Rmult_le_compat_r; [|lra]. pose proof (Rinv_0_lt_compat C PC). repeat apply Rmult_le_pos; lra.
    - assert (Z * / C * C_low S H lost_C <= 1).
      { apply Rmult_le_reg_r with C; [easy|]. replace (Z * / C * C_low S H lost_C * C) with (C_low S H lost_C * Z) by (field; lra). lra. }
      pose proof (exp_pos off). nra. }
  assert (El : exp (- off) / C_high S H lost_C <= E).
  { rewrite EZ, ET. apply Rmult_le_reg_r with (C_high S H lost_C); [easy|]. unfold Rdiv. rewrite (Rmult_assoc (exp (- off))), Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (exp (- off) * (Z * / C * C_high S H lost_C)).
    - assert (1 <= Z * / C * C_high S H lost_C).
      { apply Rmult_le_reg_r with C; [easy|]. replace (Z * / C * C_high S H lost_C * C) with (C_high S H lost_C * Z) by (field; lra). lra. }
      nra.
    - replace (Z * (exp (T + ln C - L) * / C) * C_high S H lost_C) with (exp (T + ln C - L) * (Z * / C * C_high S H lost_C)) by ring.
      apply Rmult_le_compat_r; [|lra]. pose proof (Rinv_0_lt_compat C PC). repeat apply Rmult_le_pos; lra. }
  apply between in Sf. unfold up_factor, down_factor. split.
  - assert ((1 - off_factor) * (exp (- off) / C_high S H lost_C) <= (1 - off_factor) * E) by (apply Rmult_le_compat_l; lra). lra.
  - assert ((1 + off_factor) * E <= (1 + off_factor) * (exp off / C_low S H lost_C)) by (apply Rmult_le_compat_l; lra). lra.
Qed.
End Factors.
