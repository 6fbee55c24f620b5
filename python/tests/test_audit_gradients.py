"""Backward passes in NumPy through the judge itself, and what cannot be asked."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import attest_attention as attest
import gradient_kernels
import kernels
import numpy as np
import pytest
from attest_attention._gradients import Backward, MatchedBackward
from attest_attention._signature import Options

SMALL: dict[str, Any] = {"quick": True, "seed": 1, "progress": False,
                         "options": ["--draws", "6", "--draw-products", "65536"]}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings are saved in the current folder."""
    monkeypatch.chdir(tmp_path)


def test_a_right_backward_pass_is_certified_with_all_its_parameters() -> None:
    report = attest.audit_gradients(backward=gradient_kernels.right, **SMALL)
    assert report.verdict == "certified", report
    assert report.checks[0]["name"] == "backward" and report.checks[0]["elements"] > 100_000
    unsupported = [line for line in report.text.splitlines() if line.startswith("not supported")]
    assert not any("dbias" in line or "dsink" in line for line in unsupported), report
    gradients = report.json["coverage"]["gradients"]
    assert gradients["existing"] >= gradients["judged"] > 100_000


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
def test_the_other_types(dtype: str) -> None:
    if dtype == "bf16":
        pytest.importorskip("ml_dtypes")
    report = attest.audit_gradients(backward=gradient_kernels.right, dtype=dtype, **SMALL)
    assert report.verdict == "certified" and report.json["contract"] == dtype, report


def test_what_it_has_no_parameter_for_is_not_asked() -> None:
    report = attest.audit_gradients(backward=gradient_kernels.plain, **SMALL)
    assert report.verdict == "certified", report
    assert 0 < report.checks[0]["unsupported"] < report.checks[0]["cases"]


@pytest.mark.parametrize(("given", "missing"), [("dq", "dk, dv"), pytest.param("dk dv", "dq", marks=pytest.mark.dear)])
def test_one_that_gives_some_gradients_is_certified_for_them(given: str, missing: str) -> None:
    def part(q: Any, k: Any, v: Any, do: Any, o: Any, lse: Any) -> Any:
        found = dict(zip(("dq", "dk", "dv"), gradient_kernels.plain(q, k, v, do, o, lse)))
        return tuple(found[name] if name in given else None for name in ("dq", "dk", "dv"))

    report = attest.audit_gradients(backward=part, **SMALL)
    assert report.verdict == "certified" and report.checks[0]["elements"] > 50_000, report
    unsupported = next(line for line in report.text.splitlines() if line.startswith("not supported"))
    assert missing in unsupported and not any(name in unsupported for name in given.split()), report

    def wrong(q: Any, k: Any, v: Any, do: Any, o: Any, lse: Any) -> Any:
        return tuple(None if one is None else one * np.float32(2) for one in part(q, k, v, do, o, lse))

    assert attest.audit_gradients(backward=wrong, fail_fast=True, **SMALL).verdict == "refuted"


def test_one_without_o_and_lse_runs_a_forward_pass_of_its_own() -> None:
    assert MatchedBackward(gradient_kernels.alone, Options()).is_alone
    assert not MatchedBackward(gradient_kernels.plain, Options()).is_alone
    report = attest.audit_gradients(backward=gradient_kernels.alone, **SMALL)
    assert report.verdict == "certified", report


@pytest.mark.parametrize(("backward", "output", "says"), [
    (gradient_kernels.scale_forgotten, "dq", "dQ is not multiplied by the scale"),
    (gradient_kernels.delta_forgotten, "dq", "dS is P*dP, without delta")])
def test_a_planted_mistake_is_refuted_and_named(backward: Any, output: str, says: str) -> None:
    report = attest.audit_gradients(backward=backward, **SMALL)
    assert report.verdict == "refuted"
    assert any(one["output"] == output and says in one["sentence"] for one in report.findings), report


@pytest.mark.parametrize(("backward", "says"), [
    (gradient_kernels.returns_dq_alone, "returned a ndarray, expected (dq, dk, dv)"),
    (gradient_kernels.changes_do, "changes its input do"),
    pytest.param(gradient_kernels.one_buffer, "changes the answer dq of an earlier call", marks=pytest.mark.nightly),
    (lambda q, k, v, do, o, lse: (q[..., 1:], k, v), "returned dq of shape"),
    (lambda q, k, v, do, o, lse: (q, k.astype(np.float64), v), "returned dk of type F64, expected F32")])
def test_what_is_no_answer_is_a_finding(backward: Any, says: str) -> None:
    # The answer of an earlier call is seen once a later one was made.
    report = attest.audit_gradients(backward=backward, domain="causal=none",
                                    fail_fast=backward is not gradient_kernels.one_buffer, **SMALL)
    assert report.verdict == "refuted"
    assert any(says in one["sentence"] for one in report.findings), report


@pytest.mark.nightly
def test_not_implemented_refutes_nothing() -> None:
    def refuses_all(q: Any, k: Any, v: Any, do: Any, o: Any, lse: Any) -> Any:
        raise NotImplementedError("not today")

    report = attest.audit_gradients(backward=refuses_all, **SMALL)
    assert report.verdict == "undecided" and not report.findings


@pytest.mark.nightly
@pytest.mark.parametrize("outside", ["refuses", "asserts"])
def test_one_of_few_shapes_is_asked_in_its_domain(outside: str) -> None:
    def of_tiles(q: Any, k: Any, v: Any, do: Any, o: Any, lse: Any, *, causal: bool = False,
                 scale: float | None = None) -> Any:
        taken = q.shape == k.shape == v.shape and q.shape[3] == 64 and q.shape[2] % 64 == 0 and q.shape[2] > 0
        if outside == "refuses" and not taken:
            raise NotImplementedError("a shape")
        assert taken, "d = 64, lengths in tiles of 64, as many keys as queries"
        return gradient_kernels.right(q, k, v, do, o, lse, scale=scale, right=0 if causal else -1)

    def without_scale(q: Any, k: Any, v: Any, do: Any, o: Any, lse: Any, *, causal: bool = False,
                      scale: float | None = None) -> Any:
        dq, dk, dv = of_tiles(q, k, v, do, o, lse, causal=causal, scale=scale)
        return dq, dk * np.float32(8), dv

    report = attest.audit_gradients(backward=of_tiles, causal="top-left", **SMALL)
    assert report.verdict == "certified", report
    assert report.json["domain"]["text"] == "d=64 dv=d n%64 m=n group=1 causal=none,top-left", report.json["domain"]
    answered = report.checks[0]["cases"] - report.checks[0]["unsupported"]
    assert answered > 40 and report.checks[0]["elements"] > 200_000, report
    assert "outside the domain: " in str(report.json)
    assert attest.audit_gradients(backward=without_scale, causal="top-left", fail_fast=True,
                                  **SMALL).verdict == "refuted"


@pytest.mark.parametrize("layout", ["bnhd", "thd"])
def test_other_layouts(layout: str) -> None:
    seen = []

    def other(q: Any, k: Any, v: Any, dout: Any, out: Any, softmax_lse: Any, cu_seqlens_q: Any = None,
              cu_seqlens_k: Any = None) -> Any:
        seen.append(q.shape)
        if layout == "bnhd" and q.ndim == 4:
            found = gradient_kernels.plain(*(one.swapaxes(1, 2) for one in (q, k, v, dout, out)), softmax_lse)
            return tuple(one.swapaxes(1, 2) for one in found)
        if layout == "bnhd" or len(cu_seqlens_q) != 2:
            raise NotImplementedError("several entries")
        queries, keys = slice(*cu_seqlens_q), slice(*cu_seqlens_k)
        rows = (queries, keys, keys, queries, queries)
        entry = (one[of].swapaxes(0, 1)[None] for one, of in zip((q, k, v, dout, out), rows))
        made = tuple(np.zeros_like(one) for one in (q, k, v))
        for whole, of, one in zip(made, rows, gradient_kernels.plain(*entry, softmax_lse[..., queries])):
            whole[of] = one[0].swapaxes(0, 1)
        return made

    report = attest.audit_gradients(backward=other, layout=layout, **SMALL)
    assert report.verdict == "certified" and seen, report


def test_a_backward_pass_has_the_names_that_are_in_use() -> None:
    def named(query: Any, key: Any, value: Any, grad_output: Any, out: Any, logsumexp: Any, *, is_causal: bool = False,
              sm_scale: float | None = None) -> Any:
        return None

    matched = MatchedBackward(named, Options())
    assert {role: matched.parameters[role] for role in ("do", "o", "lse", "causal", "scale")} == {
        "do": "grad_output", "o": "out", "lse": "logsumexp", "causal": "is_causal", "scale": "sm_scale"}
    x = np.ones((1, 1, 2, 2), np.float32)
    call = Backward(x, x, x, do=x * 2, o=x * 3, lse=np.zeros((1, 1, 2), np.float32), left=-1, right=0)
    given = matched.arguments(call)
    assert given["causal"] is True and np.array_equal(given["do"], x * 2) and np.array_equal(given["o"], x * 3)


@pytest.mark.parametrize(("given", "says"), [
    ({}, "^kernel, backward: give one of them"), ({"kernel": kernels.plain}, "^arrays: "),
    ({"kernel": kernels.plain, "arrays": "numpy"}, "^arrays: nothing differentiates kernels:plain over arrays of n"),
    ({"backward": kernels.plain}, "^backward: kernels:plain has no parameter do"),
    ({"backward": lambda q, k, v, do, o: None}, "names o and no lse"),
    ({"backward": lambda *args: None}, "^backward: .* has no parameters for q, k and v"),
    ({"backward": "gradient_kernels:nothing"}, "^backward: gradient_kernels has no 'nothing'"),
    ({"backward": gradient_kernels.plain, "device": "cuda", "arrays": "numpy"}, "^device: ")])
def test_what_cannot_be_asked_is_said(given: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("torch", "jax"):
        monkeypatch.delitem(sys.modules, library, raising=False)
    with pytest.raises(ValueError, match=says):
        attest.audit_gradients(**given, **SMALL)


@pytest.mark.dear
def test_isolated_and_its_reproducer() -> None:
    given = {**SMALL, "only": "backward/equal-dp-0"}
    report = attest.audit_gradients(backward="gradient_kernels:scale_forgotten", isolate=True, **given)
    assert report.verdict == "refuted" and not report.missing_protections, report
    reproducer = attest.audit_gradients(backward=gradient_kernels.scale_forgotten, **given).findings[0]["reproducer"]
    assert "--backward gradient_kernels:scale_forgotten" in reproducer
    again = subprocess.run(reproducer.replace("attest ", f"{sys.executable} -m attest_attention ", 1), shell=True,
                           capture_output=True, text=True)
    assert again.returncode == 1 and "dQ is not multiplied by the scale" in " ".join(again.stdout.split())


def test_a_library_answers_by_its_own_function() -> None:
    assert attest.audit_gradients("builtin", **SMALL, only="backward/equal-dp-0").verdict == "certified"


def test_the_example_of_the_manual_is_certified() -> None:
    page = (Path(attest.__file__).parents[2] / "docs" / "python.md")
    if not page.is_file():
        pytest.skip("the package is installed")
    block = page.read_text(encoding="utf-8").split("### Gradients")[1].split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {"np": np}
    exec(block[block.index("def backward"):block.index("attest.audit_gradients(backward=")], names)
    report = attest.audit_gradients(backward=names["backward"], causal="top-left", **SMALL)
    assert report.verdict == "certified", report
    assert report.checks[0]["cases"] - report.checks[0]["unsupported"] > 10
