#!/usr/bin/env python3
"""Writes the seeds of every fuzz target that decodes problems: each regime of tests/support/problem_recipe.hpp in each
element type, bands, scales, softcaps, gaps, edges, and single elements patched.

fuzz/support/problem_bytes.hpp defines the bytes; a field's number is folded into the field's range by each target.

Usage: fuzz/seeds/problem.py FOLDER
"""
import struct
import sys
from pathlib import Path

TYPES = {"f32": 0, "bf16": 1, "f16": 2, "f64": 4}
SCORES = ["gaussian", "equal", "rising", "falling", "ties", "dominant", "huge", "cancelling", "underflow", "subnormal"]
VALUES = ["gaussian", "constant", "offset", "alternating", "one_hot", "overflow", "subnormal"]
MASKS = ["none", "random", "empty_rows", "padding", "empty_blocks"]
ENTRIES = ["slots", "lengths", "packed_queries", "packed_keys", "packed", "paged", "packed_over_pages"]
SINKS = ["none", "normal", "by_entry", "in_f32", "far_above", "far_below", "special"]
KEEPS = ["none", "all_factors_one", "quarter", "most_dropped", "nothing_kept"]
TENSORS = {"q": 0, "k": 1, "v": 2, "bias": 3}
BITS, ULPS, TWIN, SPECIAL = range(4)
SPECIALS = {"zero": 0, "minus_zero": 1, "one": 2, "largest": 4, "minus_largest": 5, "smallest": 6, "smallest_normal": 8,
            "inf": 14, "minus_inf": 15, "nan": 16}

SEEDS: dict[str, bytes] = {}


def patch(tensor: str, how: int, place: int, value: int) -> bytes:
    return struct.pack("<BBHq", TENSORS[tensor], how, place, value)


def entry_byte(entries: str, align: bool) -> int:
    """Modulo 7 it is the regime; its highest bit is the alignment."""
    index = ENTRIES.index(entries)
    return index if not align else next(byte for byte in range(128, 256) if byte % len(ENTRIES) == index)


def seed(name, *patches, number=1, type="f32", b=1, groups=1, hk=1, n=5, m=50, d=11, dv=9, scores="gaussian",
         values="gaussian", mask="none", bias=False, bias_minus_infinity=False, diagonal=0, left=-1, right=-1, scale=0,
         softcap=0, gap=0, choice=0, entries="slots", align=False, page=16, sink="none", block_q=0, block_k=1,
         keep="none"):
    header = [number & 255, number >> 8, TYPES[type], b - 1, groups - 1, hk - 1, n, m, d, dv, SCORES.index(scores),
              VALUES.index(values), MASKS.index(mask), bias | bias_minus_infinity << 1, diagonal + 128, left + 1,
              right + 1, scale, softcap + 4 if softcap else 0, gap + 8 if gap else 0, choice,
              entry_byte(entries, align), page - 1, SINKS.index(sink), block_q + 8 if block_q else 0, block_k - 1,
              KEEPS.index(keep)]
    SEEDS[name] = bytes(header) + b"".join(patches)


for index, type in enumerate(TYPES):
    small = dict(n=2, m=24, d=20, dv=7) if type == "f64" else {}  # the ball tier alone judges f64
    for at, scores in enumerate(SCORES):
        seed(f"{type}-scores-{scores}", type=type, scores=scores, scale=1, number=at, choice=index, **small)
    for at, values in enumerate(VALUES):
        seed(f"{type}-values-{values}", type=type, values=values, number=at, choice=at, **small)
    for mask in MASKS:
        for bias in (False, True):
            seed(f"{type}-mask-{mask}-bias-{bias:d}", type=type, mask=mask, bias=bias, bias_minus_infinity=bias, hk=2,
                 choice=bias, **{**small, **({} if small else dict(n=3, m=70))})
    for softcap in (1, 2, 3):
        seed(f"{type}-softcap-{softcap}", type=type, softcap=softcap, scores=SCORES[2 * softcap - 1], scale=1, **small)
for name, where in {"causal": (0, -1, 0), "bottom_right": (36, -1, 0), "window": (0, 3, 3),
                    "beyond": (-100, -1, 0)}.items():
    seed(f"band-{name}", diagonal=where[0], left=where[1], right=where[2], mask="random")
for scale in range(5):
    seed(f"scale-{scale}", scale=scale, bias=True, choice=scale)
for gap in (1, 7):
    seed(f"gap-{gap}", gap=gap, b=2, groups=2, hk=2, n=3)
seed("no_keys", m=0)
seed("no_dimensions", d=0, dv=0)
seed("one_key", n=1, m=1, d=1, dv=1)
for keys in (63, 64, 65, 127, 128, 129):
    seed(f"keys-{keys}", n=3, m=keys, choice=keys)
for size in (1, 7, 13, 16, 17):
    seed(f"dimensions-{size}", n=5, m=33, d=size, dv=size, choice=size)
for name, special in SPECIALS.items():
    for tensor in TENSORS:
        seed(f"{name}-in-{tensor}", patch(tensor, SPECIAL, 3, special), bias=True, mask="padding", n=4, m=33)
seed("ulps", *(patch("k", TWIN, 8 * row, by) for row in range(1, 9) for by in (-1, 1)), scores="equal")
seed("values_an_ulp_apart", *(patch("v", TWIN, 8 * row, 1) for row in range(1, 6)), scores="equal", values="constant",
     m=6)
for entries in ENTRIES:
    for align in (False, True):
        for at, type in enumerate(TYPES):
            seed(f"{type}-entries-{entries}-align-{align:d}", type=type, entries=entries, align=align, b=3, n=4, m=40,
                 d=8, dv=5, right=0, page=7 if at % 2 else 16, mask="random", bias=at % 2 == 0, sink=SINKS[at % 4],
                 number=at, choice=at)
for sink in SINKS:
    for type in TYPES:
        seed(f"{type}-sink-{sink}", type=type, sink=sink, n=3, m=20, d=8, dv=5, mask="empty_rows", b=2, hk=2)
for keep in KEEPS:
    for type in TYPES:
        seed(f"{type}-keep-{keep}", type=type, keep=keep, n=3, m=20, d=8, dv=5,
             sink="normal" if type == "f32" else "none")
for block in ((1, 1), (2, 64), (3, 17), (7, 5)):
    for entries in ("slots", "lengths", "paged"):
        seed(f"blocks-{block[0]}-{block[1]}-{entries}", block_q=block[0], block_k=block[1], entries=entries, b=2, n=9,
             m=70, right=20)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)
