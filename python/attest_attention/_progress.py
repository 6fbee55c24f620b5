"""What the program says on standard error while it runs: its line of progress, and its errors.

The program shows progress to a terminal only, so that it gets one of its own. The line is shown on this process's
terminal, or in a notebook's cell.
"""
from __future__ import annotations

import contextlib
import os
import pty
import re
import sys
import threading
from typing import Any

_LINE = re.compile(r"\[(\d+)/(\d+)\] (.*)")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def _notebook() -> Any:
    """IPython's display function where this is a notebook's kernel, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return sys.modules["IPython.display"].display if "IPython.display" in sys.modules else None


class Progress:
    """The standard error of one run of the program. `show`: None shows progress on a terminal and in a notebook only.

    Pass `descriptor` as the program's standard error, call `started` when it runs and `finished` when it has ended;
    `errors` is then what it said besides progress.
    """

    def __init__(self, show: bool | None = None) -> None:
        self._display = _notebook() if show is not False else None
        self._terminal = show is True or (show is None and self._display is None and sys.stderr is not None
                                          and sys.stderr.isatty())
        self.errors = ""
        self._shown = False
        self._handle: Any = None
        if self._terminal or self._display is not None:
            self._own, self.descriptor = pty.openpty()
        else:
            self._own, self.descriptor = os.pipe()
        os.set_inheritable(self.descriptor, True)
        self._reader = threading.Thread(target=self._read, daemon=True)

    def environment(self) -> dict[str, str]:
        """The environment of the program, with a terminal that is not dumb."""
        return {**os.environ, "TERM": "xterm"} if self._terminal or self._display is not None else dict(os.environ)

    def started(self) -> None:
        os.close(self.descriptor)
        self._reader.start()

    def finished(self) -> None:
        self._reader.join(timeout=5)
        with contextlib.suppress(OSError):
            os.close(self._own)
        if self._shown:
            self._show("")

    def abandon(self) -> None:
        """Instead of `started`, where the program could not be started."""
        os.close(self.descriptor)
        os.close(self._own)

    def _read(self) -> None:
        rest = ""
        while True:
            try:
                data = os.read(self._own, 1 << 16)
            except OSError:  # the last writer of a terminal has gone
                break
            if not data:
                break
            *lines, rest = re.split(r"[\r\n]+", rest + data.decode("utf-8", "replace"))
            for line in lines:
                self._take(line)
            if _LINE.match(_CONTROL.sub("", rest)):  # a line of progress has no end
                self._take(rest)
                rest = ""
        self._take(rest)

    def _take(self, line: str) -> None:
        text = _CONTROL.sub("", line).strip()
        if _LINE.match(text):
            self._show(text)
        elif text:
            self.errors += text + "\n"

    def _show(self, text: str) -> None:
        self._shown = True
        if self._display is not None:
            shown = _Bar(text)
            if self._handle is None:
                self._handle = self._display(shown, display_id=True)
            else:
                self._handle.update(shown)
        elif self._terminal:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"\r\x1b[K{text}")
                sys.stderr.flush()


class _Bar:
    """The line of progress as a bar of a notebook."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        line = _LINE.match(self.text)
        if not line:
            return ""
        words = line[3].replace("&", "&amp;").replace("<", "&lt;")
        return f'<progress value="{line[1]}" max="{line[2]}"></progress> {line[1]}/{line[2]} <code>{words}</code>'
