"""Runs of the program that judges: its report, and answers to what it asks of a kernel that is served from here."""
from __future__ import annotations

import json as json_text
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from . import _program, _serve, _serve_library
from ._progress import Progress
from ._report import VERDICTS, Folder, NotWritten, Report, refuse_unwritable
from ._words import text_of


Words = Sequence[str | os.PathLike[str]]


def installed() -> list[Path]:
    """The folders of this Python: its library, its packages."""
    folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
    return [Path(folder).resolve() for folder in folders]


def run(words: Words, files: dict[str, str | os.PathLike[str] | None], progress: bool | None, *,
         served: _serve.Kernel | None = None, name: str = "") -> Report:
    """Runs `attest audit WORDS` and, where a kernel is served from here, answers it."""
    return run_judging("audit", words, files, progress, served=served, name=name)


def run_judging(judging: str, words: Words, files: dict[str, str | os.PathLike[str] | None] | None = None,
                progress: bool | None = None, *, served: _serve.Kernel | None = None, name: str = "",
                folder: Folder | None = None, standard_input: IO[bytes] | None = None) -> Report:
    """Runs `attest audit` or `attest verify` to its report, which owns `folder`.

    Raises ValueError with the program's sentence for exit status 2, and NotWritten, which has the report, where a file
    of it cannot be written.
    """
    if not any(word == "--config" or str(word).startswith("--config=") for word in words):
        words = [*words, "--no-config"]  # the files of options are for the command line: a function has arguments
    written = {name: text_of(to, name) for name, to in (files or {}).items() if to is not None}
    folder = folder or Folder()
    report, page = Path(folder.name) / "report.json", Path(folder.name) / "report.html"
    ends: tuple[socket.socket, socket.socket] | None = None
    extra: list[str | os.PathLike[str]] = ["--json", report, "--report", page]
    if junit := written.get("junit"):
        extra += ["--junit", os.path.abspath(junit)]
    for option in ("json", "html"):
        if to := written.get(option):
            refuse_unwritable(to, option)
    if served is not None:
        _serve_library.serve_library()
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        extra += ["--channel", str(ends[1].fileno())]
    shown = Progress(progress)
    environment = shown.environment()
    package = Path(__file__).resolve().parents[1]
    if not any(package.is_relative_to(folder) for folder in installed()):  # so that a worker finds this package
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
    if shutil.which("attest") is None:  # how reports name the program where they say what to type
        environment["ATTEST_CALLED"] = shlex.join([sys.executable, "-m", "attest_attention"])
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        try:
            line = [os.fspath(word) for word in (_program.program(), judging, *words, *extra)]
            process = subprocess.Popen(line, stdin=standard_input or subprocess.DEVNULL, stdout=output,
                                       stderr=shown.descriptor, env=environment,
                                       pass_fds=[ends[1].fileno()] if ends else [], start_new_session=True)
        except BaseException:
            shown.abandon()
            raise
        shown.started()
        with _interrupts_end(process):
            try:
                if ends and served is not None:
                    ends[1].close()
                    _answer(served, name, ends[0], process)
                    ends[0].close()  # otherwise the program waits for an answer to what it still asks
                process.wait()
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
                for end in ends or ():
                    end.close()
                shown.finished()
        failed = _program.not_written(shown.errors) if process.returncode == 2 and report.exists() else None
        if failed is None:
            _program.raise_for(process.returncode, shown.errors, tuple(VERDICTS) if report.exists() else ())
        output.seek(0)
        text = output.read()
    content = json_text.loads(report.read_text(encoding="utf-8"))
    for option, made in (("json", report), ("html", page)):
        if to := written.get(option):
            try:
                shutil.copyfile(made, to)
            except OSError as why:
                failed = failed or f"{option}: {to}: cannot be written: {why.strerror or why}"
    judged = Report(content, text, folder=folder, raised=served.tracebacks if served else None)
    if failed:
        raise NotWritten(failed, judged)
    return judged


def _answer(served: _serve.Kernel, name: str, control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    with _serve.Server(served, name, control.fileno()) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of overflow and NaN: the inputs have both
        while server.next(200) >= 0:
            if served.is_interrupted():
                process.send_signal(signal.SIGINT)
                return
            if process.poll() is not None:
                return


class _interrupts_end:
    """Inside, Ctrl-C asks the program for its report so far; a second one interrupts as usual. In the main thread
    only."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._before = process, cast(Any, None)

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._end)

    def _end(self, *_: object) -> None:
        self._restore()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def __exit__(self, *_: object) -> None:
        self._restore()
