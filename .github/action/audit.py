"""Runs `attest audit` in a workflow: reports in a folder, a summary of the step, an annotation for each finding.

usage: audit.py ATTEST

The inputs of action.yml are in the variables ATTEST_KERNEL, _CONTRACT, _SEED, _ARGUMENTS, _BASELINE and _REPORTS. The
exit status is 0 if there is a report or a sentence that says why not; the audit's is the output `status`.
"""
from __future__ import annotations

import json
import os
import pathlib
import shlex
import subprocess
import sys
from typing import Any

FILES = {"--json": "report.json", "--report": "report.html", "--junit": "audit.xml", "--sarif": "attest.sarif"}
MOST_ANNOTATIONS = 10  # that GitHub shows of a step


def given(name: str) -> str:
    return os.environ.get(f"ATTEST_{name.upper()}", "").strip()


def words(folder: pathlib.Path) -> list[str]:
    line = [word for name in ("kernel", "contract", "seed", "baseline") if (value := given(name))
            for word in (f"--{name}", value)]
    line += ["--findings", str(folder / "findings")]
    line += [word for option, file in FILES.items() for word in (option, str(folder / file))]
    return line + shlex.split(given("arguments"))


def append(variable: str, text: str) -> None:
    """To a file of the workflow's; nowhere outside a workflow."""
    if path := os.environ.get(variable):
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)


def escaped(text: str, of_property: bool = False) -> str:
    """As a workflow command reads it: https://github.com/actions/toolkit, packages/core/src/command.ts."""
    pairs = {"%": "%25", "\r": "%0D", "\n": "%0A", **({":": "%3A", ",": "%2C"} if of_property else {})}
    return "".join(pairs.get(c, c) for c in text)


def annotate(level: str, title: str, text: str) -> None:
    print(f"::{level} title={escaped(title, True)}::{escaped(text)}")


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the SARIF file: findings, and why a kernel is undecided, without the waived and the known ones."""
    return [result for run in log["runs"] for result in run["results"] if "suppressions" not in result]


def main() -> int:
    folder = pathlib.Path(given("reports") or "attest-reports")
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES.values():
        (folder / file).unlink(missing_ok=True)
    line = ["audit", *words(folder)]
    print(f"attest {shlex.join(line)}", flush=True)
    done = subprocess.run([sys.argv[1], *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    print(done.stderr, done.stdout, sep="\n", flush=True)
    append("GITHUB_OUTPUT", f"status={done.returncode}\n")
    report = folder / FILES["--json"]
    if done.returncode not in (0, 1, 3) or not report.is_file():
        said = done.stderr.strip().splitlines() or [f"attest ended with status {done.returncode}"]
        annotate("error", "attest", said[-1])
        return 0
    reports = json.loads(report.read_text(encoding="utf-8"))
    verdicts = [one["verdict"] for one in (reports if isinstance(reports, list) else [reports])]
    verdict = max(verdicts, key=("certified", "undecided", "refuted").index)
    append("GITHUB_OUTPUT", f"verdict={verdict}\n")
    append("GITHUB_STEP_SUMMARY", f"### attest: {verdict}\n\n```\n{done.stdout}\n```\n")
    found = results(json.loads((folder / FILES["--sarif"]).read_text(encoding="utf-8")))
    for result in found[:MOST_ANNOTATIONS]:
        annotate(result["level"], f"attest: {result['ruleId']}", result["message"]["text"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
