"""The clock of an audit holds for a kernel whose calls are slow, and the report says what was left out."""
from __future__ import annotations

import re
import time
from typing import Any

import attest_attention as attest
import kernels
import pytest


def napping(q: Any, k: Any, v: Any, *, scale: float | None = None, is_causal: bool = False) -> Any:
    time.sleep(0.1)
    return kernels.right(q, k, v, scale=scale, right=0 if is_causal else -1)


def left_out(report: attest.Report) -> list[str]:
    return [str(one) for one in report.json["observations"] if "a call takes" in str(one)]


@pytest.mark.dear
def test_a_slow_kernel_is_asked_some_cases_of_every_check() -> None:
    begun = time.monotonic()
    report = attest.audit(napping, quick=True, seed=1, findings="")
    seconds = time.monotonic() - begun
    assert report.verdict == "certified", report
    (said,) = left_out(report)
    found = re.search(r"only (\d+) of (\d+) inputs were asked", said)
    assert found, said
    asked, planned = map(int, found.groups())
    assert asked * 5 < planned and min(row["cases"] for row in report.checks) >= 1
    assert len(report.checks) >= 40, report.checks
    assert seconds < 0.1 * planned, f"{seconds} s"  # as all of it takes, with one call a case
    assert said in " ".join(str(report).split())


@pytest.mark.dear
def test_named_cases_are_asked_however_long_they_take() -> None:
    report = attest.audit(napping, quick=True, seed=1, findings="", only="scale")
    assert report.verdict == "certified" and not left_out(report), report
