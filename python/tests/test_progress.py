from __future__ import annotations

import os
import sys
import types
from typing import Any

import pytest
from attest_attention._progress import Progress


def said(progress: Progress, *texts: str) -> None:
    """Writes to its descriptor as the program does, to the end."""
    copy = os.dup(progress.descriptor)
    progress.started()
    for text in texts:
        os.write(copy, text.encode())
    os.close(copy)
    progress.finished()


def test_errors_are_kept_and_progress_is_none_of_them() -> None:
    progress = Progress(False)
    said(progress, "\r\x1b[K[1/9] a/b", "\r\x1b[K[2/9] a/c, 3 s left", "\r\x1b[K", "attest: --only: no check\n")
    assert progress.errors == "attest: --only: no check\n"


def test_a_terminal_shows_the_line_and_clears_it(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(True)
    said(progress, "\r\x1b[K[1/9] a/b", "\r\x1b[K", "attest: wrong\n")
    shown = capsys.readouterr().err
    assert "[1/9] a/b" in shown and shown.endswith("\r\x1b[K") and progress.errors == "attest: wrong\n"
    assert progress.environment()["TERM"] == "xterm"


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    said(Progress(), "\r\x1b[K[1/9] a/b")
    assert capsys.readouterr().err == ""


def test_a_notebook_has_one_bar_that_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, bar: Any) -> None:
            shown.append(bar._repr_html_())

    def display(bar: Any, *, display_id: bool) -> Handle:
        shown.append(bar._repr_html_())
        return Handle()

    ipython = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    said(Progress(), "\r\x1b[K[1/9] a<b", "\r\x1b[K[2/9] a/c")
    assert shown[0] == '<progress value="1" max="9"></progress> 1/9 <code>a&lt;b</code>'
    assert any('value="2"' in one for one in shown) and shown[-1] == ""
