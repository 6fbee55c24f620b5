"""Sinks, lengths, packed and paged tensors, block masks and dropout, of callables that name them, and of those that do not."""
from __future__ import annotations

import dataclasses
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from attest_attention import Call, Unsupported
from attest_attention._call import heeding
from attest_attention._signature import Matched, Options
from test_signature import Seen

CHECKS = ["sinks", "lengths", "packed", "pages", "block-masks", "dropout"]


def asked_in(report: attest.Report) -> dict[str, tuple[int, int]]:
    """By check: cases, and those that were not supported."""
    return {one["name"]: (one["cases"], one["unsupported"]) for one in report.checks}


FEATURES = ("causal", "window", "mask", "bias", "grouped", "softcap", "scale", "sink", "dropout", "block-mask", "lengths", "packed",
            "paged", "lse")


def audit(kernel: Any, **given: Any) -> attest.Report:
    return attest.audit(kernel, **{"quick": True, "draws": 0, "seed": 1, "only": CHECKS, "findings": "", **given})


def test_a_right_callable_is_certified_in_all_of_it() -> None:
    report = audit(kernels.entries, supports="sink-by-entry")
    assert report.verdict == "certified", report.text
    for name, (cases, unsupported) in asked_in(report).items():
        assert cases > 0 and unsupported == 0, (name, report.text)


def test_whatever_is_asked_is_answered() -> None:
    report = audit(kernels.entries, supports="sink-by-entry", only=["worked-examples", "support", "pairs", "masks"])
    assert report.verdict == "certified", report.text
    for feature in FEATURES:
        assert report.asked[feature]["answered"] == report.asked[feature]["asked"] > 0, feature


@pytest.mark.parametrize("layout", ["bnhd", "thd"])
def test_a_token_major_callable_is_certified(layout: str) -> None:
    report = audit(kernels.token_major, layout=layout, causal="bottom-right", supports="gqa", only=["sinks", "packed", "pages"])
    assert report.verdict == "certified", report.text
    for name, (cases, unsupported) in asked_in(report).items():
        assert unsupported < cases, (name, report.text)


def test_a_paged_decode_with_sinks_is_certified() -> None:
    report = audit(kernels.decode, layout="bnhd", supports="gqa", only=["sinks", "pages"], quick=False)
    assert report.verdict == "certified", report.text
    cases, unsupported = asked_in(report)["pages"]
    assert unsupported < cases
    assert asked_in(report)["sinks"][0] == asked_in(report)["sinks"][1]  # the table has no default: dense calls are not asked


def test_a_callable_that_names_sinks_and_ignores_them_is_refuted() -> None:
    report = audit(kernels.sinks_ignored, only="sinks", supports="gqa")
    assert report.verdict == "refuted" and report.findings[0]["check"] == "sinks"


def test_what_is_not_named_is_not_asked_and_refutes_nothing() -> None:
    report = audit(kernels.right)
    assert report.verdict != "refuted", report.text
    assert all(cases == unsupported for cases, unsupported in asked_in(report).values()), report.text


def test_isolated() -> None:
    report = audit(kernels.entries, only=["sinks", "packed"], isolate=True, supports="sink-by-entry")
    assert report.verdict == "certified", report.text


# --- what a callable is given ---------------------------------------------------------------------------------------------


def whole(values: Any) -> Any:
    return np.array(values, np.int32)


def packed() -> Call:
    rng = np.random.default_rng(1)
    q, k = (rng.normal(size=(1, 2, rows, 4)).astype(np.float32) for rows in (5, 9))
    return Call(q, k, k, q_offsets=whole([0, 2, 5]), k_offsets=whole([0, 4, 9]))


def paged() -> Call:
    rng = np.random.default_rng(1)
    q, k = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 2, 1, 4), (7, 2, 3, 4)))
    return Call(q, k, k, k_lengths=whole([4, 6]), block_table=whole([[5, 1, -9], [0, 6, 99]]))


@pytest.mark.parametrize(("role", "names"), [
    ("sink", "sinks s_aux learnable_sink sink_token sink"), ("q_offsets", "cu_seqlens_q cu_seq_q qo_indptr q_offsets"),
    ("k_offsets", "cu_seqlens_k cu_seq_k kv_indptr k_offsets"), ("q_lengths", "seqused_q q_lengths"),
    ("k_lengths", "seqused_k cache_seqlens seq_lens nonpad_kv_seqlen k_lengths"),
    ("block_table", "block_table page_table block_tables")])
def test_each_has_its_spellings(role: str, names: str) -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    calls = {"sink": Call(x, x, x, sink=np.ones(2, np.float32)), "q_lengths": Call(x, x, x, q_lengths=whole([1, 3])),
             "q_offsets": packed(), "k_offsets": packed(), "k_lengths": paged(), "block_table": paged()}
    call = calls[role]
    others = {"q_offsets": "k_offsets=None", "k_offsets": "q_offsets=None", "k_lengths": "block_table=None",
              "block_table": "k_lengths=None"}
    for name in names.split():
        given = Seen(f"q, k, v, {name}=None, {others.get(role, 'scale=None')}")(call)
        assert np.array_equal(given[name], getattr(call, role))
    with pytest.raises(Unsupported):
        Seen(f"q, k, v, {others.get(role, 'scale=None')}")(call)


def test_packed_rows_and_pools_follow_the_layout() -> None:
    names = "q, k, v, q_offsets=None, k_offsets=None, k_lengths=None, block_table=None"
    for layout, rows, pool, dense in (("bhnd", (1, 2, 5, 4), (7, 2, 3, 4), (2, 2, 1, 4)),
                                      ("bnhd", (5, 2, 4), (7, 3, 2, 4), (2, 1, 2, 4)), ("thd", (5, 2, 4), (7, 3, 2, 4), (2, 2, 4))):
        assert Seen(names, layout=layout)(packed())["q"].shape == rows
        given = Seen(names, layout=layout)(paged())
        assert given["k"].shape == pool and given["q"].shape == dense and given["k_offsets"] is None


def test_offsets_say_the_lengths_of_a_paged_call_where_nothing_else_does() -> None:
    given = Seen("q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, block_table=None", layout="thd")(paged())
    assert given["cu_seqlens_k"].tolist() == [0, 4, 10] and given["max_seqlen_k"] == 9


def test_the_alignment_is_that_of_each_entry() -> None:
    names = "q, k, v, q_offsets=None, k_offsets=None, "
    causal = dataclasses.replace(packed(), right=0, align=1)
    assert Seen(names + "causal=False", causal="bottom-right")(causal)["causal"] is True
    assert Seen(names + "causal=False, align=0")(causal)["align"] == 1
    square = dataclasses.replace(packed(), right=0, align=1, k_offsets=whole([0, 2, 5]))
    assert Seen(names + "causal=False")(square)["causal"] is True
    # Both entries have two keys more than queries.
    assert Seen(names + "left=-1, right=-1, diagonal=0")(causal)["diagonal"] == 2
    for parameters in ("causal=False", "is_causal=False", "left=-1, right=-1", "mask=None"):
        with pytest.raises(Unsupported):
            Seen(names + parameters)(causal)


def test_a_band_by_entry_is_given_as_a_mask_where_rows_are_not_packed() -> None:
    x = np.zeros((2, 1, 3, 4), np.float32)
    call = Call(x, x, x, k_lengths=whole([1, 3]), right=0, align=1)
    given = Seen("q, k, v, mask=None, k_lengths=None")(call)["mask"]
    assert given.shape == (2, 1, 3, 3) and given[0, 0].sum(-1).tolist() == [0, 0, 1] and given[1, 0].sum(-1).tolist() == [1, 2, 3]


def test_dropout_and_blocks_need_all_of_their_words() -> None:
    x = np.zeros((1, 1, 4, 4), np.float32)
    call = Call(x, x, x, keep=np.ones((1, 1, 4, 4), bool), dropout=0.25)
    assert Seen("q, k, v, keep=None, dropout_p=0.0")(call)["dropout_p"] == 0.25
    blocks = Call(x, x, x, block_mask=np.ones((1, 1, 2, 1), np.uint8), block_q=2, block_k=4)
    given = Seen("q, k, v, block_mask=None, block_q=0, block_k=0")(blocks)
    assert given["block_mask"].dtype == bool and (given["block_q"], given["block_k"]) == (2, 4)
    for parameters, asked in (("keep=None", call), ("dropout_p=0.0", call), ("block_mask=None", blocks),
                              ("block_q=0, block_k=0", blocks)):
        with pytest.raises(Unsupported):
            Seen("q, k, v, " + parameters)(asked)


def test_sinks_by_entry_need_a_word() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, sink=np.ones((2, 2), np.float32))
    with pytest.raises(Unsupported, match="sinks by entry"):
        Seen("q, k, v, sinks=None")(call)
    assert Seen("q, k, v, sinks=None", supports=("sink-by-entry",))(call)["sinks"].shape == (2, 2)
    assert Seen("q, k, v, sinks=None")(dataclasses.replace(call, sink=np.ones((1, 2), np.float32)))["sinks"].shape == (2,)


def test_lengths_that_are_all_of_the_room_say_nothing() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    assert Seen("q, k, v")(Call(x, x, x, q_lengths=whole([3, 3]), k_lengths=whole([3, 3])))["q"] is x
    with pytest.raises(Unsupported, match="k_lengths"):
        Seen("q, k, v")(Call(x, x, x, k_lengths=whole([3, 2])))


# --- adapters -------------------------------------------------------------------------------------------------------------


def test_an_adapter_that_does_not_look_at_a_tensor_has_not_answered() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, sink=np.ones(2, np.float32), k_lengths=whole([3, 2]))
    with pytest.raises(Unsupported, match="^sink, k_lengths$"):
        heeding(lambda given: given.q)(call)
    with pytest.raises(Unsupported, match="^k_lengths$"):
        heeding(lambda given: given.q[5 if given.sink is None else 6])(call)
    assert heeding(lambda given: (given.sink, given.k_lengths))(call)[0] is call.sink
    assert heeding(lambda given: given.q)(Call(x, x, x)) is x


def test_ready_adapters_refuse_what_they_do_not_take() -> None:
    from attest_attention.adapters._adapter import Adapter
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, sink=np.ones(2, np.float32))
    with pytest.raises(Unsupported, match="sink"):
        Adapter("one", lambda given: given.q)(call)
    assert Adapter("one", lambda given: given.q, takes=frozenset({"sink"}))(call) is x


def test_an_alignment_of_entries_of_one_size_is_a_diagonal() -> None:
    q, k = np.zeros((1, 1, 2, 4), np.float32), np.zeros((1, 1, 5, 4), np.float32)
    call = Call(q, k, k, right=0, align=1)
    assert (call.diagonal, call.align, call.needs, call.causal) == (3, 0, (), "bottom-right")
    assert Matched(kernels.right, Options())(call).shape == (1, 1, 2, 4)
