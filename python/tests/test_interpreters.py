"""The kernels of python/examples on the CPU, by the interpreters of Triton and Pallas: certified; mutants of them are
refuted with their cause. Skipped without PyTorch and Triton, and without JAX; .ci/interpreters installs them."""
from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attest_attention as attest
import pytest

os.environ["TRITON_INTERPRET"] = "1"  # Triton reads it when a kernel is defined
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
CHECKS = ("accuracy", "bands", "heads", "scale", "poison", "empty-rows")
# A hidden key has the weight 0, and 0 · NaN is NaN: both kernels multiply V by weights of hidden keys.
CONTRACT = {"from": "f32", "conventions": {"masked_values": "must_be_finite"}}

# What the mutant changes in each file, and the cause that the report must name.
MUTANTS = {
    "band-top-left": {"triton": (" + m - n", ""), "pallas": (" + m - n", "")},
    "default-scale-1": {"triton": ("d**-0.5 if", "1.0 if"), "pallas": ("d**-0.5 if", "1.0 if")},
    "maximum-from+0": {"triton": ('tl.full([BLOCK_M], float("-inf"), tl.float32)', "tl.zeros([BLOCK_M], tl.float32)"),
                       "pallas": ("jnp.full(BLOCK_M, -jnp.inf)", "jnp.zeros(BLOCK_M)")},
    "heads-interleaved": {"triton": ("(h // group)", "(h % (heads // group))"),
                          "pallas": ("h // group", "h % k.shape[1]")},
}


def kernel(library: str, folder: Path, before: str = "", after: str = "") -> Callable[..., Any]:
    """The example of a library, with one text replaced, from a file of its own: Triton reads the source."""
    pytest.importorskip("torch" if library == "triton" else "jax")
    pytest.importorskip("triton" if library == "triton" else "jax.experimental.pallas")
    text = (EXAMPLES / f"{library}_flash.py").read_text(encoding="utf-8")
    assert before in text, before
    name = f"{library}_{abs(hash((before, after, str(folder))))}"
    file = folder / f"{name}.py"
    file.write_text(text.replace(before, after) if before else text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.attention  # type: ignore[no-any-return]


def audited(library: str, function: Callable[..., Any], **options: Any) -> attest.Report:
    return attest.audit(function, arrays={"triton": "torch", "pallas": "jax"}[library], causal="bottom-right",
                        quick=True, draws=0, seed=1, only=CHECKS, contract=CONTRACT, domain={"d": 16, "dv": "d"},
                        findings="", **options)


@pytest.mark.parametrize("library", ["triton", "pallas"])
def test_the_example_is_certified(library: str, tmp_path: Path) -> None:
    report = audited(library, kernel(library, tmp_path))
    assert report.verdict == "certified", report
    assert all(row["unsupported"] < row["cases"] for row in report.checks), report.checks


@pytest.mark.parametrize("library", ["triton", "pallas"])
@pytest.mark.parametrize("cause", list(MUTANTS))
def test_a_mutant_is_refuted_with_its_cause(library: str, cause: str, tmp_path: Path) -> None:
    report = audited(library, kernel(library, tmp_path, *MUTANTS[cause][library]))
    assert report.verdict == "refuted", report
    assert [one["name"] for one in report.json["cause"]["hypotheses"]] == [cause], report
