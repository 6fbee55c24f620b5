"""Candidate kernels by the folder: a line each as it is known, a page, and nothing that is known is asked again."""
from __future__ import annotations

import html.parser
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="campaigns need Dask")

from attest_attention import _candidates, _program, _shards  # noqa: E402
from attest_attention._candidates import candidates  # noqa: E402
from attest_attention._candidates_page import page_of  # noqa: E402

FEW = ("--only", "worked-examples,empty-rows,masks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two builds of the built-in kernel, whose bytes differ, and a file that is no library."""
    folder = tmp_path_factory.mktemp("kernels")
    for name in ("a.so", "b.so"):
        shutil.copy(_program.library("kernel_scalar"), folder / name)
    with open(folder / "b.so", "ab") as file:
        file.write(b"another build")
    (folder / "c<&>.so").write_bytes(b"no library")
    return folder


def quiet(line: str) -> None:
    pass


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


class Page(html.parser.HTMLParser):
    """The words of a page, and the tags that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_each_kernel_of_a_folder_has_a_line_and_a_row(cluster: Any, folder: Path, tmp_path: Path) -> None:
    into, page = tmp_path / "out" / "lines.jsonl", tmp_path / "page.html"
    at_each: list[int] = []

    def said(line: str) -> None:
        at_each.append(len(lines_of(into)))

    found = candidates(folder, cluster, into=into, page=page, options=FEW, progress=said)
    assert at_each == [1, 2, 3], "the line is in the file before anything is said of it"
    assert [(Path(line["kernel"]).name, line["verdict"]) for line in found] == [
        ("a.so", "certified"), ("b.so", "certified"), ("c<&>.so", "undecided")]
    assert sorted(map(json.dumps, lines_of(into))) == sorted(map(json.dumps, found))
    assert all(line["contract"] == "f32" and line["seed"] == 1 and line["elements"] > 0 for line in found[:2])
    assert "c<&>.so" in found[2]["sentence"]
    shown = Page(page.read_text())
    assert str(folder / "c<&>.so") in shown.words and "2 certified" in shown.words and "1 undecided" in shown.words
    assert not {tag for tag, _ in shown.tags} & {"script", "link", "img", "iframe"}
    assert not any("http" in (value or "") for _, attributes in shown.tags for value in attributes.values())


def test_a_wrong_kernel_is_out_at_its_first_finding(cluster: Any, tmp_path: Path) -> None:
    zoo = _program.library("zoo")
    found = candidates(["builtin:scalar", f"{zoo}:zoo_inverted_mask", f"{zoo}:zoo_mean_empty_row"], cluster,
                       into=tmp_path / "l", page=None, progress=quiet)
    assert [line["verdict"] for line in found] == ["certified", "refuted", "refuted"]
    assert [line["class"] for line in found[1:]] == ["mask-polarity", "empty-row"]
    for line in found[1:]:
        assert line["elements"] < found[0]["elements"] / 5, "it ended long before the whole"
        assert line["reproducer"].startswith("attest audit --kernel ") and line["finding"]
    assert not (tmp_path / "page.html").exists()


def test_what_is_known_is_not_asked_again(cluster: Any, folder: Path, tmp_path: Path) -> None:
    into = tmp_path / "lines.jsonl"
    said: list[str] = []
    first = candidates(folder, cluster, into=into, page=None, options=FEW, progress=said.append)
    with open(into, "ab") as file:
        file.write(b'{"kernel": "half a line')
    again = candidates([str(folder / "b.so"), str(folder / "a.so")], cluster, into=into, page=None, options=FEW,
                       progress=said.append)
    assert again == [first[1], first[0]] and len(said) == 3 and len(lines_of(into)) == 3
    candidates([str(folder / "a.so")], cluster, into=into, page=None, options=FEW, seed=2, progress=said.append)
    candidates([str(folder / "a.so")], cluster, into=into, page=None, options=FEW, contract="f32-any", progress=said.append)
    candidates([str(folder / "a.so")], cluster, into=into, page=None, options=FEW, draws=0, progress=said.append)
    assert len(said) == 6 and len(lines_of(into)) == 6
    moved = shutil.copy(folder / "a.so", tmp_path / "moved.so")
    (line,) = candidates([str(moved)], cluster, into=into, page=None, options=FEW, progress=said.append)
    assert line == first[0] | {"kernel": str(moved)} and len(said) == 6


def deadly_judge(candidate: _candidates.Candidate) -> dict[str, Any]:
    if candidate.kernel.spec.endswith("b.so"):
        os.kill(os.getpid(), signal.SIGKILL)
    return _candidates.judge(candidate)


@pytest.mark.usefixtures("deadly")
def test_a_kernel_that_kills_its_worker_is_undecided_and_no_other(cluster: Any, folder: Path, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attest_attention._candidates.judge", deadly_judge)
    found = candidates(folder, cluster, into=tmp_path / "l", page=None, options=FEW, progress=quiet)
    assert [line["verdict"] for line in found] == ["certified", "undecided", "undecided"]
    assert "worker died" in found[1]["sentence"] and "worker died" not in found[2]["sentence"]


def test_a_candidate_whose_audit_is_ended_from_outside_has_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(words: list[str]) -> subprocess.CompletedProcess[str]:
        process = subprocess.Popen([_program.program(), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        process.terminate()
        return subprocess.CompletedProcess(words, process.wait(), "", process.communicate()[1])

    monkeypatch.setattr(_candidates, "run_program", interrupted)
    words = ("--contract", "f32", "--seed", "1", "--draws", "100000")
    builtin = _candidates.Candidate(_shards.Identity.of("builtin"), words, "", _program.version())
    with pytest.raises(_shards.Interrupted, match="^the audit was ended from outside: .* were not asked$"):
        _candidates.judge(builtin)


def test_the_page_sorts() -> None:
    def line(kernel: str, verdict: str, **more: Any) -> dict[str, Any]:
        return {"kernel": kernel, "verdict": verdict, "sentence": f"<{kernel}>", "seconds": 1.25, **more}

    text = page_of([line("far", "certified", max_error_in_bounds="0x1p-1", elements=1234),
                    line("near", "certified", max_error_in_bounds="0x1p-3", elements=1),
                    line("z", "refuted", **{"class": "lse", "finding": "f<1>", "reproducer": "r&"}),
                    line("y", "refuted", **{"class": "accuracy", "finding": "f<2>", "reproducer": "r"}),
                    line("lost", "undecided")])
    words = Page(text).words
    order = [words.index(word) for word in ("2 certified", "near", "0.1250", "far", "0.5000", "1,234", "1 undecided", "lost",
                                            "<lost>", "2 refuted", "y", "f<2>", "z", "f<1>", "r&")]
    assert order == sorted(order)


@pytest.mark.parametrize(("changed", "argument"), [
    ({"kernels": []}, "kernels"), ({"kernels": "/there/is/none"}, "kernels"), ({"kernels": ["./none.so"]}, "kernels"),
    ({"contract": "f31"}, "contract"), ({"seed": -1}, "seed"), ({"seed": True}, "seed"),
    ({"draws": -1}, "draws"), ({"options": ["--json"]}, "options")])
def test_errors_name_the_argument(changed: dict[str, Any], argument: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{argument}: "):
        candidates(**{"kernels": ["builtin"], "into": tmp_path / "lines", "page": tmp_path / "page", **changed})
    assert not list(tmp_path.iterdir())


def test_a_folder_without_kernels_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^kernels: the folder .* has no file \*\.so"):
        candidates(tmp_path)
