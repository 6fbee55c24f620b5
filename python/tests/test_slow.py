"""The clock of an audit holds for a kernel whose calls are slow, and the report says what was left out."""
from __future__ import annotations

import re
import time
from typing import Any

import attest_attention as attest
import kernels
import pytest


def napping(seconds: float) -> Any:
    def attention(q: Any, k: Any, v: Any, *, scale: float | None = None, is_causal: bool = False) -> Any:
        time.sleep(seconds)
        return kernels.right(q, k, v, scale=scale, right=0 if is_causal else -1)

    return attention


def left_out(report: attest.Report) -> list[str]:
    return [str(one) for one in report.json["observations"] if "a call takes" in str(one)]


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [0.1, 0.02])
def test_a_slow_kernel_is_certified_if_half_of_the_fixed_part_was_asked(seconds: float) -> None:
    report = attest.audit(napping(seconds), quick=True, seed=1, findings="")
    (said,) = left_out(report)
    found = re.search(r"only ([\d,]+) of ([\d,]+) inputs were asked(?:, and no input of (\d+) checks?)?: .*; "
                      r"--budget (\d+) asks all", said)
    assert found, said
    asked, planned, without, budget = (int((number or "0").replace(",", "")) for number in found.groups())
    assert report.verdict == ("certified" if 2 * asked >= planned and not without else "undecided"), report
    assert seconds < 0.1 or report.verdict == "undecided", said  # 1,600 calls take more than 20 s
    assert budget > seconds * planned
    assert min(row["cases"] for row in report.checks) >= 1
    assert len(report.checks) + without >= 40, report.checks
    assert said in " ".join(str(report).split())


@pytest.mark.nightly
def test_named_cases_are_asked_however_long_they_take() -> None:
    report = attest.audit(napping(0.1), quick=True, seed=1, findings="", only="scale")
    assert report.verdict == "certified" and not left_out(report), report
