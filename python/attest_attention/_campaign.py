"""Audits of many kernels and seeds over a cluster: their shards are tasks of Dask, `attest merge` makes one verdict of
them.

Dask comes with `pip install attest-attention[campaign]` and is imported when a campaign begins.
"""
from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _program
from ._checked import no_own_option, of_type, path_of, reached_by, told_by, whole, words_of
from ._shards import (LEFT_AFTER, Identity, Interrupted, Task, WrongTask, digest_of, key_of, last_line,
                      run, run_program)
from ._words import Contract

VERDICTS = ("certified", "undecided", "refuted")  # from good to bad
MOST_DRAWS = 1_000_000_000
Progress = Callable[[str], None]
Word = Union[str, "os.PathLike[str]"]  # a name or a path


@dataclasses.dataclass(frozen=True)
class Judged:
    """What a campaign knows of one kernel under one seed."""

    kernel: str
    seed: int
    verdict: str
    sentence: str
    undecided: tuple[str, ...]  # the parts without a report, each with its reason
    file: Path | None  # the merged report, as `attest audit --json` writes it; None where parts are missing

    @property
    def json(self) -> dict[str, Any] | None:
        """The merged report, or None where parts are missing."""
        report: dict[str, Any] | None = None if self.file is None else json.loads(self.file.read_bytes())
        return report

    def __bool__(self) -> bool:
        return self.verdict == "certified"


@dataclasses.dataclass(frozen=True)
class Campaign:
    """The verdicts of a campaign, one a kernel and seed. It is true where all are certified."""

    judged: tuple[Judged, ...]

    @property
    def verdict(self) -> str:
        """The worst one: refuted before undecided before certified."""
        return max((one.verdict for one in self.judged), key=VERDICTS.index)

    def __bool__(self) -> bool:
        return self.verdict == "certified"

    def __repr__(self) -> str:
        return "\n".join(f"{one.verdict:<9}  {one.kernel}  seed {one.seed}  {one.sentence}" for one in self.judged)


def campaign(kernels: Word | Iterable[Word], seeds: int | Iterable[int], cluster: Any = None, *,
             folder: Word = "attest-campaign", shards: int = 8, contract: Contract = "f32", quick: bool = False,
             draws: int = 100, options: str | Iterable[str] = (), progress: Progress | None = None) -> Campaign:
    """Audits each kernel under each seed, in parts that run on the workers of a cluster.

    kernels   words that `attest audit --kernel` takes: "builtin", "./libmine.so:symbol", "command:…"; or paths
    cluster   None: one process a processor of this machine. Else a cluster or client of Dask, or the address of a
              scheduler
    folder    where reports are kept. Workers must see it and the kernels under the same path. What is there is not
              asked again, so a campaign that was interrupted goes on where it was
    shards    the parts of each audit
    contract  what the kernels claim: a name of `attest list contracts`, a file, or a dict as such a file holds
    draws     the drawn cases of each audit
    options   further words for `attest audit`, such as "--device" or "--allow", "read:/opt/driver"

    A part cannot be judged if it keeps killing its worker or its kernel cannot be loaded. It makes the audit undecided
    and is named with its reason, unless another part refutes the kernel. Raises ValueError, or TypeError for what has
    the wrong type, where an argument is wrong, ImportError without Dask.
    """
    names = words_of("kernels", kernels, "words that `attest audit --kernel` takes")
    numbers = [seeds] if isinstance(seeds, int) else list(of_type("seeds", seeds, (Iterable,), "whole numbers"))
    where = Path(path_of("folder", folder)).absolute()
    told_by(progress)
    reached_by(cluster)
    audits = _audits(names, numbers, where, shards, contract, quick, draws, words_of("options", options, "words"))
    (where / "shards").mkdir(parents=True, exist_ok=True)
    (where / "reports").mkdir(exist_ok=True)
    _sweep(where / "shards")
    missing = {task.key: task for tasks in audits.values() for task in tasks if not task.stored()}
    reasons: dict[str, str] = {}
    if missing:
        with connected(cluster) as client:
            reasons = _judge(client, missing, progress or _say)
    return Campaign(tuple(_merged(name, seed, tasks, reasons, where) for (name, seed), tasks in audits.items()))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _audits(names: list[str], seeds: list[int], where: Path, shards: int, contract: Contract, quick: bool, draws: int,
            options: Sequence[str]) -> dict[tuple[str, int], list[Task]]:
    """The tasks of each audit. Raises ValueError with the name of the argument that is wrong."""
    if not names:
        raise ValueError("kernels: there is none")
    if not seeds:
        raise ValueError("seeds: there is none")
    if any(isinstance(seed, bool) or not isinstance(seed, int) or seed < 0 for seed in seeds):
        raise ValueError(f"seeds: {seeds!r} are not all whole numbers from 0 on")
    whole("shards", shards, 1, 1_000_000)
    whole("draws", draws, 0, MOST_DRAWS)
    no_own_option(options)
    content, claim = contract_of(contract)
    version = _program.version()
    audits: dict[tuple[str, int], list[Task]] = {}
    for name in names:
        kernel = Identity.of(name)
        for seed in seeds:
            words = ("--contract", claim, "--seed", str(seed), "--draws", str(draws), *(["--quick"] if quick else []),
                     *options)
            findings = where / "findings" / key_of({"kernel": kernel.key(), "words": words, "of": shards})[:16]
            audits[name, seed] = [Task(kernel, words, index, shards, version, os.fspath(where), os.fspath(findings),
                                       content)
                                  for index in range(1, shards + 1)]
    return audits


def contract_of(contract: Any) -> tuple[str, str]:
    """What else than its word decides of a contract (the bytes of a file), and that word."""
    if isinstance(contract, Mapping):
        return "", json.dumps(contract)
    word = path_of("contract", contract, "the name of a contract or a file")
    if Path(word).is_file():
        return digest_of(word), os.path.abspath(word)
    known = [entry["name"] for entry in json.loads(_program.run(["list", "contracts", "--json"]).stdout)]
    if word.partition("+")[0] not in known:
        raise ValueError(f"contract: {word!r} is neither a file nor one of {', '.join(known)}")
    return "", word


def _sweep(shards: Path) -> None:
    """Removes what killed workers left there, a day ago or longer. A part that runs touches its folder."""
    for left in shards.glob(".part-*"):
        with contextlib.suppress(OSError):  # its worker, or another campaign, has removed it meanwhile
            if time.time() - left.stat().st_mtime > LEFT_AFTER:
                shutil.rmtree(left, ignore_errors=True)


def _dask() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as why:
        raise ImportError("a campaign needs Dask: pip install 'attest-attention[campaign]'") from why


@contextlib.contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """A client of Dask for a cluster, a client, an address, or (None) the processors of this machine."""
    distributed = _dask()
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    own = None
    if cluster is None:
        processors = len(os.sched_getaffinity(0))
        own = cluster = distributed.LocalCluster(n_workers=processors, threads_per_worker=1, processes=True,
                                                 memory_limit=0, dashboard_address=None)
    try:
        with distributed.Client(cluster, set_as_default=False) as client:
            yield client
    finally:
        if own is not None:
            own.close()


def _judge(client: Any, missing: dict[str, Task], tell: Progress) -> dict[str, str]:
    """Runs the tasks. Returns why a task has no report then, by its key."""
    reasons: dict[str, str] = {}
    suspects: list[Task] = []
    for done, (task, _, why, again) in enumerate(outcomes(client, run, list(missing.values())), 1):
        if again:
            suspects.append(task)
        elif why:
            reasons[task.key] = why
        tell(f"attest campaign: {done} of {len(missing)} parts; {task.kernel.spec}, part {task.index} of {task.of}"
             + (f": {why}" if why else ""))
    # A worker that dies takes the tasks beside it with it. Each of these tasks is asked again, alone, so that only a
    # task that kills its worker again is to blame.
    for task in suspects:
        (_, _, why, _), = outcomes(client, run, [task], ",alone")
        if why:
            reasons[task.key] = why
            tell(f"attest campaign: {task.kernel.spec}, part {task.index} of {task.of}, alone: {why}")
    return reasons


def outcomes(client: Any, work: Callable[[Any], Any], tasks: list[Any],
             mark: str = "") -> Iterator[tuple[Any, Any, str, bool]]:
    """Each task when it is done: the task, its result (or None), why it has none, and whether to ask it again.

    For Dask two tasks are one where all of them is the same, their folder too: the key of a report alone does not tell
    the tasks of two campaigns on one scheduler apart.
    """
    distributed = _dask()
    futures = {client.submit(work, task, key=f"attest-{key_of(dataclasses.asdict(task))}{mark}", pure=True): task
               for task in tasks}
    for future in distributed.as_completed(list(futures), loop=client.loop):
        task = futures.pop(future)
        result: Any = None
        error: Exception | None = None
        try:
            result = future.result()
        except Exception as why:  # of the task; or its worker died before the result came here, in another task
            error = why
        if error is None:
            yield task, result, "", False
        elif isinstance(error, distributed.scheduler.KilledWorker):
            yield task, None, "its worker died each time that it was asked", True
        elif isinstance(error, (Interrupted, WrongTask)):
            yield task, None, str(error), isinstance(error, Interrupted)
        else:
            yield task, None, f"{type(error).__name__}: {error}", False
        future.release()


def _merged(name: str, seed: int, tasks: list[Task], reasons: dict[str, str], where: Path) -> Judged:
    """One verdict of the parts of an audit, by `attest merge`."""
    lacking = [task for task in tasks if not task.stored()]
    if lacking:
        undecided = tuple(f"part {task.index} of {task.of}: {reasons.get(task.key, 'its report is gone')}"
                          for task in lacking)
        sentence = f"{len(lacking)} of {len(tasks)} parts have no report; {undecided[0]}"
        return _unmerged(name, seed, [task for task in tasks if task not in lacking], undecided, sentence)
    file = where / "reports" / f"{key_of({'parts': [task.key for task in tasks]})}.json"
    # The program does not know by itself that two commands are one kernel; here their words say so, as they do in a
    # key.
    one_kernel = ["--same-kernel"] if name.startswith("command:") else []
    done = run_program(["merge", "--no-config", *(os.fspath(task.file) for task in tasks), "--json", os.fspath(file),
                        *one_kernel])
    if done.returncode not in (0, 1, 3):
        why = f"attest merge: {last_line(done.stderr)}"
        return _unmerged(name, seed, tasks, (why,), why)
    report = json.loads(file.read_bytes())
    return Judged(name, seed, report["verdict"], report["evidence"]["sentence"], (), file)


def _unmerged(name: str, seed: int, there: list[Task], undecided: tuple[str, ...], sentence: str) -> Judged:
    """An audit whose parts have no one report: refuted if a part that is there refutes, since its findings stand
    alone."""
    for task in there:
        report = json.loads(task.file.read_bytes())
        if report["verdict"] == "refuted":
            sentence = f"part {task.index} of {task.of}: {report['evidence']['sentence']}"
            return Judged(name, seed, "refuted", sentence, undecided, None)
    return Judged(name, seed, "undecided", sentence, undecided, None)
