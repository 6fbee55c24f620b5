"""Recorded gradients."""
from __future__ import annotations

import subprocess
from typing import Any

import attest_attention as attest
import gradient_kernels
import kernels
import numpy as np
import pytest
from attest_attention import _program


def recorded(hq: int = 2, hk: int = 2, n: int = 5, m: int = 7, **asked: Any) -> dict[str, Any]:
    """A backward pass: q, k, v, o, lse, do, dq, dk, dv and what else was asked."""
    random = np.random.default_rng(7)
    shapes = {"q": (2, hq, n, 8), "k": (2, hk, m, 8), "v": (2, hk, m, 6), "do": (2, hq, n, 6)}
    call: dict[str, Any] = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    forward = {("sinks" if name == "sink" else name): value for name, value in asked.items()}
    if hq != hk:
        forward["enable_gqa"] = True
    of = kernels.entries if "sink" in asked else kernels.right
    call["o"], call["lse"] = of(call["q"], call["k"], call["v"], return_lse=True, **forward)
    found = gradient_kernels.right(*(call[name] for name in ("q", "k", "v", "do", "o", "lse")), **forward)
    names = ["dq", "dk", "dv", *(["dbias"] if "bias" in asked else []), *(["dsink"] if "sink" in asked else [])]
    return {**call, **dict(zip(names, found))}


def test_right_gradients_are_certified_and_a_wrong_element_is_named() -> None:
    call = recorded()
    report = attest.verify(**call)
    assert report.verdict == "certified", report
    for name, index in (("dq", [1, 0, 3, 2]), ("dk", [0, 1, 6, 7]), ("dv", [1, 1, 0, 5])):
        wrong = {**call, name: call[name].copy()}
        wrong[name][tuple(index)] += 1e-3
        report = attest.verify(**wrong)
        assert report.verdict == "refuted"
        assert [(one["output"], one["index"]) for one in report.findings] == [(name, index)]
    wrong = {**call, "o": call["o"] + np.float32(1)}
    assert "o" in {one["output"] for one in attest.verify(**wrong).findings}


def test_some_of_them_and_without_the_forward_pass() -> None:
    call = recorded()
    for left_out in (("o", "lse"), ("lse",), ("dk", "dv"), ("o", "lse", "dv", "dk")):
        some = {name: value for name, value in call.items() if name not in left_out}
        assert attest.verify(**some).verdict == "certified", left_out


@pytest.mark.parametrize("asked", [
    {"scale": -0.3}, {"softcap": 1.5}, {"hq": 4}, {"left": 1, "right": 2, "diagonal": 1},
    {"bias": np.random.default_rng(1).normal(size=(1, 2, 1, 7)).astype(np.float32)},
    {"mask": np.random.default_rng(2).random((2, 1, 5, 7)) < 0.5},
    {"sink": np.asarray([0.5, -1], np.float32)}], ids=lambda asked: next(iter(asked)))
def test_parameters_mean_what_they_say(asked: dict[str, Any]) -> None:
    call = recorded(**asked)
    said = {name: value for name, value in asked.items() if name not in ("hq", "left", "right")}
    if "left" in asked:
        said["window"] = (asked["left"], asked["right"])
    assert attest.verify(**call, **said).verdict == "certified"
    for name in ("dbias", "dsink"):
        if name in call:
            call[name] = call[name] * np.float32(1.01)
            report = attest.verify(**call, **said)
            assert report.verdict == "refuted" and {one["output"] for one in report.findings} == {name}


def test_bnhd_and_fewer_axes() -> None:
    call = recorded()
    swapped = {name: x if name == "lse" else x.swapaxes(1, 2) for name, x in call.items()}
    assert attest.verify(**swapped, layout="bnhd").verdict == "certified"
    assert attest.verify(**{**swapped, "dq": swapped["dq"][::-1]}, layout="bnhd").verdict == "refuted"
    assert attest.verify(**{name: x[0, 0] for name, x in call.items()}).verdict == "certified"


def test_thd_has_a_backward_pass_for_each_sequence() -> None:
    parts = [recorded(n=n, m=m) for n, m in ((3, 4), (5, 5), (1, 2))]
    entries = [{name: x[entry] for name, x in part.items()} for part in parts for entry in range(2)]
    offsets = tuple(np.cumsum([0, *(one[role].shape[1] for one in entries)]) for role in "qk")
    call = {name: np.concatenate([one[name] if name == "lse" else one[name].swapaxes(0, 1) for one in entries],
                                 axis=1 if name == "lse" else 0) for name in entries[0]}
    said: dict[str, Any] = {"layout": "thd", "cu_seqlens": offsets}
    assert attest.verify(**call, **said).verdict == "certified"
    for name in ("dq", "dk", "dv"):
        assert attest.verify(**{**call, name: call[name][::-1]}, **said).verdict == "refuted", name
        assert attest.verify(**{**call, name: call[name][:-1]}, **said).verdict == "refuted", name


def test_assert_attention_names_the_gradient_its_index_value_and_bound() -> None:
    call = recorded()
    assert attest.assert_attention(**call).verdict == "certified"
    assert attest.assert_attention(**{**call, "o": None, "lse": None}).verdict == "certified"
    call["dk"][0, 1, 2, 3] = 4
    with pytest.raises(AssertionError, match=r"dk\[0, 1, 2, 3\] is 4, the exact value lies in .*off by .* bounds of"):
        attest.assert_attention(**call)


@pytest.mark.parametrize(("change", "says"), [
    ({"do": None}, "^dq: needs do"), ({"dq": None}, "^dq: is missing beside do"),
    ({"dbias": np.zeros((1, 1, 1, 7), np.float32)}, "^dbias: there is no bias"),
    ({"weights": np.zeros((2, 2, 5, 7), np.float32)}, "^weights: a backward pass has none")])
def test_what_is_not_whole_is_said(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        attest.verify(**{**recorded(), **change})
    with pytest.raises(ValueError, match="^dk: has 3 axes, the layout bnhd has 4"):
        attest.verify(**{**recorded(), "dk": recorded()["dk"][0]}, layout="bnhd")
    with pytest.raises(TypeError, match="^o: is a NoneType"):
        attest.verify(*(recorded()[name] for name in "qkv"))


def test_the_file_of_a_report_is_judged_again_by_the_program() -> None:
    call = recorded()
    call["dq"][0, 0, 0, 0] = np.nan
    report = attest.verify(**call)
    assert report.verdict == "refuted" and report.replay is not None
    again = subprocess.run([_program.program(), "verify", report.replay.file, *report.replay.words, "--no-config"],
                           capture_output=True, text=True)
    assert again.returncode == 1 and "dq[0, 0, 0, 0] is nan" in again.stdout
