(* Kernels that merge by LSE: the rest of H1 to H3. The parts are runs of the machine. Each is divided by its own sum and
   has an LSE; merged with the weights exp(L - T), T the largest of them, they are a state again. *)
From Attest Require Export lemma_6.

Record lse_model := LseModel { k_lse : nat; eps_log : R; omega_log : R; k_F : nat; Omega_F : R;
  u_state : R; omega_state : R }.                              (* a state of O in a narrower format; 0 without one *)

Definition logs g x y := exists e n, Rabs e <= eps_log g /\ Rabs n <= omega_log g /\ y = ln x * (1 + e) + n.
(* M + log^ l. Of its k_lse roundings i may scale M first, where M is the reference of a part. *)
Definition lse m g (scales : bool) M l L := exists i a y d n, (if scales then (i + 1 <= k_lse g)%nat else i = O) /\
  Rabs a <= (1 + u m) ^ i - 1 /\ logs g l y /\ Rabs d <= (1 + u m) ^ (k_lse g - i) - 1 /\ Rabs n <= 2 * omega m /\
  L = (M * (1 + a) + y) * (1 + d) + n.
Definition divides m g O l o :=
  exists t b, Rabs t <= (1 + u m) ^ k_F g - 1 /\ Rabs b <= Omega_F g /\ o = O / l * (1 + t) + b.
Definition stores g o s := exists d n, Rabs d <= u_state g /\ Rabs n <= omega_state g /\ s = o * (1 + d) + n.

Record state := State { is_part : bool; top : R; seen : list entry; l_hat : R; O_hat : R }.
Record input := Input { from : state; log_sum : R; factor_of : R; divided : R }.

Definition enters m g T i :=
  lse m g (is_part (from i)) (top (from i)) (l_hat (from i)) (log_sum i) /\ log_sum i <= T /\
  (exists x, argument m (log_sum i - T) x /\ exps m x (factor_of i)) /\
  exists o, divides m g (O_hat (from i)) (l_hat (from i)) o /\ stores g o (divided i).
(* The weight of a key in both sums: l^ of its part cancels. *)
Definition behind T i e := Entry (of e) (weight e * (factor_of i / l_hat (from i))) (log_sum i - T :: path e).

(* What is known of the row: of each part, of each state, and of what the operations of one merge lose. *)
Record limits := Limits { part_known : state -> Prop; state_known : state -> Prop; most_lost : R }.

(* n merges on a key's way, with a additions. *)
Inductive merged m g (r : limits) : nat -> nat -> state -> Prop :=
  | of_run h p M l O (s := State true M (entries p) l O) : run m h p -> reference p = Some M ->
      computed m (sum_l p) l -> computed m (sum_O p) O -> part_known r s -> state_known r s -> merged m g r 0 0 s
  | by_lse n a inputs T tl tO l O (s := State false T (flat_map (fun i => map (behind T i) (seen (from i))) inputs) l O) :
      (forall i, In i inputs -> merged m g r n a (from i)) -> (forall i, In i inputs -> enters m g T i) ->
      (exists i, In i inputs /\ log_sum i = T) ->
      joins (map (fun i => Term (factor_of i)) inputs) tl -> joins (map (fun i => Product (factor_of i) (divided i)) inputs) tO ->
      computed m tl l -> computed m tO O -> losses m 1 tl <= most_lost r -> losses m 1 tO <= most_lost r ->
      state_known r s -> merged m g r (S n) (max (height tl) (height tO) + a) s
  | left_alone n a n' a' s : merged m g r n a s -> (n <= n')%nat -> (a <= a')%nat -> merged m g r n' a' s.
