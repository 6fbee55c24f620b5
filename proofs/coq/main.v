(* What the theorems rest on: the test `coq` reads it. *)
From Attest Require Import lemma_2 records.

Print Assumptions lemma_2_most.
Print Assumptions lemma_2_rank.
Print Assumptions lemma_2_index.
Print Assumptions growths_below_records.
