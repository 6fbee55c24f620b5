(* The kernels of the family: H0 to H3 of docs/bound.md as one relation, `run`. The lemmas speak of its parts.
   A run takes blocks of keys, some of them hidden, into a state, and merges states raw. Every rounding is there. *)
From Attest Require Export numbers.

Record model := Model {
  u : R; omega : R; flushes : bool;                       (* H0: one rounding, what it loses, whether sums lose, too *)
  eps : R; far : R; tiny : R; x0 : R; exact_at_0 : bool;  (* H1: exp *)
  tau : R; k_x : nat; c_m : nat; u_shared : R             (* H2: lazy references, arguments, a shared rounding of P *)
}.

Definition rounded m x y := exists d n, Rabs d <= u m /\ Rabs n <= omega m /\ y = x * (1 + d) + n.
Definition added m a b y :=
  exists d n, Rabs d <= u m /\ Rabs n <= (if flushes m then omega m else 0) /\ y = (a + b) * (1 + d) + n.

(* exp^(x) = e^x(1 + e) + z, with z only below -far; or it is cut, below -x0. *)
Definition exps m x y := 0 <= y /\
  (x < - x0 m /\ y = 0 \/
   exists e z, Rabs e <= eps m /\ Rabs z <= tiny m /\ (- far m <= x -> z = 0) /\ y = exp x * (1 + e) + z).

(* x is the argument a with at most k_x roundings. *)
Definition lost m := if (flushes m || (1 <? k_x m)%nat)%bool then INR (k_x m) * omega m else 0.
Definition argument m a x := exists t n, Rabs t <= gamma (k_x m) (u m) /\ Rabs n <= lost m /\ x = a * (1 + t) + n.

Record key := Key { score : R; value : R }.               (* the computed score, and v of one column *)

(* What happened to a key so far: its weight, and the exact arguments of exp that it met, the newest first. *)
Record entry := Entry { of : key; weight : R; path : list R }.
Definition rescales e := (length (path e) - 1)%nat.

(* --- sums in any tree ------------------------------------------------------------------------------------------- *)

Inductive sum := Zero | Term (w : R) | Product (w v : R) | Scale (r : R) (s : sum) | Add (a b : sum).

Inductive computed m : sum -> R -> Prop :=
  | computed_zero : computed m Zero 0
  | computed_term w : computed m (Term w) w
  | computed_product w v y : rounded m (w * v) y -> computed m (Product w v) y
  | computed_scale r s x y : computed m s x -> rounded m (r * x) y -> computed m (Scale r s) y
  | computed_add a b x y z : computed m a x -> computed m b y -> added m x y z -> computed m (Add a b) z.

(* One tree over the terms of a list, in any order. *)
Inductive joins : list sum -> sum -> Prop :=
  | joins_none : joins [] Zero
  | joins_one s : joins [s] s
  | joins_two a b c s t : joins a s -> joins b t -> a <> [] -> b <> [] -> Permutation (a ++ b) c ->
      joins c (Add s t).

(* --- references and rescales -------------------------------------------------------------------------------------- *)

(* The factor of a state whose reference goes from M to M': None is 1, and costs nothing. *)
Definition factor m (M M' : option R) (f : option (R * R)) := match f with
  | None => M = None \/ M = M' /\ exact_at_0 m = true
  | Some (a, r) => exists y z x, M = Some y /\ M' = Some z /\ a = y - z /\ (y <> z \/ exact_at_0 m = false) /\
                                 argument m a x /\ exps m x r
  end.
Definition through (f : option (R * R)) e :=
  match f with None => e | Some (a, r) => Entry (of e) (weight e * r) (a :: path e) end.
Definition scaled (f : option (R * R)) s := match s, f with
  | Zero, _ => []
  | _, None => [s]
  | _, Some (_, r) => [Scale r s]
  end.

(* The reference after a block: within tau of every key, at most a score, and it grows only where the largest does. *)
Definition covers m M ks := forall k, In k ks -> score k - tau m <= M.
Definition moves m (M : option R) ks (M' : option R) := match M, M' with
  | None, None => ks = []
  | None, Some y => covers m y ks /\ exists k, In k ks /\ y <= score k
  | Some x, Some y => covers m y ks /\ (y = x \/ x < y /\ exists k, In k ks /\ x + tau m < score k /\ y <= score k)
  | Some _, None => False
  end.
Definition common (M M' : option R) := match M, M' with
  | None, y => y
  | x, None => x
  | Some x, Some y => Some (Rmax x y)
  end.

(* p of a key; c are the roundings of the reference that p and r do not share. *)
Definition weighs m (M : option R) k e := exists y c x p d, M = Some y /\
  Rabs c <= gamma (c_m m) (u m) * Rabs y /\ argument m (score k - y + c) x /\ exps m x p /\
  Rabs d <= u_shared m /\ e = Entry k (p * (1 + d)) [score k - y].

(* --- runs ----------------------------------------------------------------------------------------------------------- *)

Record part := Part { reference : option R; entries : list entry; sum_l : sum; sum_O : sum }.

Inductive history := Nothing | Take (h : history) (block : list (option key)) | Merge (a b : history).
Fixpoint visible (block : list (option key)) :=
  match block with [] => [] | Some k :: b => k :: visible b | None :: b => visible b end.

Definition in_l e := Term (weight e).
Definition in_O e := Product (weight e) (value (of e)).

Inductive run (m : model) : history -> part -> Prop :=
  | nothing : run m Nothing (Part None [] Zero Zero)
  | take h b p M f es l O :
      run m h p -> moves m (reference p) (visible b) M -> factor m (reference p) M f ->
      Forall2 (weighs m M) (visible b) es ->
      joins (scaled f (sum_l p) ++ map in_l es) l -> joins (scaled f (sum_O p) ++ map in_O es) O ->
      run m (Take h b) (Part M (map (through f) (entries p) ++ es) l O)
  | merge a b p q f g l O :
      run m a p -> run m b q ->
      factor m (reference p) (common (reference p) (reference q)) f ->
      factor m (reference q) (common (reference p) (reference q)) g ->
      joins (scaled f (sum_l p) ++ scaled g (sum_l q)) l -> joins (scaled f (sum_O p) ++ scaled g (sum_O q)) O ->
      run m (Merge a b)
        (Part (common (reference p) (reference q)) (map (through f) (entries p) ++ map (through g) (entries q)) l O).

(* The keys that count; the blocks, hidden keys' too; the merges on the longest path; all of them. *)
Fixpoint keys h := match h with Nothing => [] | Take h b => keys h ++ visible b | Merge a b => keys a ++ keys b end.
Fixpoint blocks h := match h with Nothing => O | Take h _ => S (blocks h) | Merge a b => (blocks a + blocks b)%nat end.
Fixpoint merges h := match h with Nothing => O | Take h _ => merges h | Merge a b => S (max (merges a) (merges b)) end.
Fixpoint parts h := match h with Nothing => 1%nat | Take h _ => parts h | Merge a b => (parts a + parts b)%nat end.
