(* The bounds of sections 3 and 5 to 7 as one formula over any numbers: over the reals its parts are those of the
   theorems (formula_parts.v), over dyadic numbers the test `coq.formula` evaluates it beside reference/bound/.
   Rows without flushed keys, sinks, dropout or merges by LSE, with T_j = z/(1 - z/2) >= e^z - 1 (E3). Twice: where exp or
   ln is needed, once with what is below it, once with what is above. *)
From Coq Require Import List ZArith.
Import ListNotations.

Record numbers := Numbers {
  num :> Type; add : num -> num -> num; sub : num -> num -> num; mul : num -> num -> num; div : num -> num -> num;
  le : num -> num -> bool; whole : nat -> num }.

Section Formula.
Context {N : numbers}.
Declare Scope num_scope.
Local Notation "a + b" := (add N a b) : num_scope. Local Notation "a - b" := (sub N a b) : num_scope.
Local Notation "a * b" := (mul N a b) : num_scope. Local Notation "a / b" := (div N a b) : num_scope.
Local Open Scope num_scope.
Definition one := whole N 1. Definition zero := whole N 0. Definition two := whole N 2.
Definition least a b := if le N a b then a else b.
Definition largest a b := if le N a b then b else a.
Definition size a := largest a (zero - a).
Definition when (b : bool) x := if b then x else zero.
Definition both a b := a + b + a * b.                            (* (1 + a)(1 + b) - 1 *)
Fixpoint total {A} (f : A -> N) l := match l with [] => zero | a :: r => f a + total f r end.
Fixpoint most {A} (f : A -> N) l := match l with [] => zero | [a] => f a | a :: r => largest (f a) (most f r) end.

(* The parts that the theorems state. *)
Definition gamma k u := whole N k * u / (one - whole N k * u).
Definition kappa gamma_c gamma_x Y := gamma_c * (one + gamma_x) * Y.
Definition z_of E gamma_x X kappa eps_hat eps_r_hat u_hat lost n :=
  E + gamma_x * X + kappa + eps_hat + whole N n * eps_r_hat + u_hat + (whole N n + one) * lost.
Definition share pi T D far_part := least one ((pi + pi * T) / D + far_part).
Definition bound A GF Phi o GL Om := A + ((one + GF) * Phi + (o + A) * (GL + GF)) / (one - GL) + Om.

(* What a row's model and facts are, as reference/bound/ names them. *)
Record model := Model {
  u : N; omega : N; far : N; x0 : N; u_qk : N; g_b : N; e_c : N; a_t : N; u_s : N; omega_s : N; eps : N; tau : N;
  u_p : N; omega_p : N; u_v : N; u_pv : N; u_out : N; omega_out : N; eps_log : N;
  eps_r : N; omega_log : N; omega_w : N;                         (* omega_W without e^theta *)
  root : N; sunk : N;                                            (* max(1, sqrt|sigma|); Theta/64 *)
  k_qk : nat; k_add : nat; k_x : nat; c_m : nat; k_pre : nat; k_f : nat; splits : nat; most_rescales : nat; height : nat;
  divisions : nat; promote : nat; p_normalised : nat;            (* 0: no, 1: yes, 2: unknown *)
  k_lse : nat; height_L : nat; lazy_merges : nat; always_rescaled : nat;    (* N where exp(0) is rounded, else 0 *)
  fold_q : bool; fold_k : bool; bias_first : bool; flushes : bool; p_shared : bool; rank_counts : bool; returned_rounded : bool;
  kept_rescaled : bool; first_pass : bool }.
Record key := Key { xl : N; xu : N; score : N; product : N; norm : N; bias : N; wl : N; wu : N;
                    (* Once they are known: E_j, the rank, T_j of a key that D counts, P_j, far or not, share_j. *)
                    err : N; rank : nat; spread : N; counted : bool; P : N; is_far : bool; part_of : N }.
Record facts := Facts { d : nat; scale : N; softcap : N; query_norm : N; max_size : N; normaliser : N;
                       lse_size : N; lse_above : N; keys : list key }.

Section Row.
Context (m : model) (f : facts).
Definition n := length (keys f).
Definition g k := gamma k (u m).
Definition capped := le N (softcap f) zero.                      (* true: no softcap *)
Definition sigma_plus := if (fold_q m || fold_k m)%bool then largest one (scale f) else scale f.
Definition rooted := when (fold_k m) (root m).
Definition f_k := if fold_k m then rooted else when (fold_q m) one.
Definition e_s := both (g (k_add m)) (u_s m).
Definition E k :=
  let S := scale f * product k in
  let beta := when (bias_first m && capped)%bool ((one + g_b m) * size (bias k)) in
  let lost := omega m * (two * whole N (d f) * sigma_plus + two + two * product k)
              + omega m * (rooted * query_norm f + f_k * norm k)
              + when (flushes m) (omega m * (scale f * (query_norm f + norm k) + one)) in
  let E0 := gamma (k_qk m) (u_qk m) * (S + beta) + lost in
  let c := softcap f in
  let E1 := if capped then E0 else (one + e_c m) * E0 + e_c m * least c S + c * a_t m + (one + c) * omega m in
  (one + e_s) * (E1 + g_b m * size (bias k)) + e_s * score k + omega_s m.

(* Once E_j is known of each key: M+ - m and M- - m. *)
Context (up : bool) (above below : N).
Definition reference_size := max_size f + largest (size above) (size below).
Definition Y k := largest (score k + err k + tau m) reference_size.
Definition kappa_of k := kappa (g (c_m m)) (g (k_x m)) (Y k).
Definition may_exceed i k := negb (le N (xu i + err i) (xl k - err k)).
Definition rank_of k := (length (filter (fun i => may_exceed i k) (keys f)) - if may_exceed k k then 1 else 0)%nat.
Definition R k := if rank_counts m then Nat.min (rank k + lazy_merges m) (most_rescales m) else most_rescales m.
(* Once the rank is known of each key: R, and then D. *)
Context (R_max : nat) (D : N).
Definition X k := above - xl k + err k + two * tau m * (one + two * u m).
Definition lost_x := when (flushes m || Nat.ltb 1 (k_x m))%bool (whole N (k_x m) * omega m).
Definition log_loss e := e / (one - e).
(* The text counts the losses of the longest path for every key. *)
Definition z k := z_of (err k) (g (k_x m)) (X k) (kappa_of k) (log_loss (eps m)) (log_loss (eps_r m))
                    (when (p_shared m) (log_loss (u_p m))) zero (R k) + (whole N R_max + one) * lost_x.
Definition T_of k := z k / (one - z k / two).
Definition reaches k := (one + g (k_x m)) * X k + kappa_of k + lost_x.
Definition far_away k := negb (le N (reaches k) (far m)).
(* e^y for y <= 0: at most (1 + |y|/64)^-64, and no number of too many bits. *)
Fixpoint squared k x := match k with O => x | S k => squared k (x * x) end.
Definition exp_of y := when up (squared 6 (one / (one + least (zero - y) (whole N 1024) / whole N 64))).
Definition near k := negb (le N one (z k)).
Definition P_of k := if near k then wu k * T_of k else
  if le N (xu k + z k) zero then least one (exp_of (xu k + z k) / normaliser f) else when up one.
Definition D_of := total (fun k => when (counted k) (wl k / (one + spread k))) (keys f).
Definition no_D := le N D zero.                                    (* A^T judges nothing *)
Definition share_of beside k := if no_D then one else least one ((wu k + P k) / D + when (is_far k) beside).
Definition Lambda := when (negb (kept_rescaled m)) (one / two) + when (kept_rescaled m) (whole N 3 / whole N 8).
Definition theta := most kappa_of (keys f).
Definition omega_W := omega_w m * (if up then one / (one - theta) else one + theta).

(* In scope: every kappa at most 1/2 (E11: g is then the largest kappa); no key is flushed, or so near to far that a rounding
   decides. *)
Definition edge := let a := whole N 64 in one / (a * a * a).
Definition in_scope :=
  (forallb (fun k => le N (two * kappa_of k) one && le N (reaches k) (x0 m)
                     && le N (below - sunk m) (xl k + err k)
                     && negb (le N ((one - edge) * far m) (reaches k) && le N (reaches k) ((one + edge) * far m)))%bool (keys f))%bool.

(* Averages: the two entries that need no exp, and what is below A^D. *)
Definition far_share_of := omega_W / Lambda.
Context (far_share : N).
Definition n_far := whole N (length (filter is_far (keys f))).
Definition A_T (y : list N) mid width := total (fun p => P (fst p) * (size (snd p - mid) + width)) (combine (keys f) y) / D
  + n_far * far_share * (most (fun v => size (v - mid)) y + width).
Definition A_H (y : list N) mid width := most (fun v => size (v - mid)) y + width.
Definition dominance k := err k + kappa_of k.
Definition A_J (y : list N) mid := let top := most (fun k => xl k - dominance k) (keys f) in
  most (fun p => when (le N top (xu (fst p) + dominance (fst p))) (size (snd p - mid))) (combine (keys f) y).

(* Sums. *)
Definition s := if Nat.ltb 1 (splits m) then splits m else 0.
Definition s_O := (s + divisions m)%nat.
Definition u_of_p := both (when (negb (p_shared m)) (u_p m)) (u_v m).
Definition pv := largest (u_pv m) (u m).
Definition n_share k := least one (whole N n * part_of k / u m).
Definition M_L_of := total n_share (keys f) - most n_share (keys f).
Definition lost := whole N (4 * (n + splits m + divisions m + always_rescaled m))%nat * omega m / Lambda.
Definition longest := g (height_L m + R_max + s)%nat.
Definition by_path := total (fun k => part_of k * g (height_L m + R k + s)%nat) (keys f).
Definition gamma_L_of M_L := least longest (least by_path
  (total (fun k => part_of k * g (R k + s)%nat) (keys f) + (one + longest) * (one + longest) * u m * M_L + two * whole N n * lost)) + lost.
Definition k_O := (R_max + 1 + k_pre m + s_O)%nat.
Definition gamma_h := match promote m with
  | O => gamma (height m + k_O)%nat pv
  | c => both (gamma (Nat.min (height m) c) pv) (g ((height m + c - 1) / c + k_O)%nat)
  end.
Definition gamma_O := both u_of_p gamma_h.
Definition gamma_F := g (k_f m).
Definition path k := both u_of_p (gamma (R k + 1 + k_pre m + s_O)%nat pv).

Definition third := whole N 4 / whole N 3.
Definition beside := if (no_D || le N one above)%bool then one / Lambda else least (one / Lambda) (one / (one - above) / (normaliser f * D)).
Definition output_rounding B exact := B * (one + u_out m) + u_out m * exact + omega_out m.

Context (gamma_L M_L : N).

(* Corollary W, where A^T judges; U_j is P_j, as z_j < 1. *)
Definition rounded_W := (returned_rounded m && negb (p_shared m))%bool.
Definition gamma_W := if rounded_W then both gamma_F (u_p m) else gamma_F.
Definition alpha_W := when rounded_W (omega_p m * third * largest one beside).
Definition sum_U := total P (keys f).
Definition one_minus_D := total (fun k => if counted k then wu k * least one (spread k) else wu k) (keys f).
Definition off_sum := largest one_minus_D (least one (sum_U + n_far * far_share)).
(* chi of weights that are formed again: chi_D is at least y_j of a key of J. *)
Definition chi_T := two * sum_U / D + two * n_far * far_share.
Definition chi_of := when (first_pass m) (if up then chi_T else least chi_T (let top := most (fun k => xl k - dominance k) (keys f) in
  most (fun k => when (le N top (xu k + dominance k)) (two * (z k - err k))) (keys f))).
Context (chi : N).
Definition with_chi A o := A + chi * (o + A).
Definition weight k :=
  let A := with_chi (((one - wl k) * P k + wu k * (sum_U - P k)) / D + n_far * far_share) (wu k) in
  let one_pass := A + (wu k + A) * (gamma_L + gamma_W) / (one - gamma_L) in
  let again := (P k * (one + gamma_W) + wu k * (gamma_W + off_sum + gamma_L)) / (D * (one - gamma_L)) + far_share in
  output_rounding (largest one_pass again + two * omega m + alpha_W) (wu k).

(* Clause H, for values of the size V. *)
Definition hull V :=
  let lost_weights := third * (omega_p m / Lambda + when (Nat.ltb 0 (k_pre m)) (omega m)) * whole N n * V in
  output_rounding ((one + gamma_F) * (gamma_O + gamma_L + gamma_F) / (one - gamma_L) * (one + chi) * V + chi * V
                   + (lost + lost_weights) + two * omega m) V.

(* Corollary L from below and above, as ln lies between 1 - 1/x and x - 1. *)
Definition lse_of base :=
  let N_log := lse_above f + least (most (err) (keys f)) (largest above (zero - below)) + tau m + base in
  (one + largest (u m) (g (k_lse m))) * (base + eps_log m * N_log + omega_log m) + g (k_lse m) * lse_size f
  + g (k_lse m - 1)%nat * reference_size + two * omega m.
(* ln n lies between 1/2 + ... + 1/n and 1 + ... + 1/(n - 1). *)
Definition ln_n := total (fun k => one / whole N (if up then k else S k)) (seq 1 (n - 1)%nat).
Definition lse :=
  let y := one_minus_D in
  let small := negb (le N one (two * y)) in
  let log_D := if small then y / (one - y) else if up then one / D - one else one - D in
  let of_one_key := zero - most (fun k => zero - (one - wu k + z k)) (keys f) in
  let log_U := if (up || forallb near (keys f) && negb (le N one sum_U))%bool then sum_U else sum_U / (one + sum_U) in
  let Lambda_T := largest log_U (if up then log_D else if no_D then of_one_key else least log_D of_one_key) + two * n_far * far_share in
  let Lambda_H := largest above (zero - below) + two * tau m * (one + g (k_x m)) + ln_n
                  + log_loss (eps m) + whole N R_max * log_loss (eps_r m) + when (p_shared m) (log_loss (u_p m))
                  + (whole N R_max + one) * lost_x + when up theta + whole N n * far_share in
  lse_of ((if negb up then least Lambda_T Lambda_H else if no_D || le N one sum_U then Lambda_H else Lambda_T)%bool + gamma_L / (one - gamma_L)).

Definition column (y : list N) mid radius :=
  let sizes := map size y in
  let o := size mid + radius in
  let A v c w := let clause := if up then A_H v c w else A_J v c in if no_D then clause else least (A_T v c w) clause in
  let high := total (fun p => wu (fst p) * snd p) (combine (keys f) sizes) in
  let bottom := total (fun p => wl (fst p) * snd p) (combine (keys f) sizes) in
  let A_c := A y mid radius in
  let A' := high + A sizes ((high + bottom) / two) ((high - bottom) / two) in
  let values := total (fun v => v) sizes in
  let nodes := least (whole N (height m) * A') (whole N (n - 1)%nat * ((A' + o + A_c) / two + (gamma_h + u_of_p) * A')) in
  let before := match p_normalised m with 0 => beside | 1 => one | _ => largest one beside end in
  let Omega := lost + omega_p m * third * before * values + when (Nat.ltb 0 (k_pre m)) (third * omega m * values) in
  let nodes := if le N pv (u m) then least nodes (largest A' (most (fun v => v) sizes) * M_L + two * whole N n * Omega / u m) else nodes in
  let shared := total (fun p => part_of (fst p) * path (fst p) * snd p) (combine (keys f) sizes)
                + (one + u_of_p) * (one + gamma_h) * (one + gamma_h) * pv * nodes in
  let Phi := match promote m with O => least (gamma_O * A') shared | _ => gamma_O * A' end in
  bound (with_chi A_c o) gamma_F ((one + chi) * Phi + Omega) o gamma_L (two * omega m).
End Row.

(* Of a row: whether it is in scope; D, Gamma_L, Gamma_O, the hull of values of size 1, the LSE; each weight; B of each
   column. *)
Definition room := let a := whole N 64 in let b := a * a in b * b * two.                     (* 2^25 *)
Definition evaluated m f columns up :=
  let filled F f := Facts (d f) (scale f) (softcap f) (query_norm f) (max_size f) (normaliser f) (lse_size f) (lse_above f) (map F (keys f)) in
  let set k := Key (xl k) (xu k) (score k) (product k) (norm k) (bias k) (wl k) (wu k) in
  let f1 := filled (fun k => set k (E m f k) 0%nat zero false zero false zero) f in
  let above := most (fun k => xu k + err k) (keys f1) in
  let below := most (fun k => xl k - err k) (keys f1) in
  let f2 := filled (fun k => set k (err k) (rank_of f1 k) zero false zero false zero) f1 in
  let R_max := fold_right (fun k r => Nat.max (R m k) r) 0%nat (keys f2) in
  let f3 := filled (fun k => let is_far := far_away m f2 above below k in let near := near m f2 above below R_max k in
    set k (err k) (rank k) (if near then T_of m f2 above below R_max k else one) (near && negb is_far)%bool
      (P_of m f2 up above below R_max k) is_far zero) f2 in
  let D := D_of f3 in
  let far_share := far_share_of m f3 up above below in
  let f4 := filled (fun k => set k (err k) (rank k) (spread k) (counted k) (P k) (is_far k)
    (share_of D far_share k)) f3 in
  let M_L := M_L_of m f4 in
  let gamma_L := gamma_L_of m f4 R_max M_L in
  let chi := chi_of m f4 up above below R_max D far_share in
  (* What E8 adds to M_L in doubles: reference/bound/ may be as large. *)
  let M_L' := M_L + when up (whole N (24 * n f + 8 * d f + 64)%nat / (room * room)) in
  ((in_scope m f4 above below && (negb (first_pass m) || negb (no_D D) && negb (le N one (sum_U f4))))%bool,
   [D; gamma_L; gamma_O m R_max; hull m f4 R_max gamma_L chi one; lse m f4 up above below R_max D far_share gamma_L],
   map (weight m f4 above D far_share gamma_L chi) (keys f4),
   map (fun c => match c with (y, mid, radius) => column m f4 up above below R_max D far_share gamma_L M_L' chi y mid radius end) columns).
End Formula.

(* --- dyadic numbers m·2^e of 64 bits, each operation truncated ---------------------------------------------------------- *)

Open Scope Z_scope.
Definition cut (x : Z * Z) := let s := Z.log2 (Z.abs (fst x)) - 63 in
  if s <=? 0 then x else (Z.shiftr (fst x) s, snd x + s).
Definition aligned (x y : Z * Z) := let e := Z.min (snd x) (snd y) in
  (Z.shiftl (fst x) (snd x - e), Z.shiftl (fst y) (snd y - e), e).
Definition dyadic := Numbers (Z * Z)
  (fun x y => match aligned x y with (a, b, e) => cut (a + b, e) end)
  (fun x y => match aligned x y with (a, b, e) => cut (a - b, e) end)
  (fun x y => cut (fst x * fst y, snd x + snd y))
  (fun x y => let s := Z.max 0 (64 + Z.log2 (Z.abs (fst y)) - Z.log2 (Z.abs (fst x))) in
    cut (Z.shiftl (fst x) s / fst y, snd x - snd y - s))
  (fun x y => match aligned x y with (a, b, e) => a <=? b end)
  (fun n => (Z.of_nat n, 0)).

Definition nought : dyadic := (0, 0).

(* The same from lists, in the order of the records. *)
Local Open Scope nat_scope.
Definition evaluated_lists (ns : list dyadic) (cs : list nat) (bs : list bool) (fs : list dyadic) (ks : list (list dyadic)) columns :=
  let x i := nth i ns nought in let c i := nth i cs O in let b i := nth i bs false in let y i := nth i fs nought in
  let key_of l := let z i := nth i l nought in
    @Key dyadic (z 0) (z 1) (z 2) (z 3) (z 4) (z 5) (z 6) (z 7) nought O nought false nought false nought in
  @evaluated dyadic
    (@Model dyadic (x 0) (x 1) (x 2) (x 3) (x 4) (x 5) (x 6) (x 7) (x 8) (x 9) (x 10) (x 11) (x 12) (x 13) (x 14) (x 15) (x 16) (x 17)
      (x 18) (x 19) (x 20) (x 21) (x 22) (x 23) (c 0) (c 1) (c 2) (c 3) (c 4) (c 5) (c 6) (c 7) (c 8) (c 9) (c 10) (c 11) (c 12) (c 13) (c 14) (c 15)
      (b 0) (b 1) (b 2) (b 3) (b 4) (b 5) (b 6) (b 7) (b 8))
    (@Facts dyadic (c 16) (y 0) (y 1) (y 2) (y 3) (y 4) (y 5) (y 6) (map key_of ks)) columns.
