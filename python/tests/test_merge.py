"""Merges of partial results: audited beside attention and alone, judged when they were recorded, and their exact
result."""
from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import merge_kernels
import numpy as np
import pytest
from attest_attention._serve_merge import AttestMergeCall

HERE = Path(__file__).resolve().parent


def audit(merge: Any, **given: Any) -> attest.Report:
    return attest.audit(merge=merge, **{"seed": 1, "findings": "", **given})


def the_check(report: attest.Report) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in report.checks if one["name"] == "merge")
    return found


def test_the_layout_of_attest_merge_call_is_that_of_the_header() -> None:
    assert ctypes.sizeof(AttestMergeCall) == 48
    assert AttestMergeCall.o.offset == 16 and AttestMergeCall.out_lse.offset == 40


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_a_right_merge_is_certified(dtype: str) -> None:
    if dtype == "bf16":
        pytest.importorskip("ml_dtypes")
    report = audit(merge_kernels.right, dtype=dtype)
    assert report.verdict == "certified", report.text
    assert the_check(report)["cases"] == 54 and the_check(report)["unsupported"] == 0
    assert report.json["kernel"] == "merge_kernels:right"


@pytest.mark.dear
@pytest.mark.parametrize("layout", ["bnhd", "thd"])
def test_other_layouts(layout: str) -> None:
    report = audit(merge_kernels.token_major, layout=layout)
    assert report.verdict == "certified", report.text


def test_arrays_of_torch() -> None:
    torch = pytest.importorskip("torch")

    def merge(o: Any, lse: Any) -> Any:
        assert isinstance(o, torch.Tensor) and isinstance(lse, torch.Tensor)
        top = lse.amax(0).nan_to_num(neginf=0.0)
        e = torch.exp(lse - top)
        total = e.sum(0)
        weights = e / torch.where(total == 0, 1.0, total)
        merged = torch.where(torch.isneginf(lse)[..., None], 0.0, weights[..., None] * o).sum(0)
        return torch.where(torch.isnan(weights.sum(0))[..., None], torch.nan, merged), torch.log(total) + top

    report = audit(merge, arrays="torch", only=["merge/normal-s3", "merge/empty-some", "merge/1e-7-apart-s8"])
    assert report.verdict == "certified", report.text


@pytest.mark.dear
def test_beside_attention_the_merge_is_one_of_its_checks() -> None:
    report = attest.audit(kernels.plain, merge=merge_kernels.right, seed=1, only=["merge", "worked-examples"],
                          findings="")
    assert report.verdict == "certified", report.text
    assert {one["name"] for one in report.checks} == {"merge", "worked-examples"}
    without = attest.audit(kernels.plain, seed=1, only=["merge", "worked-examples"], findings="")
    assert the_check(without)["unsupported"] == 54


@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.dear)])
def test_what_is_wrong_is_found(isolate: bool, tmp_path: Path) -> None:
    report = audit(merge_kernels.loses_last, isolate=isolate, findings=tmp_path)
    assert report.verdict == "refuted"
    found = report.findings[0]
    assert len(found["shrunk_inputs"][0]["values"]) <= 4, found
    done = subprocess.run(found["reproducer"].replace("attest", str(attest._program.program()), 1), shell=True,
                          check=False, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)])})
    assert done.returncode == 1 and "REFUTED" in done.stdout, done


@pytest.mark.dear
def test_a_function_that_fails_is_a_finding_and_one_that_refuses_is_none() -> None:
    report = audit(merge_kernels.raises_on_many)
    assert report.verdict == "refuted" and the_check(report)["unsupported"] > 0
    assert any("KeyError: 'more than 64 parts' (merge_kernels.py:" in one["sentence"]
               for one in report.findings), report.text
    assert any("in raises_on_many" in text for text in report.tracebacks.values())
    for merge, says in ((merge_kernels.changes_parts, "changes its input o of part"),
                        (merge_kernels.wrong_shape, "returned o of shape")):
        report = audit(merge)
        assert report.verdict == "refuted"
        assert any(says in one["sentence"] for one in report.findings), report.text


def test_an_lse_that_is_not_given_is_not_asked() -> None:
    report = audit(merge_kernels.o_alone)
    assert report.verdict != "refuted", report.text


def test_what_cannot_be_asked_is_said() -> None:
    for given, says in (({"merge": merge_kernels.needs_a_word},
                         "merge: merge_kernels:needs_a_word needs the argument 'word'"),
                        ({"merge": "merge_kernels:nothing"}, "merge: merge_kernels has no 'nothing'"),
                        ({"kernel": "./libmine.so", "merge": merge_kernels.right}, "merge: is about Python callables"),
                        ({"merge": lambda o, lse: o[0], "isolate": True}, "isolate: the merge .* cannot be imported")):
        with pytest.raises(ValueError, match=says):
            attest.audit(**given)
    with pytest.raises(TypeError, match="merge: is a int"):
        attest.audit(merge=3)  # type: ignore[arg-type]


@pytest.mark.dear
def test_on_the_command_line(tmp_path: Path) -> None:
    path = os.pathsep.join([str(HERE.parent), str(HERE)])
    for words, status in ((["--merge", "merge_kernels:right"], 0), (["--merge", "merge_kernels:loses_last"], 1),
                          (["kernels:plain", "--merge", "merge_kernels:right", "--only", "merge"], 0)):
        done = subprocess.run([sys.executable, "-m", "attest_attention", "audit", *words, "--seed", "1"],
                              capture_output=True, text=True, check=False, cwd=tmp_path,
                              env={**os.environ, "PYTHONPATH": path})
        assert done.returncode == status, done


# --- recorded merges --------------------------------------------------------------------------------------------------


def parts(dtype: Any = np.float32) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    o, lse = rng.normal(size=(3, 2, 2, 4, 5)).astype(dtype), rng.normal(size=(3, 2, 2, 4)).astype(np.float32)
    lse[1, 0] = -np.inf
    o[1, 0] = np.nan
    return o, lse


def test_a_recorded_merge_is_judged() -> None:
    o_parts, lse_parts = parts()
    o, lse = merge_kernels.right(o_parts, lse_parts)
    assert attest.verify_merge(o_parts, lse_parts, o, lse).verdict == "certified"
    assert attest.verify_merge(list(o_parts), list(lse_parts), o, lse, contract="merge-f32-ring").verdict == "certified"
    assert attest.verify_merge(o_parts.swapaxes(2, 3), lse_parts, o.swapaxes(1, 2), lse,
                               layout="bnhd").verdict == "certified"
    narrow, lse = merge_kernels.right(o_parts, lse_parts)
    assert attest.verify_merge(o_parts, lse_parts, narrow.astype(np.float16)).verdict == "certified"
    o[1, 0, 3, 2] += 1e-3
    assert attest.verify_merge(o_parts, lse_parts, o).verdict == "refuted"


def test_the_exact_merge_is_correctly_rounded() -> None:
    o_parts, lse_parts = parts()
    expected = merge_kernels.right(o_parts.astype(np.float64), lse_parts.astype(np.float64))
    exact = attest.reference_merge(o_parts, lse_parts)
    assert exact.o.dtype == np.float32 and exact.o.shape == (2, 2, 4, 5)
    assert np.array_equal(exact.o, expected[0].astype(np.float32)) and np.array_equal(exact.lse,
                                                                                      expected[1].astype(np.float32))
    assert (exact.bound > 0).all() and (exact.bound < 1e-5).all() and exact.lse_bound.shape == (2, 2, 4)
    other = attest.reference_merge(list(o_parts.swapaxes(2, 3)), lse_parts, layout="bnhd")
    assert np.array_equal(other.o, exact.o.swapaxes(1, 2))


def test_merges_of_lses_in_base_2_are_judged_where_the_contract_says_so(tmp_path: Path) -> None:
    contract = tmp_path / "base2.json"
    contract.write_text('{"from": "f32", "name": "base2", "conventions": {"lse_base": "2"}}')
    o_parts, lse_parts = parts()
    o, lse = (part.astype(np.float32) for part in merge_kernels.right(
        o_parts.astype(np.float64), lse_parts.astype(np.float64) * np.log(2)))
    lse = (lse / np.log(2)).astype(np.float32)
    assert attest.verify_merge(o_parts, lse_parts, o, lse, contract=contract).verdict == "certified"
    assert attest.verify_merge(o_parts, lse_parts, o, lse).verdict == "refuted"
    exact = attest.reference_merge(o_parts, lse_parts, contract=contract)
    assert np.array_equal(exact.o, o) and np.allclose(exact.lse, lse, rtol=1e-6)


def test_an_argument_that_there_is_not_is_named() -> None:
    o_parts, lse_parts = parts()
    with pytest.raises(TypeError, match="^contrct: there is no such argument"):
        attest.verify_merge(o_parts, lse_parts, o_parts[0], contrct="x")
    with pytest.raises(TypeError, match="^contract: is 5"):
        attest.reference_merge(o_parts, lse_parts, contract=5)  # type: ignore[arg-type]


def test_parts_that_are_no_merge_are_refused() -> None:
    o_parts, lse_parts = parts()
    for given, says in (((o_parts, lse_parts[:2], o_parts[0]), "lse_parts"),
                        (([], lse_parts, o_parts[0]), "o_parts: there are no"),
                        (([o_parts[0], o_parts[1, :, :1]], lse_parts, o_parts[0]), r"o_parts\[1\]: is F32")):
        with pytest.raises((ValueError, TypeError), match=says):
            attest.verify_merge(*given)
