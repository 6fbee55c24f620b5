"""Sinks, lengths, packed and paged tensors, block masks and dropout, of callables that name them and of others."""
from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from attest_attention import Call, Unsupported, _program, _tensor_file
from attest_attention._call import heeding
from attest_attention._signature import Matched, Options
from test_signature import Seen

CHECKS = ["sinks", "lengths", "packed", "pages", "block-masks", "dropout"]


def asked_in(report: attest.Report) -> dict[str, tuple[int, int]]:
    """By check: cases, and how many were not supported."""
    return {one["name"]: (one["cases"], one["unsupported"]) for one in report.checks}


FEATURES = ("causal", "window", "mask", "bias", "grouped", "softcap", "scale", "sink", "dropout", "block-mask",
            "lengths", "packed", "paged", "lse")


def audit(kernel: Any, **given: Any) -> attest.Report:
    return attest.audit(kernel, **{"quick": True, "draws": 0, "seed": 1, "only": CHECKS, "findings": "", **given})


def test_a_right_callable_is_certified_in_all_of_it() -> None:
    report = audit(kernels.entries, supports="sink-by-entry")
    assert report.verdict == "certified", report.text
    for name, (cases, unsupported) in asked_in(report).items():
        assert cases > 0 and unsupported == 0, (name, report.text)


def test_whatever_is_asked_is_answered() -> None:
    report = audit(kernels.entries, supports="sink-by-entry", only="support")
    assert report.verdict == "certified", report.text
    for feature in FEATURES:
        assert report.asked[feature]["answered"] == report.asked[feature]["asked"] > 0, feature


@pytest.mark.parametrize("layout", ["bnhd", "thd"])
def test_a_token_major_callable_is_certified(layout: str) -> None:
    report = audit(kernels.token_major, layout=layout, causal="bottom-right", supports="gqa",
                   only=["sinks", "packed", "pages"])
    assert report.verdict == "certified", report.text
    for name, (cases, unsupported) in asked_in(report).items():
        assert unsupported < cases, (name, report.text)


@pytest.mark.dear
def test_a_paged_decode_with_sinks_is_certified() -> None:
    report = audit(kernels.decode, layout="bnhd", supports="gqa", causal="bottom-right", only=["sinks", "pages"],
                   quick=False)
    assert report.verdict == "certified", report.text
    cases, unsupported = asked_in(report)["pages"]
    assert unsupported < cases
    # the table has no default: dense calls are not asked
    assert asked_in(report)["sinks"][0] == asked_in(report)["sinks"][1]


def test_a_callable_that_names_sinks_and_ignores_them_is_refuted() -> None:
    report = audit(kernels.sinks_ignored, only="sinks", supports="gqa", fail_fast=True)
    assert report.verdict == "refuted" and report.findings[0]["check"] == "sinks"


def test_what_is_not_named_is_not_asked_and_refutes_nothing() -> None:
    report = audit(kernels.right)
    assert report.verdict != "refuted", report.text
    assert all(cases == unsupported for cases, unsupported in asked_in(report).values()), report.text


def test_isolated() -> None:
    report = audit(kernels.entries, only=["sinks", "packed"], isolate=True, supports="sink-by-entry")
    assert report.verdict == "certified", report.text


# --- what a callable is given -----------------------------------------------------------------------------------------


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
    if role == "q_lengths":  # where no band depends on them, whoever computes every row has answered
        call = dataclasses.replace(call, right=0, align=1)
    others = {"q_offsets": "k_offsets=None", "k_offsets": "q_offsets=None", "k_lengths": "block_table=None",
              "block_table": "k_lengths=None"}
    for name in names.split():
        given = Seen(f"q, k, v, {name}=None, mask=None, {others.get(role, 'scale=None')}")(call)
        assert np.array_equal(given[name], getattr(call, role))
    with pytest.raises(Unsupported):
        Seen(f"q, k, v, mask=None, {others.get(role, 'scale=None')}")(call)


def test_packed_rows_and_pools_follow_the_layout() -> None:
    names = "q, k, v, q_offsets=None, k_offsets=None, k_lengths=None, block_table=None"
    for layout, rows, pool, dense in (("bhnd", (1, 2, 5, 4), (7, 2, 3, 4), (2, 2, 1, 4)),
                                      ("bnhd", (5, 2, 4), (7, 3, 2, 4), (2, 1, 2, 4)),
                                      ("thd", (5, 2, 4), (7, 3, 2, 4), (2, 2, 4))):
        assert Seen(names, layout=layout)(packed())["q"].shape == rows
        given = Seen(names, layout=layout)(paged())
        assert given["k"].shape == pool and given["q"].shape == dense and given["k_offsets"] is None


def test_offsets_say_the_lengths_of_a_paged_call_where_nothing_else_does() -> None:
    given = Seen("q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, block_table=None",
                 layout="thd")(paged())
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
    assert given.shape == (2, 1, 3, 3)
    assert [entry[0].sum(-1).tolist() for entry in given] == [[0, 0, 1], [1, 2, 3]]


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
    shared = dataclasses.replace(call, sink=np.ones((1, 2), np.float32))
    assert Seen("q, k, v, sinks=None")(shared)["sinks"].shape == (2,)


def test_lengths_of_queries_matter_where_a_band_ends_at_the_last_one() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, q_lengths=whole([3, 1]), right=0)
    assert Seen("q, k, v, left=-1, right=-1")(call)["right"] == 0
    with pytest.raises(Unsupported, match="q_lengths"):
        Seen("q, k, v, mask=None")(dataclasses.replace(call, align=1))
    # A callable that does not know the lengths of the queries ends its band at the last row of the slot.
    causal = Call(x, x, x, q_lengths=whole([3, 1]), k_lengths=whole([3, 1]), right=0)
    assert Seen("q, k, v, causal=False, k_lengths=None, q_lengths=None",
                causal="bottom-right")(causal)["causal"] is True
    assert Seen("q, k, v, is_causal=False, k_lengths=None")(causal)["is_causal"] is True
    for options in ({"causal": "bottom-right"}, {}):
        with pytest.raises(Unsupported, match="a causal band"):
            Seen("q, k, v, causal=False, k_lengths=None", **options)(causal)


def test_lengths_that_are_all_of_the_room_say_nothing() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    assert Seen("q, k, v")(Call(x, x, x, q_lengths=whole([3, 3]), k_lengths=whole([3, 3])))["q"] is x
    with pytest.raises(Unsupported, match="k_lengths"):
        Seen("q, k, v")(Call(x, x, x, k_lengths=whole([3, 2])))


# --- adapters ---------------------------------------------------------------------------------------------------------


def test_an_adapter_that_does_not_look_at_a_tensor_has_not_answered() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, sink=np.ones(2, np.float32), k_lengths=whole([3, 2]))
    with pytest.raises(Unsupported, match="^sink, k_lengths$"):
        heeding(lambda given: given.q)(call)
    with pytest.raises(Unsupported, match="^k_lengths$"):
        heeding(lambda given: given.q[5 if given.sink is None else 6])(call)
    assert heeding(lambda given: (given.sink, given.k_lengths))(call)[0] is call.sink
    assert heeding(lambda given: given.q)(Call(x, x, x)) is x


def test_what_a_call_computes_from_its_lengths_is_no_look_at_them() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, k_lengths=whole([3, 2]), right=0, align=1)
    with pytest.raises(Unsupported, match="^k_lengths, align$"):
        heeding(lambda given: (given.m, given.keys_of(), given.diagonals(), given.causal))(call)
    with pytest.raises(Unsupported, match="^k_lengths$"):  # the band has the alignment in it
        heeding(lambda given: given.visible())(call)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, dataclasses.replace,
                                    lambda call: pickle.loads(pickle.dumps(call))])
def test_an_adapter_may_copy_a_call(copied: Callable[[Call], Call]) -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, k_lengths=whole([3, 2]))
    answer = heeding(lambda given: (given.k_lengths, copied(given)))(call)[1]
    assert isinstance(answer, Call) and answer.keys_of().tolist() == [3, 2]


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


# --- one call, as arrays ----------------------------------------------------------------------------------------------


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def head_major(x: Any) -> Any:
    """[total, h, d] as [1, h, total, d]."""
    return x[None].swapaxes(1, 2)


def test_a_recorded_sink_and_lengths_are_judged() -> None:
    q, k, v, sink = normal(2, 4, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 6), normal(4)
    cases: list[dict[str, Any]] = [
        {"sink": sink}, {"sink": sink[None]}, {"q_lengths": [1, 3], "k_lengths": np.array([5, 2], np.int64)},
        {"keep": np.eye(3, 5)[None, None] == 0, "dropout": 0.25},
        {"block_mask": np.array([[[[1, 0]]]], np.uint8), "block_q": 4, "block_k": 3}]
    for further in cases:
        names = {"sink": "sinks", "q_lengths": "seqused_q", "k_lengths": "seqused_k", "dropout": "dropout_p"}
        meant: dict[str, Any] = {names.get(name, name): np.array(value) if isinstance(value, list) else value
                                 for name, value in further.items()}
        if "block_mask" in meant:
            meant["block_mask"] = meant["block_mask"] != 0
        o, lse = kernels.entries(q, k, v, **meant, return_lse=True)
        assert attest.verify(q, k, v, o, lse=lse, **further).verdict == "certified", further
        assert attest.verify(q, k, v, o, lse=lse).verdict == "refuted", further
        attest.assert_attention(o, q, k, v, **further)


def test_packed_rows_are_one_problem_in_each_layout() -> None:
    q, k, v, sink, of_q, of_k = normal(5, 4, 8), normal(9, 2, 8), normal(9, 2, 6), normal(4), [0, 2, 5], [0, 4, 9]
    o, lse = kernels.entries(*map(head_major, (q, k, v)), cu_seqlens_q=whole(of_q), cu_seqlens_k=whole(of_k),
                             sinks=sink, right=0, align=1, return_lse=True)
    rows: dict[str, Any] = {"layout": "thd", "cu_seqlens": (of_q, of_k), "sink": sink}
    assert attest.verify(q, k, v, o[0].swapaxes(0, 1), lse=lse[0], causal="bottom-right",
                         **rows).verdict == "certified"
    assert attest.verify(q, k, v, o[0].swapaxes(0, 1), causal="top-left", **rows).verdict == "refuted"
    for layout, given in (("thd", (q, k, v)), ("bnhd", (q, k, v)), ("bhnd", tuple(map(head_major, (q, k, v))))):
        found = attest.reference(*given, layout=layout, q_offsets=of_q, k_offsets=of_k, sink=sink,
                                 causal="bottom-right")
        there = found.o if layout != "bhnd" else found.o[0].swapaxes(0, 1)
        assert np.allclose(there, o[0].swapaxes(0, 1), atol=1e-6) and found.o.shape == (*given[0].shape[:-1], 6)


@pytest.mark.parametrize("kv_layout", ["nhd", "hnd"])
def test_a_paged_decode_is_judged(kv_layout: str) -> None:
    q, k, v, sink = normal(2, 1, 4, 8), normal(7, 3, 2, 8), normal(7, 3, 2, 6), normal(4)
    table, lengths = [[5, 1, -9], [0, 6, 99]], [4, 6]
    o = kernels.decode(q, k, v, whole(table), whole(lengths), sinks=sink)
    if kv_layout == "hnd":
        k, v = (np.ascontiguousarray(x.swapaxes(1, 2)) for x in (k, v))
    given: dict[str, Any] = {"layout": "bnhd", "block_table": table, "k_lengths": lengths, "sink": sink,
                             "kv_layout": kv_layout}
    assert attest.verify(q, k, v, o, **given).verdict == "certified"
    assert np.allclose(attest.reference(q, k, v, **given).o, o, atol=1e-6)
    wrong = {**given, "block_table": [[5, 2, 0], [0, 6, 0]]}
    with pytest.raises(AssertionError, match="^REFUTED"):
        attest.assert_attention(o, q, k, v, **wrong)


def test_the_calculator_knows_sinks_and_packed_rows() -> None:
    q, k, v, sink = normal(1, 2, 3, 4), normal(1, 2, 5, 4), normal(1, 2, 5, 4), normal(2)
    exact = attest.solve(q, k, v, sink=sink, digits=20)
    o, lse = kernels.entries(q, k, v, sinks=sink, return_lse=True)
    assert np.allclose(exact.o.astype(float), o, atol=1e-6) and np.allclose(exact.lse.astype(float), lse, atol=1e-6)
    rows = attest.solve(q, k, v, q_offsets=[0, 2], k_offsets=[0, 5], round="f32")  # the third row belongs to no query
    assert rows.weights is None and rows.o.shape == q.shape
    short = attest.solve(q, k, v, q_lengths=[2], digits=10)
    assert short.o.shape == q.shape and short.o[0, 0, 2, 0].is_nan()
    with pytest.raises(ValueError, match="^layout: solve takes"):
        attest.solve(q[0], k[0], v[0], layout="bnhd", q_offsets=[0, 2], k_offsets=[0, 2])


@pytest.mark.parametrize(("given", "says"), [
    ({"block_mask": np.ones((1, 1, 1, 1), bool)}, "ValueError block_mask: needs block_q and block_k"),
    ({"dropout": 0.5}, "ValueError keep: is missing beside a dropout above 0"),
    ({"k_lengths": [9, 1]}, r"ValueError k_lengths: \[0\] is 9, but entry 0 has room for 5 keys"),
    ({"block_table": [[0], [0]]}, "ValueError block_table: needs k_lengths"),
    ({"sink": normal(3)}, r"ValueError sink: shape is \[3\]"),
    ({"q_offsets": [0, 3]}, "ValueError q: shape is"),
    ({"nothing": 1}, "TypeError nothing: there is no such argument"),
    ({"k_lengths": [1.5, 2]}, "TypeError k_lengths: has the type F64, expected whole numbers"),
    ({"keep": normal(1, 1, 3, 5), "dropout": 0.5}, "TypeError keep: has the type F32, expected Booleans"),
    ({"block_q": 1.0}, "TypeError block_q: is 1.0, expected a whole number"),
    ({"align": "left"}, "ValueError align: is 'left', expected 'top-left' or 'bottom-right'"),
    ({"align": "top-left", "causal": "bottom-right"}, "ValueError align: is 'top-left', and causal is 'bottom-right'"),
    ({"k_lengths": [1, 2], "causal": True}, "ValueError causal: say the corner of each entry"),
    ({"k_lengths": [1, 2], "window": (1, 1)}, "ValueError window: say the corner of each entry"),
    ({"k_lengths": [1, 2], "kv_layout": "nh"}, "ValueError kv_layout: is 'nh'"),
    ({"q_offsets": [0, 3], "cu_seqlens": ([0, 3], None)}, "ValueError q_offsets: cu_seqlens says it already"),
    ({"layout": "thd", "sink": normal(4)}, "ValueError cu_seqlens: the layout thd needs")])
def test_what_is_wrong_with_it_is_said(given: dict[str, Any], says: str) -> None:
    q, k, v = normal(2, 4, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 6)
    with pytest.raises((ValueError, TypeError)) as raised:
        attest.verify(q, k, v, normal(2, 4, 3, 6), **given)
    assert re.match(says, f"{type(raised.value).__name__} {raised.value}"), raised.value


@pytest.mark.dear
def test_comparing_meets_sinks() -> None:
    both = attest.compare({"right": kernels.entries, "ignores": kernels.sinks_ignored}, quick=True, seed=1, draws=0,
                          only=["sinks/5", "sinks/by-head", "sinks/window", "lengths", "packed"], progress=False)
    assert both.refuted == ["ignores"] and both.differences
    assert all("/sinks/" in one.case and one.wrong == ["ignores"] for one in both.differences), both.text


# --- the examples -----------------------------------------------------------------------------------------------------


def test_a_runner_says_what_it_does_not_take(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    cases, outputs = tmp_path / "cases.safetensors", tmp_path / "outputs.safetensors"
    _program.run(["gen", "--abi", "2", "--seed", "1", "--quick", "--draws", "0", "--only", "sinks,packed", "--out",
                  cases])
    (tmp_path / "variants.py").write_text("def first_version(call):\n    return call.q @ call.k.swapaxes(2, 3) @ "
                                          "call.v\n")
    runner = Path(__file__).resolve().parents[2] / "examples" / "libraries" / "run_library.py"
    subprocess.run([sys.executable, runner, f"{tmp_path}/variants.py:first_version", cases, outputs], check=True,
                   stderr=subprocess.DEVNULL)
    tensors, metadata = _tensor_file.read(outputs)
    said = {value for name, value in metadata.items() if name.endswith(".attest.status")}
    assert not tensors and "unsupported: sink" in said and "unsupported: q_offsets, k_offsets, align" in said, said
    assert all(one.startswith("unsupported: ") for one in said)
