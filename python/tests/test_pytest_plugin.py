"""The pytest plugin: what a failed test says and leaves behind, contracts as parameters, several processes."""
from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attest_attention import _program, _tensor_file, reference, verify
from attest_attention._reference import AttentionError
from attest_attention.pytest_plugin import name_of

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
