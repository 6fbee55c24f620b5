"""The zoo through Python: each kernel of libattest_zoo.so called by an isolated Python function dies as it does through
C.

A mutant is asked the case by which the selftest refutes it, through C and through Python. A few are asked always, a
sample with the marker `dear`; all mutants and all honest designs where ATTEST_TEST_ALL=1 (marker `slow`).
"""
from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import attest_attention as attest
import pytest
import zoo_kernels
from attest_attention import _program


def there() -> bool:
    try:
        return zoo_kernels.library_path().is_file()
    except FileNotFoundError:  # no program
        return False


pytestmark = pytest.mark.skipif(not there(), reason="there is no libattest_zoo.so")

# The mutants of no family, by the case of `attest selftest` that refutes them.
MUTANTS = {
    "bands/n1-m17-diagonal0-left-1-right0": "decoding_is_not_causal",
    "bands/n16-m16-diagonal19-left9-right-1": "window_of_last_query",
    "determinism/square16": "order_of_the_moment splits_of_the_moment",
    "edges/d16-dv40-n70-m201-value-width-pointed": "columns_behind_d_not_rescaled",
    "empty-rows/band-before-keys": "diagonal_from_0 diagonal_without_sign",
    "empty-rows/no-keys": "divides_by_no_keys",
    "every-key/equal-m1025": (
        "bf16_long_rows_lose_the_last_key f16_long_rows_lose_the_last_key long_rows_count_a_key_twice "
        "long_rows_cut_values_to_bf16 long_rows_lose_the_last_key"),
    "poison/band-nan": "future_key_plus_minus_infinity padding_is_read",
    "poison/causal-neighbour": "nan_value_is_zero",
    "poison/mask-nan": "masked_key_plus_minus_infinity zero_times_masked_value",
    "real-data/minilm-layer0": "drops_small_weights scores_clamped",
    "scale/zero": "scale_0_is_default",
    "sharp/square-from-gap9.7-d8": "bf16_inside_and_sums",
    "softcap/cap0.5-spread1": "softcap_flat_from_3",
    "strides/gap1": "bias_without_gaps mask_without_gaps",
    "strides/gap1-alone": "assumes_compact_rows",
    "subnormals/values": "subnormal_inputs_as_0 subnormal_outputs_as_0",
    "support/bias+softcap": "softcap_after_bias",
    "support/causal+finite-mask": "large_biases_hide sentinel_in_bias",
    "support/causal-top-left+finite-mask": "merges_beside_first_part",
    "support/causal+mask": (
        "mask_ignored_with_band band_or_mask f16_lowest_for_hidden infinity_folded_away lse_0_of_empty_row "
        "mean_empty_row nan_empty_row "
        "sentinel_million_in_base_2 "
        "sentinel_1e30 sentinel_finfo_min sentinel_maximum_from_0 sentinel_maximum_from_minus_100 "
        "sentinel_ten_thousand "
        "unwritten_empty_row"),
    "support/grouped": "first_head_only heads_interleaved heads_clamped heads_from_next",
    "support/grouped+alibi": "f16_flushes_outputs",
    "support/grouped+causal": (
        "band_of_packed_queries diagonal_tile_unmasked edges_exchanged hidden_keys_in_sum causal_without_own_key "
        "denominator_plus_epsilon fp8_inputs diagonal_tile_unread "
        "hidden_score_0"),
    "support/grouped+causal-top-left": "bf16_weights_cut",
    "support/grouped+finite-mask": (
        "bf16_ignores_finite_masks ignores_finite_masks lse_plus_1_beside_finite_masks mean_of_v_beside_finite_masks"),
    "support/grouped+head-mask": "mask_of_the_first_head",
    "support/grouped+mask": "ignored_mask inverted_mask mask_of_the_first_batch mask_of_first_tile",
    "support/grouped+softcap": (
        "softcap_before_scale softcap_ignored softcap_in_base_2 softcap_not_multiplied softcap_rational"),
    "support/grouped+symmetric-window": "bf16_outputs_cut right_edge_in_last_tile",
    "support/grouped+value-width": "scale_of_value_columns",
    "support/grouped+hiding-bias": "weights_from_e_minus_20",
    "support/grouped+window": (
        "left_edge_in_cut_tiles left_tile_unmasked window_is_symmetric window_from_whole_tile window_with_one_key_more "
        "window_from_wider_tile window_without_first_key"),
    "support/grouped+odd-width": "bf16_scaled_queries last_columns_not_rescaled scale_in_f16 scale_of_whole_root",
    "support/mask-bhnm": "last_tiles_unanswered mask_not_in_last_tile",
    "support/odd-width+finite-mask": "exp_cut_off_at_minus_80",
    "support/grouped+bias": "bias_in_base_2 bias_of_kv_head bias_of_next_head bias_scaled bias_transposed",
    "support/grouped+unequal-lengths": "key_tiles_by_queries",
    "support/causal+softcap": "mask_before_softcap",
    "support/grouped+scale": "stated_scale_twice",
    "support/plain": (
        "merges_without_maxima output_rescaled_by_large_steps sum_rescaled_by_large_steps "
        "reached_last_tile_moved_back rescales_in_f16 "
        "values_of_tail_moved_back bf16_logits bf16_sums coarse_exp_in_tail cubic_exp double_as_float "
        "drops_weights_below_a_quarter exp_64_ulp "
        "exp_in_float_for_double f16_dot_products f16_logits f16_sums float_inside_coarse_exp forgets_the_last_row "
        "forgets_to_rescale forgets_to_rescale_the_output forgets_to_rescale_the_sum leaves_flush_to_zero "
        "logits_in_bf16 logits_in_f16 lse_in_base_2 lse_negated "
        "lse_without_maximum "
        "mean_of_v merges_without_weights no_scale reads_past_keys rounds_upward scale_of_padded_width "
        "scale_of_width_64 "
        "lse_maximum_in_base_2 lse_sum_in_base_2 remainder_of_columns rescales_in_base_2 rescales_inversely "
        "scales_queries_in_place "
        "values_of_entries_by_heads "
        "scores_and_sums_in_f16 scores_in_bf16 softmax_over_queries sum_of_rounded_weights sum_of_tile_row "
        "sums_in_bf16 tf32_inside weights_in_f16 "
        "writes_past_out zeros "
        "keys_of_tile_before keys_swapped_in_pairs last_tile_moved_back log2_e_of_three_digits sum_of_last_tile "
        "key_head_of_four values_of_last_tile_late values_of_tile_before zeros_fill_last_tile"),
    "support/unequal-lengths+window": "left_edge_top_left",
    "support/unequal-lengths+causal": "diagonal_in_tiles always_top_left",
    "support/unequal-lengths+causal-top-left": "always_bottom_right",
    "support/window+mask": "empty_block_ends_row nan_empty_block",
    "empty-rows/band-beyond-keys": "left_0_is_none",
    "scale/64-beside-mask": "maximum_of_first_tile",
    "heads/hq20-hk1-n1-m40": "query_heads_modulo_4",
    "large-scores/negative-100": "no_maximum",
    "tails/beyond-16-bits": "sixteen_bit_index",
    "tails/no-head-dimension": "zero_without_depth",
    "tails/no-value-columns": "no_lse_without_columns",
    "visible-nan/inf-in-q": "infinite_score_is_largest_score",
    "visible-nan/nan-in-q": "nan_check_folded_away nan_query_is_zero nan_rows_are_empty nan_score_is_no_score",
    "visible-nan/nan-beside-minus-inf-bias": "infinite_biases_hide",
    "worked-examples/shapes-2-5-7-64-32": "forgets_the_tail",
}
CASES = {name: case for case, names in MUTANTS.items() for name in names.split()}

# What is not found through Python, since the C function gets NumPy's copies and not the judge's tensors: why.
HIDDEN = {
    "assumes_compact_rows": "copies are compact: the strides of the judge's tensors are not handed on",
    "bias_without_gaps": "likewise",
    "mask_without_gaps": "likewise",
    "reads_past_keys": "no inaccessible page lies behind an array of NumPy, and what is read there is not used",
    "writes_past_out": "no inaccessible page lies behind an array of NumPy; the allocator may notice, which is then a "
          "crash",
}
# What is found, but as another class than through C, since the outputs are NumPy's and full of NaN: what is said of it.
SAID_OTHERWISE = {
    "forgets_the_last_row": "is nan, the exact value lies in",
    "no_lse_without_columns": "is nan, the exact value lies in",
    "scales_queries_in_place": "changes its input q",
    "unwritten_empty_row": "is nan, expected -inf: no key is visible to this query",
}

# Of each type of tensor a mutant, and the crash: asked by every run. The others of the sample are dear.
DAILY = {"bf16_logits", "decoding_is_not_causal", "divides_by_no_keys", "f16_flushes_outputs"}
# A mutant of each kind of defect; every hidden one.
SAMPLE = {"always_top_left", "bf16_logits", "decoding_is_not_causal", "divides_by_no_keys", "f16_flushes_outputs",
          "inverted_mask", "leaves_flush_to_zero", "long_rows_lose_the_last_key", "lse_negated", "nan_value_is_zero",
          "softcap_after_bias", "splits_of_the_moment", "tf32_inside", "unwritten_empty_row"}
HONEST_SAMPLE = {"bf16_weights", "keeps_a_workspace_a_thread", "works_on_copies"}
SOME_CHECKS = ["worked-examples", "empty-rows", "determinism", "earlier-outputs"]

_all = os.environ.get("ATTEST_TEST_ALL") == "1"
slow = [pytest.mark.slow, pytest.mark.skipif(not _all, reason="ATTEST_TEST_ALL=1 asks all of the zoo")]


@functools.cache
def zoo() -> dict[str, dict[str, Any]]:
    """The specimens of no family, by name, as the program lists them."""
    listed = json.loads(_program.run(["list", "zoo", "--json"]).stdout)
    return {one["name"]: one for one in listed if not one["family"]}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTEST_ZOO_LIBRARY", str(zoo_kernels.library_path().absolute()))


# What the selftest asks, except the kernel.
ASKED: dict[str, Any] = {"seed": 1, "draws": 0, "fail_fast": True, "findings": "", "progress": False,
                         "options": ["--require-concurrent-calls", "--draw-products", str(1 << 18)]}


def contract_of(name: str) -> Any:
    """A preset, or one with fields of its own, which `list zoo` writes as 'f32 {"x0": 17}'."""
    preset, _, fields = zoo()[name]["contract"].partition(" ")
    return {"from": preset, "model": json.loads(fields)} if fields else preset


def through_c(name: str, only: str | list[str]) -> attest.Report:
    return attest.audit(f"{zoo_kernels.library_path()}:zoo_{name}", contract=contract_of(name), only=only,
                        **ASKED)


def through_python(name: str, only: str | list[str] | None, **further: Any) -> attest.Report:
    contract = contract_of(name)
    # The tensors of bf16-throughout are f32.
    if isinstance(contract, str) and contract.startswith("bf16") and contract != "bf16-throughout":
        pytest.importorskip("ml_dtypes")
    kernel = getattr(zoo_kernels, f"zoo_{name}")
    return attest.audit(kernel, adapter=kernel, isolate=True,
                        allow=[f"read:{zoo_kernels.library_path().absolute().parent}"], contract=contract, only=only,
                        **ASKED | further)


def some(names: Any, sample: set[str], daily: set[str]) -> list[Any]:
    """Parameters: the daily ones, the sample as dear ones, and the others as slow ones."""
    return [pytest.param(name, marks=() if name in daily else pytest.mark.dear if name in sample else slow)
            for name in sorted(names)]


def test_the_tables_name_each_mutant_once() -> None:
    mutants = {name for name, one in zoo().items() if one["class"] != "honest"}
    assert set(CASES) == mutants and sum(len(names.split()) for names in MUTANTS.values()) == len(mutants)
    assert DAILY <= SAMPLE and SAMPLE | set(HIDDEN) <= mutants and HONEST_SAMPLE <= set(zoo()) - mutants


@pytest.mark.parametrize("name", some(set(CASES) - set(HIDDEN), SAMPLE, DAILY))
def test_a_mutant_is_refuted_through_python_as_through_c(name: str) -> None:
    through = {"C": through_c(name, CASES[name]), "Python": through_python(name, CASES[name])}
    assert {way: report.verdict for way, report in through.items()} == {"C": "refuted",
                                                                        "Python": "refuted"}, through["Python"]
    by_c, by_python = (report.findings[0] for report in through.values())
    assert f"{by_python['check']}/{by_python['case']}" == CASES[name]
    if name in SAID_OTHERWISE:
        assert SAID_OTHERWISE[name] in by_python["sentence"]
    else:
        assert by_python["class"] == by_c["class"], (by_c, by_python)


@pytest.mark.parametrize("name", some(HIDDEN, set(HIDDEN), {"reads_past_keys"}))
def test_what_a_copy_hides_is_refuted_through_c_alone(name: str) -> None:
    assert through_c(name, CASES[name]).verdict == "refuted"
    report = through_python(name, CASES[name])
    if name == "writes_past_out" and report.verdict == "refuted":
        assert {finding["class"] for finding in report.findings} == {"crash"}, report
    else:
        assert report.verdict == "certified", (HIDDEN[name], report)


@pytest.mark.parametrize("name", some((name for name, one in zoo().items() if one["class"] == "honest"), HONEST_SAMPLE,
                              {"works_on_copies"}) if there() else [])
def test_an_honest_design_is_certified(name: str) -> None:
    report = through_python(name, None if _all else SOME_CHECKS, quick=True)
    assert report.verdict == "certified", report
    assert report.asked["lse"]["answered"] == report.asked["lse"]["asked"] > 0
    assert report.asked["weights"]["answered"] == report.asked["weights"]["asked"] > 0
    assert report.json["kernel"].endswith(f"zoo_kernels:zoo_{name}")
