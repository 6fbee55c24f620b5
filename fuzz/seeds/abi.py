#!/usr/bin/env python3
"""Writes the seeds of the fuzz target abi: the bytes that fuzz/support/abi_call.cpp reads in turn.

Usage: fuzz/seeds/abi.py FOLDER
"""
import sys
from pathlib import Path

# b hk hq/hk n m d dv kind there broadcast gap seed threads [diagonal left right], then the bytes of version 2, then
# wrecks: tensor what how…
# kind: type + 4 where there are bytes of version 2 + 8 where the call is of version 1 nonetheless.
CALLS = {
    "plain": [1, 0, 0, 3, 7, 4, 5, 0, 0, 0, 0, 1, 0],
    "everything": [2, 1, 1, 2, 9, 3, 3, 0, 0xFF, 0, 0, 2, 1, 4, 3, 1],
    "f64": [1, 0, 0, 2, 5, 4, 2, 1, 12, 0, 0, 3, 0],
    "bf16": [1, 1, 0, 2, 5, 4, 2, 2, 31, 63, 0, 4, 0],
    "f16": [1, 0, 1, 2, 5, 4, 2, 3, 15, 9, 0, 5, 0],
    "gaps": [2, 1, 1, 2, 5, 3, 3, 0, 15, 0, 3, 6, 0],
    "no_keys": [1, 0, 0, 2, 0, 3, 2, 0, 12, 0, 0, 7, 0],
    "no_dimensions": [1, 0, 0, 2, 3, 0, 0, 0, 12, 0, 0, 8, 0],
    "no_batch": [0, 1, 2, 2, 3, 2, 2, 0, 12, 0, 0, 9, 0],
}
TENSORS = ["q", "k", "v", "mask", "bias", "out", "lse", "weights", "sink", "q_lengths", "k_lengths", "q_offsets",
           "k_offsets", "block_table", "block_mask", "keep"]
for tensor in range(8):
    for wreck in range(20):
        CALLS[f"wreck-{tensor}-{wreck}"] = [1, 0, 1, 2, 4, 3, 3, (tensor + wreck) % 4, 0xF, 0, wreck % 2, 10, 0, tensor,
                                            wreck, (tensor * 3 + wreck) % 16, (wreck * 5 + 7) % 16]

# How the queries and the keys lie, and the bits of the next two bytes.
QUERIES = {"dense": 0, "lengths": 1, "packed": 2, "packed_lengths": 3}
KEYS = {"dense": 0, "lengths": 1, "packed": 2, "packed_lengths": 3, "paged": 4}
SINK, SINK_OF_HEADS, SINK_OF_ALL_ENTRIES, SINK_F32, BLOCK_MASK, KEEP = 1, 2, 4, 8, 16, 128
ALIGN, DROPOUT, LSE_BY_HEADS, BLOCK_SIZES = 1, 2, 4, 8
BOTTOM_RIGHT = [4, 0, 1]  # diagonal 0, left unbounded, right 0


def second(queries="dense", keys="dense", more=0, rest=0, *, b=3, n=4, m=9, kind=4, there=12, gap=0, band=(),
           blocks=0x15, pool=0x29, draws=11):
    """A call with fields of version 2. pool 0x29: two keys a page, ten pages or less, a column that no key needs."""
    return [b, 1, 1, n, m, 3, 2, kind, there | (128 if band else 0), 0, gap, 5, 0, *band,
            QUERIES[queries] + 4 * KEYS[keys], more, rest, blocks, pool, draws]


for queries in QUERIES:
    for keys in KEYS:
        number = QUERIES[queries] * 5 + KEYS[keys]
        CALLS[f"{queries}-{keys}"] = second(queries, keys, kind=4 + number % 4, draws=number)
        CALLS[f"{queries}-{keys}-all"] = second(queries, keys, SINK | BLOCK_MASK, ALIGN | LSE_BY_HEADS,
                                                band=BOTTOM_RIGHT, there=15, gap=number % 4, kind=4 + number // 4 % 4,
                                                draws=3 * number)
CALLS |= {
    "sink": second(more=SINK),
    "sink_of_heads": second(more=SINK | SINK_OF_HEADS, kind=5),
    "sink_of_all_entries": second(more=SINK | SINK_OF_ALL_ENTRIES, kind=6),
    "sink_f32": second(more=SINK | SINK_F32, kind=7),
    "sink_no_keys": second(more=SINK, m=0),
    "block_mask": second(more=BLOCK_MASK),
    "block_mask_of_all": second("lengths", "lengths", BLOCK_MASK | 32 | 64, blocks=2),
    "block_sizes": second(rest=BLOCK_SIZES),
    "align": second("lengths", "lengths", rest=ALIGN, band=BOTTOM_RIGHT),
    "keep": second(more=KEEP),
    "dropout": second("lengths", "paged", more=KEEP, rest=DROPOUT),
    "no_entries": second("packed", "packed", b=0),
    "no_queries": second("packed", "paged", n=0),
    "no_pages": second("dense", "paged", pool=0x21),
    "pages_of_one": second("dense", "paged", pool=0x1C),
    "dense_of_version_2": second(),
    "ignored_sink": second(more=SINK | BLOCK_MASK | KEEP, rest=ALIGN | DROPOUT, kind=12, band=BOTTOM_RIGHT),
    "ignored_lengths": second("lengths", "lengths", kind=13),
    "ignored_offsets": second("packed", "packed", kind=14),
    "ignored_table": second("lengths", "paged", kind=15),
}

# Where each tensor of version 2 has its part in a sound call.
WITH = {"sink": ("dense", "dense", SINK), "q_lengths": ("lengths", "dense", 0), "k_lengths": ("dense", "lengths", 0),
        "q_offsets": ("packed", "dense", 0), "k_offsets": ("dense", "packed", 0), "block_table": ("dense", "paged", 0),
        "block_mask": ("dense", "dense", BLOCK_MASK), "keep": ("dense", "dense", KEEP)}
CONTENTS, ONE_MORE, ONE_LESS, NUMBERS = 20, 22, 23, 24
for name, form in WITH.items():
    tensor = TENSORS.index(name)
    for wreck in range(20):
        CALLS[f"wreck-{name}-{wreck}"] = second(*form) + [tensor, wreck, (tensor * 3 + wreck) % 16,
                                                          (wreck * 5 + 7) % 16]
    for value in range(9):  # the first numbers of abi_call.cpp: 0 1 2 3 5 16 17 −1 −2
        CALLS[f"contents-{name}-{value}"] = second(*form) + [tensor, CONTENTS, value % 4, value]
    for element in range(4):
        for draws in range(11, 17):
            CALLS[f"more-{name}-{element}-{draws}"] = second(*form, draws=draws) + [tensor, ONE_MORE, element]
        CALLS[f"less-{name}-{element}"] = second(*form) + [tensor, ONE_LESS, element]
    CALLS[f"absent-{name}"] = second("lengths", "lengths") + [tensor, 12]
for name in ("mask", "bias", "weights", "block_mask", "keep"):
    for queries, keys in (("packed", "dense"), ("dense", "packed"), ("packed", "packed")):
        CALLS[f"{name}-beside-{queries}-{keys}"] = second(queries, keys, rest=BLOCK_SIZES) + [TENSORS.index(name), 12]
for which in range(4):  # block_q block_k align reserved
    for value in (0, 1, 2, 7):
        CALLS[f"number-{which}-{value}"] = second("lengths", "paged", BLOCK_MASK) + [0, NUMBERS, which, value]
for value in range(8):
    CALLS[f"dropout-{value}"] = second(more=KEEP) + [0, NUMBERS, 4, value]
for which in range(3):
    CALLS[f"scale-{which}"] = second() + [0, NUMBERS, 5, which]
for version in range(4):
    CALLS[f"version-{version}"] = second("packed", "paged", SINK) + [0, 15, version]

SEEDS = {name: bytes(content) for name, content in CALLS.items()}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)
