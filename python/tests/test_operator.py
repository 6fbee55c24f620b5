"""Sinks, lengths, packed and paged tensors, block masks and dropout, of callables that name them and of others."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from attest_attention import Call, Unsupported, _program, _tensor_file

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
    # The table has no default, so that dense calls get one.
    for name, (cases, unsupported) in asked_in(report).items():
        assert unsupported < cases, (name, report.text)


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


# --- adapters ---------------------------------------------------------------------------------------------------------


def test_ready_adapters_refuse_what_they_do_not_take() -> None:
    from attest_attention.adapters._adapter import Adapter
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, sink=np.ones(2, np.float32))
    with pytest.raises(Unsupported, match="sink"):
        Adapter("one", lambda given: given.q)(call)
    assert Adapter("one", lambda given: given.q, takes=frozenset({"sink"}))(call) is x


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
