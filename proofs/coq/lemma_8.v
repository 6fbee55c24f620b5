(* Lemma 8, as far as it goes: one sigmoid, one mix of two states, and all merges from e_sigma of each. *)
From Attest Require Export factors.

(* One sigmoid: |ln(f^/f)| <= (1 - f)(e^delta - 1), so that f^ is f up to f(1 - f)(e^delta - 1) and a square. *)
Theorem one_sigmoid y d delta f f_hat : 0 <= y -> Rabs d <= delta -> f = / (1 + y) -> f_hat = / (1 + y * exp d) ->
  Rabs (ln f_hat - ln f) <= (1 - f) * (exp delta - 1).
Proof. intros. eapply Rle_trans; [eapply first_form; eauto|]. apply Rmin_r. Qed.

(* o - f^(o - o_b) beside the exact mix, of states no larger than V. *)
Theorem mixed_by_sigmoid f f_hat o o_b V e result lost : 0 <= f <= 1 -> Rabs (f_hat - f) <= e -> Rabs o <= V -> Rabs o_b <= V ->
  Rabs (result - (o - f_hat * (o - o_b))) <= lost -> Rabs (result - ((1 - f) * o + f * o_b)) <= 2 * e * V + lost.
Proof.
  intros Hf He Ho Hb Hr. replace (result - ((1 - f) * o + f * o_b)) with ((result - (o - f_hat * (o - o_b))) + (f_hat - f) * (o_b - o)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
  assert (Rabs (o_b - o) <= 2 * V) by (unfold Rminus; eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; lra).
  assert (Rabs (f_hat - f) * Rabs (o_b - o) <= e * (2 * V)) by (apply Rmult_le_compat; auto using Rabs_pos). lra.
Qed.

(* All merges: exact shares average the errors of what they merge; each level adds e_sigma of what a state may be. *)
Inductive mixes e_sigma c V : nat -> R -> R -> Prop :=
  | a_part o : Rabs o <= V -> mixes e_sigma c V 0 o o
  | a_merge k j n f a b a' b' r : mixes e_sigma c V k a a' -> mixes e_sigma c V j b b' -> (k < n)%nat -> (j < n)%nat -> 0 <= f <= 1 ->
      Rabs (r - ((1 - f) * a' + f * b')) <= e_sigma * Rmax (Rabs a') (Rabs b') + c -> mixes e_sigma c V n ((1 - f) * a + f * b) r.

Theorem lemma_8_merges e_sigma c V n exact computed : 0 < e_sigma -> 0 <= c -> 0 <= V -> mixes e_sigma c V n exact computed ->
  Rabs exact <= V /\ Rabs (computed - exact) <= ((1 + e_sigma) ^ n - 1) * (V + c / e_sigma).
Proof.
  intros He Hc HV H. induction H as [o Ho|k j n f a b a' b' r Ha (Va & IHa) Hb (Vb & IHb) Lk Lj Hf Hr].
  - split; [easy|]. rewrite Rminus_eq_0, Rabs_R0. simpl. lra.
  - set (Q := V + c / e_sigma) in *. assert (C0 : 0 <= c / e_sigma) by (unfold Rdiv; apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
    destruct n as [|n]; [lia|].
    assert (Up : forall i, (i <= n)%nat -> ((1 + e_sigma) ^ i - 1) * Q <= ((1 + e_sigma) ^ n - 1) * Q).
    { intros i L. apply Rmult_le_compat_r; [unfold Q; lra|]. assert ((1 + e_sigma) ^ i <= (1 + e_sigma) ^ n) by (apply Rle_pow; [lra|easy]). lra. }
    set (X := ((1 + e_sigma) ^ n - 1) * Q) in *. pose proof (Up k ltac:(lia)) as Ua. pose proof (Up j ltac:(lia)) as Ub.
    assert (Mix : forall x y m, Rabs x <= m -> Rabs y <= m -> Rabs ((1 - f) * x + f * y) <= m).
    { intros x y m Hx Hy. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq f), (Rabs_pos_eq (1 - f)) by lra.
      assert ((1 - f) * Rabs x <= (1 - f) * m) by (apply Rmult_le_compat_l; lra). assert (f * Rabs y <= f * m) by (apply Rmult_le_compat_l; lra). lra. }
    split; [now apply Mix|].
    replace (r - ((1 - f) * a + f * b)) with ((r - ((1 - f) * a' + f * b')) + ((1 - f) * (a' - a) + f * (b' - b))) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (M1 : Rabs ((1 - f) * (a' - a) + f * (b' - b)) <= X) by (apply Mix; lra).
    assert (Size : forall x x', Rabs x <= V -> Rabs (x' - x) <= X -> Rabs x' <= V + X).
    { intros x x' Hx Hd. replace x' with (x + (x' - x)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (M2 : Rmax (Rabs a') (Rabs b') <= V + X) by (apply Rmax_lub; [apply (Size a)|apply (Size b)]; lra).
    assert (M3 : e_sigma * Rmax (Rabs a') (Rabs b') <= e_sigma * (V + X)) by (apply Rmult_le_compat_l; lra).
    assert (E : ((1 + e_sigma) ^ S n - 1) * Q = X + e_sigma * X + e_sigma * Q) by (unfold X; simpl pow; ring).
    assert (EQ : e_sigma * Q = e_sigma * V + c) by (unfold Q; field; lra). rewrite E, EQ. lra.
Qed.
