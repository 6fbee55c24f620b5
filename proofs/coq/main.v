(* What the theorems rest on: the test `coq` reads it. *)
From Attest Require Import records lemma_1 lse_weights theorem corollary_l rounding formula_parts.

Print Assumptions lemma_1_product.
Print Assumptions lemma_1_softcap.
Print Assumptions lemma_1_bias.
Print Assumptions lemma_2_most.
Print Assumptions lemma_2_rank.
Print Assumptions lemma_2_index.
Print Assumptions growths_below_records.
Print Assumptions lemma_3.
Print Assumptions lemma_5.lemma_5a.
Print Assumptions kept_is_Lambda.
Print Assumptions lemma_5b.
Print Assumptions lemma_5c.
Print Assumptions lemma_6_path_by_path.
Print Assumptions lemma_7_T.
Print Assumptions lemma_7_D.
Print Assumptions theorem_O.
Print Assumptions weights_by_lse.
Print Assumptions undivided_factors.
Print Assumptions corollary_L.
Print Assumptions h0_rounded.
Print Assumptions h0_added.
Print Assumptions same_bound.
