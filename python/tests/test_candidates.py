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

from processes import wait_for_handler  # noqa: E402

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
    assert len(at_each) == 3 and max(at_each) == 2, "the line is in the file before anything is said of it"
    assert [(Path(line["kernel"]).name, line["verdict"]) for line in found] == [
        ("a.so", "certified"), ("b.so", "certified"), ("c<&>.so", "undecided")]
    assert sorted(map(json.dumps, lines_of(into))) == sorted(map(json.dumps,
                                                                 found[:2])), "what was not judged has no line"
    assert all(line["contract"] == "f32" and line["seed"] == 1 and line["elements"] > 0 for line in found[:2])
    assert "c<&>.so" in found[2]["sentence"]
    shown = Page(page.read_text())
    assert str(folder / "c<&>.so") in shown.words and "2 certified" in shown.words and "1 undecided" in shown.words
    assert not {tag for tag, _ in shown.tags} & {"script", "link", "img", "iframe"}
    assert not any("http" in (value or "") for _, attributes in shown.tags for value in attributes.values())


@pytest.mark.nightly
def test_a_wrong_kernel_is_out_at_its_first_finding(cluster: Any, tmp_path: Path) -> None:
    zoo = _program.library("zoo")
    found = candidates(["builtin:scalar", f"{zoo}:zoo_inverted_mask", f"{zoo}:zoo_mean_empty_row"], cluster,
                       into=tmp_path / "l", page=None, draws=0, progress=quiet)
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
    assert again == [first[1], first[0]] and len(said) == 3 and len(lines_of(into)) == 2
    candidates([str(folder / "a.so")], cluster, into=into, page=None, options=FEW, seed=2, progress=said.append)
    candidates([str(folder / "a.so")], cluster, into=into, page=None, options=FEW, contract="f32-any",
               progress=said.append)
    candidates([str(folder / "a.so")], cluster, into=into, page=None, options=FEW, draws=0, progress=said.append)
    assert len(said) == 6 and len(lines_of(into)) == 5
    moved = shutil.copy(folder / "a.so", tmp_path / "moved.so")
    (line,) = candidates([str(moved)], cluster, into=into, page=None, options=FEW, progress=said.append)
    assert line == first[0] | {"kernel": str(moved)} and len(said) == 6


def faulty_judge(candidate: _candidates.Candidate) -> dict[str, Any]:
    """A worker whose package does not find its program, as after a move of its installation."""
    raise FileNotFoundError("the program attest was not found")


@pytest.mark.usefixtures("deadly")
def test_what_was_not_judged_is_asked_again(cluster: Any, folder: Path, tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    into, kernel = tmp_path / "lines.jsonl", str(folder / "a.so")
    asked: dict[str, Any] = {"into": into, "page": None, "options": FEW}
    said: list[str] = []
    with monkeypatch.context() as faulty:
        faulty.setattr("attest_attention._candidates.judge", faulty_judge)
        (failed,) = candidates([kernel], cluster, progress=said.append, **asked)
    assert failed["verdict"] == "undecided"
    assert failed["sentence"] == "FileNotFoundError: the program attest was not found"
    assert into.read_bytes() == b"" and said[0].endswith(f"{kernel}: {failed['sentence']}")
    into.write_text(json.dumps(failed) + "\n")  # earlier versions kept it
    (judged,) = candidates([kernel], cluster, progress=quiet, **asked)
    assert judged["verdict"] == "certified" and judged["key"] == failed["key"]
    assert lines_of(into) == [failed, judged]
    assert candidates([kernel], cluster, progress=lambda line: pytest.fail(line), **asked) == [judged]


def line_of(key: str, **more: Any) -> dict[str, Any]:
    return {"kernel": "/k.so", "sha256": "ab", "key": key, "verdict": "certified", "sentence": "s", "seconds": 0.5,
            "contract": "f32"} | more


def test_a_line_that_lacks_its_newline_is_kept(tmp_path: Path) -> None:
    into, first, second = tmp_path / "lines", json.dumps(line_of("1")), json.dumps(line_of("2"))
    into.write_text(f"{first}\n{second}")
    assert set(_candidates._known(into)) == {"1", "2"} and into.read_text() == f"{first}\n{second}\n"
    into.write_text(second)
    assert set(_candidates._known(into)) == {"2"} and into.read_text() == f"{second}\n"


@pytest.mark.parametrize("left", [1, 4, 11, 40])
def test_half_a_line_is_cut_off(tmp_path: Path, left: int) -> None:
    into, first, second = tmp_path / "lines", json.dumps(line_of("1")), json.dumps(line_of("2"))
    into.write_text(f"{first}\n{second[:left]}")
    assert set(_candidates._known(into)) == {"1"} and into.read_text() == f"{first}\n"
    into.write_text(second[:left])
    assert not _candidates._known(into) and into.read_text() == ""


FIRST = json.dumps(line_of("1"))


@pytest.mark.parametrize(("text", "number", "says"), [
    ('{"important": "one line, no newline at its end"}', 1, "has no 'kernel'"), ("[1]\n", 1, "is no object"),
    ("not written by attest", 1, "is no JSON"), ("not written by attest\n", 1, "is no JSON"),
    pytest.param("[" * 100_000, 1, "is no JSON", id="deep"),
    (f"{FIRST}\n\n{FIRST}\n", 2, "is no JSON"), (f"{FIRST}\n{{\n{FIRST}", 2, "is no JSON"),
    (f'{FIRST}\n{{"kernel": "half a line\n{{"kernel": "half', 2, "is no JSON"),
    (f"{FIRST}\nimportant", 2, "is no JSON"), (f"{FIRST}\n\xff\n", 2, "is no JSON"),
    (f'{FIRST}\n{{"kernel": "/k.so", "sha256": null}}', 2, "has no 'key'"),
    (json.dumps(line_of("1") | {"key": 5}), 1, "its 'key' is 5"),
    (json.dumps(line_of("1", verdict="good")), 1, "its 'verdict' is 'good'"),
    (json.dumps(line_of("1", seconds=None)), 1, "its 'seconds' is None")])
def test_a_file_that_is_not_of_candidates_is_left_as_it_is(tmp_path: Path, text: str, number: int, says: str) -> None:
    into = tmp_path / "lines"
    into.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=f"^into: {into}, line {number}: {says}"):
        candidates(["builtin"], into=into, page=None)
    assert into.read_bytes() == text.encode("latin-1")


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
        process = subprocess.Popen([_program.program(), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True)
        wait_for_handler(process.pid)
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
    order = [words.index(word) for word in ("2 certified", "near", "0.1250", "far", "0.5000", "1,234", "1 undecided",
                                            "lost", "<lost>", "2 refuted", "y", "f<2>", "z", "f<1>", "r&")]
    assert order == sorted(order)


@pytest.mark.parametrize(("changed", "argument"), [
    ({"kernels": []}, "kernels"), ({"kernels": "/there/is/none"}, "kernels"), ({"kernels": ["./none.so"]}, "kernels"),
    ({"contract": "f31"}, "contract"), ({"seed": -1}, "seed"), ({"seed": True}, "seed"),
    ({"draws": -1}, "draws"), ({"options": ["--json"]}, "options")])
def test_errors_name_the_argument(changed: dict[str, Any], argument: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{argument}: "):
        candidates(**{"kernels": ["builtin"], "into": tmp_path / "lines", "page": tmp_path / "page", **changed})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("changed", "says"), [
    ({"kernels": 5}, "kernels: is a int, expected"), ({"kernels": [5]}, "kernels: holds a int, expected"),
    ({"contract": 5}, "contract: is a int, expected"),
    ({"draws": "x"}, "draws: is 'x', expected a whole number"), ({"draws": True}, "draws: is True, expected"),
    ({"options": 5}, "options: is a int, expected words"), ({"options": [5]}, "options: holds a int, expected"),
    ({"into": 5}, "into: is a int, expected a path"), ({"page": 5}, "page: is a int, expected a path"),
    ({"progress": 5}, "progress: is a int, expected a callable"), ({"cluster": 5}, "cluster: is a int, expected")])
def test_errors_of_type_name_the_argument(changed: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"^{says}"):
        candidates(**{"kernels": ["builtin"], "into": tmp_path / "lines", "page": tmp_path / "page", **changed})
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_file_of_lines(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^into: {tmp_path} is a folder"):
        candidates(["builtin"], into=tmp_path)


def test_paths_are_kernels(cluster: Any, folder: Path, tmp_path: Path) -> None:
    (line,) = candidates([folder / "a.so"], cluster, into=tmp_path / "lines", page=None, options=FEW, progress=quiet)
    assert line["verdict"] == "certified" and line["kernel"] == str(folder / "a.so")


def test_a_folder_without_kernels_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^kernels: the folder .* has no file \*\.so"):
        candidates(tmp_path)
