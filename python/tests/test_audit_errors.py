"""What an audit refuses by the name of the argument, and reports that cannot be written."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from test_audit import HERE, SMALL, elsewhere  # noqa: F401


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


@pytest.mark.parametrize("asks", [attest.audit, attest.audit_gradients])
@pytest.mark.parametrize(("word", "near"), [("pytorch-mth", "pytorch-math"), ("jaxx", "jax"), ("bultin", "builtin")])
def test_a_name_that_is_nearly_one_is_suggested(asks: Any, word: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"^kernel: there is no file and no ready adapter '{word}', did you mean "
                                         rf"'{near}'\?; attest_attention.adapters.names\(\) lists the adapters"):
        asks(word)
    with pytest.raises(ValueError, match="^kernel: there is no file and no ready adapter 'mine'; attest_attention"):
        asks("mine")


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


def test_a_device_that_is_not_there_is_an_error_and_no_finding() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="^device: .*meta:nothing"):
        attest.audit(kernels.plain, device="meta:nothing", arrays="torch", **SMALL)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="^device: "):
            attest.audit(torch.nn.functional.scaled_dot_product_attention, device="cuda", **SMALL)


def test_what_another_process_cannot_import_is_said() -> None:
    with pytest.raises(ValueError, match="^isolate: .*cannot be imported by name"):
        attest.audit(lambda q, k, v: v, isolate=True, **SMALL)


def test_a_worker_says_why_it_cannot_serve() -> None:
    ended = subprocess.run([sys.executable, "-m", "attest_attention._worker", "--path", str(HERE), "kernels:nothing"],
                           capture_output=True, text=True, check=False,
                           env={**os.environ, "PYTHONPATH": str(HERE.parent)})
    assert ended.returncode == 2 and "kernels has no 'nothing'" in ended.stderr
