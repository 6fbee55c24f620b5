"""How long a folder of candidate kernels takes: `python python/benchmarks/candidates_speed.py [HOW_MANY]`. Needs
distributed.

Kernels of the zoo that are about f32, mutants of no family before honest ones, two at a time: each is judged in
isolation by `--quick --fail-fast`. Five to ten minutes for all on two cores.
"""
from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

from attest_attention import _program, candidates


def specimens() -> tuple[list[str], list[str]]:
    """(mutants, honest kernels) of the zoo as words of --kernel."""
    library = _program.library("zoo")
    found: tuple[list[str], list[str]] = [], []
    for one in json.loads(_program.run(["list", "zoo", "--json"]).stdout):
        if one["contract"] == "f32" and not one["family"]:
            found[one["class"] == "honest"].append(f"{library}:zoo_{one['name']}")
    return found


def main() -> None:
    mutants, honest = specimens()
    asked = (mutants + honest)[: int(sys.argv[1]) if len(sys.argv) > 1 else None]
    with tempfile.TemporaryDirectory() as folder:
        lines = candidates(asked, into=Path(folder) / "judged.jsonl", page=Path(folder) / "page.html",
                           progress=lambda _: None)
    for verdict in ("refuted", "certified", "undecided"):
        seconds = sorted(line["seconds"] for line in lines if line["verdict"] == verdict)
        if seconds:
            print(f"{verdict}: {len(seconds)}, median {statistics.median(seconds):.2f} s, slowest {seconds[-1]:.2f} s")
    wrong = {word for word in asked if word in set(mutants)}
    missed = [line["kernel"] for line in lines if line["verdict"] != "refuted" and line["kernel"] in wrong]
    print(f"mutants that are not refuted: {len(missed)} {missed}")


if __name__ == "__main__":
    main()
