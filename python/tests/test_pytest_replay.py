"""What the plugin saves of a failed assertion is the problem that was judged, and its command judges it again."""
from __future__ import annotations

import inspect
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attest_attention import _program, reference, solve, verify
from attest_attention._keywords import Keywords
from attest_attention._reference import AttentionError
from attest_attention.pytest_plugin import Attest
from test_pytest_plugin import inner, replays, run  # noqa: F401

pytest_plugins = ["pytester"]
RNG = np.random.default_rng(5)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


DENSE = (normal(2, 4, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 6))
ROWS = (normal(5, 4, 8), normal(9, 2, 8), normal(9, 2, 6))
POOLS = (DENSE[0], normal(7, 2, 3, 8), normal(7, 2, 3, 6))
PAGES: dict[str, Any] = {"block_table": np.array([[5, 1], [0, 6]], np.int32), "k_lengths": [4, 6]}
OFFSETS: tuple[Any, Any] = ([0, 2, 5], [0, 4, 9])
# The arrays and keywords of calls in which every keyword of `verify` that decides a verdict is used.
CALLS: list[tuple[tuple[Any, Any, Any], dict[str, Any]]] = [
    (DENSE, {}), (DENSE, {"mask": normal(2, 1, 3, 5) < 1}), (DENSE, {"bias": normal(1, 4, 1, 5)}),
    (DENSE, {"scale": 0.7}), (DENSE, {"softcap": 0.5}), (DENSE, {"causal": "bottom-right"}),
    (DENSE, {"window": (1, 0), "diagonal": 1}), (tuple(one.swapaxes(1, 2) for one in DENSE), {"layout": "bnhd"}),
    (ROWS, {"layout": "thd", "cu_seqlens": OFFSETS}),
    (ROWS, {"layout": "thd", "cu_seqlens": OFFSETS, "sink": normal(4)}), (DENSE, {"sink": normal(2, 4)}),
    (DENSE, {"q_lengths": [3, 1], "k_lengths": [4, 5], "causal": True, "align": "bottom-right"}),
    (tuple(one[None].swapaxes(1, 2) for one in ROWS),
     {"q_offsets": OFFSETS[0], "k_offsets": OFFSETS[1], "causal": "top-left"}),
    (POOLS, {**PAGES, "kv_layout": "hnd"}),
    ((POOLS[0], *(one.swapaxes(1, 2) for one in POOLS[1:])), {**PAGES, "kv_layout": "nhd"}),
    (DENSE, {"block_mask": np.array([[[[1, 0]]]], bool), "block_q": 4, "block_k": 3}),
    (DENSE, {"keep": normal(2, 4, 3, 5) < 1, "dropout": 0.25}), (DENSE, {"contract": "f32-any"}),
    (DENSE, {"options": ["--softcap", "0.5"]}), (DENSE, {"waive": ["masks"]})]
ONLY_WHERE_IT_IS_WRITTEN = {"findings", "jobs", "json", "html"}


def test_every_keyword_that_decides_a_verdict_is_among_the_calls() -> None:
    keywords = {name for name, one in inspect.signature(verify).parameters.items() if one.kind is one.KEYWORD_ONLY}
    used = {name for _, keywords in CALLS for name in keywords} | {"lse", "weights"}  # all of them have both
    assert used == (keywords | set(Keywords.__annotations__)) - ONLY_WHERE_IT_IS_WRITTEN


@pytest.mark.parametrize(("arrays", "given"), CALLS, ids=[",".join(given) or "nothing" for _, given in CALLS])
def test_what_is_saved_is_the_problem_that_was_judged(arrays: tuple[Any, Any, Any], given: dict[str, Any],
                                                      tmp_path: Path) -> None:
    asked = {name: value for name, value in given.items() if name not in ("contract", "options", "waive")}
    q, k, v = arrays
    exact = reference(q, k, v, **asked)
    right = {"o": exact.o, "lse": exact.lse}
    if asked.get("layout", "bhnd") == "bhnd" and "q_offsets" not in asked:  # packed rows have no weights
        right["weights"] = solve(*arrays, round="f32", **asked).weights
    for output in right:
        outputs = {name: array.copy() for name, array in right.items()}
        outputs[output][(0,) * outputs[output].ndim] += 1
        outputs["o"][(-1,) * outputs["o"].ndim] = np.nan
        bound = Attest("test_it.py::test_it", None, tmp_path / output)
        report = bound.verify(q, k, v, outputs.pop("o"), **outputs, **given)
        assert report.verdict != "certified" and len(list((tmp_path / output).iterdir())) == 1, output
        assert replayed(bound.lines, tmp_path / "again.json") == said_of(report.json), output


def replayed(lines: list[str], file: Path) -> Any:
    """What the command that these lines show says."""
    (command,) = (shlex.split(line.split("replay: ")[1]) for line in lines if "replay: " in line)
    _program.run([*command[3:], "--findings", "", "--json", file], expect=(0, 1, 3))
    return said_of(json.loads(file.read_bytes()))


def said_of(report: dict[str, Any]) -> Any:
    found = [(one["output"], one["index"], one["waived"]) for one in report["findings"]]
    return report["verdict"], report["evidence"]["sentence"], found


def test_an_assertion_about_pages_stays_an_assertion(tmp_path: Path) -> None:
    bound = Attest("test_it.py::test_it", None, tmp_path)
    with pytest.raises(AttentionError, match="^REFUTED") as raised:
        bound.assert_attention(normal(2, 4, 3, 6), *POOLS, kv_layout="hnd", most=1, **PAGES)
    assert replayed(bound.lines, tmp_path / "again.json") == said_of(raised.value.report.json)


@pytest.mark.parametrize("call", ["attest.assert_attention(right(q, k, v) * 2, q, k, v, contract='mine.json')",
                                  "assert attest.verify(q, k, v, v[:3], contract='mine.json')",
                                  "assert attest.audit(contract='mine.json', only='worked-examples', quick=True, "
                                  "seed=1)"])
def test_the_command_names_a_contract_wherever_the_test_went_and_though_it_goes(inner: pytest.Pytester,
                                                                                call: str) -> None:
    result = run(inner, f"""
def test_elsewhere(attest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.json").write_text('{{"from": "f32", "name": "mine", "conventions": {{"lse_base": "2"}}}}')
    try:
        {call}
    finally:
        (tmp_path / "mine.json").unlink()
""", "--attest-report", "kept")
    result.assert_outcomes(failed=1)
    for words in replays(result):
        again = subprocess.run([str(_program.program()), *words[3:], "--findings", ""], capture_output=True, text=True,
                               cwd=inner.path)
        assert again.returncode == 1 and "contract mine" in again.stdout, again
    assert replays(result)


def test_without_a_folder_the_words_of_a_replay_name_the_contract_wholly(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.json").write_text('{"from": "f32", "name": "mine"}')
    q, k, v = DENSE
    report = verify(q, k, v, reference(q, k, v).o, contract="mine.json")
    assert report.replay is not None and report.replay.words == ["--contract", str(tmp_path / "mine.json")]
