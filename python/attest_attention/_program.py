"""Where the program `attest` and its libraries are, and how it is run.

The package has no judge of its own: everything that is judged is judged by the program. It is looked for in this order:
the file that $ATTEST_PROGRAM names; the package's own copy (attest_attention/_native); in a clone of the repository,
its build (build/release).
"""
from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_NATIVE = _PACKAGE / "_native"


def clone() -> Path | None:
    """The root of the clone that this package is imported from; None for an installed package."""
    root = _PACKAGE.parents[1]
    return root if (root / "audit" / "program").is_dir() and (root / "CMakeLists.txt").is_file() else None


def _first(what: str, variable: str, candidates: Sequence[Path]) -> Path:
    named = os.environ.get(variable)
    if named:
        if Path(named).is_file():
            return Path(named).absolute()
        raise FileNotFoundError(f"{variable}: names no file: {named}")
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    tried = ", ".join(str(candidate) for candidate in candidates)
    root = clone()
    build = f" `{root / 'attest'} help audit` builds it." if root else " Is the package installed whole?"
    raise FileNotFoundError(f"{what} was not found; looked at {tried}.{build}")


def program() -> Path:
    """The path of the program `attest`. Raises FileNotFoundError with the paths that were tried."""
    root = clone()
    return _first("the program attest", "ATTEST_PROGRAM",
                  [_NATIVE / "bin" / "attest", *([root / "build" / "release" / "bin" / "attest"] if root else [])])


def library(name: str) -> Path:
    """The path of libattest_NAME.so; the package itself loads `serve`, for which $ATTEST_SERVE_LIBRARY names
    another."""
    file = f"libattest_{name}.so"
    folders = [_NATIVE / "lib" / "attest", _NATIVE / "lib"]
    root = clone()
    if root:
        build = root / "build" / "release"
        folders += [build / "lib", build / "bin", build / "audit" / "isolation", build / "audit" / "serve"]
    return _first(file, f"ATTEST_{name.upper()}_LIBRARY", [folder / file for folder in folders])


def as_keyword(message: str) -> str:
    """The program's error as one of this package: its options are keywords here.

    >>> as_keyword("attest: --fail-fast: what it says")
    'fail_fast: what it says'
    """
    text = message.strip().removeprefix("attest: ")
    option = re.match(r"--([a-z][a-z-]*)(?=[:= ])", text)
    return option[1].replace("-", "_") + text[option.end():] if option else text


def run(words: Sequence[str | os.PathLike[str]], *, expect: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs `attest WORDS` to its end.

    Raises ValueError with the program's sentence where its exit status is 2, RuntimeError where it is not one of
    `expect`.
    """
    done = subprocess.run([os.fspath(program()), *(os.fspath(word) for word in words)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)
    raise_for(done.returncode, done.stderr, expect)
    return done


def not_written(errors: str) -> str | None:
    """Which file of a report could not be written after all was judged; None where the program says no such thing.

    >>> not_written("attest: judged: certified, but the report could not be written: --junit: x.xml: cannot be written")
    'junit: x.xml: cannot be written'
    """
    said = re.search(r"^attest: judged: .* could not be written: (.*)$", errors, re.MULTILINE)
    return as_keyword(said[1]) if said else None


def raise_for(status: int, errors: str, expect: Sequence[int]) -> None:
    """Raises what an exit status that is not one of `expect` means: of a program that judges and wrote no report,
    any."""
    if status in expect:
        return
    said = [line for line in errors.splitlines() if line.strip()]
    last = as_keyword(said[-1]) if said else ""
    if status == 2:
        raise ValueError(last or "attest: exit status 2, without a sentence")
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    if not expect:
        how += ", without its report"
    raise RuntimeError(f"the program attest {how}" + (f": {last}" if last else ""))


def version() -> str:
    """The version of the program: `attest --version`."""
    return run(["--version"]).stdout.strip().removeprefix("attest ").strip()
