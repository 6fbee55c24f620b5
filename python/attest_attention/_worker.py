"""The process in the cage: `python -m attest_attention._worker [OPTIONS] MODULE:FUNCTION`.

`attest audit --kernel 'command:python -m attest_attention._worker MODULE:FUNCTION'` starts it, without network and with
nothing to write to (docs/isolation.md). It imports the function and answers the judge's calls until the judge has
ended.
"""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import _ask, _merge, _serve, _serve_gradients, _serve_library, _serve_merge
from ._spellings import Options


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until the judge has ended. Exit status 2 where the function cannot be served, which the judge is told."""
    parser = argparse.ArgumentParser(prog="python -m attest_attention._worker", allow_abbrev=False)
    parser.add_argument("function", metavar="MODULE:FUNCTION")
    parser.add_argument("--path", action="append", default=[],
                        help="a folder that modules are imported from; repeatable")
    parser.add_argument("--adapter", metavar="MODULE:FUNCTION")
    parser.add_argument("--merge", metavar="MODULE:FUNCTION")
    parser.add_argument("--backward", metavar="MODULE:FUNCTION")
    parser.add_argument("--gradients", action="store_true", help="backward passes by the library of the function")
    for name in ("arrays", "device", "layout", "causal", "returns"):
        parser.add_argument(f"--{name}", default=getattr(Options, name))
    parser.add_argument("--supports", action="append", default=[])
    given = parser.parse_args(arguments)
    sys.path[:0] = given.path
    try:
        options = Options(given.arrays, given.device, given.layout, given.causal, tuple(given.supports), given.returns)
        adapter = _ask.imported(given.adapter) if given.adapter else None
        function = _ask.imported(given.function, given.device)
        asked = _ask.asked_of(function, options, adapter)
        kernel = _serve.Kernel(asked.answer, layout=asked.layout, interruptible=False)
        if given.merge:
            merge = _merge.MatchedMerge(_ask.imported(given.merge, argument="merge"), options)
            kernel.answers_merges(_serve_merge.MergeKernel(merge, interruptible=False))
        if given.backward or given.gradients:
            backward = _ask.imported(given.backward, argument="backward") if given.backward else None
            _serve_gradients.answer_with(kernel, function, backward, options, interruptible=False)
    except BaseException as why:  # noqa: BLE001  a module may raise anything when it is imported
        _serve_library.refuse(f"{type(why).__name__}: {why}")
        print(f"{type(why).__name__}: {why}", file=sys.stderr)
        return 2
    name = (given.merge or given.backward) if function is _merge.no_attention else given.function
    with _serve.Server(kernel, name) as server:
        while server.next() >= 0:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
