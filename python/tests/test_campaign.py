"""Campaigns: an audit in parts over Dask says what the audit alone says, whatever happens to workers, parts and the
driver."""
from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="campaigns need Dask")

from processes import wait_for_handler  # noqa: E402

from attest_attention import _audit, _program, _shards  # noqa: E402
from attest_attention._campaign import Campaign, campaign  # noqa: E402
from attest_attention._spellings import Options  # noqa: E402

SEED = 3
ASKED: dict[str, Any] = {"quick": True, "draws": 0,
                         "options": ("--only", "worked-examples,empty-rows,bands,windows,heads,masks")}
WORDS = ["--quick", "--draws", "0", *ASKED["options"]]
# Times, and what each part finds for itself.
TIMES = ("oracle_seconds", "kernel_seconds")
OWN = "shrunk shrunk_sentence shrunk_inputs file reproducer condition cause pictures no_pictures explain".split()


@pytest.fixture(scope="module")
def wrong() -> str:
    return f"{_program.library('zoo')}:zoo_mean_empty_row"


def without_exceptions(report: dict[str, Any]) -> dict[str, Any]:
    report = json.loads(json.dumps(report))
    for name in TIMES:
        del report["summary"][name]
    del report["cause"]
    # What a cause explains stands after what none does.
    report["findings"].sort(key=lambda finding: finding["case"])
    for finding in report["findings"]:
        for name in OWN:
            finding.pop(name, None)
    return report


@pytest.fixture(scope="module")
def alone(wrong: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The reports of the same audits without parts."""
    file = tmp_path_factory.mktemp("alone") / "report.json"
    reports = {}
    for kernel in ("builtin", wrong):
        _program.run(["audit", "--kernel", kernel, "--seed", str(SEED), *WORDS, "--findings", "", "--json", str(file)],
                     expect=(0, 1))
        reports[kernel] = without_exceptions(json.loads(file.read_bytes()))
    return reports


def reports_of(found: Campaign) -> dict[str, Any]:
    assert all(one.json is not None and not one.undecided for one in found.judged), found
    return {one.kernel: without_exceptions(one.json or {}) for one in found.judged}


def parts_of(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "shards").glob("*.json")}


@pytest.fixture(scope="module")
def judged(cluster: Any, wrong: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Campaign]:
    """A campaign of three parts, and its folder, which tests copy."""
    folder = tmp_path_factory.mktemp("judged")
    return folder, campaign(["builtin", wrong], SEED, cluster, folder=folder, shards=3,
                            progress=lambda line: None, **ASKED)


def test_merged_reports_are_those_without_parts(judged: tuple[Path, Campaign], alone: dict[str, Any]) -> None:
    folder, found = judged
    assert [one.verdict for one in found.judged] == ["certified", "refuted"]
    assert found.verdict == "refuted" and not found and bool(found.judged[0])
    assert reports_of(found) == alone
    assert len(parts_of(folder)) == 6


def test_a_part_that_was_removed_is_judged_again_and_no_other(cluster: Any, wrong: str, judged: tuple[Path, Campaign],
                                                             alone: dict[str, Any], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(judged[0], tmp_path / "copy"))
    before = parts_of(folder)
    gone, broken, *kept = sorted(before)
    (folder / "shards" / gone).unlink()
    half = (folder / "shards" / broken).read_bytes()
    (folder / "shards" / broken).write_bytes(half[:len(half) // 2])
    said: list[str] = []
    found = campaign(["builtin", wrong], SEED, cluster, folder=folder, shards=3, progress=said.append, **ASKED)
    after = parts_of(folder)
    assert set(after) == set(before) and all(after[name] == before[name] for name in kept) and len(said) == 2
    assert reports_of(found) == alone


def test_a_part_that_is_delivered_twice_counts_once(cluster: Any, alone: dict[str, Any], tmp_path: Path) -> None:
    from attest_attention._campaign import _audits
    (tasks,) = _audits(["builtin"], [SEED], tmp_path, 2, "f32", True, 0, ASKED["options"]).values()
    with distributed.Client(cluster) as client:
        twice = [client.submit(_shards.run, tasks[0], pure=False, key=f"twice-{n}") for n in range(2)]
        assert client.gather(twice) == [tasks[0].key] * 2
        again = client.submit(_shards.run, tasks[0], pure=False, key="twice-again").result()
    assert again == tasks[0].key and len(parts_of(tmp_path)) == 1
    found = campaign("builtin", SEED, cluster, folder=tmp_path, shards=2, progress=lambda line: None, **ASKED)
    assert reports_of(found) == {"builtin": alone["builtin"]}


def children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task")
    return [int(child) for task in tasks.glob("*/children") for child in task.read_text().split()]


def working(cluster: Any) -> list[int]:
    """The workers of a cluster that have a program running."""
    workers = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
    return [worker for worker in workers if any(b"audit" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                                                for child in children(worker) if Path(f"/proc/{child}").exists())]


def test_a_worker_that_is_killed_loses_nothing(cluster: Any, wrong: str, alone: dict[str, Any], tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one() -> None:
        end = time.monotonic() + 60
        while not killed and time.monotonic() < end:
            for worker in working(cluster)[:1]:
                judges = children(worker)
                os.kill(worker, signal.SIGKILL)
                killed.extend([worker, *judges])
            time.sleep(0.01)

    killer = threading.Thread(target=kill_one)
    killer.start()
    found = campaign(["builtin", wrong], SEED, cluster, folder=tmp_path, shards=3, progress=lambda line: None, **ASKED)
    killer.join()
    assert killed and reports_of(found) == alone
    assert not any(Path(f"/proc/{process}/exe").exists() for process in killed), "what the worker ran ended with it"


DRIVER = """
import sys
from attest_attention._campaign import campaign
if __name__ == "__main__":
    campaign(["builtin", sys.argv[1]], {seed}, folder=sys.argv[2], shards=4, **{asked})
"""


@pytest.mark.dear
def test_a_driver_that_is_killed_goes_on_where_it_was(cluster: Any, wrong: str, alone: dict[str, Any],
                                                      tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(seed=SEED, asked=repr(ASKED)))
    folder = tmp_path / "campaign"
    path = os.pathsep.join(word for word in sys.path if word)
    with open(tmp_path / "log", "w") as log:
        driver = subprocess.Popen([sys.executable, str(script), wrong, str(folder)],
                                  env={**os.environ, "PYTHONPATH": path}, stdout=log, stderr=log,
                                  start_new_session=True)
        end = time.monotonic() + 120
        while not parts_of(folder) and time.monotonic() < end:
            assert driver.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.01)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
    time.sleep(1)  # its workers notice
    before = parts_of(folder)
    assert before
    found = campaign(["builtin", wrong], SEED, cluster, folder=folder, shards=4, progress=lambda line: None, **ASKED)
    after = parts_of(folder)
    assert len(after) == 8 and all(after[name] == when for name, when in before.items())
    assert reports_of(found) == alone


def deadly_run(task: _shards.Task) -> str:
    """A part of the audit ends its worker, as a lack of memory or the driver of a device can."""
    if task.index == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return _shards.run(task)


@pytest.mark.dear
@pytest.mark.usefixtures("deadly")
def test_a_part_that_keeps_killing_its_worker_is_undecided(cluster: Any, wrong: str, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attest_attention._campaign.run", deadly_run)
    found = campaign(["builtin", wrong], SEED, cluster, folder=tmp_path, shards=3, progress=lambda line: None, **ASKED)
    right, refuted = found.judged
    assert right.verdict == "undecided" and refuted.verdict == "refuted" and found.verdict == "refuted"
    for one in found.judged:
        assert one.undecided == ("part 2 of 3: its worker died each time that it was asked",)
        assert one.file is None and one.json is None
    assert len(parts_of(tmp_path)) == 4, "the parts beside it were judged"


def test_a_kernel_that_cannot_be_loaded_is_undecided_with_the_programs_reason(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "no.so").write_bytes(b"no library")
    found = campaign(["builtin", str(tmp_path / "no.so")], SEED, cluster, folder=tmp_path / "c", shards=1,
                     progress=lambda line: None, **ASKED)
    assert [one.verdict for one in found.judged] == ["certified", "undecided"]
    assert "no.so" in found.judged[1].undecided[0]


@pytest.mark.parametrize(("function", "verdict", "says"), [
    pytest.param("narrow_and_wrong", "refuted", "faults in", marks=pytest.mark.dear),
    ("narrow", "certified", "CERTIFIED on its domain ("),
    pytest.param("hangs_again", "refuted", "faults in", marks=pytest.mark.nightly)])
def test_a_report_of_a_kernel_that_takes_little_or_hangs_is_a_result(cluster: Any, tmp_path: Path, function: str,
                                                                                  verdict: str, says: str) -> None:
    spec = f"kernels:{function}"
    importlib.import_module("kernels")
    kernel = _audit.command(spec, Options())
    asked: dict[str, Any] = {"quick": True, "draws": 0, "options": ["--only", "accuracy", *_audit.allowed(spec)]}
    said: list[str] = []
    (one,) = campaign(kernel, SEED, cluster, folder=tmp_path, shards=2, progress=said.append, **asked).judged
    assert one.verdict == verdict and says in one.sentence, one
    assert one.undecided == () and one.json is not None and len(said) == 2, (one, said)
    facts = [json.loads((tmp_path / "shards" / part).read_bytes())["shard"]["facts"]["reports"][0]
             for part in parts_of(tmp_path)]
    assert len(facts) == 2
    assert function != "hangs_again" or any(part["unanswered"] or part["incomplete_because"] for part in facts)
    assert campaign(kernel, SEED, cluster, folder=tmp_path, shards=2, progress=said.append, **asked).judged == (one,)
    assert len(said) == 2, "a result is not asked again"


def test_a_finding_stands_where_the_parts_cannot_be_merged(cluster: Any, wrong: str, judged: tuple[Path, Campaign],
                                                           tmp_path: Path) -> None:
    folder = Path(shutil.copytree(judged[0], tmp_path / "copy"))
    for part in parts_of(folder):
        report = json.loads((folder / "shards" / part).read_bytes())
        facts = report["shard"]["facts"]
        if facts["index"] == 1:  # as of a machine whose built-in kernel has another name
            facts["reports"][0]["kernel"] = "another"
            text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            report["shard"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
            (folder / "shards" / part).write_text(json.dumps(report))
    right, refuted = campaign(["builtin", wrong], SEED, cluster, folder=folder, shards=3, progress=pytest.fail,
                              **ASKED).judged
    assert right.verdict == "undecided" and right.sentence.startswith("attest merge: ")
    assert refuted.verdict == "refuted" and refuted.sentence.startswith("part ") and right.file is refuted.file is None
    assert right.undecided == (right.sentence,) and refuted.undecided[0].startswith("attest merge: ")


def test_the_parts_of_a_command_are_merged(cluster: Any, tmp_path: Path) -> None:
    importlib.import_module("kernels")
    (one,) = campaign(_audit.command("kernels:plain", Options()), SEED, cluster, folder=tmp_path, shards=2, quick=True,
                      draws=0, options=["--only", "accuracy", *_audit.allowed("kernels:plain")],
                      progress=lambda line: None).judged
    assert one.verdict == "certified" and one.json is not None, one


@pytest.mark.parametrize(("draws", "options", "seconds", "lacking"), [
    (0, (), 0.5, r"\d+ of \d+ inputs"),
    pytest.param(100_000, ("--only", "worked-examples,drawn"), 4, r"draws \d+ to 100000", marks=pytest.mark.dear)])
def test_an_audit_that_is_ended_from_outside_is_not_stored(tmp_path: Path, draws: int, options: tuple[str, ...],
                                                           seconds: float, lacking: str) -> None:
    from attest_attention._campaign import _audits
    (tasks,) = _audits(["builtin"], [SEED], tmp_path, 1, "f32", False, draws, options).values()
    errors: list[BaseException] = []

    def judge() -> None:
        try:
            _shards.run(tasks[0])
        except BaseException as why:
            errors.append(why)

    thread = threading.Thread(target=judge)
    thread.start()
    end = time.monotonic() + 30
    while thread.is_alive() and time.monotonic() < end:
        for child in children(os.getpid()):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a child that has ended
                if Path(f"/proc/{child}/exe").resolve().name == "attest":
                    wait_for_handler(child)
                    time.sleep(seconds)
                    os.kill(child, signal.SIGTERM)
        time.sleep(0.05)
    thread.join()
    assert len(errors) == 1 and isinstance(errors[0], _shards.Interrupted)
    assert re.fullmatch(f"the audit was ended from outside: {lacking} were not asked", str(errors[0])), errors
    assert not tasks[0].stored() and not list((tmp_path / "shards").glob("*"))


