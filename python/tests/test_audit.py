"""Callables through the judge itself."""
from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from attest_attention import _audit
from attest_attention._signature import Options

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


def test_a_declared_domain_is_asked_inside_and_named() -> None:
    for domain in ("d=64 dv=d n%128 m=n", {"d": 64, "dv": "d", "n": "%128", "m": "n"}):
        report = attest.audit("builtin", only="accuracy", domain=domain, **SMALL)
        assert report.json["domain"] == {"text": "d=64 dv=d n%128 m=n", "source": "declared", "refusals": "rule",
                                         "cut_short": False}
        assert report.sentence.startswith("CERTIFIED on its domain (d=64 dv=d n%128 m=n): ")
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


def test_errors_of_the_program_are_value_errors_with_the_argument() -> None:
    with pytest.raises(ValueError, match="^only: no check or case is called 'nonsense'"):
        attest.audit(kernels.plain, only="nonsense", progress=False)
    with pytest.raises(ValueError, match="^contract: "):
        attest.audit(kernels.plain, contract="f33", progress=False)
    with pytest.raises(ValueError, match="^dtype: is f64, but the inputs of the contract f32 are f32"):
        attest.audit(kernels.plain, contract="f32", dtype="f64")
    with pytest.raises(ValueError, match="^dtype: is 'fp8'"):
        attest.audit(kernels.plain, dtype="fp8")
    with pytest.raises(TypeError, match="^kernel: is a int"):
        attest.audit(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^json: there is no folder"):
        attest.audit(kernels.plain, json="no/such/folder.json")


@pytest.mark.parametrize("name", ["contract", "json", "html", "junit", "findings", "supports", "allow", "options",
                                  "adapter"])
def test_an_argument_of_a_wrong_type_is_named_and_nothing_is_asked(name: str) -> None:
    def asked(q: Any, k: Any, v: Any) -> Any:
        raise AssertionError("it was asked")

    wrong: dict[str, Any] = {name: 5}
    with pytest.raises(TypeError, match=f"^{name}: is "):
        attest.audit(asked, **wrong, **SMALL)


@pytest.mark.parametrize("name", ["supports", "allow", "options"])
def test_a_list_of_what_is_no_word_is_named(name: str) -> None:
    wrong: dict[str, Any] = {name: [5]}
    with pytest.raises(TypeError, match=rf"^{name}: is \[5\]"):
        attest.audit(kernels.plain, **wrong, **SMALL)


@pytest.mark.parametrize("name", ["layout", "arrays", "causal", "returns"])
def test_an_array_where_a_word_is_expected_is_named(name: str) -> None:
    wrong: dict[str, Any] = {name: np.array(["bnhd", "numpy"])}
    with pytest.raises(ValueError, match=f"^{name}: is array"):
        attest.audit(kernels.plain, **wrong, **SMALL)


def test_a_report_that_cannot_be_written_is_an_error_before_anything_is_asked(tmp_path: Path) -> None:
    def asked(q: Any, k: Any, v: Any) -> Any:
        raise AssertionError("it was asked")

    for option in ("json", "html"):
        for place, says in ((tmp_path, ".* is a folder"), ("/proc/report", "/proc/report cannot be written: ")):
            written: dict[str, Any] = {option: place}
            with pytest.raises(ValueError, match=f"^{option}: {says}"):
                attest.audit(asked, **written, **SMALL)
    with pytest.raises(ValueError, match="^only: "):  # and what can be written stays as it is
        attest.audit(kernels.plain, json=tmp_path / "r.json", **{**SMALL, "only": "nonsense"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize("option", ["json", "html", "junit"])
def test_a_report_that_could_not_be_written_is_not_lost(option: str, tmp_path: Path) -> None:
    written: dict[str, Any] = {"json": tmp_path / "r.json", "html": tmp_path / "r.html", option: "/dev/full"}
    with pytest.raises(OSError, match=f"^{option}: /dev/full: ") as raised:
        attest.audit(kernels.plain, only="worked-examples", **written, **SMALL)
    report = raised.value.report  # type: ignore[attr-defined]
    assert report.verdict == "certified" and "CERTIFIED" in report.text and "</html>" in report.html
    for other in {"json", "html"} - {option}:
        assert (tmp_path / f"r.{other}").stat().st_size > 0


def test_one_word_is_a_list_of_one() -> None:
    def grouped(q: Any, k: Any, v: Any) -> Any:
        return kernels.right(q, k, v, enable_gqa=True)

    report = attest.audit(grouped, supports="gqa", options="--fail-fast", only="heads", **SMALL)
    assert report.verdict == "certified", report
    with pytest.raises(ValueError, match="^allow: 'nothing' is neither"):
        attest.audit(kernels.plain, isolate=True, allow="nothing", **SMALL)


def test_a_device_that_is_not_there_is_an_error_and_no_finding() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="^device: .*meta:nothing"):
        attest.audit(kernels.plain, device="meta:nothing", arrays="torch", **SMALL)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="^device: "):
            attest.audit(torch.nn.functional.scaled_dot_product_attention, device="cuda", **SMALL)


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


@pytest.mark.parametrize(("kernel", "of"), [(kernels.exits, "crash"),
                                            pytest.param(kernels.hangs, "hang", marks=pytest.mark.dear),
                                            (kernels.raises_on_long, "crash")])
def test_what_would_end_this_process_is_a_finding_where_it_is_isolated(kernel: Any, of: str) -> None:
    report = attest.audit(kernel, isolate=True, only=["worked-examples", "accuracy"], fail_fast=True, **SMALL)
    assert report.verdict == "refuted", report
    assert of in {finding["class"] for finding in report.findings}
    assert not any("runpy" in finding["sentence"] for finding in report.findings), "it is quoted, and not the worker"


def test_what_another_process_cannot_import_is_said() -> None:
    with pytest.raises(ValueError, match="^isolate: .*cannot be imported by name"):
        attest.audit(lambda q, k, v: v, isolate=True, **SMALL)


def test_names_by_which_a_callable_can_be_imported() -> None:
    assert _audit.importable_name(kernels.right) == "kernels:right"
    assert _audit.importable_name(np.ndarray.sum) is None  # no module
    assert _audit.importable_name(lambda: 0) is None
    assert "--path" in _audit.command("kernels:right", Options()) and str(HERE) in _audit.command("kernels:right",
                                                                                                  Options())


def test_a_worker_says_why_it_cannot_serve() -> None:
    ended = subprocess.run([sys.executable, "-m", "attest_attention._worker", "--path", str(HERE), "kernels:nothing"],
                           capture_output=True, text=True, check=False,
                           env={**os.environ, "PYTHONPATH": str(HERE.parent)})
    assert ended.returncode == 2 and "kernels has no 'nothing'" in ended.stderr
