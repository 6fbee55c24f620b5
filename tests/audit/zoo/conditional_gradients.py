"""Audits the backward passes of conditional_gradients.cpp: the fixed small calls find none of the mistakes, drawn and
production shapes find each of them.

usage: conditional_gradients.py ATTEST LIBRARY [SEED]
"""
from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

SOURCE = pathlib.Path(__file__).with_suffix(".cpp")


def audited(attest: str, kernel: str, *words: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([attest, "audit", "--kernel", kernel, "--findings", "", "--json", str(report), *words],
                       capture_output=True, check=False)
        said: dict[str, Any] = json.loads(report.read_text())
        return said


def main() -> int:
    attest, library, seed = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "1"
    failed = 0
    for name in re.findall(r"ATTEST_BACKWARD\((\w+)", SOURCE.read_text()):
        honest = name == "right_everywhere"
        begun = time.monotonic()
        said = audited(attest, f"{library}:zoo_{name}", "--only", "backward", "--seed", seed, "--draws", "150",
                       "--draw-products", str(1 << 32),
                       *([] if honest else ["--fail-fast"]))
        first = "{check}/{case}".format(**said["findings"][0]) if said["findings"] else "-"
        by_form = re.search(r"/(drawn|production)-", first) is not None
        good = said["verdict"] == ("certified" if honest else "refuted") and (honest or by_form)
        failed += not good
        gradients = (said["coverage"] or {}).get("gradients")
        print(f"{'ok ' if good else 'BAD'} {name:<48}{said['verdict']:<11}{time.monotonic() - begun:>6.1f} s  {first} "
              f"{gradients}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
