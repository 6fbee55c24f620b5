"""A folder of candidate kernels, each judged in isolation: one line of JSON a kernel as soon as it is known, and a
page.

This is for whoever makes kernels by the hundred (a search, a generator, a model): `--quick --fail-fast` ends at the
first finding, so that wrong ones are out in a second, and says *certified* of the others within ten.
"""
from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _program
from ._campaign import MOST_DRAWS, VERDICTS, Progress, Word, _say, connected, contract_of, outcomes
from ._checked import no_own_option, path_of, reached_by, told_by, whole, words_of
from ._candidates_page import page_of
from ._shards import (Identity, Interrupted, WrongTask, key_of, last_line, refuse_changed, refuse_interrupted,
                      refuse_other_build, run_program)
from ._words import Contract


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One kernel to be judged with `--quick --fail-fast`."""

    kernel: Identity
    words: tuple[str, ...]
    content: str
    version: str

    @property
    def key(self) -> str:
        return key_of({"candidate": self.kernel.key(), "words": self.words, "version": self.version,
                       "content": self.content})


def judge(candidate: Candidate) -> dict[str, Any]:
    """The line of one candidate.

    Raises Interrupted where its audit was ended from outside, WrongTask where none began or a file has changed.
    """
    refuse_changed(candidate.kernel, candidate.words, candidate.content)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="attest-candidate-") as folder:
        file = Path(folder) / "report.json"
        done = run_program(["audit", "--no-config", "--kernel", candidate.kernel.spec, *candidate.words, "--quick",
                            "--fail-fast", "--findings", "", "--json", os.fspath(file)])
        if done.returncode == 2:
            raise WrongTask(last_line(done.stderr))
        if done.returncode not in (0, 1, 3) or not file.is_file():
            raise Interrupted(f"the audit ended with status {done.returncode}: {last_line(done.stderr)}")
        report = json.loads(file.read_bytes())
    refuse_interrupted(report)
    if report.get("attest") != candidate.version:
        raise WrongTask(f"the worker has attest {report.get('attest')}, the driver {candidate.version}")
    refuse_other_build(candidate.kernel, report)
    refuse_changed(candidate.kernel, candidate.words, candidate.content)
    line = _line(candidate, report["verdict"], report["evidence"]["sentence"], time.monotonic() - begin)
    line.update(contract=report["contract"], seed=report["seed"], elements=report["summary"]["elements"],
                max_error_in_bounds=report["summary"]["max_error_in_bounds"],
                kernel_seconds=report["summary"]["kernel_seconds"])
    against = [finding for finding in report["findings"] if not finding["waived"]]
    if against:
        first = against[0]
        line.update({"class": first["class"], "case": f"{first['check']}/{first['case']}", "finding": first["sentence"],
                     "reproducer": first["reproducer"]})
    return line


def _line(candidate: Candidate, verdict: str, sentence: str, seconds: float) -> dict[str, Any]:
    kernel = candidate.kernel
    return {"kernel": kernel.spec, "sha256": kernel.sha256, "key": candidate.key, "verdict": verdict,
            "sentence": sentence, "seconds": round(seconds, 3)}


def candidates(kernels: Word | Iterable[Word], cluster: Any = None, *, into: Word = "candidates.jsonl",
               page: Word | None = "candidates.html", contract: Contract = "f32", seed: int = 1,
               draws: int | None = None, options: str | Iterable[str] = (),
               progress: Progress | None = None) -> list[dict[str, Any]]:
    """Judges each kernel with `--quick --fail-fast`, on the workers of a cluster.

    kernels   a folder, of which every *.so is a kernel; or words that `attest audit --kernel` takes
    cluster   as in `campaign`
    into      JSON Lines: a line a kernel that was judged, written when it is known. Kernels that have a line there
              already, with the same bytes, contract, seed, options and version, are not asked again
    draws     exactly so many drawn cases, whatever the machine; None: as many as ten seconds allow
    page      one HTML page, without script, nothing loaded from elsewhere: certified, undecided, refuted. None: no page

    A line has "kernel", "sha256", "key", "verdict", "sentence", "seconds", "contract", "seed", "elements",
    "max_error_in_bounds", "kernel_seconds"; of a refuted kernel "class", "case", "finding", "reproducer". A kernel
    without an audit (it cannot be loaded, kills its worker each time, its file or the contract has changed, a worker
    lacks the program) is undecided; its line has the first six only, is not in the file, and it is asked again the next
    time. Returns the lines, in the order of `kernels`.
    """
    words = words_of("options", options, "words")
    no_own_option(words)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed: is {seed!r}, expected a whole number from 0 on")
    if draws is not None:
        whole("draws", draws, 0, MOST_DRAWS)
    drawn = () if draws is None else ("--draws", str(draws))
    file = Path(path_of("into", into))
    if file.is_dir():
        raise ValueError(f"into: {file} is a folder")
    table = None if page is None else Path(path_of("page", page, "a path or None"))
    told_by(progress)
    reached_by(cluster)
    tell = progress or _say
    names = _names(kernels)
    content, claim = contract_of(contract)
    version = _program.version()
    every = [Candidate(Identity.of(name), ("--contract", claim, "--seed", str(seed), *drawn, *words), content, version)
             for name in names]
    known = _known(file)
    missing = {one.key: one for one in every if one.key not in known}
    if missing:
        file.parent.mkdir(parents=True, exist_ok=True)
        with connected(cluster) as client, open(file, "a", encoding="utf-8") as lines:
            for line in _judged(client, list(missing.values())):
                known[line["key"]] = line
                if _audited(line):
                    lines.write(json.dumps(line) + "\n")
                    lines.flush()
                tell(f"attest candidates: {line['verdict']:<9} {line['seconds']:6.2f} s  {line['kernel']}"
                     + ("" if _audited(line) else f": {line['sentence']}"))
    found = [known[one.key] | {"kernel": one.kernel.spec} for one in every]
    if table is not None:
        table.write_text(page_of(found), encoding="utf-8")
    return found


def _names(kernels: Word | Iterable[Word]) -> list[str]:
    if isinstance(kernels, (str, os.PathLike)):
        if not Path(kernels).is_dir():
            raise ValueError(f"kernels: {os.fspath(kernels)!r} is no folder; single kernels are given as a list")
        found = sorted(os.fspath(path) for path in Path(kernels).glob("*.so"))
        if not found:
            raise ValueError(f"kernels: the folder {os.fspath(kernels)!r} has no file *.so")
        return found
    found = words_of("kernels", kernels, "a folder, or words that `attest audit --kernel` takes")
    if not found:
        raise ValueError("kernels: there is none")
    return found


def _known(into: Path) -> dict[str, dict[str, Any]]:
    """The lines that are there already, by their keys. Lines without an audit, which earlier versions kept, are left
    out.

    A last line that a killed driver left half is cut off; a line that only lacks its newline gets it. Raises ValueError
    with the number of the first line that is none of this function's; the file is then as it was.
    """
    if not into.exists():
        return {}
    text = into.read_bytes()
    *whole, last = text.split(b"\n")
    lines = [_parsed(into, number, line) for number, line in enumerate(whole, 1)]
    if _half(last):
        os.truncate(into, len(text) - len(last))
    elif last:
        lines.append(_parsed(into, len(lines) + 1, last))
        with open(into, "ab") as file:
            file.write(b"\n")
    return {line["key"]: line for line in lines if _audited(line)}


def _audited(line: dict[str, Any]) -> bool:
    """Whether it says what an audit found. Else something kept the audit from it, which need not be there the next
    time."""
    return "contract" in line


_BEGIN = b'{"kernel": "'  # of every line of every version


def _half(line: bytes) -> bool:
    """Whether it is a line of this function without its end."""
    if not line or not (line.startswith(_BEGIN) or _BEGIN.startswith(line)):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


def _parsed(into: Path, number: int, text: bytes) -> dict[str, Any]:
    where = f"into: {into}, line {number}:"
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as why:
        raise ValueError(f"{where} is no JSON: {why}") from why
    if not isinstance(line, dict):
        raise ValueError(f"{where} is no object")
    for name, kind in (("kernel", str), ("key", str), ("verdict", str), ("sentence", str), ("seconds", (int, float))):
        if name not in line:
            raise ValueError(f"{where} has no {name!r}, as every line of candidates has")
        if not isinstance(line[name], kind) or (name == "verdict" and line[name] not in VERDICTS):
            raise ValueError(f"{where} its {name!r} is {line[name]!r}")
    return line


def _judged(client: Any, missing: list[Candidate]) -> Iterable[dict[str, Any]]:
    """The lines, in the order in which they become known; suspects of having killed a worker last, each alone."""
    suspects: list[Candidate] = []
    for one, line, why, again in outcomes(client, judge, missing):
        if again:
            suspects.append(one)
        else:
            yield line if line is not None else _line(one, "undecided", why, 0)
    for suspect in suspects:
        (one, line, why, _), = outcomes(client, judge, [suspect], ",alone")
        yield line if line is not None else _line(one, "undecided", why, 0)
