"""One part of an audit as a task that may run anywhere, any number of times, and is kept under the key of its content.

A task is `attest audit --kernel K --seed S --shard i/n --json FILE`. Its key is the SHA-256 of all that decides its
report: the bytes of the kernel's library, its symbol, the contract, the seed, the part, the options and the version of
the program. A report is stored under its key, whole or not at all, so that a task that runs twice stores the same thing
twice.
"""
from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _program

# The words of `attest audit` that a campaign gives itself: an audit with another one of these would not be a shard.
OWN_OPTIONS = ("--kernel", "--seed", "--shard", "--json", "--junit", "--report", "--html", "--findings", "--draws",
               "--quick", "--contract", "--soak", "--budget", "--fail-fast", "--replay", "--jobs", "--channel")


class Interrupted(Exception):
    """An audit that something outside of it ended. It may be run again."""


class WrongTask(Exception):
    """A task that no repetition makes right: its kernel cannot be loaded, it or its contract has changed, or a word is
    refused."""


@dataclasses.dataclass(frozen=True)
class Identity:
    """What a kernel is: a library by its bytes, the built-in kernel and a command by their words."""

    spec: str
    sha256: str | None
    symbol: str

    @staticmethod
    def of(spec: str) -> Identity:
        """The identity of PATH[:SYMBOL], builtin[:SET] or command:WORDS. Raises ValueError where PATH is no file."""
        if spec.split(":", 1)[0] in ("builtin", "command"):
            return Identity(spec, None, "")
        path, symbol = spec, ""
        if not Path(path).is_file() and ":" in spec:
            path, symbol = spec.rsplit(":", 1)
        if not Path(path).is_file():
            raise ValueError(f"kernels: {spec!r} is no file, and neither builtin[:SET] nor command:WORDS")
        whole = os.path.abspath(path)
        return Identity(f"{whole}:{symbol}" if symbol else whole, digest_of(whole), symbol)

    @property
    def path(self) -> str:
        """The file of a library."""
        return self.spec.removesuffix(f":{self.symbol}") if self.symbol else self.spec

    def key(self) -> list[str | None]:
        """What of it decides a report. The path does not: a library may be moved."""
        return [self.sha256, self.symbol] if self.sha256 else [None, self.spec]


def digest_of(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def key_of(parts: dict[str, Any]) -> str:
    """The SHA-256 of an object of JSON, whatever the order of its members."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclasses.dataclass(frozen=True)
class Task:
    """Part `index` of `of` parts of an audit."""

    kernel: Identity
    words: tuple[str, ...]  # contract, seed, options
    index: int
    of: int
    version: str
    folder: str
    findings: str
    content: str  # a word for what else decides the report: the bytes of the contract file

    @property
    def key(self) -> str:
        return key_of({"kernel": self.kernel.key(), "words": self.words, "shard": [self.index, self.of],
                       "version": self.version, "content": self.content})

    @property
    def file(self) -> Path:
        """Where the report of this part is, once it is known."""
        return Path(self.folder) / "shards" / f"{self.key}.json"

    def stored(self) -> bool:
        """Whether the report of this part is there and whole."""
        try:
            report = json.loads(self.file.read_bytes())
            self.check(report)
            return isinstance(report["verdict"], str) and isinstance(report["evidence"]["sentence"], str)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, WrongTask, Interrupted):
            return False

    def check(self, report: dict[str, Any]) -> None:
        """Raises Interrupted or WrongTask where this is not the report of this task."""
        facts = (report.get("shard") or {}).get("facts") or {}
        if [facts.get("index"), facts.get("of")] != [self.index, self.of]:
            raise WrongTask("it is the report of another part")
        refuse_interrupted(report)
        if report.get("attest") != self.version:
            raise WrongTask(f"the worker has attest {report.get('attest')}, the campaign began with {self.version}")
        refuse_other_build(self.kernel, report)


def refuse_other_build(kernel: Identity, report: dict[str, Any]) -> None:
    """Raises WrongTask where this is the report of a library with other bytes."""
    if kernel.sha256 and any(build.get("sha256") != kernel.sha256 for build in report.get("kernel_builds") or []):
        raise WrongTask(_changed("kernel", kernel.path))


def refuse_changed(kernel: Identity, words: Sequence[str], content: str) -> None:
    """Raises WrongTask if the bytes of the library, or of the file of the contract, are not the bytes in the key.

    It is called on both sides of an audit. The program reads the contract when it begins, and its report says the bytes
    of the library as they were then; a library is opened again where a call has ended its process.
    """
    contract = words[words.index("--contract") + 1]
    for what, path, digest in (("kernel", kernel.path, kernel.sha256), ("contract", contract, content)):
        try:
            if digest and digest_of(path) != digest:
                raise WrongTask(_changed(what, path))
        except OSError as why:
            raise WrongTask(f"the file of the {what} {path} was not read: {why.strerror}") from why


def _changed(what: str, path: str) -> str:
    return f"the file of the {what} {path} has changed since the driver began"


def refuse_interrupted(report: dict[str, Any]) -> None:
    """Raises Interrupted where a signal ended this audit before its end, unless it refutes: a finding stands alone.

    `complete` says something else: a kernel that answers no plain call or hangs has an incomplete report,
    which is a result, and an audit that was ended within its draws has a complete one.
    """
    if report.get("verdict") == "refuted":
        return
    omitted = (report.get("evidence") or {}).get("not_asked") or []
    if left := ", ".join(one["what"] for one in omitted if one["why"] == "interrupted"):
        raise Interrupted(f"the audit was ended from outside: {left} were not asked")


# Linux ends the child with the worker that started it (PR_SET_PDEATHSIG), also where that is killed: nothing is left
# behind, and nothing judges beside the worker that takes the task over.
_WITH_PARENT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
if os.getppid() != int(sys.argv[1]): os._exit(9)
os.execv(sys.argv[2], sys.argv[2:])
"""


TOUCHED_EVERY = 3600.0  # seconds; a folder untouched for LEFT_AFTER is left over from a worker that was killed
LEFT_AFTER = 86_400.0


def run_program(words: list[str], keep: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`attest WORDS`, which ends with this process and does not get the signals of its terminal.

    While it runs the folder `keep` is touched from time to time, so that it is not taken for left over.
    """
    command = [sys.executable, "-I", "-S", "-c", _WITH_PARENT, str(os.getpid()), os.fspath(_program.program()), *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, encoding="utf-8", errors="replace", start_new_session=True) as process:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    _, errors = process.communicate(timeout=TOUCHED_EVERY)
                    return subprocess.CompletedProcess(command, process.returncode, "", errors)
                if keep is not None:
                    with contextlib.suppress(OSError):  # the whole campaign may be gone
                        os.utime(keep)
        except BaseException:
            process.kill()
            raise


def last_line(text: str) -> str:
    """The last sentence that the program said: where something was wrong, that is what."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("attest: ") if lines else "it said nothing"


def run(task: Task) -> str:
    """Judges one part and stores its report; nothing is done where it is stored already. Returns the key.

    Raises WrongTask where the program refuses the task or a file has changed, Interrupted where the audit was ended
    from outside.
    """
    if task.stored():
        return task.key
    refuse_changed(task.kernel, task.words, task.content)
    task.file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=task.file.parent) as folder:
        report = Path(folder) / "report.json"
        done = run_program(["audit", "--no-config", "--kernel", task.kernel.spec, *task.words, "--shard",
                            f"{task.index}/{task.of}", "--findings", task.findings, "--json", os.fspath(report)],
                           Path(folder))
        if done.returncode == 2:
            raise WrongTask(last_line(done.stderr))
        if done.returncode not in (0, 1, 3) or not report.is_file():
            how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
            raise Interrupted(f"the audit ended with {how}: {last_line(done.stderr)}")
        task.check(json.loads(report.read_bytes()))
        refuse_changed(task.kernel, task.words, task.content)
        with open(report, "rb") as written:
            os.fsync(written.fileno())
        os.replace(report, task.file)
    return task.key
