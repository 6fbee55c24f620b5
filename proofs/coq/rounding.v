(* H0 holds of float32 with gradual underflow, rounded to nearest even, as Flocq defines it. *)
From Attest Require Import machine.
From Flocq Require Import Core Relative Plus_error.

Definition float32 := FLT_exp (-149) 24.
Definition fl := round radix2 float32 ZnearestE.

Section Float32.
Context (m : model) (unit_roundoff : u m = bpow radix2 (-24)) (loss : omega m = bpow radix2 (-150))
        (gradual : flushes m = false).

Theorem h0_rounded x : rounded m x (fl x).
Proof.
  assert (P : (0 < 24)%Z) by reflexivity.
  destruct (error_N_FLT radix2 (-149) 24 P (fun z => negb (Z.even z)) x) as (d & nu & Hd & Hn & _ & E).
  exists d, nu. rewrite unit_roundoff, loss. repeat split; [| |exact E].
  - eapply Rle_trans; [exact Hd|]. right. simpl. lra.
  - eapply Rle_trans; [exact Hn|]. right. simpl. lra.
Qed.

Theorem h0_added a b : generic_format radix2 float32 a -> generic_format radix2 float32 b -> added m a b (fl (a + b)).
Proof.
  intros Fa Fb. assert (P : Prec_gt_0 24) by reflexivity.
  destruct (FLT_plus_error_N_ex radix2 (-149) 24 (fun z => negb (Z.even z)) a b Fa Fb) as (d & Hd & E).
  exists d, 0. rewrite gradual, unit_roundoff, Rabs_R0, Rplus_0_r. repeat split; [|lra|exact E].
  eapply Rle_trans; [exact Hd|]. unfold u_ro. simpl. lra.
Qed.
End Float32.
