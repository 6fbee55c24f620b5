(* Over the reals, the parts of formula.v are those of the theorems. *)
From Attest Require Import theorem.
From Attest Require formula.

Definition reals := formula.Numbers R Rplus Rminus Rmult Rdiv (fun x y => if Rle_dec x y then true else false) INR.

Lemma same_gamma k u : @formula.gamma reals k u = gamma k u.
Proof. reflexivity. Qed.
Lemma same_kappa m Y : @formula.kappa reals (gamma (c_m m) (u m)) (gamma_x m) Y = kappa m Y.
Proof. reflexivity. Qed.
Lemma same_z m E X Y n :
  @formula.z_of reals E (gamma_x m) X (kappa m Y) (log_loss (eps m)) (log_loss (eps m)) (log_loss (u_shared m)) (lost m) n
  = z_of m E X Y n.
Proof. unfold formula.z_of, z_of, formula.one. simpl. ring. Qed.
Lemma same_share {A} (keys : list A) E T zeta D Lambda j :
  @formula.share reals (pi keys E j) (T j) D (zeta j / Lambda) = share keys E T zeta D Lambda j.
Proof.
  unfold formula.share, formula.least, share, Rmin, formula.one. simpl. destruct (Rle_dec _ _); reflexivity.
Qed.
Lemma same_bound m p M rho exact E X Y omega_W Lambda GF Om :
  @formula.bound reals (A m p M exact E X Y omega_W Lambda (v)) GF (Phi m p M rho exact E X Y omega_W Lambda) (Rabs (average p M exact v))
    (Gamma_L m p M rho exact E X Y omega_W Lambda) Om = B m p M rho exact E X Y omega_W Lambda GF Om.
Proof. reflexivity. Qed.
