"""What changes while a campaign runs is not taken for what it was: kernels, contracts, and the folders of parts."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="campaigns need Dask")

from attest_attention import _campaign, _candidates, _program, _shards  # noqa: E402
from attest_attention._campaign import campaign  # noqa: E402
from attest_attention._candidates import candidates  # noqa: E402

FEW = ("--only", "worked-examples,empty-rows,masks")
CHANGED = "the file of the {} {} has changed since the driver began"


def quiet(line: str) -> None:
    pass


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    return Path(shutil.copy(_program.library("kernel_scalar"), tmp_path / "kernel.so"))


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    file = tmp_path / "mine.json"
    file.write_text('{"from": "f32"}')
    return file


def before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, change: Callable[[], object]) -> None:
    """Makes a change just before a function of a module does its work."""
    real = getattr(module, name)

    def changing(*given: Any, **named: Any) -> Any:
        change()
        return real(*given, **named)

    monkeypatch.setattr(module, name, changing)


def around(monkeypatch: pytest.MonkeyPatch, module: Any, change: Callable[[], object],
           back: Callable[[], object]) -> None:
    """Makes a change while the program runs, and takes it back."""
    real = module.run_program

    def changing(*given: Any, **named: Any) -> subprocess.CompletedProcess[str]:
        change()
        done: subprocess.CompletedProcess[str] = real(*given, **named)
        back()
        return done

    monkeypatch.setattr(module, "run_program", changing)


def rebuild(kernel: Path) -> None:
    """Replaces a library by another that computes the same, as a linker does: under the same name, by a new file."""
    other = kernel.with_suffix(".new")
    other.write_bytes(kernel.read_bytes() + b"another build")
    other.replace(kernel)


def part(where: Path, kernel: str, contract: str = "f32") -> _shards.Task:
    ((task,),) = _campaign._audits([kernel], [1], where, 1, contract, True, 0, FEW).values()
    return task


def candidate(kernel: str, contract: str = "f32") -> _candidates.Candidate:
    content, claim = _campaign.contract_of(contract)
    words = ("--contract", claim, "--seed", "1", *FEW)
    return _candidates.Candidate(_shards.Identity.of(kernel), words, content, _program.version())


def test_a_candidate_whose_file_is_replaced_before_its_turn_has_no_line(cluster: Any, kernel: Path, tmp_path: Path,
                                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    into, first = tmp_path / "lines", kernel.read_bytes()
    asked: dict[str, Any] = {"into": into, "page": None, "options": FEW, "progress": quiet}
    with monkeypatch.context() as changing:
        before(changing, _candidates, "_known", lambda: rebuild(kernel))
        (line,) = candidates([str(kernel)], cluster, **asked)
    assert (line["verdict"], line["sentence"]) == ("undecided", CHANGED.format("kernel", kernel))
    kernel.write_bytes(first)
    (again,) = candidates([str(kernel)], cluster, **asked)
    assert again["verdict"] == "certified" and again["key"] == line["key"], "it was asked again"
    assert [json.loads(text) for text in into.read_text().splitlines()] == [again]


def test_a_part_under_another_contract_is_not_stored(cluster: Any, contract: Path, tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    inaccurate = f"{_program.library('zoo')}:zoo_exp_64_ulp"  # refuted under f32, certified under f32-any
    asked: dict[str, Any] = {"folder": tmp_path / "c", "shards": 1, "contract": str(contract), "quick": True,
                             "draws": 0, "options": ("--only", "worked-examples,accuracy"), "progress": quiet}
    with monkeypatch.context() as changing:
        before(changing, _campaign, "_sweep", lambda: contract.write_text('{"from": "f32-any"}'))
        (one,) = campaign(inaccurate, 1, cluster, **asked).judged
    assert one.undecided == ("part 1 of 1: " + CHANGED.format("contract", contract),)
    contract.write_text('{"from": "f32"}')
    assert campaign(inaccurate, 1, cluster, **asked).verdict == "refuted"


def test_a_candidate_under_another_contract_has_no_line(cluster: Any, contract: Path, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    before(monkeypatch, _candidates, "_known", lambda: contract.write_text('{"from": "f32-any"}'))
    (line,) = candidates(["builtin"], cluster, into=tmp_path / "lines", page=None, options=FEW, contract=str(contract),
                         progress=quiet)
    assert (line["verdict"], line["sentence"]) == ("undecided", CHANGED.format("contract", contract))
    assert (tmp_path / "lines").read_bytes() == b""


@pytest.mark.parametrize("what", ["kernel", "contract"])
def test_what_changes_during_the_audit_is_noticed_behind_it(kernel: Path, contract: Path, tmp_path: Path, what: str,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c" / "shards").mkdir(parents=True)
    task, one = part(tmp_path / "c", str(kernel), str(contract)), candidate(str(kernel), str(contract))
    first = {"kernel": kernel.read_bytes(), "contract": contract.read_bytes()}
    files = {"kernel": kernel, "contract": contract}
    for module, judge in ((_shards, lambda: _shards.run(task)), (_candidates, lambda: _candidates.judge(one))):
        with monkeypatch.context() as changing:
            around(changing, module, lambda: None, lambda: files[what].write_bytes(first[what] + b"\n"))
            with pytest.raises(_shards.WrongTask, match=f"^{CHANGED.format(what, files[what])}$"):
                judge()
        files[what].write_bytes(first[what])
    assert not task.stored() and not list((tmp_path / "c" / "shards").iterdir())


def test_a_report_of_another_library_is_refused_though_the_file_is_back(kernel: Path, tmp_path: Path,
                                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    task, one, first = part(tmp_path / "c", str(kernel)), candidate(str(kernel)), kernel.read_bytes()
    for module, judge in ((_shards, lambda: _shards.run(task)), (_candidates, lambda: _candidates.judge(one))):
        with monkeypatch.context() as changing:
            around(changing, module, lambda: rebuild(kernel), lambda: kernel.write_bytes(first))
            with pytest.raises(_shards.WrongTask, match=f"^{CHANGED.format('kernel', kernel)}$"):
                judge()


@pytest.mark.parametrize("what", ["kernel", "contract"])
def test_a_worker_that_does_not_see_a_file_says_so(kernel: Path, contract: Path, tmp_path: Path, what: str) -> None:
    task, one = part(tmp_path / "c", str(kernel), str(contract)), candidate(str(kernel), str(contract))
    gone = {"kernel": kernel, "contract": contract}[what]
    gone.unlink()
    for judge in (lambda: _shards.run(task), lambda: _candidates.judge(one)):
        with pytest.raises(_shards.WrongTask,
                           match=f"^the file of the {what} {gone} was not read: No such file or directory$"):
            judge()


def test_a_folder_of_a_part_that_is_removed_meanwhile_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".part-gone").symlink_to(tmp_path / "nowhere")  # found by a glob, and not there for stat
    old = tmp_path / ".part-old"
    old.mkdir()
    os.utime(old, (time.time() - 90_000,) * 2)
    (tmp_path / ".part-new").mkdir()
    _campaign._sweep(tmp_path)
    assert not old.exists() and (tmp_path / ".part-new").exists()


def test_a_part_that_runs_for_days_keeps_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = part(tmp_path, "builtin")
    slow, go_on = tmp_path / "slow", tmp_path / "go-on"
    slow.write_text(f"#!/bin/sh\nwhile [ ! -e '{go_on}' ]; do sleep 0.05; done\necho 'attest: that was all' >&2\nexit "
                    "2\n")
    slow.chmod(0o755)
    monkeypatch.setenv("ATTEST_PROGRAM", str(slow))
    monkeypatch.setattr(_shards, "TOUCHED_EVERY", 0.05, raising=False)
    errors: list[str] = []

    def judge() -> None:
        try:
            _shards.run(task)
        except _shards.WrongTask as why:
            errors.append(str(why))

    thread = threading.Thread(target=judge)
    thread.start()
    try:
        end = time.monotonic() + 30
        while not (folders := list((tmp_path / "shards").glob(".part-*"))) and time.monotonic() < end:
            time.sleep(0.01)
        (folder,) = folders
        os.utime(folder, (time.time() - 90_000,) * 2)
        while time.time() - folder.stat().st_mtime > 80_000 and time.monotonic() < end:
            time.sleep(0.01)
        _campaign._sweep(tmp_path / "shards")
        assert folder.is_dir()
    finally:
        go_on.touch()
        thread.join()
    assert errors == ["that was all"]


@pytest.mark.parametrize("damage", [
    {"kernel_builds": 5}, {"evidence": {"not_asked": [{}]}}, {"evidence": 5}, {"shard": [1, 1]}, {"verdict": None},
    {"verdict": "refuted", "evidence": {}}])
def test_a_stored_part_that_is_no_report_is_judged_again(cluster: Any, kernel: Path, tmp_path: Path,
                                                         damage: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"folder": tmp_path, "shards": 1, "quick": True, "draws": 0, "options": FEW,
                             "progress": quiet}
    assert campaign(kernel, 1, cluster, **asked).verdict == "certified"
    (file,) = (tmp_path / "shards").glob("*.json")
    file.write_text(json.dumps({"attest": _program.version(), "shard": {"index": 1, "of": 1}, "verdict": "undecided"}
                               | damage))
    (one,) = campaign(kernel, 1, cluster, **asked).judged
    assert one.verdict == "certified" and one.file is not None
