"""What `capture` costs a model where it samples nothing: `python python/benchmarks/capture_cost.py`. Needs torch.

The encoder of examples/capture_encoder.py on one short sentence and on a batch, with and without capture in turn, since
the speed of a machine drifts.
"""
from __future__ import annotations

import importlib
import runpy
import statistics
import time
from pathlib import Path
from typing import Any

import attest_attention as attest

torch = importlib.import_module("torch")  # its types are not needed
ROUNDS = 60


def seconds(run: Any) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def main() -> None:
    example = runpy.run_path(str(Path(__file__).resolve().parents[2] / "examples" / "capture_encoder.py"))
    torch.manual_seed(1)
    model = example["Encoder"]().eval()
    for sentences, words in ((1, 5), (8, 32)):
        ids = torch.randint(example["WORDS"], (sentences, words))
        present = torch.ones(sentences, words, dtype=torch.bool)

        def run() -> None:
            with torch.no_grad():
                model(ids, present)

        for _ in range(10):
            run()
        plain, captured = [], []
        for _ in range(ROUNDS):
            plain.append(seconds(run))
            with attest.capture(calls=0):
                captured.append(seconds(run))
        before, after = statistics.median(plain), statistics.median(captured)
        print(f"{sentences} × {words} words: {1e3 * before:.2f} ms, with capture {1e3 * after:.2f} ms: "
              f"{100 * (after / before - 1):+.1f} %")


if __name__ == "__main__":
    main()
