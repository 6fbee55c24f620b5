(* From (2) of Lemma 3 for each key to what the averages ask of the weights: T_j, zeta_j, and the keys that D counts. A masked key
   of H5 may have a weight of at most omega_W in place of (2): it is far, and its T_j at least 1. *)
From Attest Require Export lemma_3_far lemma_7.

Lemma total_of_counted {A} (l : list A) f : 0 < total f l -> exists a, In a l /\ 0 < f a.
Proof.
  induction l as [|b l IH]; simpl; intros H; [lra|]. destruct (Rlt_dec 0 (f b)) as [P|]; [exists b; auto|].
  destruct IH as (a & I & P); [lra|]. exists a. auto.
Qed.

Section Near.
Context {A : Type} (keys : list A) (W at_ z reaches : A -> R) (far x0 omega_W Lambda : R).

Definition exact_weight e := exp (at_ e).
Definition T_of e := if Rlt_dec x0 (reaches e) then Rmax 1 (exp (z e) - 1) else exp (z e) - 1.
Definition zeta_of e := if Rlt_dec far (reaches e) then omega_W else 0.
Definition counted_of e := if Rle_dec (reaches e) (Rmin far x0) then if Rlt_dec (z e) 1 then true else false else false.
Definition D_of := total (fun e => if counted_of e then pi keys exact_weight e / (1 + T_of e) else 0) keys.

Theorem near_weights : (forall e, In e keys -> 0 <= W e) -> 0 <= omega_W -> 0 < D_of -> 0 < Lambda <= total W keys ->
  (forall e, In e keys -> W e = 0 /\ x0 < reaches e \/ near_or_far (W e) (at_ e) (z e) omega_W (far < reaches e) \/
                          W e <= omega_W /\ far < reaches e /\ 1 <= T_of e) ->
  weights_known keys W exact_weight T_of zeta_of counted_of D_of Lambda.
Proof.
  intros Nn W0 HD HL L. assert (Ep : forall e, 0 < exact_weight e) by (intros; apply exp_pos).
  assert (Z0 : forall e, 0 <= zeta_of e) by (intros; unfold zeta_of; destruct (Rlt_dec _ _); lra).
  assert (Tz : forall e, exp (z e) - 1 <= T_of e) by (intros e; unfold T_of; destruct (Rlt_dec _ _); [apply Rmax_r|lra]).
  (* what is left of a weight without zeta, between C e^{s}/(1 + T) and C e^{s}(1 + T) *)
  assert (Wb : forall e, In e keys -> 0 <= T_of e /\ (W e = 0 /\ x0 < reaches e \/
    (exists a n, W e = a + n /\ exact_weight e / (1 + T_of e) <= a <= exact_weight e * (1 + T_of e) /\ Rabs n <= zeta_of e /\ (~ far < reaches e -> n = 0)) \/
    W e <= omega_W /\ far < reaches e /\ 1 <= T_of e)).
  { intros e I. destruct (L e I) as [(We & F)|[(a & n & Wa & Pa & Z & B & N0)|(We & F & T1)]]; [| |split; [lra|right; right; auto]].
    - split; [|now left]. unfold T_of. destruct (Rlt_dec _ _); [|easy]. pose proof (Rmax_l 1 (exp (z e) - 1)). lra.
    - assert (Zp : 0 <= z e) by (eapply Rle_trans; [apply Rabs_pos|exact Z]). pose proof (exp_ineq1_le (z e)) as Z1. specialize (Tz e).
      split; [lra|right; left]. exists a, n. apply between in Z. specialize (Ep e).
      assert (Ab : exact_weight e * exp (- z e) <= a <= exact_weight e * exp (z e)).
      { unfold exact_weight. rewrite <- (exp_ln a) by easy. rewrite <- !exp_plus. split; apply exp_grows; lra. }
      split; [easy|]. split; [|split; [|easy]].
      + split.
        * eapply Rle_trans; [|apply Ab]. unfold Rdiv. apply Rmult_le_compat_l; [lra|]. rewrite exp_Ropp.
          apply Rinv_le_contravar; [apply exp_pos|lra].
        * eapply Rle_trans; [apply Ab|]. apply Rmult_le_compat_l; lra.
      + unfold zeta_of. destruct (Rlt_dec _ _) as [F|F]; [exact B|rewrite (N0 F), Rabs_R0; lra]. }
  constructor; auto.
  - intros e I. specialize (Wb e I) as (HT & [(-> & F)|[(a & n & -> & (A1 & A2) & B & _)|(We & F & T1)]]); specialize (Ep e); specialize (Z0 e).
    + assert (1 <= T_of e) by (unfold T_of; destruct (Rlt_dec _ _); [apply Rmax_l|easy]).
      rewrite Rminus_0_l, Rabs_Ropp, Rabs_pos_eq by lra. nra.
    + replace (a + n - exact_weight e) with ((a - exact_weight e) + n) by ring. eapply Rle_trans; [apply Rabs_triang|].
      apply Rplus_le_compat; [|exact B]. apply abs_below. split; [|lra].
      assert (exact_weight e * (1 - T_of e) <= exact_weight e / (1 + T_of e)); [|lra]. unfold Rdiv. apply Rmult_le_compat_l; [lra|].
      apply Rmult_le_reg_r with (1 + T_of e); [lra|]. rewrite Rinv_l by lra. nra.
    + unfold zeta_of. destruct (Rlt_dec _ _) as [_|]; [|easy]. specialize (Nn e I). apply abs_below. nra.
  - intros e I. split; [apply (Wb e I)|auto].
  - intros e I C. unfold counted_of in C. destruct (Rle_dec _ _) as [N|]; [|easy].
    pose proof (Rmin_l far x0). pose proof (Rmin_r far x0).
    specialize (Wb e I) as (_ & [(_ & F)|[(a & n & -> & A1 & _ & N0)|(_ & F & _)]]); [lra| |lra]. rewrite N0 by lra. lra.
  - unfold D_of. lra.
Qed.
End Near.
