(* What the lemmas count with: gamma_k, its inequality (1), and sums over lists. docs/bound.md, section 1. *)
From Coq Require Export Reals Lra Lia List Psatz Permutation Arith.
Export ListNotations.
Open Scope R_scope.

Definition gamma (k : nat) (u : R) : R := INR k * u / (1 - INR k * u).

Lemma pow_at_least_1 k u : 0 <= u -> 1 <= (1 + u) ^ k.
Proof. intros. apply pow_R1_Rle. lra. Qed.

(* (1): k roundings multiply by 1 + theta with |theta| <= gamma_k, and there is room in this. *)
Lemma powers_of_roundings k u : 0 <= u -> INR k * u < 1 -> (1 + u) ^ k * (1 - INR k * u) <= 1 - INR k * u * u.
Proof.
  intros Hu _. induction k as [|k IH]; [simpl; lra|]. rewrite S_INR. simpl pow. pose proof (pow_at_least_1 k u Hu).
  pose proof (pos_INR k). assert (0 <= (INR k + 1) * u * u) by (apply Rmult_le_pos; nra).
  replace ((1 + u) * (1 + u) ^ k * (1 - (INR k + 1) * u))
    with ((1 + u) ^ k * (1 - INR k * u) - (1 + u) ^ k * ((INR k + 1) * u * u)) by ring. nra.
Qed.
Theorem inequality_1 k u : (1 <= k)%nat -> 0 <= u -> INR k * u < 1 ->
  (1 + u) ^ k - 1 <= gamma k u - u * u /\ (1 + u) ^ k - 1 <= (1 - u) * gamma k u.
Proof.
  intros Hk Hu H. pose proof (powers_of_roundings k u Hu H) as P. pose proof (le_INR 1 k Hk) as K. simpl in K.
  assert (0 <= u * u) by nra. assert (0 <= INR k * u) by nra.
  unfold gamma. split; apply Rmult_le_reg_r with (1 - INR k * u); try lra; field_simplify; try lra; nra.
Qed.
Lemma powers_below_gamma k u : 0 <= u -> INR k * u < 1 -> (1 + u) ^ k - 1 <= gamma k u.
Proof.
  intros Hu H. destruct k as [|k]; [unfold gamma; simpl; lra|]. destruct (inequality_1 (S k) u) as (L & _); [lia|easy|easy|].
  assert (0 <= u * u) by nra. lra.
Qed.

Lemma gamma_pos k u : 0 <= u -> INR k * u < 1 -> 0 <= gamma k u.
Proof. intros. pose proof (powers_below_gamma k u H H0). pose proof (pow_at_least_1 k u H). lra. Qed.

(* |(1 + a)(1 + b) - 1| for a and b within what k and l roundings do. *)
Lemma one_more u p a d : 0 <= u -> 1 <= p -> Rabs (a - 1) <= p - 1 -> Rabs d <= u ->
  Rabs (a * (1 + d) - 1) <= p * (1 + u) - 1.
Proof.
  intros Hu Hp Ha Hd. replace (a * (1 + d) - 1) with ((a - 1) * (1 + d) + d) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
  assert (Rabs (1 + d) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (Rabs (a - 1) * Rabs (1 + d) <= (p - 1) * (1 + u)) by (apply Rmult_le_compat; auto using Rabs_pos).
  lra.
Qed.

Section Sums.
Context {A : Type}.
Definition total (f : A -> R) (l : list A) : R := fold_right (fun a s => f a + s) 0 l.

Lemma total_app f a b : total f (a ++ b) = total f a + total f b.
Proof. induction a; simpl; lra. Qed.
Lemma total_permuted f a b : Permutation a b -> total f a = total f b.
Proof. induction 1; simpl; lra. Qed.
Lemma total_plus f g l : total (fun a => f a + g a) l = total f l + total g l.
Proof. induction l; simpl; lra. Qed.
Lemma total_times c f l : total (fun a => c * f a) l = c * total f l.
Proof. induction l; simpl; [lra|rewrite IHl; lra]. Qed.
Lemma total_const c (l : list A) : total (fun _ => c) l = INR (length l) * c.
Proof. induction l as [|a l IH]; [simpl; lra|]. simpl total. simpl length. rewrite S_INR. lra. Qed.
Lemma total_same f g l : (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof. induction l; simpl; intros H; [easy|]. rewrite IHl, (H a); auto. Qed.
Lemma total_below f g l : (forall a, In a l -> f a <= g a) -> total f l <= total g l.
Proof. induction l; simpl; intros H; [lra|]. apply Rplus_le_compat; auto. Qed.
Lemma total_abs f l : Rabs (total f l) <= total (fun a => Rabs (f a)) l.
Proof. induction l; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|lra]. Qed.
Lemma total_pos f l : (forall a, In a l -> 0 <= f a) -> 0 <= total f l.
Proof. induction l; simpl; intros H; [lra|]. assert (0 <= f a) by auto. assert (0 <= total f l) by auto. lra. Qed.
Lemma total_positive f l : l <> [] -> (forall a, In a l -> 0 < f a) -> 0 < total f l.
Proof.
  destruct l as [|a l]; intros N H; [easy|]. simpl. assert (0 < f a) by (apply H; now left).
  assert (0 <= total f l); [|lra]. apply total_pos. intros b I. left. apply H. now right.
Qed.
Lemma total_holds f l a : (forall x, In x l -> 0 <= f x) -> In a l -> f a <= total f l.
Proof.
  induction l as [|b l IH]; simpl; intros H I; [easy|].
  assert (0 <= total f l) by (apply total_pos; auto). assert (0 <= f b) by auto.
  destruct I as [E|I]; [subst; lra|]. assert (f a <= total f l) by auto. lra.
Qed.
End Sums.

Lemma total_map {A B} (g : A -> B) f l : total f (map g l) = total (fun a => f (g a)) l.
Proof. induction l; simpl; lra. Qed.

Lemma between x e : Rabs x <= e -> - e <= x <= e.
Proof. intros H. unfold Rabs in H. destruct (Rcase_abs x); lra. Qed.
Lemma abs_below x e : - e <= x <= e -> Rabs x <= e.
Proof. intros H. unfold Rabs. destruct (Rcase_abs x); lra. Qed.

Lemma log_grows x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros P [L|<-]; [left; now apply ln_increasing|lra]. Qed.
Lemma exp_grows x y : x <= y -> exp x <= exp y.
Proof. intros [L|<-]; [left; now apply exp_increasing|lra]. Qed.
