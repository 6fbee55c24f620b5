"""The pytest plugin: a fixture `attest`, contracts as parameters, and what a failure leaves behind.

    def test_mine(attest):
        attest.assert_attention(mine(q, k, v), q, k, v)

    @pytest.mark.attest(contracts=["f32", "f32-any"])
    def test_mine_under(attest, contract): ...

A failure says the command that judges the same again. `pytest --attest-report DIR` saves there what this command needs
(inputs and outputs, findings), and the reports. File names begin with the worker of pytest-xdist and end with a hash of
the test's id.
"""
from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ._report import Report

_LINES = pytest.StashKey[list[str]]()
_REPRODUCERS = 3  # that a failed test shows


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("attest", "attention kernels").addoption(
        "--attest-report", metavar="DIR", default=None,
        help="save there the inputs of failed attention tests, and the reports of their audits")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers",
                            "attest(contracts): run the test once under each of these contracts, which the fixtures "
                                       "`contract` and `attest` then have")
    if config.option.attest_report:  # also for workers and tests that change the folder
        config.option.attest_report = os.path.abspath(config.option.attest_report)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("attest")
    if marker is None:
        return
    contracts = marker.kwargs.get("contracts")
    if marker.args or set(marker.kwargs) - {"contracts"} or not isinstance(contracts, (list, tuple)) or not contracts \
            or not all(isinstance(one, (str, os.PathLike)) for one in contracts):
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: the marker attest takes contracts=[…], names or files")
    if "contract" not in metafunc.fixturenames:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: has contracts, and neither the fixture attest nor "
                                "contract")
    metafunc.parametrize("contract", [os.fspath(one) for one in contracts], indirect=True)


@pytest.fixture
def contract(request: pytest.FixtureRequest) -> str | None:
    """The contract of this run of the test, from its marker; None without one: the preset named like the element
    type."""
    found: str | None = getattr(request, "param", None)
    return found


@pytest.fixture
def attest(request: pytest.FixtureRequest, contract: str | None) -> Iterator[Attest]:
    """assert_attention, verify, audit, audit_gradients and reference, under the contract of this run, bound to this
    test."""
    folder = request.config.option.attest_report
    bound = Attest(request.node.nodeid, contract, Path(folder) if folder else None)
    request.node.stash[_LINES] = bound.lines
    yield bound


@pytest.hookimpl(hookwrapper=True)  # the form that pytest 7 knows too
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    report: pytest.TestReport = (yield).get_result()
    lines = item.stash.get(_LINES, [])
    if report.failed and lines:  # of the test itself, or of a fixture before or after it
        report.sections.append(("attest", "\n".join(lines)))
        lines.clear()


class Attest:
    """The functions of attest_attention, for one test. Without a `contract` argument they take the contract of the
    test."""

    def __init__(self, test: str, contract: str | None, folder: Path | None) -> None:
        self.contract = contract
        self.lines: list[str] = []  # what a failure of the test says
        self._folder = folder
        self._name = name_of(test)
        self._calls = 0

    def assert_attention(self, o: Any, q: Any, k: Any, v: Any, **arguments: Any) -> Report:
        """As attest_attention.assert_attention; a failure saves the call and says how to judge it again."""
        __tracebackhide__ = True
        from ._reference import AttentionError, assert_attention
        arguments.setdefault("contract", self.contract)
        try:
            return assert_attention(o, q, k, v, **arguments)
        except AttentionError as error:
            self._save(error.report)
            raise

    def verify(self, q: Any, k: Any, v: Any, o: Any = None, **arguments: Any) -> Report:
        """As attest_attention.verify; where the verdict is not certified, the call is saved."""
        from ._verify import verify
        arguments.setdefault("contract", self.contract)
        report = verify(q, k, v, o, **arguments)
        if not report:
            self._save(report)
        return report

    def audit(self, kernel: Any = "builtin", **arguments: Any) -> Report:
        """As attest_attention.audit. The report is saved; findings are too, where the test names no folder for them."""
        from ._audit import audit
        return self._audited(audit, kernel, arguments)

    def audit_gradients(self, kernel: Any = None, **arguments: Any) -> Report:
        """As attest_attention.audit_gradients, saved as `audit`."""
        from ._audit_gradients import audit_gradients
        return self._audited(audit_gradients, kernel, arguments)

    def _audited(self, by: Any, kernel: Any, arguments: dict[str, Any]) -> Report:
        from ._words import contract_words
        arguments.setdefault("contract", self.contract)
        place = self._place()
        if place is not None:
            arguments.setdefault("findings", place)
            arguments.setdefault("json", place.with_name(place.name + ".json"))
            arguments.setdefault("html", place.with_name(place.name + ".html"))
            if arguments["contract"] is not None:
                arguments["contract"] = _kept(contract_words(arguments["contract"], None)[0][1], place)
        report: Report = by(kernel, **arguments)
        if not report:
            again = list(dict.fromkeys(str(finding["reproducer"]) for finding in report.findings))
            self._say(report.sentence, again[:_REPRODUCERS], arguments.get("html"))
        return report

    def reference(self, q: Any, k: Any, v: Any, **arguments: Any) -> Any:
        """As attest_attention.reference."""
        from ._reference import reference
        arguments.setdefault("contract", self.contract)
        return reference(q, k, v, **arguments)

    def _save(self, report: Report) -> None:
        """Saves the very file that was judged, and says the words that judged it."""
        place = self._place()
        if place is None or report.replay is None:
            self._say(report.sentence, [], None)
            return
        file = place.with_name(place.name + ".safetensors")
        shutil.copyfile(report.replay.file, file)
        words = [_kept(word, place) if before == "--contract" else word
                 for before, word in zip(["", *report.replay.words], report.replay.words)]
        self._say(report.sentence, [shlex.join(["attest", "verify", os.fspath(file), *words])], None)

    def _place(self) -> Path | None:
        """A name in the folder of --attest-report that no other call of any test has."""
        if self._folder is None:
            return None
        self._calls += 1
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / (self._name if self._calls == 1 else f"{self._name}-{self._calls}")

    def _say(self, sentence: str, again: list[str], page: Any) -> None:
        self.lines.append(sentence)
        self.lines += [f"  replay: python -m attest_attention {line.removeprefix('attest ')}" for line in again]
        if page is not None:
            self.lines.append(f"  report: {page}")
        if self._folder is None:
            self.lines.append("  pytest --attest-report DIR saves the inputs and the report")


def _kept(contract: str, place: Path) -> str:
    """A preset, or a copy of a contract's file, under its name, beside what is saved: the folder of a test does not
    stay."""
    if not os.path.isabs(contract) or not Path(contract).is_file():
        return contract
    folder = place.with_name(place.name + ".contract")
    folder.mkdir(exist_ok=True)
    return os.fspath(shutil.copy(contract, folder))


def name_of(test: str) -> str:
    """A file name for a test: the worker of pytest-xdist, the readable part of the test's id, and a hash of all of it.

    >>> name_of("tests/test_a.py::test_b[bf16]")
    'main-test_a.py-test_b-bf16-b33e193b'
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    readable = re.sub(r"[^A-Za-z0-9_.]+", "-", test.rsplit("/", 1)[-1]).strip("-.")[:80]
    return f"{worker}-{readable}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"
