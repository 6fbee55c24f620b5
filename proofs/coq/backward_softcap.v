(* docs/bound_backward.md, Lemma 7: the derivative of the softcap, 1 - tanh^2, from a score that is off and a tanh that is off. *)
From Attest Require Export numbers.

Definition slope x := 1 - tanh x * tanh x.

Lemma cosh_positive x : 0 < cosh x.
Proof. unfold cosh. pose proof (exp_pos x). pose proof (exp_pos (- x)). lra. Qed.
Lemma cosh_sinh x : cosh x * cosh x - sinh x * sinh x = 1.
Proof.
  unfold cosh, sinh. assert (exp x * exp (- x) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). nra.
Qed.
Lemma slope_is x : slope x = / (cosh x * cosh x).
Proof.
  unfold slope, tanh. pose proof (cosh_positive x). pose proof (cosh_sinh x) as E.
  apply Rmult_eq_reg_r with (cosh x * cosh x); [|nra]. rewrite Rinv_l by nra. transitivity (cosh x * cosh x - sinh x * sinh x); [field; lra|exact E].
Qed.
Lemma slope_range x : 0 < slope x <= 1.
Proof.
  rewrite slope_is. pose proof (cosh_positive x). pose proof (cosh_sinh x).
  split; [apply Rinv_0_lt_compat; nra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; nra.
Qed.
Lemma tanh_range x : Rabs (tanh x) <= 1.
Proof. pose proof (slope_range x) as S. unfold slope in S. apply abs_below. nra. Qed.

Lemma tanh_derived x : derivable_pt_lim tanh x (slope x).
Proof.
  pose proof (cosh_positive x) as P. pose proof (cosh_sinh x) as E.
  replace (slope x) with ((cosh x * cosh x - sinh x * sinh x) / Rsqr (cosh x)).
  - apply (derivable_pt_lim_div sinh cosh x (cosh x) (sinh x)); [apply derivable_pt_lim_sinh|apply derivable_pt_lim_cosh|lra].
  - rewrite E, slope_is. unfold Rsqr, Rdiv. ring.
Qed.
Lemma slope_derived x : derivable_pt_lim slope x (-2 * (tanh x * slope x)).
Proof.
  replace (-2 * (tanh x * slope x)) with (0 - (slope x * tanh x + tanh x * slope x)) by ring.
  apply (derivable_pt_lim_minus (fct_cte 1) (mult_fct tanh tanh)); [apply derivable_pt_lim_const|].
  apply derivable_pt_lim_mult; apply tanh_derived.
Qed.

(* The slope of 1 - tanh^2 is at most 4/(3 sqrt 3) < 0.77. *)
Lemma slope_of_slope t : Rabs t <= 1 -> Rabs (-2 * (t * (1 - t * t))) <= 77 / 100.
Proof.
  intros H. rewrite Rabs_mult, (Rabs_left1 (-2)) by lra. set (r := 57735 / 100000).
  assert (C : forall s, 0 <= s <= 1 -> 2 * (s * (1 - s * s)) <= 77 / 100).
  { intros s Hs. assert (0 <= (s - r) * (s - r) * (s + 2 * r)) by (apply Rmult_le_pos; [apply Rle_0_sqr|unfold r; lra]).
    assert (s * (3 * (r * r)) - 2 * (r * r * r) <= s * s * s) by lra. unfold r in *. lra. }
  apply between in H. unfold Rabs. destruct (Rcase_abs _); [specialize (C (- t)); nra|].
  destruct (Rle_dec 0 t); [specialize (C t); lra|]. assert (t * (1 - t * t) <= 0) by nra. lra.
Qed.

Lemma mean_value f f' K : (forall x, derivable_pt_lim f x (f' x)) -> forall x y, (forall z, Rabs (z - x) <= Rabs (y - x) -> Rabs (f' z) <= K) ->
  Rabs (f y - f x) <= K * Rabs (y - x).
Proof.
  intros D x y B. destruct (Rtotal_order x y) as [L|[->|L]].
  - destruct (MVT_cor2 f f' x y L) as (z & E & R); [auto|]. rewrite E, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
    apply B. rewrite !Rabs_pos_eq by lra. lra.
  - rewrite !Rminus_eq_0, Rabs_R0. lra.
  - destruct (MVT_cor2 f f' y x L) as (z & E & R); [auto|]. rewrite <- Rabs_Ropp, Ropp_minus_distr, E, Rabs_mult, (Rabs_minus_sym y x).
    apply Rmult_le_compat_r; [apply Rabs_pos|]. apply B. rewrite !Rabs_left1 by lra. lra.
Qed.

(* D_x: what an error h of x/c makes of tanh. *)
Definition D_x t h := h * Rmin 1 (1 - t * t + 77 / 100 * h).
Theorem B7_tanh x y h : Rabs (y - x) <= h -> Rabs (tanh y - tanh x) <= D_x (tanh x) h.
Proof.
  intros Hh. pose proof (Rabs_pos (y - x)). assert (B1 : Rabs (tanh y - tanh x) <= 1 * Rabs (y - x)).
  { apply (mean_value tanh slope); [apply tanh_derived|]. intros z _. pose proof (slope_range z). rewrite Rabs_pos_eq; lra. }
  assert (B2 : Rabs (tanh y - tanh x) <= (slope x + 77 / 100 * h) * Rabs (y - x)).
  { apply (mean_value tanh slope); [apply tanh_derived|]. intros z Hz.
    assert (Sz : Rabs (slope z - slope x) <= 77 / 100 * Rabs (z - x)).
    { apply (mean_value slope (fun x => -2 * (tanh x * slope x))); [apply slope_derived|]. intros q _. apply slope_of_slope, tanh_range. }
    apply between in Sz. pose proof (slope_range z). rewrite Rabs_pos_eq by lra. assert (77 / 100 * Rabs (z - x) <= 77 / 100 * h) by lra. lra. }
  unfold D_x. fold (slope x). pose proof (slope_range x).
  apply Rmin_case; rewrite Rmult_comm; eapply Rle_trans; [exact B1| |exact B2|]; apply Rmult_le_compat_l; lra.
Qed.

(* e_t: t^ beside t; e_c and a_t are tanh's own errors. *)
Theorem B7_t x y t_hat h e_c a_t lost : 0 <= e_c -> Rabs (y - x) <= h -> Rabs (t_hat - tanh y) <= e_c * Rabs (tanh y) + a_t + lost ->
  Rabs (t_hat - tanh x) <= (1 + e_c) * D_x (tanh x) h + e_c * Rabs (tanh x) + a_t + lost.
Proof.
  intros He Hh Ht. pose proof (B7_tanh x y h Hh) as B. replace (t_hat - tanh x) with ((t_hat - tanh y) + (tanh y - tanh x)) by ring.
  assert (Rabs (tanh y) <= Rabs (tanh x) + D_x (tanh x) h).
  { replace (tanh y) with (tanh x + (tanh y - tanh x)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (e_c * Rabs (tanh y) <= e_c * (Rabs (tanh x) + D_x (tanh x) h)) by now apply Rmult_le_compat_l.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* kappa_j: fl(1 - fl(t^^2)), whose k_g roundings meet a number of size at most (1 + e_t)^2. *)
Definition slope_error t e_t g lost := 2 * Rabs t * e_t + e_t * e_t + g * ((1 + e_t) * (1 + e_t)) + lost.
Theorem B7_slope k i u t t_hat e_t a b n lost g_hat : 0 <= u -> INR k * u < 1 -> (i <= k)%nat -> Rabs t <= 1 -> Rabs (t_hat - t) <= e_t ->
  Rabs a <= (1 + u) ^ i - 1 -> Rabs b <= (1 + u) ^ (k - i) - 1 -> Rabs n <= lost -> g_hat = (1 - t_hat * t_hat * (1 + a)) * (1 + b) + n ->
  Rabs (g_hat - (1 - t * t)) <= slope_error t e_t (gamma k u) lost.
Proof.
  intros Hu Hk Hi T1 Ht Ha Hb Hn ->. pose proof (pow_at_least_1 i u Hu) as P1. pose proof (pow_at_least_1 (k - i) u Hu) as P2.
  pose proof (powers_below_gamma k u Hu Hk) as G. replace k with (i + (k - i))%nat in G at 1 by lia. rewrite pow_add in G.
  set (p := (1 + u) ^ i) in *. set (q := (1 + u) ^ (k - i)) in *. pose proof (Rabs_pos (t_hat - t)) as E0.
  set (s := t_hat * t_hat). set (m := (1 + e_t) * (1 + e_t)).
  assert (Th : Rabs t_hat <= 1 + e_t) by (replace t_hat with (t + (t_hat - t)) by ring; eapply Rle_trans; [apply Rabs_triang|]; lra).
  assert (S0 : 0 <= s <= m).
  { unfold s, m. split; [nra|]. pose proof (Rabs_pos t_hat). replace (t_hat * t_hat) with (Rabs t_hat * Rabs t_hat) by (rewrite <- Rabs_mult; apply Rabs_pos_eq; nra).
    apply Rmult_le_compat; lra. }
  assert (M1 : 1 <= m) by (unfold m; nra).
  replace ((1 - s * (1 + a)) * (1 + b) + n - (1 - t * t)) with (- (t_hat * t_hat - t * t) + (- (s * (a * (1 + b))) + (1 - s) * b) + n) by (unfold s; ring).
  assert (B1 : Rabs (- (t_hat * t_hat - t * t)) <= 2 * Rabs t * e_t + e_t * e_t).
  { rewrite Rabs_Ropp. replace (t_hat * t_hat - t * t) with (2 * t * (t_hat - t) + (t_hat - t) * (t_hat - t)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq 2) by lra. pose proof (Rabs_pos t).
    apply Rplus_le_compat; apply Rmult_le_compat; auto using Rabs_pos; nra. }
  assert (B2 : Rabs (- (s * (a * (1 + b))) + (1 - s) * b) <= gamma k u * m).
  { assert (Q1 : Rabs (a * (1 + b)) <= (p - 1) * q).
    { rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra. }
    assert (Q2 : Rabs (1 - s) <= Rmax (1 - s) (m - 1)) by (unfold Rmax; destruct (Rle_dec _ _); apply abs_below; lra).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, !(Rabs_mult s), (Rabs_mult (1 - s)), (Rabs_pos_eq s) by easy.
    assert (s * Rabs (a * (1 + b)) <= s * ((p - 1) * q)) by now apply Rmult_le_compat_l.
    assert (W : Rabs (1 - s) <= m - s \/ Rabs (1 - s) <= s) by (unfold Rabs; destruct (Rcase_abs _); lra).
    pose proof (Rabs_pos b). assert (0 <= (p - 1) * q) by (apply Rmult_le_pos; lra).
    assert (Rabs (1 - s) * Rabs b <= Rabs (1 - s) * (q - 1)) by (apply Rmult_le_compat_l; auto using Rabs_pos).
    apply Rle_trans with (m * (p * q - 1)); [|rewrite Rmult_comm; apply Rmult_le_compat_r; lra].
    destruct W as [W|W].
    - assert (Rabs (1 - s) * (q - 1) <= (m - s) * (q - 1)) by (apply Rmult_le_compat_r; lra).
      assert (s * ((p - 1) * q) <= m * ((p - 1) * q)) by (apply Rmult_le_compat_r; lra).
      assert (0 <= s * (q - 1)) by (apply Rmult_le_pos; lra). lra.
    - assert (Rabs (1 - s) * (q - 1) <= s * (q - 1)) by (apply Rmult_le_compat_r; lra).
      assert (s * (p * q - 1) <= m * (p * q - 1)) by (apply Rmult_le_compat_r; nra). lra. }
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. unfold slope_error. fold m. lra.
Qed.
