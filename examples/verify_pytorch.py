#!/usr/bin/env python3
"""PyTorch's CPU attention under audit. Needs torch, numpy and safetensors; the package in python/ makes the same call.

    attest gen --out cases.safetensors
    python3 verify_pytorch.py cases.safetensors outputs.safetensors
    attest verify cases.safetensors outputs.safetensors --report report.html

Cases that scaled_dot_product_attention cannot express (softcap) or refuses get no output but a status: verify counts
them as unsupported. The names of the problems are in the order in which they must be asked. Cases of bf16 need
ml_dtypes, too.
"""
import collections
import pathlib
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "libraries"))
import problem  # noqa: E402  which also finds the package in python/
from attest_attention import adapters  # noqa: E402

pytorch = adapters.named("pytorch")
outputs, refused = {}, {}  # a refused case and why
with safe_open(sys.argv[1], "np") as file:
    names, metadata = set(file.keys()), file.metadata()
    for case in problem.prefixes(names):
        try:
            outputs[f"{case}.o"] = np.ascontiguousarray(pytorch(problem.read(file, names, metadata, case)))
        except RuntimeError as why:  # torch's, and what the adapter has no argument for: a NotImplementedError
            refused[case] = str(why).splitlines()[0]
save_file(outputs, sys.argv[2], {f"{case}.attest.status": f"unsupported: {why}" for case, why in refused.items()})
print(f"{len(outputs)} answers, {len(refused)} refused", file=sys.stderr)
for reason, count in collections.Counter(refused.values()).most_common():
    print(f"  {count}: {reason}", file=sys.stderr)
