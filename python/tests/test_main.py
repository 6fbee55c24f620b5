"""`python -m attest_attention`, as a user calls it."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from attest_attention import __main__ as main
from attest_attention import _program

HERE = Path(__file__).resolve().parent


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(HERE.parent), str(HERE)])
    return subprocess.run([sys.executable, "-m", "attest_attention", *words], capture_output=True, text=True,
                          check=False, cwd=cwd, env={**os.environ, "PYTHONPATH": path})


SMALL = ("--quick", "--seed", "1", "--draws", "0", "--only", "worked-examples")


def test_every_command_is_the_programs(tmp_path: Path) -> None:
    for words in (["--version"], ["list", "contracts"], ["audit", *SMALL],
                  ["audit", "--kernel", "builtin:scalar", *SMALL], ["nonsense"], ["verify", "nothing.safetensors"]):
        ours = run(*words, cwd=tmp_path)
        theirs = subprocess.run([str(_program.program()), *words], capture_output=True, text=True, check=False,
                                cwd=tmp_path)
        assert ours.returncode == theirs.returncode, words
        assert ours.stdout.splitlines()[-1:] == theirs.stdout.splitlines()[-1:] and ours.stderr == theirs.stderr


@pytest.mark.parametrize("words", [["audit", "kernels:plain"],
                                   pytest.param(["audit", "--kernel", "kernels:plain"], marks=pytest.mark.dear),
                                   pytest.param(["audit", "--kernel=kernels:plain"], marks=pytest.mark.dear)])
def test_a_callable_is_audited(words: list[str], tmp_path: Path) -> None:
    done = run(*words, *SMALL, "--json", "r.json", cwd=tmp_path)
    assert done.returncode == 0 and "CERTIFIED" in done.stdout and "kernels:plain" in done.stdout, done
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "certified"


def test_exit_status_and_tracebacks(tmp_path: Path) -> None:
    done = run("audit", "kernels:mean_of_values", *SMALL, cwd=tmp_path)
    assert done.returncode == 1 and "REFUTED" in done.stdout
    done = run("audit", "kernels:raises_on_long", "--quick", "--seed", "1", "--only", "accuracy", "--draws", "0",
               "--fail-fast", cwd=tmp_path)
    assert done.returncode == 1 and "in raises_on_long" in done.stderr
    for words, says in ((["audit", "kernels:nothing"], "attest: kernel: kernels has no 'nothing'"),
                        (["audit", "kernels:plain", "--only", "nonsense"], "attest: only: no check"),
                        (["audit", "kernels:plain", "--kernel", "builtin"],
                         "attest: kernel: a Python callable is audited by"),
                        (["audit", "kernels:plain", "--layout", "nhd"], "attest: layout: is 'nhd'")):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith(says) and done.stderr.count("\n") == 1, done


@pytest.mark.dear
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_report_that_could_not_be_written_is_shown(tmp_path: Path) -> None:
    done = run("audit", "kernels:plain", *SMALL, "--json", "/dev/full", cwd=tmp_path)
    assert done.returncode == 2 and "CERTIFIED" in done.stdout and done.stderr.startswith("attest: json: /dev/full: "
                                                                                          ""), done


def test_python_takes_its_own_words_and_leaves_the_others() -> None:
    given, rest = main.parsed(["--quick", "--seed", "7", "--dtype", "bf16", "--allow", "net", "--isolate", "--json",
                               "x"])
    assert rest == ["--quick", "--seed", "7"]
    assert (given.dtype, given.allow, given.isolate, given.json) == ("bf16", ["net"], True, "x")


@pytest.mark.parametrize(("words", "kernel"), [
    (["a.b:f", "--quick"], "a.b:f"), (["--kernel", "a:f.g"], "a:f.g"), (["--quick"], None),
    (["--kernel", "builtin:avx2"], None),
    (["--kernel", "libmine.so:f"], None), (["--kernel", "./x:f"], None), (["--only", "a:b"], None)])
def test_which_words_name_a_callable(words: list[str], kernel: str | None) -> None:
    assert main.kernel_of(words) == kernel


@pytest.mark.dear
def test_the_files_of_options_are_for_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.attest.audit]\nseed = 7\nquick = true\ndraws = 0\n'
                                             'only = "worked-examples"\nfindings = ""\n')
    done = run("audit", "kernels:plain", "--seed", "8", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == 0, done
    assert json.loads((tmp_path / "r.json").read_text())["seed"] == 8
    code = "import attest_attention as a, kernels\na.audit(kernels.plain, quick=True, seed=9, draws=0, only='scale')"
    (tmp_path / "attest.toml").write_text("[audit]\nnonsense = 1\n")
    path = os.pathsep.join([str(HERE.parent), str(HERE)])
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})
    refused = run("audit", "kernels:plain", *SMALL, cwd=tmp_path)
    assert refused.returncode == 2 and "there is no option 'nonsense'" in refused.stderr, refused
