from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import attest_attention
import pytest
from attest_attention import _program

FOLDER = Path(attest_attention.__file__).parent


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")
                                        if ">>>" in path.read_text(encoding="utf-8")))
def test_the_examples_of_the_documentation_run(name: str) -> None:
    module = importlib.import_module(f"attest_attention.{name}")
    result = doctest.testmod(module)
    assert result.failed == 0 and result.attempted > 0


def test_the_versions_are_one() -> None:
    assert attest_attention.__version__ == _program.version()


def test_a_program_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ATTEST_PROGRAM", str(tmp_path / "attest"))
    with pytest.raises(FileNotFoundError, match="^ATTEST_PROGRAM: names no file"):
        _program.program()
    monkeypatch.delenv("ATTEST_PROGRAM")
    monkeypatch.setattr(_program, "_NATIVE", tmp_path)
    monkeypatch.setattr(_program, "clone", lambda: None)
    with pytest.raises(FileNotFoundError, match="was not found; looked at .*/bin/attest"):
        _program.program()


def test_in_a_clone_the_command_that_builds_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ATTEST_PROGRAM", "ATTEST_SERVE_LIBRARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_program, "_NATIVE", tmp_path)
    monkeypatch.setattr(_program, "clone", lambda: tmp_path)
    for find in (_program.program, lambda: _program.library("serve")):
        with pytest.raises(FileNotFoundError, match=f"was not found; .* `{tmp_path}/attest help audit` builds it"):
            find()


@pytest.mark.parametrize("status", [1, 3])
def test_a_program_that_ends_without_its_report_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                                        status: int) -> None:
    program = tmp_path / "attest"
    program.write_text(f"#!/bin/sh\necho 'attest: no space left' >&2\nexit {status}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("ATTEST_PROGRAM", str(program))
    with pytest.raises(RuntimeError,
                       match=f"^the program attest ended with status {status}, without its report: .*no space left"):
        attest_attention.audit("builtin", quick=True, progress=False)


def test_the_packages_own_copy_goes_before_a_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ATTEST_PROGRAM", raising=False)
    monkeypatch.delenv("ATTEST_SERVE_LIBRARY", raising=False)
    monkeypatch.setattr(_program, "_NATIVE", tmp_path)
    for file in ("bin/attest", "lib/attest/libattest_serve.so"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert _program.program() == tmp_path / "bin" / "attest"
    assert _program.library("serve") == tmp_path / "lib" / "attest" / "libattest_serve.so"


def test_statuses_become_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    _program.raise_for(3, "", (0, 3))
    with pytest.raises(ValueError, match="^draws: is wrong$"):
        _program.raise_for(2, "note\nattest: --draws: is wrong\n", (0,))
    with pytest.raises(RuntimeError, match="ended by signal 9"):
        _program.raise_for(-9, "", (0,))
    with pytest.raises(RuntimeError, match="status 1: no"):
        _program.raise_for(1, "attest: no\n", (0,))


def test_everything_that_is_exported_is_there() -> None:
    for name in attest_attention.__all__:
        if name not in ("adapters", "campaign", "capture"):
            assert getattr(attest_attention, name) is not None
    assert set(attest_attention.__all__) <= set(dir(attest_attention))
    with pytest.raises(AttributeError):
        attest_attention.nothing
