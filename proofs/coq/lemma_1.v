(* Lemma 1 (scores): a product in any order, a softcap, a bias, a narrower format. E0, E1 and E of section 3. *)
From Attest Require Export numbers.

(* A rounding of x that is within e of s: what e_s and omega_s do to it. *)
Lemma rounded_near s x e r w y : 0 <= r -> Rabs (x - s) <= e -> (exists d n, Rabs d <= r /\ Rabs n <= w /\ y = x * (1 + d) + n) ->
  Rabs (y - s) <= (1 + r) * e + r * Rabs s + w.
Proof.
  intros Hr Hx (d & n & Hd & Hn & ->).
  replace (x * (1 + d) + n - s) with ((x - s) + (x - s) * d + s * d + n) by ring.
  assert (Rabs (x - s) * Rabs d <= e * r) by (apply Rmult_le_compat; auto using Rabs_pos).
  assert (Rabs s * Rabs d <= Rabs s * r) by (apply Rmult_le_compat_l; auto using Rabs_pos).
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
  eapply Rle_trans; [apply Rplus_le_compat_r, Rplus_le_compat_r, Rabs_triang|]. rewrite !Rabs_mult. lra.
Qed.

(* Product: each of its terms meets at most k roundings, of the scale, too; beta is a bias that the sum starts from. *)
Theorem lemma_1_product (terms : list (R * R)) k u beta lost a : 0 <= u -> INR k * u < 1 ->
  (forall t, In t terms -> Rabs (snd t - 1) <= (1 + u) ^ k - 1) ->
  total (fun t => Rabs (fst t)) terms <= beta -> Rabs (a - total (fun t => fst t * snd t) terms) <= lost ->
  Rabs (a - total fst terms) <= gamma k u * beta + lost.
Proof.
  intros Hu Hk Ht Hb Ha. pose proof (powers_below_gamma k u Hu Hk) as G. pose proof (gamma_pos k u Hu Hk) as G0.
  replace (a - total fst terms) with (total (fun t => fst t * (snd t - 1)) terms + (a - total (fun t => fst t * snd t) terms)).
  - eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|exact Ha].
    eapply Rle_trans; [apply total_abs|]. apply Rle_trans with (total (fun t => gamma k u * Rabs (fst t)) terms).
    + apply total_below. intros t I. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
      specialize (Ht t I). lra.
    + rewrite total_times. apply Rmult_le_compat_l; lra.
  - rewrite (total_same (fun t => fst t * (snd t - 1)) (fun t => fst t * snd t + (-1) * fst t)) by (intros; ring).
    rewrite total_plus, total_times. lra.
Qed.

(* Softcap: g has slope at most 1, and is no larger than c and than its argument. *)
Theorem lemma_1_softcap (g : R -> R) a a' s y e0 e_c a_t c w : 0 <= e_c -> 0 <= c ->
  (forall x z, Rabs (g x - g z) <= Rabs (x - z)) -> Rabs (g a) <= Rmin c s ->
  Rabs (a' - a) <= e0 -> Rabs (y - g a') <= e_c * Rabs (g a') + c * a_t + (1 + c) * w ->
  Rabs (y - g a) <= (1 + e_c) * e0 + e_c * Rmin c s + c * a_t + (1 + c) * w.
Proof.
  intros He Hc Hg Hs Ha Hy.
  assert (S : Rabs (g a' - g a) <= e0) by (eapply Rle_trans; [apply Hg|exact Ha]).
  assert (T : Rabs (g a') <= Rmin c s + e0).
  { replace (g a') with ((g a' - g a) + g a) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  replace (y - g a) with ((y - g a') + (g a' - g a)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. nra.
Qed.

(* Bias, and the rounding to a narrower format: s = g(a) + b. *)
Theorem lemma_1_bias ga y b b' e1 g_b e_s w_s r : 0 <= e_s ->
  Rabs (y - ga) <= e1 -> Rabs (b' - b) <= g_b * Rabs b ->
  (exists d n, Rabs d <= e_s /\ Rabs n <= w_s /\ r = (y + b') * (1 + d) + n) ->
  Rabs (r - (ga + b)) <= (1 + e_s) * (e1 + g_b * Rabs b) + e_s * Rabs (ga + b) + w_s.
Proof.
  intros He Hy Hb Hr. apply rounded_near with (x := y + b'); auto.
  replace (y + b' - (ga + b)) with ((y - ga) + (b' - b)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
