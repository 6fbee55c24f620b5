"""`python -m attest_attention WORDS`: the program, with its words, its output and its exit status.

`audit package.module:function`, and `audit --kernel package.module:function`, ask a Python callable, and `--merge` a
callable that merges partial results; everything else is handed to the program as it is.
"""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import _program
from ._audit import audit, is_python
from ._report import NotWritten

_STATUS = {"certified": 0, "refuted": 1, "undecided": 3}
# Options of `audit` that Python takes; all others go to the program.
_TEXTS = ("contract", "dtype", "device", "layout", "arrays", "causal", "returns", "adapter", "merge", "json", "report",
          "junit", "findings")


def parsed(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The words of `audit` that Python understands, and the others, in their order."""
    parser = argparse.ArgumentParser(prog="python -m attest_attention audit", allow_abbrev=False, add_help=False)
    parser.add_argument("--kernel", action="append", default=[])
    for name in _TEXTS:
        parser.add_argument(f"--{name}")
    parser.add_argument("--supports", action="append", default=[])
    parser.add_argument("--allow", action="append", default=[])
    parser.add_argument("--isolate", action="store_true")
    return parser.parse_known_args(words)


def kernel_of(words: Sequence[str]) -> str | None:
    """The Python callable that these words of `audit` name: MODULE:FUNCTION as first word or behind --kernel."""
    named = [words[0]] if words and not words[0].startswith("-") else []
    named += [after for before, after in zip(words, words[1:]) if before == "--kernel"]
    named += [word.partition("=")[2] for word in words if word.startswith("--kernel=")]
    found = [word for word in named if is_python(word)]
    if found and len(named) > 1:
        raise ValueError("kernel: a Python callable is audited by itself; attest.compare compares several")
    return found[0] if found else None


def _settings(rest: Sequence[str]) -> list[str]:
    """The words that let the program read attest.toml or pyproject.toml of the current folder."""
    named = any(word == "--no-config" or word.partition("=")[0] == "--config" for word in rest)
    found = [file for file in ("attest.toml", "pyproject.toml") if os.path.isfile(file)]
    return ["--config", found[0]] if found and not named else []


def main(words: Sequence[str] | None = None) -> int:
    """Runs a command, by default the command line; returns the program's exit status: 0 certified, 1 refuted, 2 bad
    usage, 3 undecided."""
    words = sys.argv[1:] if words is None else words
    try:
        kernel = kernel_of(words[1:]) if words[:1] == ["audit"] else None
        merges = words[:1] == ["audit"] and any(word.partition("=")[0] == "--merge" for word in words)
        if kernel is None and not merges:
            program = os.fspath(_program.program())
            sys.stdout.flush()
            os.execv(program, [program, *words])
        given, rest = parsed(words[2:] if words[1] == kernel else words[1:])
        sys.path.insert(0, os.getcwd())
        from ._ask import imported
        asked = kernel or next(iter(given.kernel), "builtin")
        rest += _settings(rest)
        report = audit(asked, contract=given.contract, dtype=given.dtype, device=given.device or "cpu",
                       layout=given.layout or "bhnd", arrays=given.arrays, causal=given.causal, returns=given.returns,
                       supports=given.supports, allow=given.allow, isolate=given.isolate, findings=given.findings,
                       adapter=imported(given.adapter) if given.adapter else None, merge=given.merge, json=given.json,
                       html=given.report, junit=given.junit, options=rest)
    except NotWritten as why:
        print(why.report)
        print(f"attest: {why}", file=sys.stderr)
        return 2
    except (ValueError, TypeError, OSError, RuntimeError) as why:
        print(f"attest: {why}", file=sys.stderr)
        return 2
    print(report)
    for case, text in report.tracebacks.items():
        print(f"\n{case} raised\n{text}", file=sys.stderr)
    return _STATUS[report.verdict]


if __name__ == "__main__":
    sys.exit(main())
