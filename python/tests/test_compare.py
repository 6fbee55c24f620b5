from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import merge_kernels
import numpy as np
import pytest
from attest_attention import _program

SMALL: dict[str, Any] = {"quick": True, "seed": 1, "draws": 0, "only": ["worked-examples", "accuracy"],
                         "progress": False}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_who_is_refuted_where_they_differ_and_who_is_right() -> None:
    both = attest.compare({"mine": kernels.plain, "mean": kernels.mean_of_values, "ours": "builtin"}, **SMALL)
    assert not both and both.refuted == ["mean"]
    assert list(both.reports) == ["mine", "mean", "ours"] and both.reports["ours"].verdict == "certified"
    assert both.differences and both.compared >= len(both.differences)
    for one in both.differences:
        assert one.right == ["mine"] and one.wrong == ["mean"]
        assert one.errors["mine"] < 1 < one.errors["mean"]
        assert abs(one.values["mine"] - one.exact) <= one.bound
    first = both.differences[0]
    assert f"{first.case} o{list(first.index)}: exact" in both.text and "right: mine; wrong: mean" in both.text
    assert both.text.splitlines()[0].split()[:2] == ["kernel", "verdict"] and repr(both) == both.text
    assert both._repr_html_().startswith("<pre>")


def test_kernels_that_agree_have_no_difference() -> None:
    both = attest.compare({"one": kernels.plain, "other": "kernels:right"}, **SMALL)
    assert both and both.differences == [] and both.compared > 10


@pytest.mark.dear
def test_an_answer_that_is_no_number_differs() -> None:
    def nan_for_one(q: Any, k: Any, v: Any) -> Any:
        o = kernels.plain(q, k, v)
        o[..., -1:, -1:] = np.nan
        return o

    both = attest.compare({"right": kernels.plain, "nan": nan_for_one}, **{**SMALL, "only": "worked-examples"})
    assert both.differences and all(one.wrong == ["nan"] for one in both.differences)


@pytest.mark.dear
def test_a_callable_that_raises_is_compared_where_it_answers() -> None:
    both = attest.compare({"right": kernels.plain, "raises": kernels.raises_on_long},
                          **{**SMALL, "only": "worked-examples"})
    assert both.refuted == ["raises"] or both.reports["raises"].verdict == "certified"
    assert both.differences == []


@pytest.mark.dear
def test_merges_of_partial_results_are_compared_too() -> None:
    both = attest.compare(merges={"right": merge_kernels.right, "named": "merge_kernels:right",
                                  "loses": merge_kernels.loses_last},
                          quick=True, seed=1, progress=False)
    assert both.refuted == ["loses"] and both.reports["right"].checks[0]["name"] == "merge"
    assert both.compared == 54 and len(both.differences) > 20
    for one in both.differences:
        assert one.right == ["right", "named"] and one.wrong == ["loses"]
        assert one.case.partition("/")[2].startswith("merge/")


@pytest.mark.dear
def test_merges_in_another_layout_are_compared_in_that_of_the_file() -> None:
    both = attest.compare(merges={"one": merge_kernels.token_major, "other": merge_kernels.token_major}, quick=True,
                          seed=1, layout="thd", progress=False)
    assert both and both.compared == 54 and both.differences == []


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="^kernels: "):
        attest.compare({})
    with pytest.raises(ValueError, match="^merges: there is none"):
        attest.compare(merges={})
    with pytest.raises(ValueError, match="^kernels: give kernels or merges, one of the two"):
        attest.compare({"one": kernels.plain}, merges={"one": merge_kernels.right})
    with pytest.raises(ValueError, match="merges: one"):
        attest.compare(merges={"one": "merge_kernels:not_there"})
    with pytest.raises(TypeError, match="^kernels: is a list"):
        attest.compare([kernels.plain])  # type: ignore[arg-type]


@pytest.mark.dear
def test_the_reference_of_a_comparison_is_the_quick_one_and_its_callables_do_not_warn(
        monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[Any]] = []
    run = _program.run

    def noted(words: Any, **more: Any) -> Any:
        asked.append(list(words))
        return run(words, **more)

    monkeypatch.setattr(_program, "run", noted)

    def overflows(q: Any, k: Any, v: Any) -> Any:
        np.float32(1e38) * np.float32(1e38)
        return kernels.plain(q, k, v)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = attest.compare({"one": overflows, "other": kernels.plain}, **{**SMALL, "only": "worked-examples"})
    assert both and both.compared > 0
    assert ["--quick" in words for words in asked if words[0] == "reference"] == [True]
