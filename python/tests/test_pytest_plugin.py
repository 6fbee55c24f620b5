"""The pytest plugin: what a failed test says and leaves behind, contracts as parameters, several processes."""
from __future__ import annotations

import inspect
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attest_attention import _program, _tensor_file, reference, solve, verify
from attest_attention._keywords import Keywords
from attest_attention._reference import AttentionError
from attest_attention.pytest_plugin import Attest, name_of

pytest_plugins = ["pytester"]

HEAD = """
import numpy as np
import pytest

def right(q, k, v):
    s = q.astype(np.float64) @ k.astype(np.float64).T / np.sqrt(q.shape[1])
    p = np.exp(s - s.max(1, keepdims=True))
    return (p / p.sum(1, keepdims=True) @ v).astype(q.dtype)

numbers = np.random.default_rng(1)
q, k, v = (numbers.standard_normal(shape).astype(np.float32) for shape in ((3, 8), (5, 8), (5, 4)))
"""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A pytest of its own, with this plugin and with pytest-xdist where that is asked."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(word for word in sys.path if word))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return pytester


def run(inner: pytest.Pytester, text: str, *words: str) -> pytest.RunResult:
    inner.makepyfile(test_inner=HEAD + text)
    return inner.runpytest_inprocess("-p", "attest_attention.pytest_plugin", "-p", "no:cacheprovider", *words)


def replays(result: pytest.RunResult) -> list[list[str]]:
    return [shlex.split(line.split("replay: ")[1]) for line in result.outlines if "replay: " in line]


def test_a_right_answer_passes_and_leaves_nothing(inner: pytest.Pytester) -> None:
    result = run(inner, """
def test_right(attest):
    report = attest.assert_attention(right(q, k, v), q, k, v)
    assert report.verdict == "certified" and attest.verify(q, k, v, right(q, k, v))
    o, bound = attest.reference(q, k, v)
    assert (abs(o - right(q, k, v)) <= bound).all()
""", "--attest-report", "kept")
    result.assert_outcomes(passed=1)
    assert not (inner.path / "kept").exists() and not replays(result)


def test_a_failure_says_the_element_and_a_command_that_finds_it_again(inner: pytest.Pytester) -> None:
    result = run(inner, """
def test_wrong(attest):
    o = right(q, k, v)
    o[1, 2] += 1
    attest.assert_attention(o, q, k, v, scale=1 / np.sqrt(8))
""", "--attest-report", "kept")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AttentionError: REFUTED*", "*o[[]0, 0, 1, 2[]]*", "*- attest -*"])
    (words,) = replays(result)
    assert words[:3] == ["python", "-m", "attest_attention"] and words[5:] == ["--contract", "f32"]
    (file,) = (inner.path / "kept").iterdir()
    assert file == Path(words[4]) and file.name.startswith("main-test_inner.py-test_wrong-")
    tensors, parameters = _tensor_file.read(file)
    assert set(tensors) == {"q", "k", "v", "o"} and float.fromhex(parameters["scale"]) == 1 / np.sqrt(8)
    again = subprocess.run([str(_program.program()), *words[3:], "--findings", ""], capture_output=True, text=True)
    assert again.returncode == 1 and "o[0, 0, 1, 2]" in again.stdout


def test_gradients(inner: pytest.Pytester) -> None:
    result = run(inner, """
def test_recorded(attest):
    attest.assert_attention(None, q, k, v, do=np.ones_like(right(q, k, v)), dq=q)

def test_asked(attest):
    assert attest.audit_gradients("builtin", only="backward/equal-dp-0", quick=True, seed=1)
""", "--attest-report", "kept")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*AttentionError: REFUTED*", "*dq[[]0, 0, *"])
    (words,) = replays(result)
    assert set(_tensor_file.read(words[4])[0]) == {"q", "k", "v", "do", "dq"}


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


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_a_failure_in_a_fixture_says_the_command_once(inner: pytest.Pytester, when: str) -> None:
    result = run(inner, f"""
@pytest.fixture
def made(attest):
    if {when == "setup"}:
        attest.assert_attention(right(q, k, v) * 2, q, k, v)
    yield
    attest.assert_attention(right(q, k, v) * 2, q, k, v)

def test_it(made):
    pass
""", "--attest-report", "kept")
    result.assert_outcomes(passed=0 if when == "setup" else 1, errors=1)
    assert len(replays(result)) == 1


def test_what_a_test_said_is_not_said_again_of_its_fixture(inner: pytest.Pytester) -> None:
    result = run(inner, """
@pytest.fixture
def made():
    yield
    raise KeyError

def test_it(made, attest):
    attest.assert_attention(right(q, k, v) * 2, q, k, v)
""", "--attest-report", "kept")
    result.assert_outcomes(failed=1, errors=1)
    assert len(replays(result)) == 1


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


def test_a_failure_shows_the_test_and_not_the_package(inner: pytest.Pytester) -> None:
    result = run(inner, """
from attest_attention import assert_attention

def test_by_fixture(attest):
    attest.assert_attention(right(q, k, v) * 2, q, k, v)

def test_by_function():
    assert_attention(right(q, k, v) * 2, q, k, v)
""")
    result.assert_outcomes(failed=2)
    result.stdout.no_fnmatch_line("*_reference.py*")


def test_without_a_folder_a_failure_says_the_option(inner: pytest.Pytester) -> None:
    result = run(inner, """
def test_wrong(attest):
    assert attest.verify(q, k, v, right(q, k, v) + 1)
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*REFUTED*", "*pytest --attest-report DIR saves*"])


@pytest.mark.dear
def test_a_failed_audit_saves_its_report_and_says_a_reproducer(inner: pytest.Pytester) -> None:
    result = run(inner, f"""
def test_mutant(attest):
    assert attest.audit("{_program.library('zoo')}:zoo_mean_empty_row", only="empty-rows", quick=True, draws=0, seed=1)

def test_builtin(attest):
    assert attest.audit(only="worked-examples", quick=True, draws=0, seed=1, dtype="f64").json["contract"] == "f64"
""", "--attest-report", "kept")
    result.assert_outcomes(passed=1, failed=1)
    names = {path.name.split("-test_inner.py-")[1] for path in (inner.path / "kept").iterdir()}
    assert {"-".join(name.split("-")[:1]) for name in names} == {"test_mutant", "test_builtin"}
    assert sum(name.endswith(".html") for name in names) == 2 and sum(name.endswith(".json") for name in names) == 2
    first = replays(result)[0]
    assert first[3] == "audit" and "--replay" in first
    again = subprocess.run([str(_program.program()), *first[3:], "--findings", ""], capture_output=True, text=True)
    assert again.returncode == 1, again.stderr


def test_contracts_are_parameters(inner: pytest.Pytester) -> None:
    result = run(inner, """
seen = []

@pytest.mark.attest(contracts=["f32", "f32-any"])
def test_named(attest, contract):
    assert attest.contract == contract
    seen.append(attest.assert_attention(right(q, k, v), q, k, v).json["contract"])

@pytest.mark.attest(contracts=["f32-ordered"])
def test_unnamed(attest):
    seen.append(attest.assert_attention(right(q, k, v), q, k, v).json["contract"])

def test_without(attest, contract):
    assert contract is None
    seen.append(attest.assert_attention(right(q, k, v), q, k, v).json["contract"])
    assert seen == ["f32", "f32-any", "f32-ordered", "f32"]
""", "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*test_named[[]f32[]] PASSED*", "*test_named[[]f32-any[]] PASSED*",
                                 "*test_unnamed[[]f32-ordered[]] PASSED*"])


@pytest.mark.parametrize(("marker", "arguments"), [
    ("contracts=[]", "attest"), ("contracts='f32'", "attest"), ("contracts=[1]", "attest"),
    ("contract=['f32']", "attest"), ("['f32']", "attest"), ("contracts=['f32']", "")])
def test_a_wrong_marker_is_an_error_that_names_the_test(inner: pytest.Pytester, marker: str, arguments: str) -> None:
    result = run(inner, f"""
@pytest.mark.attest({marker})
def test_marked({arguments}):
    pass
""")
    assert result.ret != 0 and "test_marked" in result.stdout.str() + result.stderr.str()
    result.assert_outcomes(passed=0, errors=result.parseoutcomes().get("errors", 0))


def test_a_fixture_contract_of_the_tests_own_stays_theirs(inner: pytest.Pytester) -> None:
    result = run(inner, """
@pytest.fixture
def contract():
    return "f32-any"

def test_own(attest):
    assert attest.verify(q, k, v, right(q, k, v)).json["contract"] == "f32-any"
""")
    result.assert_outcomes(passed=1)


def test_several_processes_write_different_files(inner: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    result = run(inner, """
@pytest.mark.parametrize("n", range(6))
def test_wrong(attest, n):
    for _ in range(2):
        attest.verify(q, k, v, right(q, k, v) + n + 1)
    assert False
""", "-p", "xdist", "-n", "2", "--attest-report", "kept")
    result.assert_outcomes(failed=6)
    files = sorted((inner.path / "kept").iterdir())
    assert len(files) == 12 and {file.name.split("-")[0] for file in files} == {"gw0", "gw1"}
    assert sorted(Path(words[4]) for words in replays(result)) == files
    for file in files:
        tensors, _ = _tensor_file.read(file)
        n = int(file.name.split("test_wrong-")[1].split("-")[0])
        assert np.median(tensors["o"].data) > n


def test_names_differ_where_ids_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    ids = ["t.py::a[x/y]", "t.py::a[x-y]", "u/t.py::a[x-y]", "t.py::" + "a" * 300, "t.py::" + "a" * 301, "t.py::ä[😀]"]
    names = [name_of(one) for one in ids]
    assert len(set(names)) == len(ids) and all(len(name) < 120 and name.isascii() and "/" not in name for name in names)
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw3")
    assert name_of(ids[0]).startswith("gw3-")
