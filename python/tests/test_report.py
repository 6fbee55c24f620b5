from __future__ import annotations

import gc
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from attest_attention import Report, audit
from attest_attention._report import VERDICTS


@pytest.fixture(scope="module")
def certified() -> Report:
    return audit("builtin", quick=True, seed=1, draws=0, only=["worked-examples", "accuracy"])


def test_a_report_is_true_where_it_is_certified(certified: Report) -> None:
    assert certified.verdict == "certified" and bool(certified) and certified.findings == []
    for verdict in VERDICTS.values():
        assert bool(Report({"verdict": verdict}, "")) == (verdict == "certified")


def test_what_it_shows_is_the_screen_of_the_program(certified: Report) -> None:
    assert repr(certified) == certified.text
    lines = certified.text.splitlines()
    assert lines[0].startswith("attest ") and lines[1].startswith("CERTIFIED ")
    assert {check["name"] for check in certified.checks} == {"worked-examples", "accuracy"}
    assert certified.seed == 1 and certified.missing_protections == certified.json["evidence"]["missing_protections"]


def test_the_page_is_whole_and_framed_in_a_notebook(certified: Report) -> None:
    assert certified.html.lstrip().startswith("<!") and "</html>" in certified.html
    frame = certified._repr_html_()
    assert frame.startswith("<iframe sandbox ") and "<script" not in frame and frame.count('"') == frame.count('="') * 2


def test_a_report_without_a_page_is_text_in_a_notebook() -> None:
    report = Report({"verdict": "refuted"}, "a < b & c")
    assert report._repr_html_() == "<pre>a &lt; b &amp; c</pre>"
    with pytest.raises(ValueError, match="^html: "):
        report.html


def test_what_was_asked_says_which_features_were_met(certified: Report) -> None:
    assert certified.asked["lse"]["answered"] == certified.asked["lse"]["asked"] > 0
    support = audit("builtin", quick=True, seed=1, draws=0, only="support").asked
    assert {"causal", "mask", "grouped", "softcap", "bias"} <= set(support)
    assert all(0 < row["answered"] <= row["asked"] for name, row in support.items() if name != "dropout")
    assert support["dropout"]["answered"] == 0  # the built-in kernel has none


def test_saving(certified: Report, tmp_path: Path) -> None:
    for name in ("r.json", "r.html", "r.txt"):
        certified.save(tmp_path / name)
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "certified"
    assert "</html>" in (tmp_path / "r.html").read_text() and (tmp_path / "r.txt").read_text().startswith("attest ")


def test_the_files_of_a_report_go_with_it_and_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = audit("builtin", quick=True, seed=1, draws=0, only="worked-examples")
        assert report._folder is not None
        folder = Path(report._folder.name)
        assert (folder / "report.html").is_file()
        del report
        gc.collect()
    assert not folder.exists()


def test_several_kernels_are_several_reports() -> None:
    one: dict[str, Any] = {"verdict": "certified", "evidence": {"sentence": "ONE", "missing_protections": ["a"]},
                           "findings": [], "checks": [{"name": "x"}], "coverage": None}
    two = {**one, "verdict": "refuted", "evidence": {"sentence": "TWO", "missing_protections": ["a", "b"]},
           "findings": [{"case": 1}]}
    both = Report({"verdict": "refuted", "reports": [one, two]}, "text")
    assert [part.verdict for part in both.reports] == ["certified", "refuted"]
    assert both.findings == [{"case": 1}] and both.sentence == "ONE TWO" and both.missing_protections == ["a", "b"]
    assert both.asked == {}


def test_tracebacks_belong_to_the_cases_whose_findings_quote_them() -> None:
    finding = {"case": "plain", "sentence": "the kernel answered FAILED and said 'KeyError: x (a.py:1)'"}
    other = {"case": "other", "sentence": "o[0] is 1"}
    report = Report({"verdict": "refuted", "findings": [finding, other]}, "",
                    raised={"KeyError: x (a.py:1)": "Traceback …"})
    assert report.tracebacks == {"plain": "Traceback …"}
