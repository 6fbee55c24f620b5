#!/usr/bin/env python3
"""Writes the seeds of fuzz/corpus/kernel_vs_reference: every score, value and mask regime at least twice.

The bytes are read by fuzz/kernel_vs_reference.cpp in the order of read_recipe; each is folded into its field's range.
"""
import pathlib
import struct

folder = pathlib.Path(__file__).parent / "corpus" / "kernel_vs_reference"
folder.mkdir(parents=True, exist_ok=True)

SCORES, VALUES, MASKS = 10, 7, 5


def seed(name, seed=1, f64=False, b=1, groups=1, hk=1, n=4, m=20, d=8, dv=8, scores=0, values=0, mask=0, bias=0,
         bias_minus_infinity=0, diagonal=0, left=-1, right=-1, scale=0, tail=b""):
    fields = [seed, 0 if f64 else 1, b - 1, groups - 1, hk - 1, n, m, d, dv, scores, values, mask, bias,
              bias_minus_infinity, diagonal + 100, left + 1, right + 1, scale]
    (folder / name).write_bytes(bytes(fields) + tail)


for scores in range(SCORES):
    for f64 in (False, True):
        seed(f"scores-{scores}-f{64 if f64 else 32}", f64=f64, scores=scores, m=70, values=scores % VALUES, scale=1)
for values in range(VALUES):
    seed(f"values-{values}", values=values, n=3, m=33, dv=5)
for mask in range(MASKS):
    for bias in (0, 1):
        seed(f"mask-{mask}-bias-{bias}", mask=mask, bias=bias, bias_minus_infinity=bias, b=2, groups=2, hk=2, m=130)
for name, where in {"causal": (0, -1, 0), "bottom-right": (16, -1, 0), "window": (0, 3, 3), "beyond": (-100, -1, 0)}.items():
    seed(f"band-{name}", diagonal=where[0], left=where[1], right=where[2], mask=1)
for scale in range(5):
    seed(f"scale-{scale}", scale=scale)
seed("no-keys", m=0)
seed("no-dimensions", d=0, dv=0)
seed("one-key", n=1, m=1, d=1, dv=1)
for name, value in {"nan": float("nan"), "inf": float("inf"), "minus-inf": float("-inf"), "subnormal": 1e-40,
                    "huge": 3e38}.items():
    for target, flags in {"k": b"\1", "q": b"\0\1", "v": b"\0\0"}.items():
        seed(f"{name}-in-{target}", mask=1, tail=flags + b"\5" + struct.pack("<f", value))
