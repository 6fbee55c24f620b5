#!/usr/bin/env python3
"""Plots of fast_bench's scaling rows: time against n and threads, memory against n.

    bin/fast_bench --benchmark_filter=scaling --benchmark_out=scaling.json --benchmark_out_format=json
    bench/scaling.py scaling.json scaling.png
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the backend is chosen)


def main(source, target):
    with open(source, encoding="utf-8") as file:
        rows = [row for row in json.load(file)["benchmarks"] if row["name"].startswith("scaling")]
    one_head = [row for row in rows if " heads=1 " in row["name"]]
    figure, (times, memory) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for threads, colour in ((1, "#0072b2"), (2, "#d55e00")):
        mine = sorted((row for row in one_head if row["threads"] == threads), key=lambda row: row["n"])
        n = [row["n"] for row in mine]
        times.plot(n, [row["real_time"] for row in mine], "o-", color=colour,
                   label=f"{threads} thread{'s' * (threads > 1)}")
        memory.plot(n, [row["plan_MiB"] for row in mine], "o-", color=colour,
                    label=f"{threads} thread{'s' * (threads > 1)}")
    n = sorted({row["n"] for row in one_head})
    first = min(row["real_time"] for row in one_head if row["n"] == n[-1] and row["threads"] == 1)
    times.plot(n, [first * (x / n[-1]) ** 2 for x in n], ":", color="grey", label="n²")
    memory.plot(n, [4 * x * x / 2**20 for x in n], ":", color="grey", label="n × m scores")
    times.set_ylabel("milliseconds, one head, d = 64")
    memory.set_ylabel("working memory, MiB")
    for axes in (times, memory):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("n = m")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(target, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
