"""Callables through the judge itself."""
from __future__ import annotations

import functools
import json
import os
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from attest_attention import _audit, _program
from attest_attention._spellings import Options

HERE = Path(__file__).resolve().parent
# A part of an audit that takes a second or two, and in which every feature of a call is asked.
SMALL: dict[str, Any] = {"quick": True, "seed": 1, "draws": 0, "progress": False}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings are saved in the current folder."""
    monkeypatch.chdir(tmp_path)


# Every check is asked of `plain` below. These ask all parameters, and what a callable does with memory and threads.
@pytest.mark.parametrize("only", [["support", "determinism", "earlier-outputs"],
                                  pytest.param(["support", "pairs", "tails", "poison", "special-values",
                                                "weights-through-v", "concurrent-calls"], marks=pytest.mark.dear)])
def test_a_right_callable_is_certified_with_all_its_parameters(only: list[str]) -> None:
    report = attest.audit(kernels.right, **SMALL, only=only)
    assert report.verdict == "certified", report
    for feature in ("causal", "window", "mask", "bias", "grouped", "softcap", "scale", "lse", "weights"):
        assert 0 < report.asked[feature]["answered"] <= report.asked[feature]["asked"], feature
    # Sinks, offsets and so on it does not name.
    assert all(report.asked[feature]["answered"] == 0 for feature in ("sink", "packed", "paged", "block-mask",
                                                                      "dropout"))
    assert report.missing_protections and report.json["kernel"] == "kernels:right"


@pytest.mark.parametrize("only", [["support", "accuracy"], pytest.param(None, marks=pytest.mark.dear)])
def test_what_a_callable_has_no_parameter_for_is_not_asked_and_refutes_nothing(only: list[str] | None) -> None:
    report = attest.audit(kernels.plain, **SMALL, only=only)
    assert report.verdict == "certified", report
    assert "causal" not in report.asked and "grouped" not in report.asked, "they are outside its domain"
    assert all(report.asked[feature]["answered"] == 0 for feature in ("mask", "bias", "softcap", "lse"))
    assert report.asked["value-width"]["answered"] > 0


def test_heads_by_which_a_callable_divides_may_be_none() -> None:
    report = attest.audit(kernels.dividing, **SMALL, only=["accuracy", "nothing-there"])
    assert report.verdict == "certified", report
    assert any("ends plain calls with kv_heads=0 so, too" in str(each) for each in report.json["observations"])


def test_a_declared_domain_is_asked_inside_and_named() -> None:
    for domain in ("d=64 dv=d n%128 m=n", {"d": 64, "dv": "d", "n": "%128", "m": "n"}):
        report = attest.audit("builtin", only="accuracy", domain=domain, **SMALL)
        assert report.json["domain"] == {"text": "d=64 dv=d n%128 m=n", "source": "declared", "refusals": "rule",
                                         "cut_short": False}
        assert report.sentence.startswith("CERTIFIED on its domain (d=64 dv=d n%128 m=n): ")
    report = attest.audit("builtin", only="accuracy", domain={"n": (1, "m"), "m": "%16"}, **SMALL)
    assert report.json["domain"]["text"] == "n=1,m m%16"
    with pytest.raises(ValueError, match="^domain: 'e=64' names no axis"):
        attest.audit("builtin", domain="e=64", **SMALL)
    with pytest.raises(TypeError, match="^domain: is 64"):
        attest.audit("builtin", domain=64, **SMALL)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
def test_the_other_types(dtype: str) -> None:
    if dtype == "bf16":
        pytest.importorskip("ml_dtypes")
    report = attest.audit(kernels.right, dtype=dtype, only=["worked-examples", "masks", "heads"], **SMALL)
    assert report.verdict == "certified", report
    assert report.json["contract"] == dtype


@pytest.mark.parametrize("layout", ["bnhd", "thd"])
def test_other_layouts(layout: str) -> None:
    def packed(q: Any, k: Any, v: Any, cu_seqlens_q: Any = None, cu_seqlens_k: Any = None) -> Any:
        b = len(cu_seqlens_q) - 1 if layout == "thd" else q.shape[0]
        q, k, v = (one.reshape(b, one.shape[0] // b if layout == "thd" else one.shape[1],
                               *one.shape[-2:]).swapaxes(1, 2)
                   for one in (q, k, v))
        o = kernels.plain(q, k, v).swapaxes(1, 2)
        return o.reshape(b * o.shape[1], *o.shape[-2:]) if layout == "thd" else o

    report = attest.audit(packed, layout=layout, only=["worked-examples", "accuracy", "tails"], **SMALL)
    assert report.verdict == "certified", report


def test_a_wrong_callable_is_refuted_and_what_it_computes_is_named() -> None:
    report = attest.audit(kernels.mean_of_values, only="worked-examples", **SMALL)
    assert report.verdict == "refuted" and not report
    assert "the mean of the visible rows of V" in report.findings[0]["sentence"]
    reproducer = report.findings[0]["reproducer"]
    assert "attest_attention._worker" in reproducer and "kernels:mean_of_values" in reproducer


def test_a_reproducer_sets_the_variables_that_the_process_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    report = attest.audit(kernels.interpreted, only="worked-examples", findings="", **SMALL)
    reproducer = shlex.split(report.findings[0]["reproducer"])
    assert "env TRITON_INTERPRET=1 " in " ".join(reproducer)
    monkeypatch.delenv("TRITON_INTERPRET")
    again = subprocess.run([_program.program(), *reproducer[1:]], capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "the mean of the visible rows of V" in " ".join(again.stdout.split()), again


def test_an_exception_is_a_finding_with_its_traceback() -> None:
    report = attest.audit(kernels.raises_on_long, only="accuracy", **SMALL)
    assert report.verdict == "refuted"
    crash = next(one for one in report.findings if one["class"] == "crash")
    assert "KeyError: 'more than three queries' (kernels.py:" in crash["sentence"]
    assert "in raises_on_long" in report.tracebacks[crash["case"]]


@pytest.mark.parametrize(("kernel", "says"), [(kernels.changes_keys, "changes its input k"),
                                              (kernels.one_buffer, "changes the answer o of an earlier call")])
def test_arrays_that_are_written_to_are_findings(kernel: Any, says: str) -> None:
    report = attest.audit(kernel, only=["accuracy", "earlier-outputs", "sequences"], fail_fast=True, **SMALL)
    assert report.verdict == "refuted"
    assert any(says in finding["sentence"] for finding in report.findings), report


@pytest.mark.parametrize("message", ["é → ‘q’", "'q' \\ \"k\"", "tab\tand\x1b[31m bell\a", "\udc80",
                                     "\u202e\u0085\u2028", "long €" * 200])
def test_a_traceback_is_found_whatever_its_exception_says(message: str) -> None:
    def raises(q: Any, k: Any, v: Any) -> Any:
        raise RuntimeError(message)

    report = attest.audit(raises, only="worked-examples", fail_fast=True, findings="", **SMALL)
    assert report.verdict == "refuted" and "in raises" in next(iter(report.tracebacks.values()))


def test_a_name_of_a_module_is_imported() -> None:
    assert attest.audit("kernels:plain", only="worked-examples", **SMALL).verdict == "certified"
    for name, says in (("kernels:nothing", "kernels has no 'nothing'"), ("no_module:f", "no_module cannot be imported"),
                       ("kernels:np.pi", "is a float, and cannot be called")):
        with pytest.raises(ValueError, match=f"^kernel: .*{says}"):
            attest.audit(name, **SMALL)


def test_the_built_in_kernel_and_libraries_go_to_the_program() -> None:
    assert attest.audit("builtin:scalar", only="worked-examples", **SMALL).verdict == "certified"
    with pytest.raises(ValueError, match=r"^\./libnone\.so: there is no such file"):
        attest.audit("./libnone.so", **SMALL)
    with pytest.raises(ValueError, match="^layout: is about Python callables"):
        attest.audit("builtin", layout="bnhd", **SMALL)


def test_lambdas_partials_methods_and_adapters() -> None:
    class Mine:
        def attention(self, q: Any, k: Any, v: Any) -> Any:
            return kernels.plain(q, k, v)

    only = {"only": "worked-examples", **SMALL}
    for kernel in (lambda q, k, v: kernels.plain(q, k, v), functools.partial(kernels.right,
                                                                             scale=None), Mine().attention):
        report = attest.audit(kernel, **only)
        assert report.verdict == "certified" and report.json["kernel"], report
    def adapter(call: attest.Call) -> Any:
        return kernels.right(call.q, call.k, call.v, scale=call.given_scale)

    report = attest.audit(lambda x: x, adapter=adapter, **only)
    assert report.verdict == "certified", report


def test_one_word_is_a_list_of_one() -> None:
    def grouped(q: Any, k: Any, v: Any) -> Any:
        return kernels.right(q, k, v, enable_gqa=True)

    report = attest.audit(grouped, supports="gqa", options="--fail-fast", only="heads", **SMALL)
    assert report.verdict == "certified", report
    with pytest.raises(ValueError, match="^allow: 'nothing' is neither"):
        attest.audit(kernels.plain, isolate=True, allow="nothing", **SMALL)


def test_reports_are_written_where_they_are_asked(tmp_path: Path) -> None:
    attest.audit(kernels.plain, only="worked-examples", json=tmp_path / "r.json", html=tmp_path / "r.html",
                 junit=tmp_path / "r.xml", **SMALL)
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "certified"
    assert "</html>" in (tmp_path / "r.html").read_text() and "<testsuite" in (tmp_path / "r.xml").read_text()


def test_a_finding_is_asked_again_from_its_file(tmp_path: Path) -> None:
    def mine(q: Any, k: Any, v: Any) -> Any:
        return kernels.mean_of_values(q, k, v)

    attest.audit(mine, only="worked-examples", **SMALL)
    saved = next(path for path in (tmp_path / "attest-findings").iterdir() if path.suffix == ".safetensors")
    assert attest.audit(mine, options=["--replay", str(saved)], progress=False).verdict == "refuted"
    assert attest.audit(kernels.plain, options=["--replay", str(saved)], progress=False, findings="").findings == []


def test_the_same_seed_finds_the_same() -> None:
    one, other = (attest.audit(kernels.mean_of_values, only="worked-examples", **SMALL).json["failing"]
                  for _ in range(2))
    assert one == other and one


def test_an_audit_from_another_thread() -> None:
    reports: list[attest.Report] = []
    thread = threading.Thread(target=lambda: reports.append(attest.audit(kernels.plain, only="worked-examples",
                                                                         **SMALL)))
    thread.start()
    thread.join(60)
    assert [report.verdict for report in reports] == ["certified"]


def test_ctrl_c_ends_with_the_report_so_far() -> None:
    calls = 0

    def interrupting(q: Any, k: Any, v: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return kernels.plain(q, k, v)

    before = signal.getsignal(signal.SIGINT)
    report = attest.audit(interrupting, **SMALL)
    assert report.verdict == "undecided" and "UNDECIDED" in report.text
    assert signal.getsignal(signal.SIGINT) is before


def test_a_callable_that_is_interrupted_ends_the_audit() -> None:
    calls = 0

    def interrupted(q: Any, k: Any, v: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt
        return kernels.plain(q, k, v)

    report = attest.audit(interrupted, **SMALL)
    assert report.verdict != "certified" and calls < 60
    assert not any("KeyboardInterrupt" in finding["sentence"] for finding in report.findings), report


def test_a_callable_that_is_interrupted_at_once_keeps_nobody_waiting() -> None:
    def interrupted(q: Any, k: Any, v: Any) -> Any:
        raise KeyboardInterrupt

    begin = time.monotonic()
    assert attest.audit(interrupted, **SMALL).verdict == "undecided"
    assert time.monotonic() - begin < 20


@pytest.mark.dear
def test_several_connections_at_once_have_the_same_report() -> None:
    one, two = (attest.audit(kernels.plain, jobs=jobs, only=["worked-examples", "tails"], **SMALL).json["checks"]
                for jobs in (1, 2))
    assert [(check["cases"], check["elements"]) for check in one] == [(check["cases"], check["elements"])
                                                                      for check in two]


def test_progress_is_shown_where_it_is_asked(capfd: pytest.CaptureFixture[str]) -> None:
    attest.audit(kernels.plain, only=["worked-examples", "accuracy"], **{**SMALL, "progress": True})
    assert "[1/" in capfd.readouterr().err
    attest.audit(kernels.plain, only="worked-examples", **SMALL)
    assert capfd.readouterr().err == ""


# --- isolation --------------------------------------------------------------------------------------------------------


def test_an_isolated_callable_is_certified() -> None:
    report = attest.audit(kernels.right, isolate=True, only=["worked-examples", "masks", "heads", "accuracy"], **SMALL)
    assert report.verdict == "certified", report
    assert any("a process of its own" in one for one in report.json["evidence"]["protections"])


@pytest.mark.parametrize(("kernel", "of"), [(kernels.aborts, "crash"),
                                            pytest.param(kernels.hangs, "hang", marks=pytest.mark.nightly),
                                            (kernels.raises_on_long, "crash")])
def test_what_would_end_this_process_is_a_finding_where_it_is_isolated(kernel: Any, of: str) -> None:
    report = attest.audit(kernel, isolate=True, only=["worked-examples", "accuracy"], fail_fast=True, **SMALL)
    assert report.verdict == "refuted", report
    assert of in {finding["class"] for finding in report.findings}
    assert not any("runpy" in finding["sentence"] for finding in report.findings), "it is quoted, and not the worker"


def test_names_by_which_a_callable_can_be_imported() -> None:
    assert _audit.importable_name(kernels.right) == "kernels:right"
    assert _audit.importable_name(np.ndarray.sum) is None  # no module
    assert _audit.importable_name(lambda: 0) is None
    assert "--path" in _audit.command("kernels:right", Options()) and str(HERE) in _audit.command("kernels:right",
                                                                                                  Options())


