"""The report of an audit or a verification, over the JSON report of the program (docs/files.md)."""
from __future__ import annotations

import json as json_text
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

VERDICTS = {0: "certified", 1: "refuted", 3: "undecided"}


class Folder:
    """A temporary folder that is removed with its last user. tempfile's own warns of that."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="attest-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


class Replay(NamedTuple):
    """What judges a recorded call again: its file, which is there as long as its report, and the words of `attest
    verify`."""

    file: Path
    words: list[str]


class Report:
    """A verdict and what it rests on. It is true where the verdict is "certified"; `print(report)` shows the program's
    table.

    verdict              "certified", "refuted" or "undecided"
    sentence             the verdict in words
    findings             what is wrong: dicts with check, class, case, output, index, got, truth_lower, truth_upper,
                         bound, …
    checks               a dict for each check: name, cases, failed, unsupported, elements, max_error_in_bounds, …
    asked                which features of a call were asked: {"causal": {"asked": 9, "answered": 9}, …}
    tracebacks           by case of a finding, the traceback of what the callable raised
    missing_protections  what the kernel was not protected by, with reasons
    json, text, html     the whole report in these forms
    replay               of a recorded call: the file that was judged, and the further words of `attest verify`; else
                         None
    """

    def __init__(self, json: Mapping[str, Any], text: str, *, folder: Folder | None = None,
                 raised: Mapping[str, str] | None = None) -> None:
        self.json: dict[str, Any] = dict(json)
        self.text = text.rstrip()
        self._folder = folder  # owns the page and the file of `replay`
        self.replay: Replay | None = None
        self._raised = dict(raised or {})

    @property
    def verdict(self) -> str:
        """"certified", "refuted" or "undecided"; of several kernels the worst."""
        return str(self.json["verdict"])

    def __bool__(self) -> bool:
        return self.verdict == "certified"

    @property
    def reports(self) -> list[Report]:
        """The reports of the kernels: this one, unless several were judged."""
        parts = self.json.get("reports")
        return [self] if parts is None else [Report(part, part["evidence"]["sentence"]) for part in parts]

    def _all(self, key: str) -> list[dict[str, Any]]:
        parts = self.json.get("reports")
        return list(self.json[key]) if parts is None else [one for part in parts for one in part[key]]

    @property
    def sentence(self) -> str:
        """The verdict in words, with its evidence."""
        if "reports" in self.json:
            return " ".join(str(part["evidence"]["sentence"]) for part in self.json["reports"])
        return str(self.json["evidence"]["sentence"])

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What was found, worst classes first, as the JSON report has it."""
        return self._all("findings")

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The checks that were asked, each with its counts."""
        return self._all("checks")

    @property
    def seed(self) -> int | None:
        """The seed of the generated inputs; None where none were generated."""
        seed = self.json.get("seed")
        return None if seed is None else int(seed)

    @property
    def asked(self) -> dict[str, dict[str, int]]:
        """By feature of a call ("causal", "mask", "grouped", …), how many calls had it and how many were answered.

        Also "lse" and "weights". Empty where no call was counted, as for recorded outputs.
        """
        features: dict[str, dict[str, int]] = {}
        for part in self.json.get("reports", [self.json]):
            coverage = part.get("coverage") or {}
            for row in coverage.get("support", []):
                if len(row["features"]) == 1:
                    _add(features, row["features"][0], row)
            for output in ("lse", "weights"):
                if output in coverage:
                    _add(features, output, coverage[output])
        return features

    @property
    def tracebacks(self) -> dict[str, str]:
        """By case, the traceback of the exception that its finding quotes."""
        found: dict[str, str] = {}
        for finding in self.findings:
            for said, text in self._raised.items():
                if said in finding["sentence"]:
                    found.setdefault(finding["case"], text)
        return found

    @property
    def missing_protections(self) -> list[str]:
        """Protections that the kernel was judged without, each with its reason."""
        evidence = [part["evidence"] for part in self.json.get("reports", [self.json])]
        said = [str(one) for part in evidence for one in part.get("missing_protections", [])]
        return list(dict.fromkeys(said))

    @property
    def html(self) -> str:
        """The report as one HTML page that loads nothing from elsewhere."""
        page = Path(self._folder.name) / "report.html" if self._folder else None
        if page is None or not page.is_file():
            raise ValueError("html: this report has no page")
        return page.read_text(encoding="utf-8")

    def save(self, path: str | Path) -> None:
        """Writes the report: as JSON to a name that ends with .json, as a page to .html, else as text."""
        to = Path(path)
        if to.suffix == ".json":
            content = json_text.dumps(self.json, indent=1, ensure_ascii=False)
        else:
            content = self.html if to.suffix == ".html" else self.text
        to.write_text(content + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """The page, framed, so that its style does not reach the notebook's."""
        try:
            page = self.html
        except (ValueError, OSError):
            return f"<pre>{_escaped(self.text)}</pre>"
        return ('<iframe sandbox style="width:100%;height:42em;border:1px solid #8884" '
                f'srcdoc="{_escaped(page)}"></iframe>')


class NotWritten(OSError):
    """A report could not be written where it was asked. `report` is that report."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def refuse_unwritable(path: str, argument: str) -> None:
    """Raises ValueError, with the argument's name, where no file can be written. What is there stays as it is."""
    to = Path(path).absolute()
    if not to.parent.is_dir():
        raise ValueError(f"{argument}: there is no folder {to.parent}")
    if to.is_dir():
        raise ValueError(f"{argument}: {path} is a folder, expected the name of a file")
    new = not os.path.lexists(to)
    if not new and not to.is_file():
        return  # a device or a pipe, which may wait for a reader
    try:
        open(to, "ab").close()
        if new and not to.stat().st_size:
            to.unlink()
    except OSError as why:
        raise ValueError(f"{argument}: {path} cannot be written: {why.strerror}") from why


def _add(features: dict[str, dict[str, int]], name: str, row: Mapping[str, Any]) -> None:
    counts = features.setdefault(name, {"asked": 0, "answered": 0})
    for key in counts:
        counts[key] += int(row[key])


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
